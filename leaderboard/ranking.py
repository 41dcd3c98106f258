"""Ranks with ties from scored predictions: 1 + the number of models that are clearly better.

People guess only some of the clips, so they are compared with each model on these; their row does
not change any model's rank.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from agl1k_core import scoring
from agl1k_core.scoring import Evaluation

#: With fewer common clips, a paired interval means little.
FEWEST_CLIPS = 10


@dataclass(frozen=True, slots=True)
class Rank:
    """A place on the board; ``tied`` if another model has the same."""

    place: int
    tied: bool = False


def rank_models(
    models: Mapping[str, Evaluation], metric: str, subset: str | None
) -> dict[str, Rank]:
    """The rank of each model by a metric, on a subset or on all clips."""
    places = scoring.rank(list(models.values()), metric, subset=subset)
    shared = Counter(places)
    return {
        name: Rank(place, tied=shared[place] > 1)
        for name, place in zip(models, places, strict=True)
    }


def rank_people(
    people: Evaluation, models: Mapping[str, Evaluation], metric: str, subset: str | None
) -> Rank | None:
    """People's rank among the models on the clips they guessed; None if these are too few."""
    if np.isfinite(scoring.clip_values(people, metric, subset=subset)).sum() < FEWEST_CLIPS:
        return None
    better = (
        scoring.compare(people, model, subset=subset, metrics=[metric]).better(metric)
        for model in models.values()
    )
    return Rank(1 + sum(side == "second" for side in better))

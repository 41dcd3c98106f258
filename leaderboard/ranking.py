"""Ranks with ties from scored predictions: 1 + the number of models that are clearly better.

Models are compared clip by clip (``uncertainty``). People guess only some of the clips, so they
are compared with each model on these; their row moves no model's rank.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agl1k_core import scoring
from agl1k_core.scoring import LOWER_IS_BETTER, Evaluation, ScoredRows

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

#: With fewer common clips a paired interval says little.
FEWEST_CLIPS = 10


@dataclass(frozen=True, slots=True)
class Rank:
    """A place on the board; ``tied`` when another model has the same."""

    place: int
    tied: bool = False


def per_clip(scored: Evaluation, metric: str) -> FloatArray:
    """A metric of ``scoring.COLUMNS`` for each clip of the benchmark, NaN where there is none.

    Several records of a clip count as their mean.
    """
    rows = rows_of(scored)
    values = rows.column(metric)
    counted = np.isfinite(values)
    n_clips = len(rows.benchmark)
    totals = np.bincount(rows.clip[counted], values[counted], minlength=n_clips)
    with np.errstate(invalid="ignore"):
        return totals / np.bincount(rows.clip[counted], minlength=n_clips)


def rows_of(scored: Evaluation) -> ScoredRows:
    """The rows of an evaluation made here; raises ``ValueError`` for one read back."""
    if scored.rows is None:
        raise ValueError("this evaluation was read back, and holds no rows")
    return scored.rows


def rank_models(models: Mapping[str, Evaluation], metric: str, clips: BoolArray) -> dict[str, Rank]:
    """Rank of each model by a metric, on the clips of a mask over the benchmark."""
    if not models or not clips.any():
        return {}
    values = np.column_stack([per_clip(scored, metric)[clips] for scored in models.values()])
    places = scoring.ranks(values, lower_is_better=metric in LOWER_IS_BETTER)
    shared = Counter(places)
    return {
        name: Rank(place, tied=shared[place] > 1)
        for name, place in zip(models, places, strict=True)
    }


def rank_people(
    people: Evaluation, models: Mapping[str, Evaluation], metric: str, clips: BoolArray
) -> Rank | None:
    """People's place among the models on the clips they guessed; None when these are too few."""
    theirs = per_clip(people, metric)[clips]
    if np.isfinite(theirs).sum() < FEWEST_CLIPS:
        return None
    sign = 1 if metric in LOWER_IS_BETTER else -1
    gaps = (
        scoring.paired_difference(sign * theirs, sign * per_clip(model, metric)[clips])
        for model in models.values()
    )
    return Rank(1 + sum(gap.low > 0 for gap in gaps))

"""The ranks of models on a board, and the range of places for people.

People guess only some of the clips, so they are compared with each model on these; their row does
not change any model's rank.
"""

from __future__ import annotations

from collections.abc import Mapping

from agl1k_core import scoring
from agl1k_core.scoring import Evaluation, Rank


def rank_models(
    models: Mapping[str, Evaluation], metric: str, subset: str | None
) -> dict[str, Rank]:
    """The rank of each model by a metric, on a subset or on all clips; empty if the clips are too
    few for ranks."""
    ranks = scoring.rank(list(models.values()), metric, subset=subset)
    return {name: rank for name, rank in zip(models, ranks, strict=True) if rank}


def rank_people(
    people: Evaluation, models: Mapping[str, Evaluation], metric: str, subset: str | None
) -> Rank | None:
    """People's rank among the models on the clips they guessed; None if these are too few."""
    return scoring.rank_among(people, list(models.values()), metric, subset=subset)

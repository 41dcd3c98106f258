"""The ranks of models on a board, and the range of places that people and baselines would take."""

from __future__ import annotations

from collections.abc import Mapping

from agl1k_core import scoring
from agl1k_core.scoring import Evaluation, Rank


def rank_rows(
    models: Mapping[str, Evaluation],
    others: Mapping[str, Evaluation],
    metric: str,
    subset: str | None,
) -> dict[str, Rank]:
    """The rank of each model, and the place of each other row among the models, by row id.

    People and baselines change no model's rank. People guess only some of the clips, so they are
    compared with each model on these. Rows without enough clips for a rank are left out.
    """
    if not models:
        return {}
    ranks = scoring.rank(list(models.values()), metric, subset=subset)
    found = dict(zip(models, ranks, strict=True))
    rivals = list(models.values())
    for row_id, evaluation in others.items():
        found[row_id] = scoring.rank_among(evaluation, rivals, metric, subset=subset)
    return {row_id: rank for row_id, rank in found.items() if rank}

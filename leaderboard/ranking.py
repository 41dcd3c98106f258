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


def rank_sealed(
    models: Mapping[str, Evaluation],
    others: Mapping[str, Evaluation],
    metric: str,
    subset: str | None,
) -> dict[str, Rank]:
    """As ``rank_rows``, from sealed numbers alone, so that ranks tell nothing more."""
    if not models:
        return {}
    rivals = list(models.values())
    ranks = dict(zip(models, scoring.sealed_ranks(rivals, metric, subset=subset), strict=True))
    for row_id, evaluation in others.items():
        *_, own = scoring.sealed_ranks([*rivals, evaluation], metric, subset=subset)
        ranks[row_id] = own
    return {row_id: rank for row_id, rank in ranks.items() if rank}

"""Ranks that follow the metric, with ties and ranges."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agl1k_core.scoring import pairs

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

#: With fewer clips, nothing is ranked.
FEWEST_CLIPS = 10


@dataclass(frozen=True, slots=True)
class Rank:
    """A place among the models of a board.

    Parameters
    ----------
    place
        1 + the number of models in better groups. A group holds neighbours in the order of the
        metric, no two of which are clearly apart; a better mean never has a larger place.
    best, worst
        The range of places that the data allow: from 1 + the number of clearly better models to
        the number of models that are not clearly worse. ``best <= place <= worst``.
    tied
        Whether another model has the same place.
    """

    place: int
    best: int
    worst: int
    tied: bool = False


def ranks(
    values: FloatArray, *, lower_is_better: bool, files: Sequence[Hashable] | None = None
) -> list[Rank | None]:
    """The rank of each model; None for all if there are fewer than `FEWEST_CLIPS` clips.

    ``values``: one row per clip, one column per model, NaN if the model lacks the clip. Models
    with the same element of ``files`` gave the same answers: they count once and share a rank.
    """
    if len(values) < FEWEST_CLIPS:
        return [None] * values.shape[1]
    numbers: dict[Hashable, int] = {}
    copy_of = [numbers.setdefault(name, len(numbers)) for name in files or range(values.shape[1])]
    distinct = values[:, [copy_of.index(number) for number in range(len(numbers))]]
    found = _of_distinct(distinct if lower_is_better else -distinct)
    times = np.bincount(copy_of, minlength=len(numbers))
    return [found[i] if found[i].tied or times[i] == 1 else _shared(found[i]) for i in copy_of]


def _shared(rank: Rank) -> Rank:
    return Rank(rank.place, rank.best, rank.worst, tied=True)


def _of_distinct(values: FloatArray) -> list[Rank]:
    """Ranks of models of which lower values are better."""
    known = np.isfinite(values)
    with np.errstate(invalid="ignore"):
        means = np.where(known, values, 0).sum(axis=0) / known.sum(axis=0)
    apart = pairs.clearly_apart(pairs.p_values(values))
    return ranks_by(means, apart & _is_worse(values, means))


def ranks_by(means: FloatArray, worse: BoolArray) -> list[Rank]:
    """The ranks of models of which lower ``means`` are better.

    ``worse[i, j]``: model ``i`` is clearly worse than model ``j``.
    """
    n_models = len(means)
    n_better, n_worse = worse.sum(axis=1), worse.sum(axis=0)
    rank: dict[int, Rank] = {}
    place = 1
    for group in _groups(means, worse):
        for model in group:
            best, worst = 1 + n_better[model], n_models - n_worse[model]
            rank[model] = Rank(place, int(best), int(worst), tied=len(group) > 1)
        place += len(group)
    return [rank[model] for model in range(n_models)]


def _is_worse(values: FloatArray, means: FloatArray) -> BoolArray:
    """Which model, by row, has the higher mean than which other, by column, on common clips."""
    known = np.isfinite(values).astype(np.float64)
    if known.all():
        return np.asarray(means[:, None] > means)
    total = np.where(known > 0, values, 0).T @ known
    return np.asarray(total > total.T)


def _groups(means: FloatArray, worse: BoolArray) -> list[list[int]]:
    """The models in the order of their means, cut where one is clearly worse than one of its
    group. Equal means are never cut apart."""
    groups: list[list[int]] = []
    for equals in _equal_runs(means):
        if groups and not worse[np.ix_(equals, groups[-1])].any():
            groups[-1] += equals
        else:
            groups.append(equals)
    return groups


def _equal_runs(means: FloatArray) -> list[list[int]]:
    order = np.argsort(means, kind="stable")  # a model without any value goes last
    steps = ~np.isclose(
        np.diff(means[order]), 0, rtol=0, atol=1e-9 * (1 + np.abs(means[order][:-1]))
    )
    return [run.tolist() for run in np.split(order, np.flatnonzero(steps) + 1) if len(run)]

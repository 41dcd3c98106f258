"""The 95 % intervals of all metrics of all groups of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agl1k_core.scoring import intervals
from agl1k_core.scoring._clusters import clustered_means
from agl1k_core.scoring._groups import CellSums, Groups, balanced_means, quantiles
from agl1k_core.scoring.intervals import Spread

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


#: A few clips say little about how much a stratum varies. Each counts as if it had this many more,
#: which vary as all strata do together.
_BORROWED = 3


@dataclass(frozen=True)
class Columns:
    """Values of rows: the columns ``measured`` have a least and a greatest value, all others are
    0 or 1. ``balanced`` are those whose strata are also weighed alike."""

    values: FloatArray
    measured: Mapping[int, tuple[float, float]]
    balanced: tuple[int, ...]
    cluster: IntArray | None = None

    @property
    def bounds(self) -> FloatArray:
        """The bounds of the measured columns, shape ``(n_measured, 2)``."""
        return np.array(list(self.measured.values()), dtype=np.float64)

    @property
    def shares(self) -> list[int]:
        """The columns that are 0 or 1."""
        return [c for c in range(self.values.shape[1]) if c not in self.measured]


def mean_ends(columns: Columns, groups: Groups, sums: CellSums) -> tuple[FloatArray, FloatArray]:
    """The ends for all means, ``(n_groups, n_columns, 2)``, and for the balanced ones,
    ``(n_groups, n_balanced, 2)``; ``sums`` are those of the columns."""
    if columns.cluster is None:
        return _independent(columns, groups, sums)
    return _clustered(columns, groups, columns.cluster)


def quantile_ends(
    columns: Columns,
    groups: Groups,
    column: int,
    in_order: Sequence[FloatArray],
    shares: FloatArray,
) -> FloatArray:
    """The ends for quantiles of one column, ``(n_groups, n_shares, 2)``; ``in_order`` are its
    numbers in each group."""
    if columns.cluster is None:
        n = np.array([[float(len(numbers))] for numbers in in_order])
        limits = intervals.share_ends(*np.broadcast_arrays(shares, n))
    else:
        values = columns.values[:, column]
        limits = np.array(
            [
                _clustered_limits(values, quantiles(numbers, shares), shares, rows, columns.cluster)
                for numbers, rows in zip(in_order, groups.all_rows(), strict=True)
            ]
        )
    found = map(intervals.quantile_ends, in_order, limits)
    return np.array(list(found))


def _clustered_limits(
    values: FloatArray, reached: FloatArray, shares: FloatArray, rows: BoolArray, cluster: IntArray
) -> FloatArray:
    """The limits of the shares of ``values`` up to those ``reached``."""
    below = (values[:, None] <= reached).astype(np.float64)
    below[np.isnan(values)] = np.nan
    found = clustered_means(below, [rows], cluster)
    return intervals.share_ends(shares, found.effective_n, found.spread.df)


# --- independent rows


def _independent(columns: Columns, groups: Groups, sums: CellSums) -> tuple[FloatArray, FloatArray]:
    moments = _cell_moments(columns, groups)
    means, n = sums.means(groups.members)
    ends = _ends(columns, means, n, moments.of(groups.members).spread())
    parts, n_parts = sums.means(groups.crossed)
    spread = moments.of(groups.crossed).balanced_spread()
    balanced = _ends(columns, balanced_means(parts), n, spread)
    shares = columns.shares
    balanced[:, shares] = _balanced_share_ends(parts[:, :, shares], n_parts[:, :, shares])
    return ends, balanced[:, list(columns.balanced)]


def _ends(columns: Columns, means: FloatArray, n: FloatArray, spread: Spread) -> FloatArray:
    """Both ends for means over ``n`` numbers; ``spread`` is that of the measured columns."""
    measured, shares = list(columns.measured), columns.shares
    ends = np.empty((*means.shape, 2))
    ends[:, measured] = intervals.mean_ends(means[:, measured], spread, columns.bounds)
    ends[:, shares] = intervals.share_ends(means[:, shares], n[:, shares])
    return ends


def _balanced_share_ends(shares: FloatArray, n: FloatArray) -> FloatArray:
    """Both ends for the mean over strata, the second axis, of their shares."""
    known = n > 0
    with np.errstate(invalid="ignore", divide="ignore"):
        weights = known / known.sum(axis=1, keepdims=True)
    ends = intervals.combined_ends(
        shares.swapaxes(1, 2),
        intervals.share_ends(shares, n).swapaxes(1, 2),
        weights.swapaxes(1, 2),
    )
    ends[~known.any(axis=1)] = np.nan
    return ends


def _cell_moments(columns: Columns, groups: Groups) -> _CellMoments:
    values = columns.values[:, list(columns.measured)]
    sums = groups.sums(values)
    means = sums.totals / np.maximum(sums.counted, 1)
    centred = values - means[groups.cell]
    squares = centred * centred
    powers = groups.sums(np.concatenate([squares, squares * centred], axis=1)).totals
    return _CellMoments(sums.counted, means, *np.split(powers, 2, axis=1))


@dataclass(frozen=True)
class _CellMoments:
    """How many numbers of the measured columns each cell has, their mean, and the sums of the
    squares and cubes of their distances from it; all of shape ``(n_cells, n_measured)``.

    Taken about the mean of all rows, they would lose the spread of a set far from it to rounding.
    """

    n: FloatArray
    mean: FloatArray
    squares: FloatArray
    cubes: FloatArray

    def of(self, cells: FloatArray) -> _Moments:
        """Those of sets of cells, given as 1 and 0 in shape ``(…, n_cells)``."""
        n = cells @ self.n
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = cells @ (self.n * self.mean) / n
            off = np.where(cells[..., None] > 0, self.mean - mean[..., None, :], 0)
            squares = self.squares + self.n * off**2
            cubes = self.cubes + off * (3 * self.squares + self.n * off**2)
            second, third = (
                (cells[..., None, :] @ sums)[..., 0, :] / n for sums in (squares, cubes)
            )
        # what is left of equal numbers after rounding is no spread
        second[second < 1e-24 * mean**2] = 0
        return _Moments(n, second, third)


@dataclass(frozen=True)
class _Moments:
    """Central moments of the measured columns in sets of cells, and of how many numbers."""

    n: FloatArray
    second: FloatArray
    third: FloatArray

    def spread(self) -> Spread:
        """That of the mean over each set of cells."""
        with np.errstate(invalid="ignore", divide="ignore"):
            skewness = self.third / self.second**1.5 / np.sqrt(self.n)
            return _spread(self.second / (self.n - 1), skewness, self.n - 1)

    def balanced_spread(self) -> Spread:
        """That of the mean over strata, the second axis; NaN if a stratum has a single number."""
        known, df = self.n > 0, np.maximum(self.n - 1, 0)
        with np.errstate(invalid="ignore", divide="ignore"):
            variance = self._with_borrowed(self.second) / self.n
            third = self._with_borrowed(self.third) / self.n**2
            total, squares, cubes = (
                np.where(known, terms, 0).sum(axis=1)
                for terms in (variance, variance**2 / (df + _BORROWED), third)
            )
            found = _spread(total / known.sum(axis=1) ** 2, cubes / total**1.5, total**2 / squares)
        found.variance[(self.n == 1).any(axis=1)] = np.nan
        return found

    def _with_borrowed(self, moment: FloatArray) -> FloatArray:
        """A moment of each stratum, as if it had some more numbers of average spread."""
        df = np.maximum(self.n - 1, 0)
        sums = np.where(df > 0, self.n * moment, 0)
        pooled = sums.sum(axis=1, keepdims=True) / df.sum(axis=1, keepdims=True)
        return np.asarray((sums + _BORROWED * pooled) / (df + _BORROWED))


def _spread(variance: FloatArray, skewness: FloatArray, df: FloatArray) -> Spread:
    """Without spread there is no skewness either, and any number of degrees of freedom."""
    constant = variance == 0
    variance = np.where(df > 0, variance, np.nan)
    return Spread(variance, np.where(constant, 0, skewness), np.where(constant, 1, df))


# --- rows in clusters


def _clustered(
    columns: Columns, groups: Groups, cluster: IntArray
) -> tuple[FloatArray, FloatArray]:
    ends, balanced = [], []
    for group, rows in enumerate(groups.all_rows()):
        ends.append(_clustered_ends(columns, [rows], cluster))
        strata = groups.strata_rows(group)
        balanced.append(_clustered_ends(columns, strata, cluster)[list(columns.balanced)])
    return np.array(ends), np.array(balanced)


def _clustered_ends(columns: Columns, strata: list[BoolArray], cluster: IntArray) -> FloatArray:
    """Both ends for the means over strata, shape ``(n_columns, 2)``."""
    found = clustered_means(columns.values, strata, cluster)
    measured, shares, spread = list(columns.measured), columns.shares, found.spread
    of_measured = (x[measured] for x in (spread.variance, spread.skewness, spread.df))
    ends = np.empty((columns.values.shape[1], 2))
    ends[measured] = intervals.mean_ends(
        found.means[measured], Spread(*of_measured), columns.bounds
    )
    ends[shares] = intervals.share_ends(
        found.means[shares], found.effective_n[shares], spread.df[shares]
    )
    return ends

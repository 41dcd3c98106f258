"""Means and quantiles of overlapping groups of rows.

Rows in exactly the same groups form a cell. Sums are taken once per cell, and a group's sum is that
of its cells, so that the rows are not read again for each group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class CellSums:
    """Sums over the rows of each cell, NaN left out, and how many numbers these are; both of shape
    ``(n_cells, n_columns)``."""

    totals: FloatArray
    counted: FloatArray

    def columns(self, places: Sequence[int] | slice) -> CellSums:
        """Some of the columns."""
        return CellSums(self.totals[:, places], self.counted[:, places])

    def means(self, cells: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Means over cells, and of how many numbers; NaN if there is none.

        ``cells`` is 1 for the cells of a mean, shape ``(…, n_cells)``; returns two arrays of shape
        ``(…, n_columns)``.
        """
        n = cells @ self.counted
        with np.errstate(invalid="ignore", divide="ignore"):
            return (cells @ self.totals) / n, n


class Groups:
    """Groups of rows: those whose clip is in a mask, for at most 63 ``masks`` over the clips.

    ``clip`` is the clip of each row, shape ``(n_rows,)``. ``strata`` are the places of disjoint
    masks that a balanced mean weighs alike.
    """

    def __init__(
        self, masks: Sequence[BoolArray], clip: IntArray, strata: Sequence[int] = ()
    ) -> None:
        signature = np.zeros(len(masks[0]), dtype=np.int64)
        for place, mask in enumerate(masks):
            signature |= mask.astype(np.int64) << place
        #: The cell of each row: rows in exactly the same groups.
        self.cell, cells = pd.factorize(signature[clip], sort=True)
        bits = np.int64(1) << np.arange(len(masks))
        #: Which cells each group consists of, 0 or 1, shape ``(n_groups, n_cells)``.
        self.members = ((cells & bits[:, None]) != 0).astype(np.float64)
        #: The same for each group within each stratum, shape ``(n_groups, n_strata, n_cells)``.
        self.crossed = self.members[:, None] * self.members[list(strata)]

    def count(self, codes: IntArray, n_codes: int) -> IntArray:
        """How often each code occurs in each group, shape ``(n_groups, n_codes)``."""
        n_cells = self.members.shape[1]
        tally = np.bincount(self.cell * n_codes + codes, minlength=n_cells * n_codes)
        counts: IntArray = self.members.astype(np.int64) @ tally.reshape(n_cells, n_codes)
        return counts

    def sums(self, values: FloatArray) -> CellSums:
        """Sums over ``values`` of shape ``(n_rows, n_columns)``, NaN if a row does not count."""
        counted = np.isfinite(values)
        if counted.all():
            n = np.bincount(self.cell, minlength=self.members.shape[1]).astype(np.float64)
            return CellSums(self._by_cell(values), np.repeat(n[:, None], values.shape[1], axis=1))
        return CellSums(self._by_cell(np.where(counted, values, 0.0)), self._by_cell(counted))

    def _by_cell(self, table: npt.NDArray[np.generic]) -> FloatArray:
        n_cells = self.members.shape[1]
        sums = [np.bincount(self.cell, column, minlength=n_cells) for column in table.T]
        return np.array(sums, dtype=np.float64).reshape(table.shape[1], n_cells).T

    def all_rows(self) -> list[BoolArray]:
        """Which rows are in each group, masks of shape ``(n_rows,)``."""
        return [cells[self.cell] for cells in self.members.astype(np.bool_)]

    def strata_rows(self, group: int) -> list[BoolArray]:
        """Which rows are in each stratum of a group, masks of shape ``(n_rows,)``."""
        return [cells[self.cell] for cells in self.crossed[group].astype(np.bool_)]

    def in_order(self, values: FloatArray) -> list[FloatArray]:
        """Each group's numbers of one column, in ascending order."""
        rows = np.argsort(values)
        rows = rows[np.isfinite(values[rows])]
        numbers, cell = values[rows], self.cell[rows]
        return [numbers[of_cells[cell]] for of_cells in self.members.astype(np.bool_)]


def quantiles(in_order: FloatArray, shares: Sequence[float] | FloatArray) -> FloatArray:
    """Quantiles of ascending numbers (linear, as ``numpy.quantile``); NaN if there are none."""
    if not len(in_order):
        return np.full(len(shares), np.nan)
    place = np.asarray(shares) * (len(in_order) - 1)
    below = np.floor(place).astype(np.int64)
    low, high = in_order[below], in_order[np.minimum(below + 1, len(in_order) - 1)]
    return np.asarray(low + (place - below) * (high - low))


def balanced_means(means: FloatArray) -> FloatArray:
    """The mean over strata, the second axis from the end, of their means; strata without a number
    are left out, NaN if all are."""
    known = np.isfinite(means)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(known, means, 0).sum(axis=-2) / known.sum(axis=-2))

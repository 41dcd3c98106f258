"""Means and quantiles of overlapping groups of rows, plain and in every resample.

Rows in exactly the same groups form a cell. Sums are taken once per cell, and a group's sum is that
of its cells, so that the rows are not read again for each group. The products are sparse: they use
one core, while a dense product would wait for a second one that may be busy.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.sparse import csr_array

from agl1k_core.scoring import bootstrap

FloatArray = npt.NDArray[np.floating]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


#: Up to this many columns, a sparse product takes longer to set up than a dense one to compute.
_FEW = 64


@dataclass(frozen=True)
class CellSums:
    """``totals``: sums of the numbers, shape ``(n_cells, n_columns, n_samples)``; ``counted``: how
    many numbers these are, in the same shape, or in one column if every value is a number."""

    totals: FloatArray
    counted: FloatArray

    def columns(self, places: Sequence[int]) -> CellSums:
        """Some of the columns."""
        counted = self.counted if self.counted.shape[1] == 1 else self.counted[:, places]
        return CellSums(self.totals[:, places], counted)

    def means(self, cells: FloatArray) -> FloatArray:
        """Means over cells; ``cells``, of shape ``(n_means, n_cells)``, is 1 for those of a mean.

        Returns shape ``(n_means, n_columns, n_samples)``, NaN if there is no number.
        """
        with np.errstate(invalid="ignore", divide="ignore"):
            return _sums(cells, self.totals) / _sums(cells, self.counted)


def _sums(cells: FloatArray, values: FloatArray) -> FloatArray:
    """Sums over parts of the first axis; sparse, since a cell is in few of the groups."""
    n_cells, *shape = values.shape
    flat = values.reshape(n_cells, math.prod(shape))
    chosen = cells if flat.shape[1] <= _FEW else csr_array(cells.astype(values.dtype))
    return np.asarray(chosen @ flat).reshape(len(cells), *shape)


class Groups:
    """Groups of rows: those whose clip is in a mask, for at most 63 ``masks`` over the clips.

    ``clip`` is the clip of each row, shape ``(n_rows,)``.
    """

    def __init__(self, masks: Sequence[BoolArray], clip: IntArray) -> None:
        signature = np.zeros(len(masks[0]), dtype=np.int64)
        for place, mask in enumerate(masks):
            signature |= mask.astype(np.int64) << place
        #: The cell of each row: rows in exactly the same groups.
        self.cell, cells = pd.factorize(signature[clip], sort=True)
        bits = np.int64(1) << np.arange(len(masks))
        #: Which cells each group consists of, 0 or 1, shape ``(n_groups, n_cells)``.
        self.members = ((cells & bits[:, None]) != 0).astype(np.float64)

    def count(self, codes: IntArray, n_codes: int) -> IntArray:
        """How often each code occurs in each group, shape ``(n_groups, n_codes)``."""
        n_cells = self.members.shape[1]
        tally = np.bincount(self.cell * n_codes + codes, minlength=n_cells * n_codes)
        counts: IntArray = self.members.astype(np.int64) @ tally.reshape(n_cells, n_codes)
        return counts

    def sums(self, values: FloatArray) -> CellSums:
        """Sums of all rows, as one sample; ``values`` has shape ``(n_rows, n_columns)``,
        NaN if it does not count."""
        filled, counted = _split(values)
        n_cells = self.members.shape[1]

        def by_cell(table: npt.NDArray[np.generic]) -> FloatArray:
            sums = [np.bincount(self.cell, column, minlength=n_cells) for column in table.T]
            return np.array(sums, dtype=np.float64).T[:, :, None]

        return CellSums(by_cell(filled), by_cell(counted))

    def resampled_sums(self, values: FloatArray, counts: FloatArray) -> CellSums:
        """Sums in each resample; ``counts`` as ``bootstrap.resample_counts`` gives them."""
        n_cells = self.members.shape[1]

        def by_cell(table: npt.NDArray[np.generic]) -> FloatArray:
            n_rows, n_columns = table.shape
            row, column = np.nonzero(table)
            places = self.cell[row] * n_columns + column, row
            numbers = table[row, column].astype(np.float32)
            adding = csr_array((numbers, places), shape=(n_cells * n_columns, n_rows))
            return np.asarray(adding @ counts.T).reshape(n_cells, n_columns, -1)

        return CellSums(*map(by_cell, _split(values)))

    def balanced_means(self, sums: CellSums, parts: Sequence[int]) -> FloatArray:
        """Mean over disjoint ``parts`` (indices of groups) of each group's mean within the part.

        Parts in which a group has no number are left out. Returns shape
        ``(n_groups, n_columns, n_samples)``.
        """
        crossed = self.members[:, None] * self.members[list(parts)]
        flat = crossed.reshape(math.prod(crossed.shape[:2]), crossed.shape[2])
        totals, counts = _sums(flat, sums.totals), _sums(flat, sums.counted)
        means = totals / np.maximum(counts, 1)  # 0 if there is no number

        def over_parts(values: npt.NDArray[np.generic]) -> FloatArray:
            apart = values.reshape(*crossed.shape[:2], *values.shape[1:])
            return np.asarray(apart.sum(axis=1, dtype=means.dtype))

        with np.errstate(invalid="ignore"):
            mean: FloatArray = over_parts(means) / over_parts(counts > 0)
        return mean

    def quantiles(self, values: FloatArray, shares: Sequence[float]) -> FloatArray:
        """Quantiles of one column, shape ``(n_groups, len(shares), 1)``."""
        rows, inside = self._in_order(values)
        numbers = values[rows]
        of_groups = [numbers[mask] for mask in inside]
        places = [bootstrap.places_among(len(of_one), shares) for of_one in of_groups]
        return np.array([p.of(of_one).T for p, of_one in zip(places, of_groups, strict=True)])

    def resampled_quantiles(
        self, values: FloatArray, shares: Sequence[float], resamples: bootstrap.Resamples
    ) -> FloatArray:
        """The same in each resample, shape ``(n_groups, len(shares), n_samples)``."""
        rows, inside = self._in_order(values)
        return np.array([resamples.quantiles(values, rows[mask], shares).T for mask in inside])

    def _in_order(self, values: FloatArray) -> tuple[IntArray, Iterator[BoolArray]]:
        """The rows that hold a number, in ascending order of it; of these, each group's mask."""
        rows = np.argsort(values)
        rows = rows[np.isfinite(values[rows])]
        cell = self.cell[rows]
        return rows, (of_cells[cell] for of_cells in self.members.astype(np.bool_))


def _split(values: FloatArray) -> tuple[FloatArray, BoolArray]:
    """The values with 0 for NaN, and a mask of the numbers."""
    counted = np.isfinite(values)
    if counted.all():
        return values, counted[:, :1]
    return np.where(counted, values, 0.0), counted

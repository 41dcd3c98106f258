"""Means of rows that come in clusters, such as the guesses of one player, and their spread."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agl1k_core.scoring.intervals import Spread

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

#: With fewer clusters, the spread among them says too little for an interval.
FEWEST_CLUSTERS = 5


@dataclass(frozen=True)
class ClusteredMeans:
    """The mean over strata of the means within each; all arrays of shape ``(n_columns,)``."""

    means: FloatArray
    spread: Spread
    #: Of how many independent rows shares would vary as much.
    effective_n: FloatArray


def clustered_means(
    values: FloatArray, strata: Iterable[BoolArray], cluster: IntArray
) -> ClusteredMeans:
    """Means of the columns of ``values``, ``(n_rows, n_columns)``, NaN left out.

    ``strata`` are masks over the rows, ``cluster`` is the number of each row's cluster. The
    variance is that of the jackknife over clusters (Bell & McCaffrey 2002).
    """
    counted = np.isfinite(values)
    known = np.where(counted, values, 0)
    weights, residuals = np.zeros_like(values), np.zeros_like(values)
    for rows in strata:
        weights[rows], residuals[rows] = _of_stratum(known[rows], counted[rows], cluster[rows])
    with np.errstate(invalid="ignore"):
        weights /= weights.sum(axis=0)
    means = (weights * known).sum(axis=0)
    spread = _spread(_by_cluster(weights * residuals, cluster), _by_cluster(weights, cluster))
    with np.errstate(invalid="ignore", divide="ignore"):
        varying = means * (1 - means) / spread.variance
    effective = np.where(spread.variance > 0, varying, spread.df + 1)
    effective[np.isnan(spread.variance)] = np.nan
    return ClusteredMeans(means, spread, np.minimum(effective, counted.sum(axis=0)))


def _of_stratum(
    known: FloatArray, counted: BoolArray, cluster: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Each row's weight, and its distance from the mean of the other clusters in the stratum times
    their share; NaN if there are no others."""
    n = np.maximum(counted.sum(axis=0), 1)
    weights = counted / n
    of_cluster = _by_cluster(weights, cluster)[cluster] if len(cluster) else weights
    with np.errstate(invalid="ignore", divide="ignore"):
        residuals = (known - known.sum(axis=0) / n) / (1 - of_cluster)
    residuals[of_cluster > 1 - 1e-9] = np.nan
    return weights, np.where(counted, residuals, 0)


def _spread(totals: FloatArray, shares: FloatArray) -> Spread:
    """``totals`` are the clusters' weighted residuals and ``shares`` their weights, both
    ``(n_clusters, n_columns)``."""
    n = (shares > 0).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        squares = (totals**2).sum(axis=0)
        skewness = np.where(squares > 0, (totals**3).sum(axis=0) / squares**1.5, 0)
        df = 1 / (shares**2).sum(axis=0) - 1  # Kish's number of equal clusters, less one
    variance = np.where(n >= FEWEST_CLUSTERS, squares * (n - 1) / n, np.nan)
    return Spread(variance, skewness, np.maximum(df, 1))


def _by_cluster(values: FloatArray, cluster: IntArray) -> FloatArray:
    """The sums over each cluster, ``(n_clusters, n_columns)``."""
    return np.array([np.bincount(cluster, column) for column in values.T]).T

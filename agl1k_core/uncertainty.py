"""Bootstrap intervals, paired comparison and ranks with ties.

The percentile bootstrap (Efron & Tibshirani 1993, chapters 13 and 16) over clips, or over
clusters of rows that belong together (a player's guesses). Resampling is by counts: a matrix of
shape ``(n_samples, n_rows)`` says how often each resample holds each row, so that every mean is
one matrix product.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.floating]
IntArray = npt.NDArray[np.int64]

N_SAMPLES = 1000
SEED = 20260
LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Interval:
    """Both ends of a confidence interval."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """First minus second on their common clips, with its interval."""

    difference: float
    low: float
    high: float
    n_common: int

    @property
    def is_clear(self) -> bool:
        """Whether the interval leaves out 0."""
        return self.low > 0 or self.high < 0


def resample_counts(
    n_rows: int,
    *,
    n_samples: int = N_SAMPLES,
    seed: int = SEED,
    cluster: IntArray | None = None,
) -> FloatArray:
    """How often each resample holds each row, float32 of shape ``(n_samples, n_rows)``."""
    n_units = n_rows if cluster is None else int(cluster.max(initial=-1)) + 1
    if n_units == 0:
        return np.zeros((n_samples, n_rows), dtype=np.float32)
    drawn = np.random.default_rng(seed).integers(0, n_units, (n_samples, n_units), dtype=np.int32)
    drawn += np.arange(0, n_samples * n_units, n_units, dtype=np.int32)[:, None]
    tally = np.bincount(drawn.ravel(), minlength=n_samples * n_units).reshape(n_samples, n_units)
    counts: FloatArray = tally.astype(np.float32)
    return counts if cluster is None else counts[:, cluster]


def resampled_means(counts: FloatArray, values: FloatArray) -> FloatArray:
    """Mean of each column in each resample, NaN left out; ``(n_samples, n_columns)``."""
    counted = np.isfinite(values)
    totals = counts @ np.where(counted, values, 0.0).astype(np.float32)
    with np.errstate(invalid="ignore", divide="ignore"):
        return totals / (counts @ counted.astype(np.float32))


def resampled_quantiles(
    counts: FloatArray, values: FloatArray, shares: Sequence[float]
) -> FloatArray:
    """Quantiles (linear, as ``numpy.quantile``) of one column in each resample.

    ``values``: shape ``(n_rows,)``, NaN left out; returns ``(n_samples, len(shares))``.
    """
    counted = np.isfinite(values)
    order = np.argsort(values[counted], kind="stable")
    in_order = values[counted][order]
    result = np.full((len(counts), len(shares)), np.nan)
    if not len(in_order):
        return result
    reached = np.cumsum(counts[:, counted][:, order], axis=1)
    total = reached[:, -1].astype(np.float64)
    filled = total > 0
    last = len(in_order) - 1
    for column, share in enumerate(shares):
        place = share * (total - 1)
        below = np.floor(place)
        low = in_order[np.minimum((reached <= below[:, None]).sum(axis=1), last)]
        above = np.minimum(below + 1, total - 1)
        high = in_order[np.minimum((reached <= above[:, None]).sum(axis=1), last)]
        result[filled, column] = (low + (place - below) * (high - low))[filled]
    return result


def intervals(resampled: FloatArray, level: float = LEVEL) -> list[Interval]:
    """The percentile interval of each column of ``(n_samples, n_columns)``."""
    tail = 100 * (1 - level) / 2
    missing = np.isnan(resampled)
    if missing.any():
        columns = [column[~gone] for column, gone in zip(resampled.T, missing.T, strict=True)]
        ends = [np.percentile(c, [tail, 100 - tail]) if len(c) else [np.nan] * 2 for c in columns]
    else:
        ends = list(np.percentile(resampled, [tail, 100 - tail], axis=0).T)
    return [Interval(float(low), float(high)) for low, high in ends]


def paired_difference(
    a: FloatArray, b: FloatArray, *, n_samples: int = N_SAMPLES, seed: int = SEED
) -> PairedDifference:
    """Mean of ``a - b`` over the clips where both are numbers, with its paired interval.

    ``a``, ``b``: one value per clip, aligned, NaN where absent.
    """
    difference = np.asarray(a, dtype=np.float64) - np.asarray(b, dtype=np.float64)
    difference = difference[np.isfinite(difference)]
    if not len(difference):
        return PairedDifference(np.nan, np.nan, np.nan, 0)
    counts = resample_counts(len(difference), n_samples=n_samples, seed=seed)
    interval = intervals(resampled_means(counts, difference[:, None]))[0]
    return PairedDifference(float(difference.mean()), interval.low, interval.high, len(difference))


def ranks(
    values: FloatArray,
    *,
    lower_is_better: bool,
    n_samples: int = N_SAMPLES,
    seed: int = SEED,
) -> list[int]:
    """1 + the number of models that are better beyond the paired interval.

    ``values``: one row per clip, one column per model, NaN where a model lacks the clip. Models
    that cannot be told apart share a rank.
    """
    n_clips, n_models = values.shape
    if n_models < 2 or n_clips == 0:
        return [1] * n_models
    first, second = np.triu_indices(n_models, k=1)
    difference = values[:, first] - values[:, second]
    if lower_is_better:
        difference = -difference
    counts = resample_counts(n_clips, n_samples=n_samples, seed=seed)
    ends = intervals(resampled_means(counts, difference))
    better_than = np.zeros(n_models, dtype=np.int64)
    for i, j, end in zip(first, second, ends, strict=True):
        better_than[j] += end.low > 0
        better_than[i] += end.high < 0
    return [int(1 + count) for count in better_than]

"""Bootstrap intervals, paired comparison and ranks with ties.

The percentile bootstrap (Efron & Tibshirani 1993, chapters 13 and 16) over clips, or over clusters
of dependent rows (a player's guesses). Resamples are counts: a matrix of shape
``(n_samples, n_rows)`` holds how often each resample contains each row, so every mean is one matrix
product.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.floating]
IntArray = npt.NDArray[np.int64]

N_SAMPLES = 1000
SEED = 20260
LEVEL = 0.95
#: Draws of up to this many values are cached, 16 MB each.
_CACHED_VALUES = 4_000_000


@dataclass(frozen=True, slots=True)
class Interval:
    """Both ends of a 95 % confidence interval, in the unit of the metric.

    Examples
    --------
    >>> import agl1k_core as ag
    >>> benchmark = ag.load_benchmark("demo")
    >>> evaluation = ag.evaluate(benchmark, ag.baseline(benchmark, "median_location"))
    >>> interval = evaluation.intervals["distance_km"]
    >>> interval.low < evaluation.metrics["distance_km"] < interval.high
    True
    """

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """One metric of two evaluations on their common clips, and the difference with its interval.

    Parameters
    ----------
    first, second
        Mean over the common clips, NaN if there are none.
    difference
        First minus second.
    low, high
        Both ends of the 95 % interval of the difference.
    n_common
        Number of common clips.

    Examples
    --------
    >>> import agl1k_core as ag
    >>> benchmark = ag.load_benchmark("demo")
    >>> evaluation = ag.evaluate(benchmark, ag.baseline(benchmark, "random"))
    >>> pair = ag.compare(evaluation, evaluation)["geoscore"]
    >>> pair.difference, pair.low, pair.high, pair.n_common, pair.is_clear
    (0.0, 0.0, 0.0, 24, False)
    """

    first: float
    second: float
    difference: float
    low: float
    high: float
    n_common: int

    @property
    def is_clear(self) -> bool:
        """Whether the interval excludes 0."""
        return self.low > 0 or self.high < 0


def resample_counts(
    n_rows: int,
    *,
    n_samples: int = N_SAMPLES,
    seed: int = SEED,
    cluster: IntArray | None = None,
) -> FloatArray:
    """How often each resample contains each row, float32 of shape ``(n_samples, n_rows)``.

    The array is shared between callers, and read-only.
    """
    n_units = n_rows if cluster is None else int(cluster.max(initial=-1)) + 1
    if n_units == 0:
        return np.zeros((n_samples, n_rows), dtype=np.float32)
    draw = _cached_draw if n_samples * n_units <= _CACHED_VALUES else _draw
    counts = draw(n_units, n_samples, seed)
    return counts if cluster is None else counts[:, cluster]


def _draw(n_units: int, n_samples: int, seed: int) -> FloatArray:
    drawn = np.random.default_rng(seed).integers(0, n_units, (n_samples, n_units), dtype=np.int32)
    drawn += np.arange(0, n_samples * n_units, n_units, dtype=np.int32)[:, None]
    tally = np.bincount(drawn.ravel(), minlength=n_samples * n_units).reshape(n_samples, n_units)
    counts: FloatArray = tally.astype(np.float32, order="F")  # rows are selected most often
    counts.flags.writeable = False
    return counts


#: All files on one benchmark use the same resamples.
_cached_draw = lru_cache(maxsize=2)(_draw)


def resampled_means(counts: FloatArray, values: FloatArray) -> FloatArray:
    """Mean of each column in each resample, NaN left out; ``(n_samples, n_columns)``."""
    counted = np.isfinite(values)
    totals = counts @ np.where(counted, values, 0.0).astype(np.float32)
    with np.errstate(invalid="ignore", divide="ignore"):
        return totals / (counts @ counted.astype(np.float32))


@dataclass(frozen=True, slots=True)
class QuantilePlaces:
    """Positions of quantiles among ascending numbers: ``weight`` of the way from low to high.

    All of shape ``(n_samples, n_shares)``; the weight is NaN if a resample is empty.
    """

    low: IntArray
    high: IntArray
    weight: FloatArray

    def of(self, in_order: FloatArray) -> FloatArray:
        """The quantiles of ascending numbers, NaN if there are none."""
        if not len(in_order):
            return np.full(self.weight.shape, np.nan)
        low = in_order[self.low]
        return low + self.weight * (in_order[self.high] - low)


def quantile_places(counts: FloatArray, shares: Sequence[float]) -> QuantilePlaces:
    """Positions of quantiles (linear, as ``numpy.quantile``) in each resample of ascending numbers.

    Running totals continue from one resample to the next, so that one search finds all positions.
    """
    n_samples, n_rows = counts.shape
    total = counts.sum(axis=1, dtype=np.int64)[:, None]
    ranks = places_among(total, shares)
    reached = np.cumsum(counts, dtype=np.int64)
    before = np.cumsum(total)[:, None] - total
    first = np.arange(n_samples)[:, None] * n_rows
    low, high = (
        np.clip(np.searchsorted(reached, before + rank, side="right") - first, 0, n_rows - 1)
        for rank in (ranks.low, ranks.high)
    )
    return QuantilePlaces(low, high, ranks.weight)


def places_among(total: int | IntArray, shares: Sequence[float]) -> QuantilePlaces:
    """Positions of quantiles among ``total`` ascending numbers, a count or a column of them."""
    total = np.atleast_2d(total)
    place = np.maximum(total - 1, 0) * np.asarray(shares)
    low = np.floor(place).astype(np.int64)
    high = np.minimum(low + 1, np.maximum(total - 1, 0))
    return QuantilePlaces(low, high, np.where(total > 0, place - low, np.nan))


@lru_cache(maxsize=128)
def _independent_places(
    n_rows: int, shares: tuple[float, ...], n_samples: int, seed: int
) -> QuantilePlaces:
    """Positions in resamples of ``n_rows`` rows without clusters, whatever the numbers."""
    return quantile_places(_draw(n_rows, n_samples, seed), shares)


@dataclass(frozen=True)
class Resamples:
    """Resamples of rows, or of whole clusters of them."""

    n_rows: int
    n_samples: int = N_SAMPLES
    seed: int = SEED
    cluster: IntArray | None = None

    @cached_property
    def counts(self) -> FloatArray:
        """See ``resample_counts``."""
        return resample_counts(
            self.n_rows, n_samples=self.n_samples, seed=self.seed, cluster=self.cluster
        )

    def quantiles(self, values: FloatArray, rows: IntArray, shares: Sequence[float]) -> FloatArray:
        """Quantiles of the values of some ``rows``, given in ascending order of their values.

        Rows without clusters are resampled among themselves, so that the positions depend only on
        their number and are found once. Returns shape ``(n_samples, len(shares))``.
        """
        if not len(rows):
            return np.full((self.n_samples, len(shares)), np.nan)
        if self.cluster is None:
            places = _independent_places(len(rows), tuple(shares), self.n_samples, self.seed)
        else:
            places = quantile_places(self.counts[:, rows], shares)
        return places.of(values[rows])


def interval_ends(resampled: FloatArray, level: float = LEVEL) -> FloatArray:
    """The percentile interval along the last axis, NaN left out; that axis becomes (low, high)."""
    in_order = np.sort(resampled, axis=-1)  # NaN goes to the end
    last = np.isfinite(in_order).sum(axis=-1, keepdims=True) - 1
    tail = (1 - level) / 2
    place = np.maximum(last, 0) * np.array([tail, 1 - tail])
    below = np.floor(place).astype(np.intp)
    low = np.take_along_axis(in_order, below, axis=-1)
    high = np.take_along_axis(in_order, np.minimum(below + 1, np.maximum(last, 0)), axis=-1)
    ends: FloatArray = low + (place - below) * (high - low)
    return ends


def intervals(resampled: FloatArray, level: float = LEVEL) -> list[Interval]:
    """The percentile interval of each column of ``(n_samples, n_columns)``."""
    return [Interval(low, high) for low, high in interval_ends(resampled.T, level).tolist()]


def paired_difference(
    a: FloatArray, b: FloatArray, *, n_samples: int = N_SAMPLES, seed: int = SEED
) -> PairedDifference:
    """Mean of ``a - b`` over the clips for which both are numbers, with its paired interval.

    ``a``, ``b``: one value per clip, aligned, NaN if absent.
    """
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    common = np.isfinite(a) & np.isfinite(b)
    if not common.any():
        return PairedDifference(np.nan, np.nan, np.nan, np.nan, np.nan, 0)
    a, b = a[common], b[common]
    difference = a - b
    counts = resample_counts(len(difference), n_samples=n_samples, seed=seed)
    interval = intervals(resampled_means(counts, difference[:, None]))[0]
    first, second, mean = (float(values.mean()) for values in (a, b, difference))
    return PairedDifference(first, second, mean, interval.low, interval.high, len(difference))


def ranks(
    values: FloatArray,
    *,
    lower_is_better: bool,
    n_samples: int = N_SAMPLES,
    seed: int = SEED,
) -> list[int]:
    """1 + the number of models that are better beyond the paired interval.

    ``values``: one row per clip, one column per model, NaN if the model lacks the clip. Models
    that cannot be told apart share a rank.
    """
    n_clips, n_models = values.shape
    if n_models < 2 or n_clips == 0:
        return [1] * n_models
    better = values if lower_is_better else -values
    counts = resample_counts(n_clips, n_samples=n_samples, seed=seed)
    means = resampled_means(counts, better)
    counted = np.isfinite(better)
    beaten_by = np.zeros(n_models, dtype=np.int64)
    for model in range(n_models - 1):
        others = np.arange(model + 1, n_models)
        difference = means[:, [model]] - means[:, others]
        # models that lack different clips are compared on their common clips
        apart = others[(counted[:, others] != counted[:, [model]]).any(axis=0)]
        if len(apart):
            common = better[:, [model]] - better[:, apart]
            difference[:, apart - model - 1] = resampled_means(counts, common)
        low, high = interval_ends(difference.T).T
        beaten_by[others] += high < 0
        beaten_by[model] += int((low > 0).sum())
    return [int(1 + count) for count in beaten_by]

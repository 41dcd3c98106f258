"""95 % intervals of means, shares and quantiles, in closed form.

Sources
-------
* Means: Student's t after Hall's cubic transformation, which removes the skewness (Hall 1992, "On
  the removal of skewness by transformation", J. R. Stat. Soc. B 54). A geoscore is 0 for most clips
  and large for a few; a plain t interval would be too low for it.
* Shares: Wilson's score interval (Wilson 1927), with the correction for 1 to 3 hits of Brown, Cai &
  DasGupta 2001, "Interval estimation for a binomial proportion", section 4.1.
* Dependent rows, such as the guesses of one player: the variance over clusters, an effective
  number of rows (Korn & Graubard 1998), and degrees of freedom from Kish's number of clusters.
* Means that weigh strata alike: Welch-Satterthwaite. Such shares: the limits of the strata's own
  intervals, combined (Zou & Donner 2008).
* Quantiles: the quantiles at the limits of the share's interval (Woodruff 1952).

How often they contain the true value is measured by ``python -m perf coverage``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

FloatArray = npt.NDArray[np.float64]

LEVEL = 0.95


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
class Spread:
    """How far estimated means may be from the true ones; all arrays have the means' shape.

    ``variance`` and ``skewness`` are those of the mean, not of a row; ``df`` are the degrees of
    freedom of the variance. NaN if the rows do not tell.
    """

    variance: FloatArray
    skewness: FloatArray
    df: FloatArray


def critical(df: FloatArray, level: float = LEVEL) -> FloatArray:
    """The two-sided critical value of Student's t; infinite ``df`` gives the normal one."""
    return np.asarray(special.stdtrit(df, (1 + level) / 2), dtype=np.float64)


def mean_ends(mean: FloatArray, spread: Spread, bounds: FloatArray) -> FloatArray:
    """Both ends for means of numbers within ``bounds``; a last axis (low, high) is added.

    ``bounds`` has a last axis (least, greatest) and broadcasts otherwise.
    """
    error = np.sqrt(spread.variance)
    t = critical(spread.df)
    low = mean - error * _without_skewness(t, spread.skewness)
    high = mean - error * _without_skewness(-t, spread.skewness)
    return np.clip(np.stack([low, high], axis=-1), bounds[..., :1], bounds[..., 1:])


def _without_skewness(t: FloatArray, skewness: FloatArray) -> FloatArray:
    """The studentised mean at which Hall's transformation is ``t`` (Hall 1992)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        curved = 3 / skewness * (np.cbrt(1 + skewness * (t - skewness / 6)) - 1)
    return np.where(np.abs(skewness) > 1e-6, curved, t)


def share_ends(share: FloatArray, n: FloatArray, df: FloatArray | None = None) -> FloatArray:
    """Both ends for shares of ``n`` rows; a last axis (low, high) is added, NaN if ``n`` is 0.

    With ``df``, ``n`` is an effective number of rows, whose variance was estimated.
    """
    z = critical(np.full(share.shape, np.inf) if df is None else df)
    with np.errstate(divide="ignore", invalid="ignore"):
        centre = share + z**2 / (2 * n)
        half = z * np.sqrt(share * (1 - share) / n + (z / (2 * n)) ** 2)
        ends = np.stack([centre - half, centre + half], axis=-1) / (1 + z**2 / n)[..., None]
    if df is None:
        ends[..., 0] = _few_hits(ends[..., 0], share, n)
        ends[..., 1] = 1 - _few_hits(1 - ends[..., 1], 1 - share, n)
    ends[..., 0][share <= 0], ends[..., 1][share >= 1] = 0, 1  # not so after rounding
    return np.where((n > 0)[..., None], np.clip(ends, 0, 1), np.nan)


def _few_hits(low: FloatArray, share: FloatArray, n: FloatArray) -> FloatArray:
    """Wilson's lower end is too high for 1 to 3 hits; the Poisson one is taken there."""
    hits = np.rint(share * n)
    few = (hits >= 1) & (hits <= np.where(n > 50, 3, 2))
    corrected = low.copy()
    corrected[few] = special.gammaincinv(hits[few], 1 - LEVEL) / n[few]
    return corrected


def combined_ends(means: FloatArray, ends: FloatArray, weights: FloatArray) -> FloatArray:
    """Both ends for a weighted sum over the last axis of ``means``, each with its own ``ends``."""
    weights = np.broadcast_to(weights, means.shape)
    total = np.where(weights > 0, weights * means, 0).sum(axis=-1)
    apart = np.where(weights[..., None] > 0, weights[..., None] * (ends - means[..., None]), 0)
    half = np.sqrt((apart**2).sum(axis=-2))
    return np.stack([total - half[..., 0], total + half[..., 1]], axis=-1)


def quantile_ends(in_order: FloatArray, limits: FloatArray) -> FloatArray:
    """The quantiles of ascending numbers at ``limits``, the ends of the share's interval."""
    if not len(in_order):
        return np.full(limits.shape, np.nan)
    places = np.clip(limits * (len(in_order) + 1) - 1, 0, len(in_order) - 1)
    ends = np.interp(places, np.arange(len(in_order)), in_order)
    return np.where(np.isnan(limits), np.nan, ends)

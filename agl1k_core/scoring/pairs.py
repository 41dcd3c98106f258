"""Whether two models differ on the clips that both have.

Sources
-------
* Numbers: Student's paired t. Equal models have symmetric differences, for which it holds its
  level. It never says more than the sign test could: with ``m`` clips on which the two differ, the
  p-value is at least ``2^(1 - m)``, so that fewer than 6 such clips are never enough.
* Shares: McNemar's test of the clips that only one has right, with 1 added to both counts, and the
  interval of Bonett & Price 2012, "Adjusted Wald confidence interval for a difference of binomial
  proportions based on paired data".
* Many pairs: Holm 1979, "A simple sequentially rejective multiple test procedure". Among equal
  models, the probability of calling any pair different is at most 5 %.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

from agl1k_core.scoring.intervals import LEVEL, critical

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

ALPHA = 1 - LEVEL
#: So many clips on which two models differ never limit a p-value, however many pairs there are.
_PLENTY = 64
_CLIPS_AT_ONCE = 128


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
    p_value
        How probable a difference at least as large is between equal models.

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
    p_value: float = 1.0

    @property
    def is_clear(self) -> bool:
        """Whether the difference is more than chance, with a p-value below 5 %."""
        return self.p_value < ALPHA


def paired_difference(a: FloatArray, b: FloatArray) -> PairedDifference:
    """Mean of ``a - b`` over the clips for which both are numbers, with its interval.

    ``a``, ``b``: one value per clip, aligned, NaN if absent.
    """
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    common = np.isfinite(a) & np.isfinite(b)
    if not common.any():
        return PairedDifference(np.nan, np.nan, np.nan, np.nan, np.nan, 0)
    a, b = a[common], b[common]
    values = np.column_stack([a, b])
    p_value = float(p_values(values)[0, 1])
    difference = a - b
    half = _half_width(difference, shares=_are_shares(values))
    mean = float(difference.mean())
    low, high = mean - half, mean + half
    if p_value >= ALPHA:  # the interval must not say more than the test
        low, high = min(low, 0.0), max(high, 0.0)
    first, second = float(a.mean()), float(b.mean())
    return PairedDifference(first, second, mean, low, high, len(difference), p_value)


def _half_width(difference: FloatArray, *, shares: bool) -> float:
    n = len(difference)
    if shares:
        n += 2
        mean = difference.sum() / n
        apart = (np.abs(difference).sum() + 2) / n
        return float(critical(np.array(np.inf)) * np.sqrt((apart - mean**2) / n))
    if n < 2:
        return 0.0
    return float(critical(np.array(n - 1.0)) * difference.std(ddof=1) / np.sqrt(n))


def _are_shares(values: FloatArray) -> bool:
    return bool(((values == 0) | (values == 1) | np.isnan(values)).all())


def p_values(values: FloatArray) -> FloatArray:
    """The p-value of each pair of columns, shape ``(n_models, n_models)``; 1 on the diagonal.

    ``values``: one row per clip, one column per model, NaN if the model lacks the clip.
    """
    known = np.isfinite(values).astype(np.float64)
    filled = np.where(known > 0, values, 0.0)
    if not _are_shares(values):  # near 0, so that differences of large numbers keep their digits
        centre = filled.sum(axis=1, keepdims=True) / np.maximum(known.sum(axis=1, keepdims=True), 1)
        filled = np.where(known > 0, filled - centre, 0.0)
    n = known.T @ known
    total = filled.T @ known
    total = total - total.T
    squares = (filled**2).T @ known
    squares = squares + squares.T - 2 * filled.T @ filled
    found = (
        _mcnemar(total, squares) if _are_shares(values) else _paired_t(values, n, total, squares)
    )
    np.fill_diagonal(found, 1.0)
    return found


def _mcnemar(total: FloatArray, n_apart: FloatArray) -> FloatArray:
    return np.asarray(2 * special.ndtr(-np.abs(total) / np.sqrt(n_apart + 2)), dtype=np.float64)


def _paired_t(
    values: FloatArray, n: FloatArray, total: FloatArray, squares: FloatArray
) -> FloatArray:
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = total / n
        left = squares - total * mean
        left[left < 1e-12 * squares] = 0  # rounding is no spread
        t = np.abs(mean) / np.sqrt(left / (n - 1) / n)
        p = np.where(n > 1, 2 * special.stdtr(np.maximum(n - 1, 1), -t), 1.0)
    p[total**2 <= 1e-18 * squares] = 1.0
    least = np.exp2(1 - _n_apart(values))
    return np.asarray(np.clip(np.nan_to_num(p, nan=1.0), least, 1.0))


def _n_apart(values: FloatArray) -> FloatArray:
    """On how many common clips each two columns differ; counting may stop at `_PLENTY`."""
    n_clips, n_models = values.shape
    apart = np.zeros((n_models, n_models))
    for first in range(0, n_clips, _CLIPS_AT_ONCE):
        few = np.flatnonzero((apart + _PLENTY * np.eye(n_models) < _PLENTY).any(axis=1))
        part = values[first : first + _CLIPS_AT_ONCE]
        known = np.isfinite(part)
        for model in few:
            differ = (part[:, [model]] != part) & known[:, [model]] & known
            apart[model] += differ.sum(axis=0)
    return apart


def holm(p: FloatArray) -> FloatArray:
    """p-values adjusted for their number (Holm 1979), of the same shape ``(n,)``."""
    order = np.argsort(p, kind="stable")
    scaled = p[order] * np.arange(len(p), 0, -1)
    adjusted = np.empty_like(scaled)
    adjusted[order] = np.minimum(np.maximum.accumulate(scaled), 1.0)
    return adjusted


def clearly_apart(p: FloatArray) -> BoolArray:
    """Which pairs of ``p_values`` are clearly apart, all pairs considered together."""
    upper = np.triu_indices(len(p), k=1)
    clear = np.zeros(p.shape, dtype=np.bool_)
    clear[upper] = holm(p[upper]) < ALPHA
    return clear | clear.T

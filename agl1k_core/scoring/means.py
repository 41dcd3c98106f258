"""The 95 % interval of one mean."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from agl1k_core.scoring import _uncertainty, intervals
from agl1k_core.scoring._groups import Groups
from agl1k_core.scoring._uncertainty import Columns
from agl1k_core.scoring.intervals import Interval


def mean_interval(values: npt.ArrayLike, bounds: tuple[float, float] | None = None) -> Interval:
    """The 95 % interval of the mean of independent numbers, by the formulas of all metrics.

    Parameters
    ----------
    values
        Numbers, shape ``(n,)``; NaN is left out.
    bounds
        The least and the greatest value that a number may have; None if all are 0 or 1.

    Returns
    -------
    Interval
        NaN if the numbers do not allow one.

    Examples
    --------
    >>> interval = mean_interval([1, 1, 0, 1])
    >>> round(interval.low, 2), round(interval.high, 2)
    (0.3, 0.99)
    """
    numbers = np.asarray(values, dtype=np.float64)
    numbers = numbers[np.isfinite(numbers)]
    if not len(numbers):
        return Interval(np.nan, np.nan)
    if bounds is None:
        share = np.array([numbers.mean()])
        ends = intervals.share_ends(share, np.full(1, len(numbers), dtype=np.float64))[0]
    else:
        groups = Groups([np.ones(len(numbers), dtype=np.bool_)], np.arange(len(numbers)))
        columns = Columns(numbers[:, None], {0: bounds}, ())
        ends = _uncertainty.mean_ends(columns, groups, groups.sums(columns.values))[0][0, 0]
    return Interval(float(ends[0]), float(ends[1]))

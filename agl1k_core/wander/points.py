"""The score of one guess, 0 to 100. That its scale is the geoscore's is an assumption."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

SCALE_KM = 1492.7
_MOST = 100.0


def points(distance_km: npt.ArrayLike, scale_km: float = SCALE_KM) -> npt.NDArray[np.float64]:
    """``100·exp(−distance_km / scale_km)`` for distances of any shape, in km."""
    return _MOST * np.exp(-np.asarray(distance_km, dtype=np.float64) / scale_km)

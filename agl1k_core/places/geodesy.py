"""Distances on the WGS-84 ellipsoid, the geoscore, and the lines to draw.

Conventions: degrees, latitude before longitude; distances in km. A pair in which either point is
no point (not finite, or a latitude beyond ±90) has the distance NaN; longitudes wrap.

The paper's text names the haversine formula (Zhang et al. 2026, eq. 3); its published numbers
are ellipsoidal geodesics, and so are ours.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from pyproj import Geod

FloatArray = npt.NDArray[np.float64]

#: What a clip counts as when there is no usable point (Zhang et al. 2026, appendix A.3.1).
NO_POINT_KM = 10_000.0
MAX_GEOSCORE = 5000.0
GEOSCORE_SCALE_KM = 1492.7

_WGS84 = Geod(ellps="WGS84")


def geodesic_km(
    lat1: npt.ArrayLike, lon1: npt.ArrayLike, lat2: npt.ArrayLike, lon2: npt.ArrayLike
) -> FloatArray:
    """Distance between points along the WGS-84 ellipsoid (Karney 2013).

    Parameters
    ----------
    lat1, lon1, lat2, lon2
        Degrees, as numbers or arrays that broadcast against each other.

    Returns
    -------
    numpy.ndarray
        Kilometres, in the broadcast shape; NaN where either point is not a point.

    Examples
    --------
    >>> float(geodesic_km(48.8566, 2.3522, 51.5074, -0.1278).round(1))
    343.9
    >>> geodesic_km([0, 0], [0, 0], [0, float("nan")], [1, 1]).round(1)
    array([111.3,   nan])
    """
    columns = np.broadcast_arrays(
        *(np.asarray(c, dtype=np.float64) for c in (lat1, lon1, lat2, lon2))
    )
    a_lat, a_lon, b_lat, b_lon = (np.array(column, ndmin=1) for column in columns)
    usable = is_point(a_lat, a_lon) & is_point(b_lat, b_lon)
    distance_km = np.full(usable.shape, np.nan)
    if usable.any():
        _, _, metres = _WGS84.inv(a_lon[usable], a_lat[usable], b_lon[usable], b_lat[usable])
        distance_km[usable] = np.asarray(metres) / 1000.0
    return distance_km.reshape(columns[0].shape)


def is_point(lat: npt.ArrayLike, lon: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """Whether each pair is a point: finite, with a latitude from -90 to 90."""
    lat, lon = np.asarray(lat, dtype=np.float64), np.asarray(lon, dtype=np.float64)
    return np.asarray(np.isfinite(lat) & np.isfinite(lon) & (np.abs(lat) <= 90.0))


def geoscore(distance_km: npt.ArrayLike) -> FloatArray:
    """Points for a guess: ``5000·exp(−d/1492.7)`` (Zhang et al. 2026, appendix A.3).

    Parameters
    ----------
    distance_km
        Distance from the true place in kilometres, a number or an array.

    Returns
    -------
    numpy.ndarray
        5000 at the true place, falling towards 0; NaN if the distance is NaN.

    Examples
    --------
    >>> geoscore([0, 100, 1492.7, 10_000]).round()
    array([5000., 4676., 1839.,    6.])
    """
    return MAX_GEOSCORE * np.exp(-np.asarray(distance_km, dtype=np.float64) / GEOSCORE_SCALE_KM)


def wrap_longitude(lon: float) -> float:
    """The same meridian from -180 up to, not including, 180."""
    return (lon + 180.0) % 360.0 - 180.0


def geodesic_line(
    lat1: float, lon1: float, lat2: float, lon2: float, n: int = 64
) -> list[tuple[float, float]]:
    """``n`` points (lat, lon) along the geodesic, both ends included.

    The line starts at ``lon1``; its longitudes run on continuously, so they pass ±180 where the
    short way crosses the date line.
    """
    if n < 2:
        raise ValueError(f"a line needs at least 2 points, not {n}")
    between = _WGS84.npts(lon1, lat1, lon2, lat2, n - 2) if n > 2 else []
    lons = np.array([lon1, *(lon for lon, _ in between), lon2])
    lats = [lat1, *(lat for _, lat in between), lat2]
    unwrapped = np.unwrap(lons, period=360.0)
    return [(float(lat), float(lon)) for lat, lon in zip(lats, unwrapped, strict=True)]


def compass_direction(lat1: float, lon1: float, lat2: float, lon2: float) -> str:
    """The direction, in words, in which the second point lies from the first."""
    azimuth, _, _ = _WGS84.inv(lon1, lat1, lon2, lat2)
    names = (
        "north",
        "north-east",
        "east",
        "south-east",
        "south",
        "south-west",
        "west",
        "north-west",
    )
    return names[round(azimuth / 45.0) % 8]

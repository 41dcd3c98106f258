"""Distances on the WGS-84 ellipsoid, the geoscore, and lines to draw.

Conventions: degrees, latitude before longitude; distances in km. Longitudes wrap. A coordinate that
is not finite, or a latitude beyond ±90, is not a point; distances to it are NaN.

Zhang et al. 2026, "The Sonar Moment", names the haversine formula (eq. 3); its published numbers
are ellipsoidal geodesics, and so are ours.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from pyproj import Geod

FloatArray = npt.NDArray[np.float64]

#: The distance of a clip without a usable point (Zhang et al. 2026, appendix A.3.1).
NO_POINT_KM = 10_000.0
MAX_GEOSCORE = 5000.0
GEOSCORE_SCALE_KM = 1492.7

#: The mean radius of the Earth, for what is computed on a sphere.
EARTH_KM = 6371.0088

#: The longest step of a line that is drawn.
_LINE_STEP_M = 250_000.0

_WGS84 = Geod(ellps="WGS84")
_DIRECTIONS = (
    "north", "north-east", "east", "south-east", "south", "south-west", "west", "north-west",
)  # fmt: skip


def geodesic_km(
    lat1: npt.ArrayLike, lon1: npt.ArrayLike, lat2: npt.ArrayLike, lon2: npt.ArrayLike
) -> FloatArray:
    """Geodesic distance between pairs of points.

    The distance of equation (3) of Zhang et al. 2026, "The Sonar Moment", on the WGS-84 ellipsoid
    (Karney 2013) in place of a sphere.

    Parameters
    ----------
    lat1, lon1
        First points, in degrees.
    lat2, lon2
        Second points, in degrees. All four broadcast.

    Returns
    -------
    ndarray of float64
        Distances in km, in the shape of the broadcast arguments; NaN if either is not a point.

    Examples
    --------
    >>> geodesic_km(48.8566, 2.3522, [51.5074, 95.0], [-0.1278, 0.0]).round(1)  # Paris, London
    array([343.9,   nan])
    """
    columns = np.broadcast_arrays(
        *(np.asarray(c, dtype=np.float64) for c in (lat1, lon1, lat2, lon2))
    )
    a_lat, a_lon, b_lat, b_lon = (np.array(column, ndmin=1) for column in columns)
    usable = _is_point(a_lat, a_lon) & _is_point(b_lat, b_lon)
    distance_km = np.full(usable.shape, np.nan)
    if usable.any():
        _, _, metres = _WGS84.inv(a_lon[usable], a_lat[usable], b_lon[usable], b_lat[usable])
        distance_km[usable] = np.asarray(metres) / 1000.0
    return distance_km.reshape(columns[0].shape)


def pair_km(lat1: float, lon1: float, lat2: float, lon2: float) -> float:
    """The ``geodesic_km`` of a single pair, in a tenth of its time; both must be points.

    Examples
    --------
    >>> round(pair_km(48.8566, 2.3522, 51.5074, -0.1278), 1)
    343.9
    """
    metres: float = _WGS84.inv(lon1, lat1, lon2, lat2)[2]
    return metres / 1000.0


def _is_point(lat: npt.ArrayLike, lon: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """Whether coordinates are a point: finite, with a latitude from -90 to 90."""
    lat, lon = np.asarray(lat, dtype=np.float64), np.asarray(lon, dtype=np.float64)
    return np.asarray(np.isfinite(lat) & np.isfinite(lon) & (np.abs(lat) <= 90.0))


def geoscore(distance_km: npt.ArrayLike) -> FloatArray:
    """Score distances: 5000 at the true place, approaching 0 with distance.

    ``5000 exp(-d / 1492.7)``, as in Zhang et al. 2026, "The Sonar Moment", section 4.1.2 (after the
    game GeoGuessr).

    Parameters
    ----------
    distance_km
        Distances in km, of any shape.

    Returns
    -------
    ndarray of float64
        Scores from 0 to 5000, in the same shape; NaN for NaN.

    Examples
    --------
    >>> geoscore([0.0, 343.9, 10_000.0]).round(1)
    array([5000. , 3971.1,    6.2])
    """
    return MAX_GEOSCORE * np.exp(-np.asarray(distance_km, dtype=np.float64) / GEOSCORE_SCALE_KM)


def geodesic_line(
    lat1: float, lon1: float, lat2: float, lon2: float, n: int | None = None
) -> list[tuple[float, float]]:
    """Points (lat, lon) along the geodesic, including both ends; ``n`` is at least 2.

    By default they are 250 km apart at most: straight lines between them are then less than 1.3 km
    off. The line starts at ``lon1`` and its longitudes are continuous, so they go past ±180 if the
    shortest way crosses the date line.
    """
    if n is not None and n < 2:
        raise ValueError(f"a line needs at least 2 points, not {n}")
    metres = _WGS84.inv(lon1, lat1, lon2, lat2)[2] if n is None else 0.0
    n_between = math.ceil(metres / _LINE_STEP_M) - 1 if n is None else n - 2
    between = _WGS84.npts(lon1, lat1, lon2, lat2, n_between) if n_between > 0 else []
    line = [(lat1, lon1)]
    for lon, lat in [*between, (lon2, lat2)]:
        turns = round((line[-1][1] - lon) / 360.0)
        line.append((lat, lon + 360.0 * turns))
    return line


def compass_direction(lat1: float, lon1: float, lat2: float, lon2: float) -> str:
    """The direction of the second point from the first, in words."""
    azimuth, _, _ = _WGS84.inv(lon1, lat1, lon2, lat2)
    return bearing_in_words(azimuth)


def bearing_in_words(degrees: float) -> str:
    """The direction of a bearing, in degrees clockwise from north.

    Examples
    --------
    >>> bearing_in_words(50.0), bearing_in_words(-20.0)
    ('north-east', 'north')
    """
    return _DIRECTIONS[round(degrees / 45.0) % 8]


def unit_vectors(lat: npt.ArrayLike, lon: npt.ArrayLike) -> FloatArray:
    """Points on the unit sphere: of two, the nearer in space is the nearer on the sphere.

    Parameters
    ----------
    lat, lon
        Degrees, shape ``(n,)``.

    Returns
    -------
    ndarray, shape (n, 3)
        ``x`` towards 0°N 0°E, ``y`` towards 0°N 90°E, ``z`` towards the north pole.

    Examples
    --------
    >>> unit_vectors([0.0, 90.0], [90.0, 0.0]).round(3).tolist()
    [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    phi, theta = np.radians(np.asarray(lat)), np.radians(np.asarray(lon))
    across = np.cos(phi)
    return np.column_stack([across * np.cos(theta), across * np.sin(theta), np.sin(phi)])


def great_circle_km(chord: npt.ArrayLike) -> FloatArray:
    """Distance on the sphere between unit vectors whose distance in space is ``chord``."""
    half = np.minimum(np.asarray(chord, dtype=np.float64) / 2, 1.0)
    return 2 * EARTH_KM * np.arcsin(half)

"""How far countries reach, as views of maps that show a place among its surroundings."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np

from agl1k_core.places.geocoder import label_points, populated_places

#: Shares of a country's places beyond the view on each side: Alaska and Hawaii do not decide how
#: much of the United States a map shows.
_LEFT_OUT = 0.02
_MARGIN = 0.2
_LEAST_MARGIN_DEG = 1.5
_MOST_NORTH = 84.0
#: Places that are remembered: all clips of a benchmark.
_MOST_KEPT = 4096


class Extent(NamedTuple):
    """A box in degrees; across the date line, ``west`` or ``east`` exceeds ±180."""

    south: float
    west: float
    north: float
    east: float


@lru_cache(_MOST_KEPT)
def surroundings(lat: float, lon: float) -> Extent | None:
    """The country around a point and the edges of its neighbours; None if the point has no country.

    Parameters
    ----------
    lat, lon : float
        Degrees. The country is that of the nearest populated place.

    Returns
    -------
    Extent or None
        Around all but the outermost 4 % of the country's populated places, and the point.

    Examples
    --------
    >>> [round(edge) for edge in surroundings(46.95, 7.45)]  # Switzerland
    [45, 5, 49, 11]
    """
    code = label_points([lat], [lon])[0].country_code
    if not code:
        return None
    south, west, north, east = _country(code)
    at = lon + 360 * round(((west + east) / 2 - lon) / 360)
    return _widened(min(south, lat), min(west, at), max(north, lat), max(east, at))


@cache
def _country(code: str) -> tuple[float, float, float, float]:
    places = populated_places()
    inside = places.country_codes == code
    lat, lon = places.lat[inside], places.lon[inside]
    middle = np.degrees(np.angle(np.exp(1j * np.radians(lon)).mean()))
    around = middle + (lon - middle + 180) % 360 - 180
    shares = [_LEFT_OUT, 1 - _LEFT_OUT]
    (south, north), (west, east) = np.quantile(lat, shares), np.quantile(around, shares)
    return float(south), float(west), float(north), float(east)


def _widened(south: float, west: float, north: float, east: float) -> Extent:
    tall = max(_MARGIN * (north - south), _LEAST_MARGIN_DEG)
    wide = max(_MARGIN * (east - west), _LEAST_MARGIN_DEG)
    return Extent(
        max(south - tall, -_MOST_NORTH), west - wide, min(north + tall, _MOST_NORTH), east + wide
    )

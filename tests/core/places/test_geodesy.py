"""Distances, scores and lines, against geopy and known values."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from geopy.distance import geodesic
from hypothesis import given
from hypothesis import strategies as st

from agl1k_core import places

lats = st.floats(-90, 90)
lons = st.floats(-180, 180)


@given(lats, lons, lats, lons)
def test_distance_agrees_with_geopy(lat1: float, lon1: float, lat2: float, lon2: float) -> None:
    ours = float(places.geodesic_km(lat1, lon1, lat2, lon2))
    assert ours == pytest.approx(geodesic((lat1, lon1), (lat2, lon2)).km, abs=1e-6)


@pytest.mark.parametrize(
    "point", [(math.nan, 0), (0, math.nan), (math.inf, 0), (0, -math.inf), (90.01, 0), (-145, 0)]
)
def test_only_points_have_a_distance(point: tuple[float, float]) -> None:
    distances = places.geodesic_km([1.0, point[0]], [2.0, point[1]], [1.0, 1.0], [2.0, 2.0])
    assert distances[0] == 0
    assert math.isnan(distances[1])


@given(lats, lons, st.integers(-2, 2))
def test_longitudes_wrap(lat: float, lon: float, turns: int) -> None:
    assert float(places.geodesic_km(lat, lon + 360 * turns, lat, lon)) == pytest.approx(0, abs=1e-6)


def test_distance_keeps_the_shape_of_its_input() -> None:
    assert places.geodesic_km(np.zeros((2, 3)), 0, 1, 1).shape == (2, 3)
    assert places.geodesic_km([], [], [], []).shape == (0,)


def test_geoscore_known_values() -> None:
    assert places.geoscore(0) == 5000
    assert places.geoscore(1492.7) == pytest.approx(5000 / math.e, rel=1e-12)
    assert places.geoscore(10_000) == pytest.approx(6.16, abs=0.01)
    assert np.isnan(places.geoscore(math.nan))


@given(lats, lons, lats, lons, st.integers(2, 40))
def test_line_is_continuous_and_ends_at_its_points(
    lat1: float, lon1: float, lat2: float, lon2: float, n: int
) -> None:
    line = places.geodesic_line(lat1, lon1, lat2, lon2, n)
    assert len(line) == n
    assert line[0] == (lat1, lon1)
    assert line[-1][0] == lat2
    assert (line[-1][1] - lon2) % 360 == pytest.approx(0, abs=1e-6) or (
        line[-1][1] - lon2
    ) % 360 == pytest.approx(360, abs=1e-6)
    steps = np.diff([lon for _, lon in line])
    assert np.all(np.abs(steps) <= 180 + 1e-9)


@given(lats, lons, lats, lons)
def test_a_single_pair_has_the_same_distance(
    lat1: float, lon1: float, lat2: float, lon2: float
) -> None:
    assert places.pair_km(lat1, lon1, lat2, lon2) == places.geodesic_km(lat1, lon1, lat2, lon2)


@given(lats, lons, lats, lons)
def test_a_line_has_a_point_at_least_every_250_km(
    lat1: float, lon1: float, lat2: float, lon2: float
) -> None:
    line = places.geodesic_line(lat1, lon1, lat2, lon2)
    steps_km = [places.pair_km(*here, *there) for here, there in pairwise(line)]
    assert all(step <= 250.001 for step in steps_km)
    assert sum(steps_km) == pytest.approx(places.pair_km(lat1, lon1, lat2, lon2), abs=1e-3)


def test_line_from_fiji_to_alaska_takes_the_short_way() -> None:
    line = places.geodesic_line(-17.8, 178.0, 61.2, -149.9)
    longitudes = [lon for _, lon in line]
    assert longitudes[-1] == pytest.approx(210.1)
    assert max(longitudes) - min(longitudes) < 40


def test_line_of_one_point_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 2 points, not 1"):
        places.geodesic_line(0, 0, 1, 1, n=1)


@pytest.mark.parametrize(
    ("there", "direction"), [((10, 0), "north"), ((0, 10), "east"), ((-9, -10), "south-west")]
)
def test_compass(there: tuple[float, float], direction: str) -> None:
    assert places.compass_direction(0, 0, *there) == direction

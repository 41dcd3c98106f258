from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agl1k_core.places import Extent, populated_places, surroundings

Point = tuple[float, float]


def extent(lat: float, lon: float) -> Extent:
    found = surroundings(lat, lon)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("point", "inside", "outside"),
    [
        ((48.86, 2.35), [(43.3, 5.4), (48.4, -4.5), (50.6, 3.1)], [(55.0, 12.0)]),  # France
        ((40.71, -74.01), [(34.0, -118.2), (47.6, -122.3), (25.8, -80.2)], [(64.8, -147.7)]),
        ((1.29, 103.85), [(1.49, 103.74), (2.03, 103.32)], [(13.75, 100.5)]),
        ((-36.85, 174.76), [(-45.9, 170.5)], [(-33.9, 151.2)]),  # New Zealand
    ],
)
def test_the_country_and_its_neighbours_are_shown(
    point: Point, inside: list[Point], outside: list[Point]
) -> None:
    south, west, north, east = extent(*point)
    for lat, lon in [point, *inside]:
        assert south < lat < north
        assert west < lon < east
    for lat, lon in outside:
        assert not (south < lat < north and west < lon < east)


def test_a_country_on_the_date_line_is_in_one_piece() -> None:
    """Fiji lies on both sides."""
    assert extent(-18.14, 178.44).east - extent(-18.14, 178.44).west < 10
    assert extent(-16.8, -179.97).east - extent(-16.8, -179.97).west < 10


def test_an_outlying_place_is_in_its_country_s_view() -> None:
    """Honolulu is left out of the United States, but not of its own view."""
    south, west, north, east = extent(21.31, -157.86)
    assert south < 21.31 < 47.6 < north
    assert west < -157.86 < -74 < east


@given(st.integers(min_value=0))
def test_every_place_is_inside_its_own_surroundings(number: int) -> None:
    places = populated_places()
    lat, lon = (float(axis[number % len(places.lat)]) for axis in (places.lat, places.lon))
    south, west, north, east = extent(lat, lon)
    assert south <= lat <= north
    assert any(west <= lon + turn <= east for turn in (-360, 0, 360))
    assert east - west < 360

"""Places by name: spelled in many ways, the likely ones first, near where they are."""

from __future__ import annotations

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st

from agl1k_core import places
from ui.place_search import MOST_FOUND, find_places, search_router

PARIS, COLOGNE, TOKYO = (48.8566, 2.3522), (50.9375, 6.9603), (35.6762, 139.6503)


@pytest.mark.parametrize(
    ("text", "point"),
    [
        ("Paris", PARIS),
        ("paris", PARIS),
        (" PARÍS ", PARIS),
        ("köln", COLOGNE),
        ("Koln", COLOGNE),
        ("Cologne", COLOGNE),
        ("Tokyo", TOKYO),
        ("東京", TOKYO),
        ("sao paulo", (-23.5505, -46.6333)),
        ("Bombay", (19.0760, 72.8777)),
        ("Saint-Denis", (-20.8789, 55.4481)),  # the largest of that name
        ("Xi'an", (34.2583, 108.9286)),
        ("Venice", (45.4386, 12.3267)),  # Dayton in Ohio was once called so, and is larger
    ],
)
def test_the_first_place_is_the_one_that_most_people_mean(
    text: str, point: tuple[float, float]
) -> None:
    first = find_places(text)[0]
    assert places.pair_km(first.latitude, first.longitude, *point) < 30


def test_places_of_one_name_are_told_apart() -> None:
    found = find_places("Paris")
    assert len(found) == MOST_FOUND
    assert len({(place.name, place.where) for place in found if place.name == "Paris"}) >= 5
    assert found[0].where.endswith("France")
    assert "Texas, United States" in [place.where for place in found]


def test_a_country_comes_before_cities_and_is_shown_whole() -> None:
    country, *_ = find_places("united states")
    assert country.name == "United States of America"
    assert country.across > 40
    assert find_places("Japan")[0].across < 20


def test_a_small_place_is_found() -> None:
    (first, *_) = find_places("Essaouira")
    assert places.pair_km(first.latitude, first.longitude, 31.5125, -9.77) < 10
    assert first.where == "Marrakech-Tensift-Al Haouz, Morocco"


def test_a_city_is_the_place_of_its_name_though_another_is_nearer() -> None:
    found = {place.where: place.across for place in find_places("Mâcon")}
    assert found["Bourgogne, France"] == 0.4  # of a city, and not only a place of the gazetteer
    assert "Rhone-Alpes, France" not in found


@given(st.text(max_size=100))
def test_any_text_is_answered(text: str) -> None:
    found = find_places(text)
    assert len(found) <= MOST_FOUND
    assert all(-90 <= place.latitude <= 90 and place.across > 0 for place in found)


def test_the_route_answers_what_is_found() -> None:
    app = FastAPI()
    app.include_router(search_router())
    client = TestClient(app)
    assert client.get("/api/places").json() == []
    first = client.get("/api/places", params={"q": "lisbon"}).json()[0]
    assert first["name"] == "Lisbon"
    assert sorted(first) == ["across", "latitude", "longitude", "name", "where"]
    assert client.get("/api/places", params={"q": "x" * 5000}).json() == []
    assert client.get("/api/places?q=%ff%00").status_code == 200

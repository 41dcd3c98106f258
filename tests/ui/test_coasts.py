"""The detailed coasts: small squares of the world whose edges and islands are where they belong."""

from __future__ import annotations

import gzip
import importlib.util
import json
import math
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from numpy.typing import NDArray
from shapely import Point, Polygon

ROOT = Path(__file__).resolve().parents[2]
COASTS = ROOT / "assets" / "coasts"
SQUARES, UNITS = 32, 2**15


def square_of(lat: float, lon: float) -> tuple[str, NDArray[np.float64]]:
    """The name of the square of a place, and the place in units from the square's corner."""
    x = lon / 360 + 0.5
    y = 0.5 - math.asinh(math.tan(math.radians(lat))) / (2 * math.pi)
    column, row = int(x * SQUARES), int(y * SQUARES)
    at = np.array([x * SQUARES - column, y * SQUARES - row]) * UNITS
    return f"{column}-{row}", at


def rings_of(name: str) -> list[NDArray[np.int64]]:
    content = json.loads(gzip.decompress((COASTS / f"{name}.json.gz").read_bytes()))
    return [np.cumsum(np.array(steps).reshape(-1, 2), axis=0) for steps in content]


def land_at(lat: float, lon: float, reach_km: float) -> bool:
    """Whether a place is in an odd number of rings, or near one."""
    name, at = square_of(lat, lon)
    here = Point(*at)
    metres = 40_075_017 * math.cos(math.radians(lat)) / (SQUARES * UNITS)
    around = here.buffer(1000 * reach_km / metres)
    shapes = [Polygon(ring).buffer(0) for ring in rings_of(name)]
    n_around = sum(shape.contains(here) for shape in shapes)
    return n_around % 2 == 1 or any(shape.boundary.intersects(around) for shape in shapes)


@pytest.mark.parametrize(
    ("where", "lat", "lon"),
    [
        ("Hagia Sophia", 41.0086, 28.9802),
        ("Uskudar", 41.0266, 29.0158),
        ("Venice, San Marco", 45.4340, 12.3388),
        ("Suva", -18.1416, 178.4419),
        ("Wellington", -41.2866, 174.7756),
        ("Manhattan", 40.7580, -73.9855),
        ("Ushuaia", -54.8019, -68.3030),
        ("Utqiagvik", 71.2906, -156.7886),
    ],
)
def test_places_ashore_are_on_land(where: str, lat: float, lon: float) -> None:
    assert land_at(lat, lon, 0.5), where


@pytest.mark.parametrize(
    ("where", "lat", "lon"),
    [
        ("the Bosporus", 41.0450, 29.0350),
        ("the Golden Gate", 37.8200, -122.4950),
        ("the strait of Messina", 38.2400, 15.6200),
        ("Lake Geneva", 46.4500, 6.5500),
    ],
)
def test_water_is_no_land(where: str, lat: float, lon: float) -> None:
    assert not land_at(lat, lon, 0), where


def test_all_squares_are_listed_and_small() -> None:
    listed = json.loads(gzip.decompress((COASTS / "index.json.gz").read_bytes()))
    files = {path.name.removesuffix(".json.gz") for path in COASTS.glob("*.json.gz")}
    assert files == {*listed, "index"}
    assert max(path.stat().st_size for path in COASTS.glob("*.json.gz")) < 180_000


def test_rings_stay_near_their_square() -> None:
    for name in ("18-11", "17-11", "0-14", "31-19"):
        for ring in rings_of(name):
            assert len(ring) > 2
            assert ring.min() > -0.05 * UNITS
            assert ring.max() < 1.05 * UNITS


# ---- the script that makes them


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_coasts", ROOT / "scripts/make_coasts.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_an_island_over_the_date_line_is_in_the_squares_on_both_sides(
    script: ModuleType, tmp_path: Path
) -> None:
    island = np.array([[179.0, -17], [181, -17], [181, -16], [179, -16], [179, -17]], dtype="<f4")
    lake = np.array([[180.2, -16.7], [180.6, -16.7], [180.6, -16.3], [180.2, -16.7]], dtype="<f4")
    (tmp_path / "gshhs_h.dat").write_bytes(island.tobytes() + lake.tobytes())
    meta = f"1 99.0 5 -17 -16 0 {island.nbytes} 0\n2 9.0 4 -16.7 -16.3 {island.nbytes} 32 1\n"
    (tmp_path / "gshhsmeta_h.dat").write_text(meta)
    script.main(tmp_path, tmp_path / "out")
    made = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert made == ["0-17.json.gz", "31-17.json.gz", "index.json.gz"]
    east = json.loads(gzip.decompress((tmp_path / "out" / "0-17.json.gz").read_bytes()))
    assert len(east) == 2  # the lake is there only

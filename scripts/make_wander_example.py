"""Draw the example set of ``agl1k wander`` and write it into the package.

    python -m scripts.make_wander_example [--width 1280] [FOLDER]

The same on every run. It is synthetic: streets and houses are invented, only the coordinates, the
languages, the sun's height and the names of streets are those of the places. Needs matplotlib for
its font, DejaVu Sans, which has all letters that are drawn.
"""

from __future__ import annotations

import argparse
import hashlib
import math
from pathlib import Path

import numpy as np
from pyproj import Geod

from agl1k_core.wander import Edge, Graph, Node, write_graphs
from scripts.wander_example.drawing import draw
from scripts.wander_example.places import PLACES
from scripts.wander_example.streets import Neighbourhood, build

TARGET = Path(__file__).parents[1] / "agl1k_core" / "wander" / "example"
WIDTH, QUALITY = 1280, 75
NOTE = "Synthetic: drawn by scripts/make_wander_example.py, not photographed."
_EARTH = Geod(ellps="WGS84")


def graph_of(number: int, made: Neighbourhood, headings: list[float]) -> Graph:
    """The graph of a neighbourhood, with coordinates and geodesic bearings."""
    nodes = []
    for n, (east, north) in enumerate(made.nodes):
        lon, lat, _ = _EARTH.fwd(
            made.place.lon, made.place.lat, math.degrees(math.atan2(east, north)),
            math.hypot(east, north),
        )  # fmt: skip
        nodes.append(Node(pano_id(number, n), n, round(lat, 7), round(lon, 7), headings[n]))
    ways = made.ways + [(end, start) for start, end in made.ways]
    edges = tuple(
        Edge(start, end, _bearing(nodes[start], nodes[end])) for start, end in sorted(ways)
    )
    key = f"example-{number + 1}"
    return Graph(key, nodes[made.center].pano_id, tuple(nodes), edges, {"note": NOTE})


def pano_id(graph: int, node: int) -> str:
    """An id that does not tell the place."""
    return hashlib.sha256(f"agl1k wander {graph} {node}".encode()).hexdigest()[:20]


def _bearing(start: Node, end: Node) -> float:
    azimuth, _, _ = _EARTH.inv(start.lon, start.lat, end.lon, end.lat)
    return round(math.radians(azimuth % 360), 6)


def neighbourhood(number: int) -> tuple[Neighbourhood, list[float]]:
    """A place's streets and houses, and the heading of each panorama in radians."""
    made = build(PLACES[number], 100 + number)
    chance = np.random.default_rng(200 + number)
    return made, [round(float(h), 4) for h in chance.uniform(0, 2 * math.pi, len(made.nodes))]


def main() -> None:
    """Write graphs and panoramas."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=TARGET)
    parser.add_argument("--width", type=int, default=WIDTH, help="pixels of a panorama")
    wanted = parser.parse_args()
    (wanted.folder / "panoramas").mkdir(parents=True, exist_ok=True)
    graphs = []
    for number in range(len(PLACES)):
        made, headings = neighbourhood(number)
        graphs.append(graph_of(number, made, headings))
        for n, node in enumerate(graphs[-1].nodes):
            path = wanted.folder / "panoramas" / f"{node.pano_id}.webp"
            draw(made, n, headings[n], wanted.width).save(path, quality=QUALITY, method=6)
        print(graphs[-1])
    write_graphs(graphs, wanted.folder / "graphs.jsonl")


if __name__ == "__main__":
    main()

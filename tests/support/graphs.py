"""Graphs in the published format, made for tests."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agl1k_core import wander
from agl1k_core.wander import Graph

#: The last node of a street whose centre is ten steps from both ends.
LAST = 20


def street(
    n_nodes: int = LAST + 1, *, lat: float = 48.85, lon: float = 2.35, prefix: str = "p"
) -> dict[str, Any]:
    """A street that runs north, ten metres from node to node, with the centre in the middle.

    The middles of its panoramas look east.
    """
    nodes = [
        {
            "pano_id": f"{prefix}{number}",
            "matrix_id": number,
            "coordinate": {"lat": lat + number * 9e-5, "lon": lon, "heading": math.pi / 2},
        }
        for number in range(n_nodes)
    ]
    matrix: list[list[Any]] = [[-1] * n_nodes for _ in range(n_nodes)]
    for number in range(n_nodes - 1):
        matrix[number][number + 1] = 0.0
        matrix[number + 1][number] = math.pi
    return {
        "center_pano_id": f"{prefix}{n_nodes // 2}",
        "nodes": nodes,
        "adjacency_matrix": matrix,
    }


def crossing() -> dict[str, Any]:
    """A centre with ways to the north, east, south and west; its panorama looks at 30°."""
    names = ("centre", "north", "east", "south", "west")
    shifts = ((0, 0), (1, 0), (0, 1), (-1, 0), (0, -1))
    nodes = [
        {
            "pano_id": name,
            "matrix_id": number,
            "coordinate": {
                "lat": -33.9 + 1e-4 * up,
                "lon": 18.4 + 1e-4 * right,
                "heading": math.radians(30),
            },
        }
        for number, (name, (up, right)) in enumerate(zip(names, shifts, strict=True))
    ]
    matrix: list[list[Any]] = [[-1] * 5 for _ in range(5)]
    for number in range(4):
        matrix[0][number + 1] = number * math.pi / 2
        matrix[number + 1][0] = (number * math.pi / 2 + math.pi) % (2 * math.pi)
    return {"center_pano_id": "centre", "nodes": nodes, "adjacency_matrix": matrix}


def write(folder: Path, record: object, name: str = "place.json") -> Path:
    """A file with a graph."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(json.dumps(record), "utf-8")
    return path


def graph_of(folder: Path, record: Mapping[str, Any], key: str = "place") -> Graph:
    """The graph of a record."""
    return wander.read_graphs([write(folder, record, f"{key}.json")])[0]

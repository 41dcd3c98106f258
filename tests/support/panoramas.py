"""Small sets of graphs with panoramas whose pixels say what they are."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

#: Posts stand at these bearings in every panorama of `write_set`, each in a colour of its own.
POSTS = {20: (230, 60, 40), 110: (40, 90, 230), 200: (30, 160, 70), 290: (240, 210, 40)}


def posts(heading_deg: float, shade: int, width: int = 1024) -> Image.Image:
    """A grey panorama with a coloured post at each of `POSTS`; its middle looks to a heading."""
    pixels = np.full((width // 2, width, 3), shade, np.uint8)
    for bearing, colour in POSTS.items():
        column = round(((bearing - heading_deg) / 360 + 0.5) * width - 0.5)
        for near in range(column - 3, column + 4):
            pixels[:, near % width] = colour
    return Image.fromarray(pixels)


def write_set(folder: Path, n_graphs: int = 2) -> Path:
    """Graphs of three nodes in a row, a — b — c, whose centre is a; the ways lead to 20 and 200.

    Their middles look to 75, 250 and 340 degrees. Panorama c of the first graph is missing. The
    files' EXIF names a place, as that of cameras does.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(n_graphs):
        names = [f"g{number}{letter}" for letter in "abc"]
        for name, heading, shade in zip(names, (75, 250, 340), (60, 120, 180), strict=True):
            if name != "g0c":
                exif = Image.Exif()
                exif[0x010E] = "SECRETTOWN"
                posts(heading, shade).save(folder / f"{name}.jpg", quality=92, exif=exif)
        graph = _graph(names, 48.85 - 60 * number, 2.35 + 30 * number)
        (folder / f"graph-{number}.json").write_text(json.dumps(graph))
    return folder


def _graph(names: list[str], lat: float, lon: float) -> dict[str, Any]:
    north, south = math.radians(20), math.radians(200)
    return {
        "center_pano_id": names[0],
        "nodes": [
            {
                "pano_id": name,
                "matrix_id": n,
                "coordinate": {
                    "lat": lat + 0.0003 * n,
                    "lon": lon + 0.0002 * n,
                    "heading": math.radians((75, 250, 340)[n]),
                },
            }
            for n, name in enumerate(names)
        ],
        "adjacency_matrix": [[-1, north, -1], [south, -1, north], [-1, south, -1]],
    }

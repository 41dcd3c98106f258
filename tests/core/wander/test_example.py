"""The example set: usable, drawn as its graphs say, and the same whenever it is drawn."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from agl1k_core.wander import (
    EXAMPLE,
    Environment,
    PanoramaFolder,
    describe,
    inspect_graphs,
    located,
    read_graphs,
)
from scripts.make_wander_example import graph_of, neighbourhood, pano_id
from scripts.wander_example.drawing import draw
from scripts.wander_example.places import PLACES

HERE = Path(EXAMPLE)


def test_it_has_no_fault_and_is_found_by_name() -> None:
    found = list(inspect_graphs([HERE]))
    assert [one.faults for one in found] == [()] * 8
    told = describe(read_graphs([HERE]))
    assert len(told.countries) == 8
    assert set(told.continents) == {
        "Africa", "Asia", "Europe", "North America", "Oceania", "South America"
    }  # fmt: skip
    assert told.n_covered == 8


def test_every_node_has_a_panorama_and_none_is_left_over() -> None:
    folder = PanoramaFolder(HERE)
    nodes = [node for graph in read_graphs([HERE]) for node in graph.nodes]
    assert all(node.pano_id in folder for node in nodes)
    assert len(folder) == len(nodes) == 104
    assert sum(folder.path(node.pano_id).stat().st_size for node in nodes) < 3e6


def test_a_folder_of_that_name_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert located(HERE).is_dir()
    (tmp_path / EXAMPLE).mkdir()
    assert located(HERE) == HERE


def test_the_graphs_are_those_of_the_script_and_say_what_they_are() -> None:
    for number, graph in enumerate(read_graphs([HERE])):
        made, headings = neighbourhood(number)
        assert graph.to_dict() == graph_of(number, made, headings).to_dict()
        assert str(graph.more["note"]).startswith("Synthetic")
        center = graph.center
        assert (center.lat, center.lon) == pytest.approx(
            (PLACES[number].lat, PLACES[number].lon), abs=1e-6
        )


def test_ids_do_not_tell_the_place() -> None:
    ids = {pano_id(graph, node) for graph in range(8) for node in range(13)}
    assert len(ids) == 104
    assert all(set(one) <= set("0123456789abcdef") for one in ids)


@pytest.mark.parametrize(("number", "node"), [(0, 6), (6, 2)])
def test_a_panorama_drawn_again_is_the_one_in_the_set(number: int, node: int) -> None:
    made, headings = neighbourhood(number)
    again = np.asarray(draw(made, node, headings[node], 256), float)
    kept = Image.fromarray(PanoramaFolder(HERE).read(pano_id(number, node)).pixels)
    off = np.abs(np.asarray(kept.resize((256, 128), Image.Resampling.BOX), float) - again)
    assert off.mean() < 4


def test_streets_lie_where_the_ways_lead() -> None:
    """Five metres away, the ground is asphalt along every way, and pavement across the street."""
    folder = PanoramaFolder(HERE)
    for graph in read_graphs([HERE]):
        for move in Environment(graph).state.moves:
            panorama = folder.read(graph.center_id, graph.center.heading_deg)
            height, width = panorama.pixels.shape[:2]
            row = round((0.5 + 25 / 180) * height)
            column = ((move.direction_deg - panorama.heading_deg) / 360 + 0.5) * width
            ahead = panorama.pixels[row, round(column + 9) % width].astype(int)
            across = panorama.pixels[row, round(column + width / 4) % width].astype(int)
            assert np.abs(ahead - (92, 92, 96)).max() < 12, (graph, move)
            assert np.abs(across - (172, 168, 160)).max() < 12, (graph, move)


def test_a_letter_that_the_font_lacks_is_refused() -> None:
    made, headings = neighbourhood(0)
    made.standing[0] = type(made.standing[0])(made.standing[0].at, 3.0, "ქუჩა 日")
    with pytest.raises(ValueError, match=r"DejaVuSans-Bold\.ttf has no 日"):
        draw(made, 0, headings[0], 64)

"""Belief maps: well-formed, the same each time, and true to the belief."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agl1k_core.listener import Heard, belief_map, believe, land_grid, pin, reason_for

SVG = "{http://www.w3.org/2000/svg}"


def picture(heard: Heard, title: str = "clip") -> str:
    belief = believe(heard)
    return belief_map(belief, pin(belief), title, reason_for(heard, belief))


def boxes(svg: str) -> list[list[tuple[float, float]]]:
    """The top left corners of the cells of each colour, in pixels."""
    paths = [path.get("d", "") for path in ElementTree.fromstring(svg).iter(f"{SVG}path")]
    found = [re.findall(r"M([\d.]+) ([\d.]+)h", path) for path in paths]
    return [[(float(x), float(y)) for x, y in corners] for corners in found if corners]


def test_it_says_in_words_what_it_shows() -> None:
    heard = Heard(languages={"is": 0.99}, speech_s=9)
    root = ElementTree.fromstring(picture(heard, "clip 7"))
    words = [text.text or "" for text in root.iter(f"{SVG}text")]
    assert words[0].startswith("clip 7: ")
    assert "Iceland" in words[0]
    assert words[1].startswith("Heard: speech in Icelandic (99%). Likely: Iceland 99%")
    assert root.findtext(f"{SVG}title") == "clip 7"
    assert "Iceland" in (root.findtext(f"{SVG}desc") or "")
    assert {"pin", "50% of the belief"} <= set(words)


def test_the_same_belief_gives_the_same_bytes() -> None:
    assert picture(Heard()) == picture(Heard())
    assert picture(Heard()) != picture(Heard(languages={"pt": 1.0}, speech_s=9))


@settings(max_examples=30)
@given(st.text(max_size=60))
def test_any_title_is_text(title: str) -> None:
    belief = believe(Heard())
    root = ElementTree.fromstring(belief_map(belief, pin(belief), title, title))
    assert not list(root.iter(f"{SVG}script"))


@pytest.mark.parametrize("languages", [{}, {"ja": 1.0}, {"pt": 0.8, "es": 0.2}])
def test_the_cells_of_a_colour_hold_what_the_legend_says(languages: dict[str, float]) -> None:
    heard = Heard(languages=languages, speech_s=9)
    belief, grid = believe(heard), land_grid()
    corner = np.round(np.column_stack([(grid.west + 180) * 3, (84 - grid.south - 2) * 3]), 1)
    shown: set[tuple[float, float]] = set()
    for cells, share in zip(boxes(picture(heard)), (0.5, 0.8, 0.95), strict=False):
        shown |= set(cells)
        held = belief[[tuple(at) in shown for at in corner.tolist()]].sum()
        assert share <= held + 1e-9
        assert held < share + 0.2

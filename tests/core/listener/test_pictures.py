"""Belief maps: well-formed, the same each time, and true to the belief."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agl1k_core.listener import Heard, belief_map, believe, land_grid, map_of, pin

SVG = "{http://www.w3.org/2000/svg}"


def picture(heard: Heard, title: str = "clip") -> str:
    return map_of(heard, title)


def strips(svg: str) -> list[list[tuple[float, float, float]]]:
    """Left, top and width of the strips of cells of each colour, in pixels."""
    paths = [path.get("d", "") for path in ElementTree.fromstring(svg).iter(f"{SVG}path")]
    found = [re.findall(r"M([\d.]+) ([\d.]+)h([\d.]+)", path) for path in paths]
    return [[(float(x), float(y), float(w)) for x, y, w in strip] for strip in found if strip]


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


def test_a_second_map_on_a_page_uses_the_outline_of_the_first() -> None:
    first, second = map_of(Heard(), "a"), map_of(Heard(), "a", with_outline=False)
    assert 'id="agl-land"' in first
    assert 'id="agl-land"' not in second
    assert second.count('href="#agl-land"') == first.count('href="#agl-land"') == 2
    assert len(second) < len(first) / 2


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
    left, top = (grid.west + grid.width / 2 + 180) * 3, (84 - grid.south - 2) * 3
    shown = np.zeros(len(grid), bool)
    for colour, share in zip(strips(picture(heard)), (0.5, 0.8, 0.95), strict=False):
        for x, y, width in colour:
            shown |= (np.abs(top - y) < 0.1) & (x < left) & (left < x + width)
        held = belief[shown].sum()
        assert share <= held + 1e-9
        assert held < share + 0.2

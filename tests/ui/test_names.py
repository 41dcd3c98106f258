"""Names of people and models beside other text."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui.names import JOINERS, characters, isolated, with_few_marks, without_stray_joiners

FAMILY = "👩\u200d👩\u200d👧\u200d👦"
PIECES = st.sampled_from([*"aéא1 ", "ب", "क", "\u094d", "\u0301", "👩", "🏽", "\ufe0f", *JOINERS])
NAMES = st.text(max_size=40) | st.lists(PIECES, max_size=40).map("".join)


@pytest.mark.parametrize("name", ["", "Ada", "東京", FAMILY, "5 (x)"])
def test_a_name_from_left_to_right_stays_as_it_is(name: str) -> None:
    assert isolated(name) == name


@pytest.mark.parametrize("name", ["שלום", "Model דגם", "سلام 5"])
def test_a_name_from_right_to_left_is_isolated(name: str) -> None:
    assert isolated(name) == f"\u2068{name}\u2069"


@given(NAMES)
def test_characters_are_the_whole_text(name: str) -> None:
    assert "".join(characters(name)) == name


@given(NAMES)
def test_only_joiners_are_taken_for_stray(name: str) -> None:
    kept = without_stray_joiners(name)
    assert kept.translate(dict.fromkeys(map(ord, JOINERS))) == name.translate(
        dict.fromkeys(map(ord, JOINERS))
    )
    assert not kept.startswith(tuple(JOINERS))
    assert not kept.endswith(tuple(JOINERS))


@given(NAMES)
def test_letters_stay_and_few_marks(name: str) -> None:
    for character in characters(name):
        short = with_few_marks(character)
        letters = [char for char in character if unicodedata.category(char)[0] != "M"]
        assert [char for char in short if unicodedata.category(char)[0] != "M"] == letters
        assert with_few_marks(short) == short

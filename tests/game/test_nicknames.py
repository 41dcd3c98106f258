from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from game.nicknames import MAX_CHARACTERS, clean_nickname


@pytest.mark.parametrize(
    ("given_", "cleaned"),
    [
        ("Ada", "Ada"),
        ("  Ada \t\n Lovelace ", "Ada Lovelace"),
        ("Zoe\u0308", "Zoë"),
        ("abc\u202ecba\u2066", "abccba"),
        ("a\u200bd\u200da\ufeff", "ada"),
        ("null\x00byte\x1b[31m", "nullbyte[31m"),
        ("<b>bold</b>", "<b>bold</b>"),
        ("一" * 30, "一" * 24),
        ("x" * 23 + "  y", "x" * 23),
        ("a" + "\u0335" * 50, "a" + "\u0335" * 3),
        ("\u0301\u0301", ""),
        ("\ud800lone", "lone"),
        ("", ""),
        ("   ", ""),
        (None, ""),
        (42, ""),
    ],
)
def test_nicknames_become_harmless(given_: object, cleaned: str) -> None:
    assert clean_nickname(given_) == cleaned


@given(st.text(max_size=200))
def test_cleaning_is_done_once_and_for_all(text: str) -> None:
    cleaned = clean_nickname(text)
    assert clean_nickname(cleaned) == cleaned
    assert unicodedata.is_normalized("NFC", cleaned)
    assert not any(unicodedata.category(char)[0] == "C" for char in cleaned)
    bases = [char for char in cleaned if unicodedata.category(char)[0] != "M"]
    assert len(bases) <= MAX_CHARACTERS

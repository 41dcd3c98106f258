from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wcwidth import iter_graphemes

from game.nicknames import MAX_CHARACTERS, clean_nickname

FAMILY = "👩\u200d👩\u200d👧\u200d👦"


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
        (FAMILY, FAMILY),
        (FAMILY * 30, FAMILY * 24),
        ("🏳️\u200d🌈 Ada", "🏳️\u200d🌈 Ada"),
        ("👩🏻\u200d❤️\u200d💋\u200d👨🏻" * 2, "👩🏻\u200d❤️\u200d💋\u200d👨🏻" * 2),
        ("👍🏽" * 30, "👍🏽" * 24),
        ("🇩🇪" * 30, "🇩🇪" * 24),
        ("👩\u200dx\u200d👧\u200d", "👩x👧"),
        ("क्षि" * 30, "क्षि" * 24),
        ("မြန်မာစာ", "မြန်မာစာ"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("ರ\u0ccd\u200cನ ರ\u0ccd\u200d", "ರ\u0ccd\u200cನ ರ\u0ccd"),
        ("x\u200cy", "xy"),
        ("\u0301 \u0301a", "a"),
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


EMOJI = st.sampled_from(["👩", "👦", "🏽", "❤", "\ufe0f", "\u200d", "\u0301", "a", " ", "🇩", "𝅗𝅥"])


@given(st.text(max_size=200) | st.lists(EMOJI, max_size=60).map("".join))
def test_cleaning_is_done_once_and_for_all(text: str) -> None:
    cleaned = clean_nickname(text)
    assert clean_nickname(cleaned) == cleaned
    assert unicodedata.is_normalized("NFC", cleaned)
    hidden = {char for char in cleaned if unicodedata.category(char)[0] == "C"}
    assert hidden <= {"\u200c", "\u200d"}
    characters = list(iter_graphemes(cleaned))
    assert len(characters) <= MAX_CHARACTERS
    assert len(cleaned) <= 10 * MAX_CHARACTERS

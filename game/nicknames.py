"""Nicknames: optional, short, harmless to show."""

from __future__ import annotations

import unicodedata
from itertools import groupby

MAX_CHARACTERS = 24
_MAX_INPUT = 1000
#: More marks than this on one letter would cover the lines above.
_MAX_MARKS = 3


def clean_nickname(text: object) -> str:
    """A nickname in NFC without control, format or private characters, at most 24 characters.

    A character is a letter with its combining marks. White space becomes single spaces. Anything
    that is not text, or has nothing left, becomes the empty string.
    """
    if not isinstance(text, str):
        return ""
    spaced = "".join(" " if char.isspace() else char for char in text[:_MAX_INPUT])
    visible = "".join(char for char in spaced if unicodedata.category(char)[0] != "C")
    characters = _characters(unicodedata.normalize("NFC", " ".join(visible.split())))
    return "".join(characters[:MAX_CHARACTERS]).strip()


def _characters(text: str) -> list[str]:
    """Each base character with its combining marks; marks without a base are dropped."""
    characters: list[str] = []
    for is_mark, run in groupby(text, key=lambda char: unicodedata.category(char)[0] == "M"):
        if not is_mark:
            characters += run
        elif characters:
            characters[-1] += "".join(run)[:_MAX_MARKS]
    return characters

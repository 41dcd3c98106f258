"""Nicknames: optional, short, harmless to show."""

from __future__ import annotations

import unicodedata

from ui.names import JOINERS, characters, is_mark, with_few_marks, without_stray_joiners

MAX_CHARACTERS = 24
_MAX_INPUT = 1000
#: The longest emoji: two people with skin tones, and a kiss.
_MAX_CODE_POINTS = 10


def clean_nickname(text: object) -> str:
    """A nickname in NFC without control, format or private characters, at most 24 characters.

    A character is what readers take for one: a letter with its combining marks, a family of joined
    emoji. White space becomes single spaces. Anything that is not text, or has nothing left,
    becomes the empty string.
    """
    if not isinstance(text, str):
        return ""
    cleaned = _cleaned(text[:_MAX_INPUT])
    while (
        again := _cleaned(cleaned)
    ) != cleaned:  # what is left out may leave another without hold
        cleaned = again
    return cleaned


def _cleaned(text: str) -> str:
    spaced = "".join(" " if char.isspace() else char for char in text)
    visible = "".join(char for char in spaced if char in JOINERS or _is_visible(char))
    normal = unicodedata.normalize("NFC", without_stray_joiners(visible))
    kept = [_short(one) for one in characters(normal) if not is_mark(one[0])]
    return " ".join("".join(kept[:MAX_CHARACTERS]).split())


def _is_visible(char: str) -> bool:
    return unicodedata.category(char)[0] != "C"


def _short(character: str) -> str:
    if character[0] == " ":
        return " "
    short = with_few_marks(character)
    return short if len(short) <= _MAX_CODE_POINTS else short[:_MAX_CODE_POINTS].rstrip(JOINERS)

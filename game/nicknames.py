"""Nicknames: optional, short, harmless to show."""

from __future__ import annotations

import unicodedata
from itertools import groupby

from wcwidth import iter_graphemes

MAX_CHARACTERS = 24
_MAX_INPUT = 1000
#: More marks than this on one letter would cover the lines above.
_MAX_MARKS = 3
#: The longest emoji: two people with skin tones, and a kiss.
_MAX_CODE_POINTS = 10
_JOINER, _EMOJI_STYLE = "\u200d", "\ufe0f"


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
    visible = "".join(char for char in spaced if char == _JOINER or _kind(char) != "C")
    normal = unicodedata.normalize("NFC", _joining_emoji(visible))
    return " ".join("".join(_characters(normal)[:MAX_CHARACTERS]).split())


def _kind(char: str) -> str:
    """The first letter of a character's category: M for marks, C for what is not seen."""
    return unicodedata.category(char)[0]


def _joining_emoji(text: str) -> str:
    """Without the joiners that do not stand between two emoji."""
    around = zip(" " + text, text, text[1:] + " ", strict=False)
    return "".join(
        char for before, char, after in around
        if char != _JOINER or (_ends_emoji(before) and unicodedata.category(after) == "So")
    )  # fmt: skip


def _ends_emoji(char: str) -> bool:
    return char == _EMOJI_STYLE or unicodedata.category(char) in ("So", "Sk")


def _characters(text: str) -> list[str]:
    """What readers take for characters, each with few marks; marks on nothing are dropped."""
    characters: list[str] = []
    for character in iter_graphemes(text):
        if not _is_mark(character[0]):
            characters.append(character)
        elif characters:
            characters[-1] += character
    return [_short(character) for character in characters]


def _short(character: str) -> str:
    if character[0] == " ":
        return " "
    runs = groupby(character, _is_mark)
    short = "".join("".join(run)[: _MAX_MARKS if is_mark else None] for is_mark, run in runs)
    return short[:_MAX_CODE_POINTS].rstrip(_JOINER)


def _is_mark(char: str) -> bool:
    return _kind(char) == "M"

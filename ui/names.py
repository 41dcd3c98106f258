"""Names that people chose: their characters, and their direction of writing beside other text."""

from __future__ import annotations

import unicodedata
from itertools import groupby

from wcwidth import iter_graphemes

#: U+200C keeps letters apart that would join, U+200D joins them, and emoji to one.
JOINERS = "\u200c\u200d"
#: More marks than this on one letter would cover the lines above.
MAX_MARKS = 3

_JOIN, _EMOJI_STYLE = "\u200d", "\ufe0f"
_VIRAMA = 9
_ISOLATE, _END_ISOLATE = "\u2068", "\u2069"
_RIGHT_TO_LEFT = frozenset({"R", "AL", "RLE", "RLO", "RLI"})


def isolated(name: str) -> str:
    """A name for a sentence: if any of it is written from right to left, the rest stays in order.

    For plain text; in HTML, ``<bdi>`` does the same.

    Examples
    --------
    >>> isolated("Ada")
    'Ada'
    >>> ascii(isolated("\u05d0\u05d3\u05d4"))
    "'\\\\u2068\\\\u05d0\\\\u05d3\\\\u05d4\\\\u2069'"
    """
    turns = any(unicodedata.bidirectional(char) in _RIGHT_TO_LEFT for char in name)
    return f"{_ISOLATE}{name}{_END_ISOLATE}" if turns else name


def characters(text: str) -> list[str]:
    """What readers take for characters: a letter with its marks, a family of joined emoji.

    Marks without a letter belong to the character before.
    """
    found: list[str] = []
    for character in iter_graphemes(text):
        if found and is_mark(character[0]):
            found[-1] += character
        else:
            found.append(character)
    return found


def is_mark(char: str) -> bool:
    """Whether it is written onto the letter before."""
    return unicodedata.category(char)[0] == "M"


def with_few_marks(character: str) -> str:
    """The character without the marks that would cover other lines."""
    runs = groupby(character, is_mark)
    return "".join("".join(run)[: MAX_MARKS if marks else None] for marks, run in runs)


def without_stray_joiners(text: str) -> str:
    """The text without the joiners that change nothing where they stand, which nobody would see."""
    around = zip(" " + text, text, text[1:] + " ", strict=False)
    return "".join(
        char for before, char, after in around
        if char not in JOINERS or _is_of_use(before, char, after)
    )  # fmt: skip


def _is_of_use(before: str, joiner: str, after: str) -> bool:
    """Whether it stands between two emoji, after a virama, or between two Arabic letters."""
    if unicodedata.combining(before) == _VIRAMA and unicodedata.category(after)[0] == "L":
        return True
    if joiner == _JOIN:
        return _ends_emoji(before) and unicodedata.category(after) == "So"
    return unicodedata.bidirectional(before) == unicodedata.bidirectional(after) == "AL"


def _ends_emoji(char: str) -> bool:
    return char == _EMOJI_STYLE or unicodedata.category(char) in ("So", "Sk")

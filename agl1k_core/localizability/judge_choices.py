"""Reads a judge's answer to a question with several options, of which it chooses one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from agl1k_core.errors import Agl1kError
from agl1k_core.localizability.judge_answers import Members, objects_or_lines, said_in

_DEEPEST = 4
_NUMBERED = re.compile(r"\W*(?:no\.?|number|option|\#)?\s*(\d{1,2})\b[\s.):–—-]*(.*)", re.I | re.S)
#: Words that make a mention of an option anything but a choice.
_DENIALS = re.compile(
    r"\b(?:not|never|neither|nor|no|without|either|unlike|than|instead|could|may|might|maybe"
    r"|perhaps|unclear|unsure|cannot)\b|n['’]t\b"
)


def parse_choice(text: str, options: Sequence[str], names: Sequence[str] = ("choice",)) -> str:
    """The option that a judge's answer chooses.

    Parameters
    ----------
    text
        The answer: JSON, a line such as ``Cause: Bird Bias``, or the option alone. The last choice
        in it counts.
    options
        What it could choose; also chosen by their numbers, from 1.
    names
        The key under which the choice stands, and other names for that.

    Raises
    ------
    Agl1kError
        If it chooses none, several, or something else.

    Examples
    --------
    >>> parse_choice('<think>Hm.</think>{"cause": "2. refusal"}', ["Bias", "Refusal"], ["cause"])
    'Refusal'
    """
    said = said_in(text)
    chosen = [value for tree in objects_or_lines(said) for value in _choices(tree, names)]
    option = _option(chosen[-1] if chosen else said, options)
    if option is None:
        raise Agl1kError(f"The judge's answer names no option. It begins {text[:80]!r}.")
    return option


def _choices(tree: object, names: Sequence[str], depth: int = 0) -> Iterator[object]:
    """The values under one of the names, at whatever depth."""
    if depth == _DEEPEST or not isinstance(tree, list):
        return
    if not isinstance(tree, Members):
        for part in tree:
            yield from _choices(part, names, depth + 1)
        return
    for key, value in tree:
        if _plain(key) in names and not isinstance(value, Members):
            yield value
        else:
            yield from _choices(value, names, depth + 1)


def _option(value: object, options: Sequence[str]) -> str | None:
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, int) and not isinstance(value, bool):
        return _numbered(value, options)
    return _option_in(value, options) if isinstance(value, str) else None


def _option_in(text: str, options: Sequence[str]) -> str | None:
    """The option that a text names by name, number or both; None if they differ."""
    numbered = _NUMBERED.match(text)
    if numbered is None:
        return _mentioned(text, options)
    by_number = _numbered(int(numbered[1]), options)
    by_name = _mentioned(numbered[2], options) if re.search(r"\w", numbered[2]) else by_number
    return by_name if by_name == by_number else None


def _numbered(number: int, options: Sequence[str]) -> str | None:
    return options[number - 1] if 0 < number <= len(options) else None


def _mentioned(text: str, options: Sequence[str]) -> str | None:
    """The only option in a text; None if it is denied or doubted where it stands."""
    plain = _plain(text)
    found = [(option, match) for option in options if (match := _pattern(option).search(plain))]
    if len(found) != 1:
        return None
    option, match = found[0]
    sentence = re.split(r"[.!?;\n]", plain[: match.start()])[-1]
    return None if _DENIALS.search(sentence) else option


def _pattern(option: str) -> re.Pattern[str]:
    """An option's words, however they are joined."""
    words = re.findall(r"\w+", _plain(option))
    return re.compile(r"\b" + r"[\s-]?".join(map(re.escape, words)) + r"\b")


def _plain(text: str) -> str:
    """Lower case, without marks of emphasis."""
    return re.sub(r"[*`\"'_]+", " ", text.casefold()).strip()

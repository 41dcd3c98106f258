"""The rows of a benchmark that becomes a dataset, and what in them may tell the place."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Iterator
from typing import Any

from agl1k_core import places
from agl1k_core.benchmarks import CLASSES, CREDITS, Clip
from agl1k_core.errors import Problem, Problems

_TEXTS = ("city", "country", "continent", "title", "description", *CREDITS, "short_key")
#: Columns in their order, each with whether it holds numbers.
COLUMNS: dict[str, bool] = {
    "key": False,
    "file": False,
    "latitude": True,
    "longitude": True,
    **dict.fromkeys(_TEXTS, False),
    "duration_s": True,
    **dict.fromkeys(CLASSES, True),
}
#: Columns without which no reader takes a table for one of ours.
_ALWAYS = ("key", "file", "latitude", "longitude")
#: The columns of a dataset without places; times are left out because their zone is a longitude.
PLACELESS = ("key", "file", "author", "licence", "short_key", "duration_s", *CLASSES)

_WORD = re.compile(r"[^\W_]+")
_DECIMAL = re.compile(r"[-−]?\d{1,3}[.,]\d{2,}")
_TODO = "Change it in the server's folder, whose keys must be the same, and export again"


def columns_of(clips: Iterable[Clip], *, with_truth: bool) -> list[str]:
    """The columns of a dataset: without places, or those that are not empty for all clips."""
    if not with_truth:
        return list(PLACELESS)
    filled = {name for clip in clips for name, value in row_of(clip).items() if value is not None}
    return [name for name in COLUMNS if name in filled or name in _ALWAYS]


def row_of(clip: Clip) -> dict[str, Any]:
    """A clip as a row with all columns; None for what is empty or not known."""
    return {
        **{name: getattr(clip, name) or None for name in ("key", *_TEXTS)},
        "file": clip.file_name or None,
        "latitude": clip.lat,
        "longitude": clip.lon,
        "duration_s": clip.duration_s,
        **{name: clip.classes.get(name) for name in CLASSES},
    }


def in_no_order(clips: Iterable[Clip]) -> list[Clip]:
    """Clips in an order that tells nothing: the neighbours in a table are often neighbours."""
    return sorted(clips, key=lambda clip: hashlib.sha256(clip.key.encode()).digest())


def check_placeless(clips: Iterable[Clip], source: str) -> None:
    """Refuse clips whose keys or authors name the place; raises ``FileRefusedError`` with all."""
    problems = Problems(source)
    for clip in clips:
        for name in ("key", "short_key", "author"):
            for told in _told(clip, getattr(clip, name)):
                found = f"it tells the place, which would not be secret: {told}"
                problems.add(Problem(found, _TODO, clip=clip.key, field=name))
    problems.raise_if_any()


def _told(clip: Clip, text: str) -> Iterator[str]:
    """What in a text tells where a clip was recorded."""
    words = _words(text)
    for label in (clip.city, clip.country, clip.continent):
        wanted = _words(label)
        if len("".join(wanted)) > 2 and f" {' '.join(wanted)} " in f" {' '.join(words)} ":
            yield label
    code = places.country_code(clip.country) or clip.country
    yield from (word for word in _WORD.findall(text) if _is_country(word, code, clip.country))
    yield from (found[0] for found in _DECIMAL.finditer(text) if _is_coordinate(found[0], clip))


def _words(text: str) -> list[str]:
    return [places.fold(word) for word in _WORD.findall(text)]


def _is_country(word: str, code: str, label: str) -> bool:
    """Whether a word is a country's code in capitals, or its name in another language."""
    if not code or places.fold(word) == places.fold(label):
        return False
    named = len(word) > 3 and places.country_code(word) == code
    return named or (len(word) in (2, 3) and word.isupper() and _code_of(word) == code)


def _code_of(word: str) -> str | None:
    return word if len(word) == 2 else places.country_code(word)


def _is_coordinate(text: str, clip: Clip) -> bool:
    number = text.replace(",", ".").replace("−", "-")
    unit = 10.0 ** -len(number.partition(".")[2])
    value = abs(float(number))
    return any(math.isclose(value, abs(at), abs_tol=unit) for at in (clip.lat, clip.lon))

"""Values as archives write them: nothing, numbers, lengths and times."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Any

from agl1k_core.delimited import plain_number

_NOTHING = {
    "", "null", "none", "nan", "na", "n/a", "nil", "?", "-", "unknown", "<na>", "undefined",
}  # fmt: skip
_DATE = re.compile(r"(\d{4})(?:[-/.](\d{1,2})(?:[-/.](\d{1,2}))?)?(?:[T ]+(.+))?")
_CLOCK = re.compile(r"(\d{1,2})[:.h](\d{2})(?::(\d{2})(?:\.\d+)?)?\s*(Z|[+-]\d{2}:?\d{2}|UTC)?")
_LENGTH = re.compile(r"(?:(\d+):)?(\d{1,3}):(\d{2}(?:\.\d+)?)")
#: Archives write 00 for a month or day that is not known; such a date has no time of day.
_UNKNOWN_DAY = re.compile(r"\d{4}(?:$|-\d\d$|-00|-\d\d-00)")


def is_nothing(value: Any) -> bool:
    """Whether a value stands for none, such as null, an empty text or ``NaN``."""
    if isinstance(value, str):
        return value.strip().casefold() in _NOTHING
    return value is None or (isinstance(value, float) and math.isnan(value))


def text_of(value: Any) -> str:
    """A value as text; whole numbers without a point, lists and objects as nothing."""
    if is_nothing(value) or isinstance(value, dict | list | bool):
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()


def first_of(fields: Mapping[str, Any], names: Iterable[str]) -> Any:
    """The first of the fields that is not nothing, None if all are."""
    return next((fields[name] for name in names if not is_nothing(fields.get(name))), None)


def stem_of(name: str) -> str:
    """The path of a recording without its suffix."""
    return name.removesuffix(PurePosixPath(name).suffix)


def number_of(value: Any) -> float:
    """A value as a number, NaN if it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return math.nan
    try:
        return float(plain_number(value, decimal_comma=True) if isinstance(value, str) else value)
    except (ValueError, OverflowError):
        return math.nan


def from_0_to_360(longitude: float) -> float:
    """A longitude from -180 to 180, whichever way it was counted.

    Examples
    --------
    >>> from_0_to_360(316.8271), from_0_to_360(-43.1729)
    (-43.1729, -43.1729)
    """
    return round(longitude - 360, 9) if longitude > 180 else longitude


def seconds_of(value: Any) -> float | None:
    """A length in seconds, from a number or ``1:02:03``; None if it is neither.

    Examples
    --------
    >>> seconds_of("1:07"), seconds_of(31.5), seconds_of("long")
    (67.0, 31.5, None)
    """
    found = _LENGTH.fullmatch(value.strip()) if isinstance(value, str) else None
    if found:
        return int(found[1] or 0) * 3600 + int(found[2]) * 60 + float(found[3])
    seconds = number_of(value)
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def recorded_text(date: str, clock: str = "") -> str | None:
    """A date, and a time of day if it is one, in ISO 8601, as far as they are known.

    Returns
    -------
    str or None
        Empty if nothing is known; None if ``date`` is no date.

    Examples
    --------
    >>> recorded_text("2008-07-00", "08:15"), recorded_text("2009-05-03", "8:15")
    ('2008-07', '2009-05-03T08:15')
    >>> recorded_text("0000-00-00"), recorded_text("last May"), recorded_text("2011-02-30")
    ('', None, None)
    """
    if is_nothing(date):
        return ""
    found = _DATE.fullmatch(date.strip())
    if not found:
        return None
    year, month, day = found[1], int(found[2] or 0), int(found[3] or 0)
    if int(year) == 0:
        return ""
    if not month or not day:
        return _part(year, month)
    return _whole(f"{year}-{month:02}-{day:02}", _clock(found[4] or clock))


def time_of(text: str) -> datetime | None:
    """The time of a recording, None if it or its day is unknown; UTC unless a zone is given.

    Raises ``ValueError`` for what is not a time.

    Examples
    --------
    >>> time_of("2024-05-31T06:30").isoformat(), time_of("2008-07-00"), time_of("2008-07")
    ('2024-05-31T06:30:00+00:00', None, None)
    """
    if not text or _UNKNOWN_DAY.match(text):
        return None
    time = datetime.fromisoformat(text)
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _part(year: str, month: int) -> str | None:
    if month > 12:
        return None
    return f"{year}-{month:02}" if month else year


def _whole(day: str, clock: str) -> str | None:
    """A day with its time of day, or without if that is none; None if there is no such day."""
    try:
        datetime.fromisoformat(day)
    except ValueError:
        return None
    try:
        datetime.fromisoformat(day + clock)
    except ValueError:
        return day
    return day + clock


def _clock(text: str) -> str:
    found = _CLOCK.fullmatch(text.strip())
    if not found:
        return ""
    zone = (found[4] or "").replace("UTC", "Z")
    return f"T{int(found[1]):02}:{found[2]}{f':{found[3]}' if found[3] else ''}{zone}"

"""When a recording was made, from its tags and from the name that the recorder gave it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import PurePath

from agl1k_core.benchmarks.sources.values import recorded_text

#: The comment of AudioMoth: ``Recorded at 19:17:30 19/02/2023 (UTC+2:30) by AudioMoth …``.
_AUDIOMOTH = re.compile(
    r"Recorded at (\d\d:\d\d:\d\d)(?:\.\d+)? (\d\d)/(\d\d)/(\d{4}) "
    r"\(UTC(?:([+-])(\d\d?)(?::(\d\d))?)?\)"
)
#: AudioMoth's old firmware names a file after the seconds since 1970, in hexadecimal digits.
_HEX = re.compile(r"(?=.*[A-F])[56][0-9A-F]{7}")
#: ``20230101_120000`` (AudioMoth, Song Meter), ``2023-01-01 12-00-00``, ``2023-01-01``; without
#: signs, a day alone could be any number.
_FULL = re.compile(
    r"(?<![0-9A-Za-z])((?:19|20)\d\d)"
    r"(?:[-_.]?(\d\d)[-_.]?(\d\d)[-_.T ]{1,3}(\d\d)[-_.:h]?(\d\d)[-_.:m]?(\d\d)"
    r"|[-_.](\d\d)[-_.](\d\d))(?!\d)"
)
#: ``230101-120000`` and ``230101_120000`` (Zoom), ``230101-T001`` and ``230101_T001`` (Zoom's F
#: series, which counts takes).
_SHORT = re.compile(r"([0-4]\d)(\d\d)(\d\d)[-_](?:(\d\d)(\d\d)(\d\d)(?!\d)|T\d{3})")

#: Tags with a time, those of recorders before those that may be of a later copy.
_TAGS = (
    "com.apple.quicktime.creationdate", "recorded", "date_recorded", "recording_date",
    "date", "creation_time",
)  # fmt: skip


def time_in(tags: Mapping[str, str], name: str) -> str:
    """The time of a recording in ISO 8601, as far as known; empty if it is not.

    Tried in turn: GUANO, AudioMoth's comment, ``bext``, the name of the file, other tags. Those may
    hold a year only, or the time at which the file was converted.

    Examples
    --------
    >>> time_in({}, "20230101_120000.WAV"), time_in({}, "5E90A1B2.WAV")
    ('2023-01-01T12:00:00', '2020-04-10T16:41:22Z')
    >>> time_in({"comment": "Recorded at 19:17:30 19/02/2023 (UTC+2) by AudioMoth 24"}, "a.wav")
    '2023-02-19T19:17:30+02:00'
    """
    return next(filter(None, _times(tags, PurePath(name).stem)), "")


def _times(tags: Mapping[str, str], stem: str) -> Iterator[str | None]:
    yield recorded_text(tags.get("guano|timestamp", ""))
    yield _of_audiomoth(tags.get("comment", ""))
    if "time_reference" in tags:  # bext, whose time of day FFmpeg calls creation_time
        day = re.sub("[:_]", "-", tags.get("date", ""))
        yield recorded_text(day, re.sub("[-_.]", ":", tags.get("creation_time", "")))
    yield _of_name(stem)
    for tag in _TAGS:
        yield recorded_text(tags.get(tag, ""))


def _of_audiomoth(comment: str) -> str | None:
    found = _AUDIOMOTH.search(comment)
    if not found:
        return None
    clock, day, month, year, sign, hours, minutes = found.groups()
    zone = f"{sign}{int(hours):02}:{minutes or '00'}" if sign else "Z"
    return recorded_text(f"{year}-{month}-{day}", clock + zone)


def _of_name(stem: str) -> str | None:
    if _HEX.fullmatch(stem):
        return datetime.fromtimestamp(int(stem, 16), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    found = _FULL.search(stem)
    if found:
        return _whole(*filter(None, found.groups()))
    found = _SHORT.match(stem)
    return _whole(*filter(None, (f"20{found[1]}", *found.groups()[1:]))) if found else None


def _whole(year: str, month: str, day: str, *clock: str) -> str | None:
    return recorded_text(f"{year}-{month}-{day}", ":".join(clock))

"""Coordinates as models write them, in degrees: decimals, hemispheres, minutes, seconds, pairs.

All patterns take time linear in the length of the text, and long texts are cut first.
"""

from __future__ import annotations

import math
import re
import unicodedata
from typing import Literal, NamedTuple

Axis = Literal["latitude", "longitude"]

#: A coordinate is short; a longer text is prose.
_LONGEST_VALUE = 120

_NUMBER = r"[-+]?(?<![\d.])\d{1,12}(?:[.,]\d{1,30})?"
_HEMISPHERE = (
    r"(?:north|south|east|west|nord|sud|este?|ouest|norte|sur|oeste|ost|süd|[nsewo])(?![^\W\d_])"
)
_DEGREES = r"(?:°|º|˚|\bdegrees?\b|\bdegs?\b\.?)"
_MINUTES = r"(?:'|\bmin(?:utes?)?\b\.?)"
_SECONDS = r"(?:\"|''|\bsec(?:onds?)?\b\.?)"
_ANGLE = (
    rf"(?P<deg>{_NUMBER})\s{{0,3}}(?:{_DEGREES}\s{{0,3}}"
    rf"(?:(?P<min>\d{{1,3}}(?:[.,]\d{{1,20}})?)\s{{0,3}}{_MINUTES}\s{{0,3}}"
    rf"(?:(?P<sec>\d{{1,3}}(?:[.,]\d{{1,20}})?)\s{{0,3}}{_SECONDS}\s{{0,3}})?)?)?"
)
_ANGLE_RE = re.compile(rf"{_ANGLE}(?:\(?(?P<hemi>{_HEMISPHERE})\)?)?", re.IGNORECASE)
_LEADING_HEMISPHERE = re.compile(rf"^\W*{_HEMISPHERE}\W{{0,3}}\d", re.IGNORECASE)
_HEMISPHERE_FIRST = re.compile(
    rf"(?P<hemi>{_HEMISPHERE})[\s.:]{{0,3}}(?P<angle>{_ANGLE})", re.IGNORECASE
)
_COLON_ANGLE = re.compile(
    r"^([-+]?\d{1,3}):(\d{1,2})(?::(\d{1,2}(?:\.\d{1,20})?))?\s*([nsewo]?)$", re.I
)
_PLAIN = re.compile(r"[-+]?(?:\d{1,12}(?:\.\d{0,30})?|\.\d{1,30})(?:[eE][-+]?\d{1,3})?")
_TOLERANCE = re.compile(r"(?:±|\+/-|\+-).*", re.DOTALL)
#: Well-known text, longitude first; a third number is the altitude.
WKT_POINT = re.compile(
    r"\bPOINT ?Z? ?\( ?(-?\d{1,3}(?:\.\d{1,20})?) {1,3}(-?\d{1,3}(?:\.\d{1,20})?)"
    r"(?: {1,3}-?\d{1,6}(?:\.\d{1,20})?)? ?\)",
    re.IGNORECASE,
)
_SIGNS = str.maketrans(
    {
        **dict.fromkeys("−–—‒﹣－‐‑", "-"),
        **dict.fromkeys("′’‘ʹ`´", "'"),
        **dict.fromkeys("″”“", '"'),
    }
)
_EAST_ASIAN_SIDES = {
    **dict.fromkeys(("北纬", "北緯", "북위"), "N"),
    **dict.fromkeys(("南纬", "南緯", "남위"), "S"),
    **dict.fromkeys(("东经", "東經", "東経", "동경"), "E"),
    **dict.fromkeys(("西经", "西經", "西経", "서경"), "W"),
}
_EAST_ASIAN = re.compile(
    rf"(?P<side>{'|'.join(_EAST_ASIAN_SIDES)})[:约約 ]{{0,3}}"
    r"(?P<deg>\d{1,3}(?:\.\d{1,20})?)\s?[°度도]?"
    r"(?:\s?(?P<min>\d{1,2}(?:\.\d{1,20})?)\s?['分분])?(?:\s?(?P<sec>\d{1,2}(?:\.\d{1,20})?)\s?[\"秒초])?"
)
#: 30 02 40 N, and 30d02m40s
_SPACED = re.compile(r"(\d{1,3}) (\d{1,2}) (\d{1,2}(?:\.\d{1,20})?)\s?(?=[NSEW](?![^\W_]))")
_LETTERED = re.compile(r"(\d{1,3})d ?(\d{1,2})m ?(\d{1,2}(?:\.\d{1,20})?)s(?![^\W_])")
_IN_SIGNS = r"""\1°\2'\3" """
_SOUTH_OR_WEST = {"s", "w", "o"}


class Angle(NamedTuple):
    """Degrees, and the axis that a hemisphere word names, if any."""

    degrees: float
    axis: Axis | None = None


def tidy(text: str) -> str:
    """The text with plain signs, digits and spaces in place of typographic ones."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text.translate(_SIGNS)).translate(_SIGNS)
        text = _EAST_ASIAN.sub(_in_signs, text)
    return _LETTERED.sub(_IN_SIGNS, _SPACED.sub(_IN_SIGNS, text))


def _in_signs(match: re.Match[str]) -> str:
    degrees, minutes, seconds = match["deg"], match["min"], match["sec"]
    rest = (f"{minutes}'" if minutes else "") + (f'{seconds}"' if seconds else "")
    return f"{degrees}°{rest} {_EAST_ASIAN_SIDES[match['side']]} "


def read_angle(value: object) -> Angle | None:
    """The coordinate that a number or a text contains; None unless there is exactly one."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return _finite(value)
    if isinstance(value, dict):
        return _from_parts(value)
    if isinstance(value, list):
        return read_angle(value[0]) if len(value) == 1 and not isinstance(value[0], list) else None
    return _from_text(value) if isinstance(value, str) and len(value) <= _LONGEST_VALUE else None


def read_pair(text: str, *, lon_first: bool = False) -> tuple[float, float] | None:
    """Latitude and longitude in a text with exactly two coordinates, by hemisphere or order.

    Without hemispheres, latitude comes first, or second with ``lon_first`` or in well-known text,
    unless only the other order gives a point on Earth.
    """
    if len(text) > 2 * _LONGEST_VALUE:
        return None
    wkt = WKT_POINT.search(text)
    if wkt:
        text, lon_first = f"{wkt[1]}, {wkt[2]}", True
    angles = _angles(_separated(tidy(text)))
    if lon_first:
        angles.reverse()
    return ordered(angles[0], angles[1]) if len(angles) == 2 else None


def ordered(first: Angle, second: Angle) -> tuple[float, float] | None:
    """Latitude and longitude from two angles; None if both name the same axis."""
    if first.axis and first.axis == second.axis:
        return None
    swapped = first.axis == "longitude" or second.axis == "latitude"
    unmarked = not (first.axis or second.axis)
    if unmarked and abs(first.degrees) > 90 >= abs(second.degrees):
        swapped = True
    lat, lon = (second, first) if swapped else (first, second)
    return lat.degrees, lon.degrees


def _separated(text: str) -> str:
    """Put a space after a comma that separates two numbers; keep decimal commas ("48,85; 2,35")."""
    if ";" in text or re.search(r"\d,\s", text) or text.count(",") != 1:
        return text
    return text.replace(",", ", ")


def _finite(value: int | float) -> Angle | None:
    try:
        degrees = float(value)
    except OverflowError:
        return None
    return Angle(degrees) if math.isfinite(degrees) else None


def _from_text(text: str) -> Angle | None:
    text = _TOLERANCE.sub("", tidy(text)).strip()
    if _PLAIN.fullmatch(text):
        return _finite(float(text))
    colon = _COLON_ANGLE.match(text)
    if colon:
        return _assembled(colon[1], colon[2], colon[3], colon[4])
    angles = _angles(text)
    return angles[0] if len(angles) == 1 else None


def _from_parts(parts: dict[object, object]) -> Angle | None:
    """An angle given as separate fields for degrees, minutes, seconds and hemisphere."""
    known = {str(key).casefold(): value for key, value in parts.items()}
    words = [known.get(name) for name in ("degrees", "minutes", "seconds")]
    if words[0] is None:
        words[0] = known.get("value")
    hemisphere = known.get("direction") or known.get("hemisphere") or known.get("ref") or ""
    if not isinstance(words[0], int | float | str) or isinstance(words[0], bool):
        return None
    return _assembled(words[0], words[1], words[2], str(hemisphere))


def _angles(text: str) -> list[Angle]:
    """All angles in a text whose hemispheres are all before or all after their numbers."""
    if _LEADING_HEMISPHERE.match(text):
        text = _HEMISPHERE_FIRST.sub(_hemisphere_behind, text)
    return [_angle(match) for match in _ANGLE_RE.finditer(text)]


def _hemisphere_behind(match: re.Match[str]) -> str:
    return f"{match['angle']} {match['hemi']} "


def _angle(match: re.Match[str]) -> Angle:
    return _assembled(match["deg"], match["min"], match["sec"], match["hemi"]) or Angle(math.nan)


def _assembled(
    degrees: object, minutes: object, seconds: object, hemisphere: object
) -> Angle | None:
    try:
        whole, *rest = (float(str(x or 0).replace(",", ".")) for x in (degrees, minutes, seconds))
    except ValueError:
        return None
    size = abs(whole) + rest[0] / 60 + rest[1] / 3600
    letter = str(hemisphere or "").casefold()[:2]
    letter = "o" if letter == "ou" else "e" if letter in {"es", "os"} else letter[:1]
    negative = letter in _SOUTH_OR_WEST or str(degrees).strip().startswith("-")
    axis: Axis | None = None
    if letter:
        axis = "latitude" if letter in {"n", "s"} else "longitude"
    return Angle(-size if negative else size, axis) if math.isfinite(size) else None


_BETWEEN = re.compile(
    r"[\s,;/()\[\]、]{0,6}(?:lat(?:itude)?[\s,;/]{1,3})?"
    r"(?:(?:and|by|lon|lng|long|longitude)[\s:=]{0,3})?"
)
#: Units that make two numbers a measurement rather than a point.
_UNIT = re.compile(
    r"\s?(?:k?hz|k?m|cm|mm|m?s|secs?|seconds?|mins?|minutes?|h|hours?|db\w?|bpm|%|percent)(?![^\W_])",
    re.IGNORECASE,
)
_WHOLE_PAIR = re.compile(
    r"[\[(]?\s?(?P<first>[-+]?\d{1,3}(?:\.\d{1,30})?)(?:\s?[,;]\s?|\s?[/|]\s?|\s{1,3})"
    r"(?P<second>[-+]?\d{1,3}(?:\.\d{1,30})?)\s?[\])]?\.?"
)


def pair_in_prose(text: str) -> tuple[float, float] | None:
    """The last point in a text: two hemispheres, decimals and a comma, or only two numbers."""
    text = tidy(text)
    whole = _WHOLE_PAIR.fullmatch(text.strip(" \n*_`")) if len(text) < _LONGEST_VALUE else None
    if whole and ("," in text or ("." in whole["first"] and "." in whole["second"])):
        pair = ordered(Angle(float(whole["first"])), Angle(float(whole["second"])))
        return pair if pair and abs(pair[0]) <= 90 and abs(pair[1]) <= 180 else None
    if _LEADING_HEMISPHERE.match(text):
        text = _HEMISPHERE_FIRST.sub(_hemisphere_behind, text)
    matches = list(_ANGLE_RE.finditer(text))
    for first, second in zip(matches[-2::-1], matches[:0:-1], strict=True):
        gap = text[first.end() : second.start()]
        if len(gap) > 20 or not _BETWEEN.fullmatch(gap):
            continue
        marked = bool(first["hemi"]) and bool(second["hemi"])
        decimal = "." in first["deg"] and "." in second["deg"] and ("," in gap or ";" in gap)
        decimal = decimal and not _UNIT.match(text, second.end("deg"))
        pair = ordered(_angle(first), _angle(second)) if marked or decimal else None
        if pair and abs(pair[0]) <= 90 and abs(pair[1]) <= 180:
            return pair
    return None

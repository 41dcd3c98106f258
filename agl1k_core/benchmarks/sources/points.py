"""Points as recorders, phones and people write them in tags."""

from __future__ import annotations

import math
import re

from agl1k_core.delimited import plain_number

#: ISO 6709, annex H: ``+48.8566+002.3522+035/``; degrees, or degrees with minutes and seconds.
_ISO_6709 = re.compile(
    r"([+-])(\d{2}|\d{4}|\d{6})(\.\d+)?([+-])(\d{3}|\d{5}|\d{7})(\.\d+)?"
    r"(?:[+-]\d+(?:\.\d+)?)?(?:CRS[\w:]*)?/?"
)
#: RFC 5870.
_GEO = re.compile(r"\bgeo:(-?\d+(?:\.\d+)?),(-?\d+(?:\.\d+)?)", re.IGNORECASE)
_NUMBER = r"[-+]?\d{1,3}(?:\.\d+)?"
_NAMED = re.compile(
    rf"\blat(?:itude)?\s*[:=]?\s*({_NUMBER})°?[\s,;]+lon(?:g|gitude)?\s*[:=]?\s*({_NUMBER})",
    re.IGNORECASE,
)
_PAIR = re.compile(rf"\(?({_NUMBER})°?(?:\s*[,;]\s*|\s+)({_NUMBER})°?(?:[\s,;]+{_NUMBER}\d*m?)?\)?")
_COMMA_PAIR = re.compile(r"([-+]?\d{1,3},\d+)(?:\s*;\s*|\s+)([-+]?\d{1,3},\d+)")
_PART = r"(\d{1,3}(?:\.\d+)?)(?:[°º_:\s]+(\d{1,2}(?:\.\d+)?))?(?:['′_:\s]+(\d{1,2}(?:\.\d+)?))?"
_END = r"[°º'′\"″\s]*"
_AFTER = re.compile(rf"{_PART}{_END}([NS])[\s,;*]*{_PART}{_END}([EW])", re.IGNORECASE)
_BEFORE = re.compile(rf"\b([NS])\s*{_PART}{_END}[\s,;*]*([EW])\s*{_PART}", re.IGNORECASE)

Point = tuple[float, float]


def read_point(text: str) -> Point | None:
    """Latitude and longitude in degrees, if a text is nothing but a point; they may be wrong.

    Examples
    --------
    >>> read_point("48.8566 2.3522"), read_point("+48.8566-002.3522+035.1/")
    ((48.8566, 2.3522), (48.8566, -2.3522))
    >>> read_point("N 49°15'32.4\\" W 122°46'30\\""), read_point("Studio 5")
    ((49.259, -122.775), None)
    """
    text = plain_number(text, decimal_comma=False)
    found = _ISO_6709.fullmatch(text)
    if found:
        return _iso_angle(*found.group(1, 2, 3)), _iso_angle(*found.group(4, 5, 6))
    found = _COMMA_PAIR.fullmatch(text)
    if found:
        return float(found[1].replace(",", ".")), float(found[2].replace(",", "."))
    found = _PAIR.fullmatch(text)
    return (float(found[1]), float(found[2])) if found else point_within(text)


def point_within(text: str) -> Point | None:
    """The point that a text mentions in a way that cannot mean anything else.

    Examples
    --------
    >>> point_within("Dawn at the pond, geo:48.1,2.2"), point_within("Take 12, 48.1 2.2")
    ((48.1, 2.2), None)
    """
    found = _GEO.search(text) or _NAMED.search(text)
    if found:
        return float(found[1]), float(found[2])
    found = _AFTER.search(text)
    if found:
        return _angle(*found.group(4, 1, 2, 3)), _angle(*found.group(8, 5, 6, 7))
    found = _BEFORE.search(text)
    if found:
        return _angle(*found.group(1, 2, 3, 4)), _angle(*found.group(5, 6, 7, 8))
    return None


def _angle(side: str, degrees: str, minutes: str | None, seconds: str | None) -> float:
    value = float(degrees) + float(minutes or 0) / 60 + float(seconds or 0) / 3600
    return -value if side in "SWsw" else value


def _iso_angle(sign: str, digits: str, fraction: str | None) -> float:
    """An angle of ISO 6709, of which the last two or three digits are degrees, minutes or
    seconds, by their number."""
    width = 3 if len(digits) % 2 else 2
    parts = [digits[:width], *re.findall("..", digits[width:])]
    values = [float(part) for part in parts]
    values[-1] += float(fraction or 0)
    angle = sum(value / 60**power for power, value in enumerate(values))
    return math.copysign(angle, -1 if sign == "-" else 1)

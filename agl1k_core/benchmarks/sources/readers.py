"""What each source calls the fields of a clip: pure functions of one record."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from agl1k_core.benchmarks.sources.documents import Document, Record, lower_names
from agl1k_core.benchmarks.sources.licences import licence_name, with_mark
from agl1k_core.benchmarks.sources.values import (
    first_of,
    is_nothing,
    number_of,
    stem_of,
    text_of,
)

#: The fields of one clip by our names of columns, as the source has them.
Fields = Mapping[str, Any]
Reader = Callable[[Record], Fields]

_NAMES: Mapping[str, tuple[str, ...]] = {
    "key": ("key", "id", "clip", "identifier", "archive_item", "item", "item_id", "ia_item"),
    "latitude": ("latitude", "lat", "decimallatitude", "y"),
    "longitude": ("longitude", "lng", "lon", "long", "decimallongitude", "x"),
    "file": (
        "file_name", "filename", "file", "mp3name", "path", "audio",
        "original_file_name", "original_filename", "original_file", "original",
    ),
    "author": (
        "author", "recordist", "creator", "rec", "username", "rights_holder", "artist", "user",
    ),
    "licence": (
        "licence", "license", "lic", "licenseurl", "license_url", "licence_url", "licenceurl",
        "rights",
    ),
    "url": ("url", "link", "source_url", "page", "archive_url", "item_url", "aporee_url"),
    "date": (
        "recorded", "recording_date", "date_recorded", "recorded_at", "recording date", "date",
        "datetime", "timestamp",
    ),
    "time": ("time", "recording_time"),
    "duration_s": ("duration_s", "mp3seconds", "duration", "length", "seconds"),
    "title": ("title", "name"),
    "description": ("description",),
    "city": ("city",),
    "country": ("country", "cnt"),
    "continent": ("continent",),
}  # fmt: skip
#: Marks of recordings that may not be changed.
_FORBIDS = re.compile(r"(?:is[-_ ]?)?(?:nd|no[-_ ]?(?:deriv|adapt)\w*)")
_ALLOWS = re.compile(r"(?:allows?[-_ ]?)?(?:adapt(?:able|ations?)?|deriv\w*)(?:[-_ ]?allowed)?")
#: Fields that may hold both coordinates.
POINTS = ("coordinates", "location", "geo", "gps", "geotag", "position")


def common(record: Record) -> dict[str, Any]:
    """A record whose fields have common names."""
    fields = record.fields
    found = {ours: first_of(fields, theirs) for ours, theirs in _NAMES.items()}
    found["key"] = text_of(found["key"]) or stem_of(text_of(found["file"]))
    licence = licence_name(text_of(found["licence"]))
    found["licence"] = with_mark(licence, adaptable=_is_adaptable(fields))
    found["url"] = _address(found["url"])
    if found["latitude"] is None and found["longitude"] is None:
        found["latitude"], found["longitude"] = point_of(_point_in(fields))
    return found


def common_in(document: Document) -> Reader:
    """``common`` for the records of a document, of which all may show the order of its points.

    A list of two numbers does not say which is the latitude. If some first number is beyond 90, it
    is the longitude in all of them, and likewise for the second.
    """
    lists = [value for record in document.records for value in _lists(record).values()]
    beyond = {place for value in lists for place in (0, 1) if 90 < abs(value[place]) <= 360}
    return partial(_common_with_order, order=beyond.pop()) if len(beyond) == 1 else common


def _common_with_order(record: Record, order: int) -> dict[str, Any]:
    names = ("longitude", "latitude") if order == 0 else ("latitude", "longitude")
    points = {name: dict(zip(names, value, strict=False)) for name, value in _lists(record).items()}
    return common(replace(record, fields={**record.fields, **points}))


def _lists(record: Record) -> dict[str, list[float]]:
    """The fields that may be a point and are two numbers."""
    found = {name: record.fields.get(name) for name in POINTS}
    return {
        name: [number_of(part) for part in value]
        for name, value in found.items()
        if isinstance(value, list) and len(value) == 2
    }


def _is_adaptable(fields: Mapping[str, Any]) -> bool:
    """Whether no mark says that the recording may not be changed."""
    forbidden = any(_is_true(value) for name, value in fields.items() if _FORBIDS.fullmatch(name))
    denied = (_is_false(value) for name, value in fields.items() if _ALLOWS.fullmatch(name))
    return not forbidden and not any(denied)


def _point_in(fields: Mapping[str, Any]) -> Any:
    """The first field that may be a point; the name of a place is none."""
    values = (fields.get(name) for name in POINTS)
    return next((value for value in values if not (is_nothing(value) or _is_words(value))), None)


def _is_words(value: Any) -> bool:
    return isinstance(value, str) and not any(
        math.isfinite(number_of(part)) for part in value.replace(",", " ").split()
    )


def xeno_canto(record: Record) -> Fields:
    """xeno-canto, as its API describes a recording (versions 2 and 3)."""
    fields = record.fields
    found = common(record)
    key = text_of(fields.get("id") or fields.get("nr")).removeprefix("XC")
    name = text_of(fields.get("file-name")) or text_of(fields.get("file_name"))
    said = text_of(fields.get("file"))
    is_name = bool(said) and "//" not in said
    name = name or (said if is_name else f"XC{key}.mp3" if key else "")
    species = text_of(fields.get("en")) or _words(fields, "gen", "sp")
    url = found["url"] or (f"https://xeno-canto.org/{key}" if key else "")
    return {**found, "key": key, "file": name, "title": species, "url": url, "description": ""}


def freesound(record: Record) -> Fields:
    """Freesound, as its API describes a sound; ``created`` is the time of the upload."""
    found = common(record)
    latitude, longitude = point_of(record.fields.get("geotag"))
    name = text_of(record.fields.get("name"))
    suffix = text_of(record.fields.get("type"))
    if suffix and not name.casefold().endswith(f".{suffix.casefold()}"):
        name = f"{name}.{suffix}"
    return {
        **found,
        "latitude": latitude,
        "longitude": longitude,
        "file": name,
        "author": _user(record.fields) or found["author"],
        "date": "",
    }


def inatsounds(document: Document) -> Reader:
    """iNatSounds: COCO JSON; names of species and licences are beside the list of recordings."""
    licences = {
        text_of(one.get("id")): text_of(one.get("url")) or text_of(one.get("name"))
        for one in _objects(document.beside.get("licenses"))
    }
    species = _species(document.beside)

    def read(record: Record) -> Fields:
        found = common(record)
        licence = text_of(record.fields.get("license"))
        return {
            **found,
            "licence": licence_name(licences.get(licence, licence)),
            "title": species.get(text_of(record.fields.get("id")), found["title"]),
        }

    return read


def geojson(record: Record) -> Fields:
    """A feature of GeoJSON: its point, and its properties by common names."""
    fields = record.fields
    properties = fields.get("properties")
    lower = lower_names(properties) if isinstance(properties, dict) else {}
    found = common(Record({"id": fields.get("id"), **lower}))
    geometry = fields.get("geometry")
    if not isinstance(geometry, dict):
        return {**found, "latitude": None, "longitude": None}
    if geometry.get("type") != "Point":
        return {**found, "latitude": Odd(f"a {geometry.get('type')}, not a Point")}
    at = geometry.get("coordinates")
    if not at:  # RFC 7946, section 3.1: an empty list is a point without a place
        return {**found, "latitude": None, "longitude": None}
    if not isinstance(at, list) or len(at) < 2:
        return {**found, "latitude": Odd(f"{str(at)[:40]}, not [longitude, latitude]")}
    return {**found, "latitude": at[1], "longitude": at[0]}


class Odd(str):
    """What stands in place of a coordinate, in words."""

    __slots__ = ()


def point_of(value: Any) -> tuple[Any, Any]:
    """Latitude and longitude of a point that is ``lat lon`` in a text, or an object.

    A list of two numbers is not read, since it does not say which is which; see ``common_in``.

    Examples
    --------
    >>> point_of("41.2 2.16"), point_of({"lat": 1, "lon": 2}), point_of(None)
    (('41.2', '2.16'), (1, 2), (None, None))
    """
    if is_nothing(value):
        return None, None
    if isinstance(value, dict):
        lower = lower_names(value)
        if lower.get("type") == "Point" and isinstance(lower.get("coordinates"), list):
            longitude, latitude = (*lower["coordinates"], None, None)[:2]
            return latitude, longitude
        return first_of(lower, _NAMES["latitude"]), first_of(lower, _NAMES["longitude"])
    parts = value.replace(",", " ").split() if isinstance(value, str) else []
    if len(parts) == 2:
        return parts[0], parts[1]
    return Odd(f"{str(value)[:40]!r}, not 'latitude longitude'"), None


def _address(value: Any) -> str:
    text = text_of(value)
    return f"https:{text}" if text.startswith("//") else text


def _user(fields: Mapping[str, Any]) -> str:
    user = fields.get("user")
    return text_of(user.get("username")) if isinstance(user, dict) else ""


def _words(fields: Mapping[str, Any], *names: str) -> str:
    return " ".join(filter(None, (text_of(fields.get(name)) for name in names)))


def _species(beside: Mapping[str, Any]) -> dict[str, str]:
    """The name of the species of each recording of a COCO file, by the recording's id."""
    names = {
        text_of(one.get("id")): text_of(one.get("common_name")) or text_of(one.get("name"))
        for one in _objects(beside.get("categories"))
    }
    return {
        text_of(one.get("audio_id")): names.get(text_of(one.get("category_id")), "")
        for one in _objects(beside.get("annotations"))
    }


def _objects(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _is_true(value: Any) -> bool:
    return value is True or text_of(value).casefold() in {"true", "yes", "1"}


def _is_false(value: Any) -> bool:
    return value is False or text_of(value).casefold() in {
        "false",
        "no",
        "0",
        "forbidden",
        "not allowed",
    }

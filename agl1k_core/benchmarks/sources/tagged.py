"""A folder of recordings: place, time and credits from each one's own tags, and from its name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from agl1k_core import extras
from agl1k_core.audio import common_shelter
from agl1k_core.benchmarks.model import LeftOut
from agl1k_core.benchmarks.recordings import recordings_in
from agl1k_core.benchmarks.sources.documents import Document, Record
from agl1k_core.benchmarks.sources.points import Point, point_within, read_point
from agl1k_core.benchmarks.sources.times import time_in
from agl1k_core.benchmarks.sources.values import first_of, from_0_to_360, is_nothing, stem_of
from agl1k_core.errors import Agl1kError, Problems
from agl1k_core.file_names import name_in, shown

Tags = Mapping[str, str]

#: The last part of the names of tags that hold a point, without spaces and signs; the name of a
#: place may be in the second group.
_POINTS = ("locposition", "locationgps", "gpscoordinates", "locationiso6709", "iso6709", "xyz")
_PLACES = ("location", "geolocation", "geo", "gps", "coordinates", "geotag", "position")
_LATITUDES = ("latitude", "lat", "gpslatitude", "geolatitude", "geolat", "locationlatitude")
_LONGITUDES = (
    "longitude", "lon", "lng", "long", "gpslongitude", "geolongitude", "geolong", "geolon",
    "locationlongitude",
)  # fmt: skip
_TEXTS = ("description", "comment", "bwfdescription", "note", "notes")
#: What the names of places have, and points do not; and what points have, and takes do not.
_WORD = re.compile(r"[^\W\d_]{3}")
_DECIMALS = re.compile(r"\d[.,]\d\d.*\d[.,]\d\d")
_NO_PLACE = "No place is in the tags"


class OddPlaceError(Exception):
    """A tag that should hold a place and does not."""


def read_tagged(folder: Path) -> tuple[Document, dict[str, LeftOut]]:
    """Read the tags of all recordings in a folder.

    Returns
    -------
    document : Document
        The recordings that have a place.
    left_out : dict
        The others by name within the folder, and why.

    Raises
    ------
    Agl1kError
        If there are no recordings, or nothing to read them with.
    """
    extras.check("av")
    found, _ = recordings_in([folder])
    names = {path: name_in(folder, path) for path in found}
    stems = Counter(stem_of(name) for name in names.values())
    records: list[Record] = []
    left_out: dict[str, LeftOut] = {}
    for path, name in names.items():
        read = _read(path)
        if isinstance(read, LeftOut):
            left_out[name] = read
        else:
            key = stem_of(name) if stems[stem_of(name)] == 1 else name
            records.append(Record({"key": key, "file": name, **read}))
    return Document(folder, tuple(records), Problems(shown(folder.name))), left_out


def left_out_remarks(left_out: Mapping[str, LeftOut], n_files: int) -> list[str]:
    """A sentence for each reason for which recordings were left out, with the first of them."""
    by_reason: dict[str, list[str]] = {}
    for name, about in left_out.items():
        by_reason.setdefault(about.detail, []).append(shown(name))
    return [
        f"{len(names):,} of {n_files:,} recordings left out. {reason}: {_few(names)}."
        for reason, names in by_reason.items()
    ]


def _few(names: list[str]) -> str:
    more = f" and {len(names) - 5:,} more" if len(names) > 5 else ""
    return ", ".join(names[:5]) + more


def _read(path: Path) -> dict[str, str | float] | LeftOut:
    """The fields of a recording, or why there are none."""
    try:
        tags = common_shelter().written_tags(path)
        latitude, longitude = place_in(tags)
    except OddPlaceError as error:
        return LeftOut(str(error))
    except Agl1kError as error:
        return LeftOut(str(error).rstrip("."), is_broken=True)
    except RuntimeError as error:  # of the process that reads tags
        return LeftOut(f"The tags cannot be read: {error}", is_broken=True)
    return {
        "latitude": latitude,
        "longitude": longitude,
        "recorded": time_in(tags, path.name),
        "title": tags.get("title", ""),
        "author": first_of(tags, ("artist", "author")) or "",
        "licence": first_of(tags, ("license", "licence", "copyright")) or "",
        "url": first_of(tags, ("url", "purl", "contact")) or "",
    }


def place_in(tags: Tags) -> Point:
    """Latitude and longitude in the tags of a recording.

    Tried in turn: tags for a point, such as GUANO's ``Loc Position``, iXML's ``LOCATION_GPS`` and
    the ``location`` of phones; latitude and longitude in tags of their own; a point in a comment.

    Raises
    ------
    OddPlaceError
        If there is none, or it cannot be right.

    Examples
    --------
    >>> place_in({"guano|loc position": "48.8566 2.3522"})
    (48.8566, 2.3522)
    >>> place_in({"guano|loc position": "0.0 0.0"})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    agl1k_core.benchmarks.sources.tagged.OddPlaceError: The tag guano|loc position ...
    """
    candidate = next(_candidates(tags), None)
    if candidate is None:
        raise OddPlaceError(_NO_PLACE)
    return _checked(*candidate)


def _candidates(tags: Tags) -> Iterator[tuple[str, str, Point | None]]:
    """Tags that may hold the place: name, text, and the point if the text is one."""
    for name, text in _of(tags, _POINTS):
        yield name, text, read_point(text)
    for name, text in _of(tags, _PLACES):
        point = read_point(text)
        if point or (re.search(r"\d", text) and not _WORD.search(text)):
            yield name, text, point
    yield from _of_two_tags(tags)
    for name, text in _of(tags, _TEXTS):
        point = point_within(text) or (read_point(text) if _DECIMALS.search(text) else None)
        if point:
            yield name, text, point


def _of_two_tags(tags: Tags) -> Iterator[tuple[str, str, Point | None]]:
    latitudes, longitudes = _of(tags, _LATITUDES), _of(tags, _LONGITUDES)
    for (name, latitude), (_, longitude) in zip(latitudes, longitudes, strict=False):
        south_north, west_east = _side(tags, _LATITUDES), _side(tags, _LONGITUDES)
        if south_north or west_east:
            text = f"{latitude} {south_north or 'N'}, {longitude} {west_east or 'E'}"
        else:
            text = f"{latitude}; {longitude}"
        yield name, text, read_point(text)


def _side(tags: Tags, names: tuple[str, ...]) -> str:
    """N, S, E or W from a tag such as ``GPSLatitudeRef``; empty if there is none."""
    found = _of(tags, [f"{name}ref" for name in names])
    return found[0][1][:1] if found else ""


def _checked(name: str, text: str, point: Point | None) -> Point:
    """A point on Earth, with a longitude from -180 to 180; raises ``OddPlaceError``."""
    said = f"The tag {shown(name)} is '{shown(text)[:60]}'"
    if point is None or abs(point[0]) > 90 or not -180 <= point[1] <= 360:
        raise OddPlaceError(f"{said}, not a latitude and a longitude")
    if point == (0, 0):
        raise OddPlaceError(f"{said}, which devices write that know no place")
    return point[0], from_0_to_360(point[1])


def _of(tags: Tags, names: Iterable[str]) -> list[tuple[str, str]]:
    """The tags that have one of these names and say something, in the order of the names."""
    said = [(_plain(name), name, text) for name, text in tags.items() if not is_nothing(text)]
    return [(name, text) for wanted in names for plain, name, text in said if plain == wanted]


def _plain(name: str) -> str:
    """The last part of a tag's name, in letters and digits, without its language."""
    last = name.rpartition("|")[2].removeprefix("com.apple.quicktime.")
    return re.sub(r"[^a-z0-9]", "", re.sub(r"-[a-z]{3}$", "", last))

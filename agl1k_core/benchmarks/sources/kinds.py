"""The sources that are known, by shape, and reading one into clips."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from agl1k_core.benchmarks.model import CLASSES, Clip, LeftOut
from agl1k_core.benchmarks.sources import readers
from agl1k_core.benchmarks.sources.documents import Document, Record, listed_names
from agl1k_core.benchmarks.sources.values import (
    from_0_to_360,
    is_nothing,
    number_of,
    recorded_text,
    seconds_of,
    text_of,
)
from agl1k_core.errors import Problem

_POINT = "point"
_POINT_NAMES = "|".join(readers.POINTS)
_UNCERTAINTY_M = ("location_uncertainty", "positional_accuracy", "coordinateuncertaintyinmeters")
_VAGUE_M = 1000.0


@dataclass(frozen=True, slots=True)
class Source:
    """A kind of table: its name, what it is and needs, how it is recognised and read.

    ``has_classes``: columns such as ``human`` are those of ``clips.csv``.
    """

    name: str
    title: str
    needs: str
    fits: Callable[[Document], bool]
    reader: Callable[[Document], readers.Reader]
    has_classes: bool = False


@dataclass(frozen=True, slots=True)
class Sourced:
    """The clips of a source, what to tell about what was left out, and that by name."""

    clips: tuple[Clip, ...]
    remarks: tuple[str, ...] = ()
    left_out: Mapping[str, LeftOut] = field(default_factory=dict)


def _of_records(reader: readers.Reader) -> Callable[[Document], readers.Reader]:
    return lambda document: reader


def _has(names: frozenset[str], *groups: str) -> bool:
    """Whether there is a name of each group; the names of a group are separated by bars."""
    return all(names & {*group.split("|")} for group in groups)


def _is_aporee(document: Document) -> bool:
    marks = (
        "adapt|no_derivatives|noderivatives|no_derivs|licenseurl|aporee_url|archive_item|recordist"
    )
    return not document.wrapper and _has(
        document.names, marks, f"latitude|lat|{_POINT_NAMES}", "file_name|file|item|title"
    )


#: The recordings of a folder, of which ``tagged`` makes records.
TAGGED = Source(
    "tags",
    "A folder of recordings with the place in their own tags",
    "GUANO, ID3, Vorbis comments, iXML, bext or MP4 tags with a point",
    lambda document: False,
    readers.common_in,
)
#: A dataset, of which ``hub`` makes records.
HUB = Source(
    "hub",
    "A dataset of the Hugging Face Hub, or a folder or file of Parquet",
    "latitude, longitude; an Audio column, key and others if known; --columns names them",
    lambda document: False,
    readers.common_in,
    has_classes=True,
)
#: In the order in which they are tried.
SOURCES = (
    Source(
        "inatsounds",
        "iNatSounds, COCO JSON",
        "audio: file_name, latitude, longitude; date and licences if known",
        lambda document: document.wrapper == "audio",
        readers.inatsounds,
    ),
    Source(
        "geojson",
        "GeoJSON points",
        "a FeatureCollection of points; properties key or id, and file",
        lambda document: (
            document.wrapper == "features" or _has(document.names, "geometry", "properties")
        ),
        _of_records(readers.geojson),
    ),
    Source(
        "xeno-canto",
        "xeno-canto, JSON of its API or a table of it",
        "id, lat, lng; file, lic, date and time if known",
        lambda document: (
            document.wrapper == "recordings"
            or _has(document.names, "id|nr", "lat", "lng|lon", "lic|rec|file|file-name")
        ),
        _of_records(readers.xeno_canto),
    ),
    Source(
        "freesound",
        "Freesound, JSON of its API",
        "id, geotag (latitude longitude); name, license, username if known",
        lambda document: _has(document.names, "geotag", "id"),
        _of_records(readers.freesound),
    ),
    Source(
        "soundingearth",
        "SoundingEarth, metadata.csv",
        "key, latitude, longitude, mp3name",
        lambda document: _has(document.names, "key", "latitude", "longitude", "mp3name"),
        readers.common_in,
    ),
    Source(
        "aporee",
        "radio aporee, metadata.jsonl",
        "file_name or key, latitude, longitude; licence, date and the mark adapt if known",
        _is_aporee,
        readers.common_in,
    ),
    Source(
        "records",
        "Our own columns, as JSON or JSON lines",
        "key, latitude, longitude, file",
        lambda document: (
            document.is_json and _has(document.names, "key", "latitude", "longitude", "file")
        ),
        readers.common_in,
        has_classes=True,
    ),
    Source(
        "audiofolder",
        "Hugging Face audiofolder, metadata.csv or .jsonl",
        "file_name, latitude, longitude",
        lambda document: _has(document.names, "file_name", f"latitude|lat|{_POINT_NAMES}"),
        readers.common_in,
    ),
)


def kind_of(document: Document, name: str = "") -> Source | None:
    """The source of that name, or else the first that a document looks like; None if none does."""
    if name:
        return next((source for source in SOURCES if source.name == name), None)
    return next((source for source in SOURCES if source.fits(document)), None)


def read_clips(document: Document, source: Source) -> Sourced:
    """Read the records of a source into clips.

    Records without a place are left out and counted. Longitudes from 0 to 360 are read if all of
    the file's are.

    Raises
    ------
    FileRefusedError
        With every record that is wrong.
    """
    read = source.reader(document)
    drafts = [_Draft(record, read(record)) for record in document.records]
    placed = [draft for draft in drafts if draft.has_place]
    around = _is_0_to_360(placed)
    clips = tuple(_clips(document, source, placed, around))
    if not placed and not document.problems.total:
        names = listed_names(document.names)
        found = f"none of its {len(drafts):,} records has a place; their fields are: {names}"
        document.problems.add(Problem(found, f"Give records with {source.needs}"))
    document.problems.raise_if_any()
    return Sourced(clips, tuple(_remarks(document, drafts, placed, around)), _left_out(drafts))


def _left_out(drafts: list[_Draft]) -> dict[str, LeftOut]:
    """The recordings whose record has no place; several records may name one recording."""
    placed = {text_of(draft.fields["file"]) for draft in drafts if draft.has_place}
    files = (text_of(draft.fields["file"]) for draft in drafts if not draft.has_place)
    return {name: LeftOut("The table gives no place") for name in files if name not in placed}


@dataclass(frozen=True, slots=True)
class _Draft:
    record: Record
    fields: readers.Fields

    @property
    def has_place(self) -> bool:
        """Whether both coordinates say something, even if it is wrong."""
        odd = isinstance(self.fields["latitude"], readers.Odd)
        missing = any(is_nothing(self.fields[name]) for name in ("latitude", "longitude"))
        return odd or not missing

    @property
    def uncertainty_m(self) -> float:
        """How far the place may be from the true one, NaN if that is not known."""
        known = (self.record.fields.get(name) for name in _UNCERTAINTY_M)
        return next((number_of(value) for value in known if not is_nothing(value)), math.nan)

    @property
    def recorded(self) -> str | None:
        """When it was recorded, as far as known; None if that cannot be read."""
        return recorded_text(text_of(self.fields["date"]), text_of(self.fields["time"]))


def _is_0_to_360(drafts: list[_Draft]) -> bool:
    """Whether longitudes go around to 360: some beyond 180, and none below 0."""
    found = [number_of(draft.fields["longitude"]) for draft in drafts]
    known = [value for value in found if math.isfinite(value)]
    return bool(known) and min(known) >= 0 and 180 < max(known) <= 360


def _clips(
    document: Document, source: Source, drafts: list[_Draft], around: bool
) -> Iterator[Clip]:
    seen: dict[str, _Draft] = {}
    for draft in drafts:
        clip = _clip(draft, document, around)
        key = unicodedata.normalize("NFC", clip.key)
        if not key:
            found, todo = "it has neither a key nor the name of a file", "Give each clip a key"
            document.problems.add(draft.record.problem(found, todo, field="key"))
        elif key in seen:
            first = seen[key].record
            where = f"line {first.line}" if first.line else f"record {first.number}"
            problem = draft.record.problem(
                f"the key is already on {where}", "Give each clip its own key", clip=key
            )
            document.problems.add(problem)
        seen.setdefault(key, draft)
        classes = _classes(draft, document) if source.has_classes else {}
        yield replace(clip, classes=classes)


def _clip(draft: _Draft, document: Document, around: bool) -> Clip:
    fields = draft.fields
    longitude = _degrees(draft, "longitude", 180, document, around)
    text = {name: text_of(value) for name, value in fields.items()}
    return Clip(
        text["key"],
        _degrees(draft, "latitude", 90, document),
        from_0_to_360(longitude),
        text["city"],
        text["country"],
        text["continent"],
        text["file"],
        seconds_of(fields["duration_s"]),
        text["title"],
        text["description"],
        author=text["author"],
        licence=text["licence"],
        url=text["url"],
        recorded=draft.recorded or "",
    )


def _classes(draft: _Draft, document: Document) -> dict[str, float]:
    """The shares of time of the classes; what is no share is a problem."""
    said = {name: draft.record.fields.get(name) for name in CLASSES}
    shares = {name: number_of(value) for name, value in said.items() if not is_nothing(value)}
    for name, share in shares.items():
        if not 0 <= share <= 1:
            found = f"{str(said[name])[:40]!r} is not a number from 0 to 1"
            key = text_of(draft.fields["key"])
            problem = draft.record.problem(found, "Correct the field", clip=key, field=name)
            document.problems.add(problem)
    return shares


def _degrees(
    draft: _Draft, name: str, limit: float, document: Document, around: bool = False
) -> float:
    """A coordinate; what is none is a problem."""
    said: Any = draft.fields[name]
    value = number_of(said)
    lowest, highest = (0.0, 360.0) if around else (-limit, limit)
    if lowest <= value <= highest:
        return value
    if not is_nothing(said):
        document.problems.add(_not_degrees(draft, name, said, limit))
    return math.nan


def _not_degrees(draft: _Draft, name: str, said: Any, limit: float) -> Problem:
    key = text_of(draft.fields["key"])
    if isinstance(said, readers.Odd):
        found = f"the place is {said}"
        todo = "Give latitude and longitude in fields of their own, or as text: 48.85 2.35"
        return draft.record.problem(found, todo, clip=key, field=_POINT)
    found = f"{str(said)[:40]!r} is not a number from {-limit:g} to {limit:g}"
    todo = "Correct the field"
    if name == "longitude" and 180 < number_of(said) <= 360:
        todo = "Subtract 360, or give all longitudes from 0 to 360: others in the file are negative"
    return draft.record.problem(found, todo, clip=key, field=name)


def _remarks(
    document: Document, drafts: list[_Draft], placed: list[_Draft], around: bool
) -> Iterator[str]:
    name = document.problems.source
    without = [draft.record for draft in drafts if not draft.has_place]
    if without:
        yield f"{name}: {len(without):,} of {len(drafts):,} records have no place and are left out"\
            f" ({_where(without)})."  # fmt: skip
    if around:
        yield f"{name}: longitudes from 0 to 360 were read as −180 to 180."
    vague = [draft.record for draft in placed if draft.uncertainty_m > _VAGUE_M]
    if vague:
        yield f"{name}: the place is uncertain by more than 1 km in {_where(vague)}."
    odd = [draft.record for draft in placed if draft.recorded is None]
    if odd:
        yield f"{name}: the date cannot be read, and is left empty, in {_where(odd)}."


def _where(records: list[Record]) -> str:
    """The places of the first few records, and how many more there are."""
    word = "line" if records[0].line else "record"
    places = ", ".join(str(record.line or record.number) for record in records[:5])
    more = f" and {len(records) - 5:,} more" if len(records) > 5 else ""
    return f"{word}{'s' if len(records) > 1 else ''} {places}{more}"

"""Reads tables of clips into a ``Benchmark``, and reports every problem with its line.

``docs/benchmark-format.md`` documents the folder format. The published table has 19 names for 20
fields, because ``channel`` and ``environment_and_background`` share one name there; that one defect
is repaired, and any other mismatch is an error with the line and the counts.
"""

from __future__ import annotations

import json
import math
import os
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

from agl1k_core import places
from agl1k_core.benchmarks.csv_tables import (
    FOLDER_REQUIRED,
    Columns,
    CsvTable,
    TableRow,
    missing_column,
    read_rows,
)
from agl1k_core.benchmarks.model import CLASSES, Benchmark, Clip
from agl1k_core.benchmarks.out_of_play import read_out_of_play
from agl1k_core.errors import Agl1kError, Problem, Problems
from agl1k_core.file_names import shown, written
from agl1k_core.inputs import is_standard_input, name_of

PUBLISHED_SLUG = "agl1k"
PUBLISHED_FILE = "geoLocalization_schema.csv"
FOLDER_TABLE = "clips.csv"
FOLDER_INFO = "benchmark.json"

#: Optional columns that say whose recording a clip is, as attributes of ``Clip``.
CREDITS = ("author", "licence", "url", "recorded")

_PUBLISHED_COLUMNS = (
    "key", "short_key", "longitude", "latitude", "altitude", "description", "title", "mp3name",
    "mp3seconds", "city", "country", "continent", "human_sounds", "animal", "music",
    "natural_sounds", "channel", "environment_and_background", "sounds_of_things",
    "source_ambiguous_sounds",
)  # fmt: skip
_MERGED = "channel_environment_and_background"
_BROKEN_COLUMNS = tuple(
    _MERGED if name == "channel" else name
    for name in _PUBLISHED_COLUMNS
    if name != "environment_and_background"
)
_COORDINATES = ("latitude", "longitude")
_ALL_OR_NONE = "Give all places on the server, and none in a public copy"
_LONGITUDE = "Correct the field; subtract 360 from longitudes of 180 to 360"
_NO_CLIPS = Problem("the table has no clips", "Add a header and one line per clip")


def read_demo() -> Benchmark:
    """The demo pack: synthetic clips that are part of the package."""
    return read_folder(Path(str(files("agl1k_core.benchmarks") / "demo")))


def read_published(
    table: Path | CsvTable, *, audio_dir: Path | None = None, audio_url: str | None = None
) -> Benchmark:
    """Read a table in the format in which AGL1K is published.

    Parameters
    ----------
    table
        The table, CSV.
    audio_dir
        The folder of its recordings, if there is one.
    audio_url
        Template of the addresses from which recordings are fetched, with ``{key}`` and
        ``{file_name}``.

    Raises
    ------
    FileRefusedError
        With every line that is wrong.
    Agl1kError
        If the file cannot be read.

    Examples
    --------
    >>> from agl1k_core.benchmarks import read_demo
    >>> read_published(read_demo().audio_dir / "clips.csv")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    agl1k_core.errors.FileRefusedError: clips.csv was refused: 1 problem
      1. line 1: 18 names for 18 fields, without ...
    >>> read_published(Path("geoLocalization_schema.csv"))  # doctest: +SKIP
    <Benchmark agl1k: 1,444 clips>
    """
    names = {**CLASSES, "file": "mp3name", "duration_s": "mp3seconds"}
    clips = _with_pages(_read_clips(table, _published_columns, names))
    path = table.path if isinstance(table, CsvTable) else table
    folder = None if is_standard_input(path) else path.parent
    return Benchmark(
        slug=PUBLISHED_SLUG,
        name="AGL1K",
        version="1",
        clips=clips,
        notice="AGL1K: recordings from radio aporee, published for research purposes.",
        audio_dir=audio_dir,
        audio_url=audio_url,
        country_aliases=_country_aliases(PUBLISHED_SLUG),
        out_of_play=read_out_of_play(clips, folder, PUBLISHED_SLUG),
    )


def read_folder(folder: Path, table: Path | CsvTable | None = None) -> Benchmark:
    """Read a benchmark folder: ``clips.csv``, recordings, and optionally ``benchmark.json``.

    Empty place names become those of the nearest populated place.

    Parameters
    ----------
    folder
        The folder; it holds the recordings.
    table
        A table in the same format at another place. Default: ``clips.csv`` in the folder.

    Raises
    ------
    FileRefusedError
        With every line of the table that is wrong.
    Agl1kError
        If there is no table, or ``benchmark.json`` cannot be used.

    Examples
    --------
    >>> from agl1k_core.benchmarks import read_demo
    >>> demo = read_folder(read_demo().audio_dir)
    >>> demo.name, len(demo)
    ('AGL1K demo pack', 24)
    """
    table = table or folder / FOLDER_TABLE
    if isinstance(table, Path) and not table.is_file():
        raise Agl1kError(
            f"{shown(folder)} has no {FOLDER_TABLE}. A benchmark folder has a table of that name "
            "(docs/benchmark-format.md) beside its recordings."
        )
    info = _read_info(folder / FOLDER_INFO)
    sealed = _choice(info, "sealed", {"true": True, "false": False}, default="false")
    clips = _folder_clips(table, sealed=sealed)
    slug = info.get("slug") or places.fold(name_of_folder(folder)).replace(" ", "-")
    return Benchmark(
        slug=slug,
        name=info.get("name") or name_of_folder(folder),
        version=info.get("version") or "1",
        clips=clips,
        notice=info.get("notice", ""),
        audio_dir=folder,
        country_aliases=_country_aliases(slug),
        out_of_play=read_out_of_play(clips, folder),
        shows_titles=_choice(info, "titles", {"show": True, "hide": False}, default="hide"),
        sealed=sealed,
    )


def _choice(
    info: Mapping[str, str], name: str, choices: Mapping[str, bool], *, default: str
) -> bool:
    choice = info.get(name, default)
    if choice not in choices:
        allowed = " or ".join(f'"{one}"' for one in choices)
        raise Agl1kError(f'{FOLDER_INFO}: "{name}" is {choice!r}. Set it to {allowed}.')
    return choices[choice]


def _folder_clips(table: Path | CsvTable, *, sealed: bool) -> tuple[Clip, ...]:
    """The clips of a folder's table; a sealed one may have no places at all."""
    names = {name: name for name in (*CLASSES, "file", "duration_s")}
    columns = _sealed_columns if sealed else _folder_columns
    clips = _read_clips(table, columns, names, places_optional=sealed)
    return clips if sealed and math.isnan(clips[0].lat) else with_labels(clips)


def _with_pages(clips: tuple[Clip, ...]) -> tuple[Clip, ...]:
    """The clips with the pages of radio aporee's archive, which name recordist and licence."""
    return tuple(
        replace(clip, url=f"https://archive.org/details/{clip.key}")
        if clip.key.startswith("aporee_")
        else clip
        for clip in clips
    )


def name_of_folder(folder: Path) -> str:
    """The name of a folder, whatever path leads to it."""
    return written(Path(os.path.realpath(folder)).name)


def _country_aliases(slug: str) -> Mapping[str, str]:
    """Country codes for which this benchmark's labels use another code."""
    table = files("agl1k_core.benchmarks") / "data" / "benchmark_countries.json"
    aliases = json.loads(table.read_text("utf-8")).get(slug, {})
    return {str(code): str(label) for code, label in aliases.items()}


def _read_info(path: Path) -> dict[str, str]:
    if not path.is_file():
        return {}
    try:
        info = json.loads(path.read_text("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise Agl1kError(f"{path.name} is not JSON: {error}. Correct or remove it.") from None
    except OSError as error:
        raise Agl1kError(f"{shown(path)} cannot be read: {error.strerror}.") from None
    if not isinstance(info, dict):
        raise Agl1kError(f'{path.name} must hold one JSON object, such as {{"name": "…"}}.')
    return {
        str(name): str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in info.items()
    }


def with_labels(clips: tuple[Clip, ...]) -> tuple[Clip, ...]:
    """Clips whose empty place names are those of the nearest populated place."""
    bare = [clip for clip in clips if not (clip.city and clip.country and clip.continent)]
    labels = places.label_points([clip.lat for clip in bare], [clip.lon for clip in bare])
    filled = {
        clip.key: replace(
            clip,
            city=clip.city or label.city,
            country=clip.country or label.country,
            continent=clip.continent or label.continent,
        )
        for clip, label in zip(bare, labels, strict=True)
    }
    return tuple(filled.get(clip.key, clip) for clip in clips)


def _published_columns(header: list[str], first_width: int, problems: Problems) -> list[str]:
    broken = tuple(header) == _BROKEN_COLUMNS
    if broken and first_width == len(_PUBLISHED_COLUMNS):
        return list(_PUBLISHED_COLUMNS)
    missing = [name for name in _PUBLISHED_COLUMNS if name not in header]
    if broken or missing:
        found = f"{len(header)} names for {first_width} fields, without {', '.join(missing)}"
        todo = "Use the table as published, or name the columns as it does"
        problems.add(Problem(found, todo, line=1))
    return header


def _folder_columns(header: list[str], first_width: int, problems: Problems) -> list[str]:
    return _with_columns(header, FOLDER_REQUIRED, problems)


def _sealed_columns(header: list[str], first_width: int, problems: Problems) -> list[str]:
    places_given = [name for name in _COORDINATES if name in header]
    return _with_columns(header, FOLDER_REQUIRED if places_given else ("key", "file"), problems)


def _with_columns(header: list[str], required: Iterable[str], problems: Problems) -> list[str]:
    for name in required:
        if name not in header:
            todo = "Add the column; docs/benchmark-format.md lists them"
            problems.add(missing_column(name, header, todo))
    return header


def _read_clips(
    table: Path | CsvTable,
    columns_of: Columns,
    names: Mapping[str, str],
    *,
    places_optional: bool = False,
) -> tuple[Clip, ...]:
    """The clips of a table; ``names`` maps our names of columns to the table's.

    ``places_optional``: either all clips have a place, or none has.
    """
    problems = Problems(name_of(table.path if isinstance(table, CsvTable) else table))
    first_line: dict[str, int] = {}
    clips, placeless = [], []
    for row in read_rows(table, problems, columns_of, _NO_CLIPS):
        has_place = not places_optional or any(map(row.text, _COORDINATES))
        placeless += [] if has_place else [row]
        clip = _clip(row, names, has_place=has_place)
        key = unicodedata.normalize("NFC", clip.key)
        if key in first_line:
            found = f"the key is already on line {first_line[key]}"
            row.problem("key", found, "Give each clip its own key")
        first_line.setdefault(key, row.line)
        clips.append(clip)
    for row in placeless if len(placeless) < len(clips) else ():
        row.problem("latitude", "it is empty, but other clips have a place", _ALL_OR_NONE)
    problems.raise_if_any()
    return tuple(clips)


def _clip(row: TableRow, names: Mapping[str, str], *, has_place: bool) -> Clip:
    if not row.text("key"):
        row.problem("key", "an empty key", "Give each clip a key")
    classes = {ours: row.number(theirs, 0, 1) for ours, theirs in names.items() if ours in CLASSES}
    return Clip(
        key=row.text("key"),
        lat=_coordinate(row, "latitude", 90) if has_place else math.nan,
        lon=_coordinate(row, "longitude", 180, _LONGITUDE) if has_place else math.nan,
        city=row.text("city"),
        country=row.text("country"),
        continent=row.text("continent"),
        file_name=row.text(names["file"]),
        duration_s=row.number(names["duration_s"], 0),
        title=row.fields.get("title", ""),
        description=row.fields.get("description", ""),
        classes={name: value for name, value in classes.items() if value is not None},
        **{name: row.text(name) for name in CREDITS},
        short_key=row.text("short_key"),
    )


def _coordinate(row: TableRow, name: str, limit: float, todo: str = "Correct the field") -> float:
    value = row.number(name, -limit, limit, todo)
    if value is None:
        row.problem(name, "it is empty", "Give the coordinate in degrees")
        return math.nan
    return value

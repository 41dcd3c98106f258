"""Tables of clips -> ``Benchmark``: the demo pack, the published AGL1K table, any folder.

The folder format is documented in ``docs/benchmark-format.md``. The published table has 19 names
over 20 fields, because ``channel`` and ``environment_and_background`` share one name there; that
one defect is repaired, and any other mismatch is an error that names line and count.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from agl1k_core import places
from agl1k_core.benchmarks.model import CLASSES, Benchmark, Clip
from agl1k_core.config import Config
from agl1k_core.errors import Agl1kError, FileRefusedError, Problem

PUBLISHED_SLUG = "agl1k"
PUBLISHED_FILE = "geoLocalization_schema.csv"
FOLDER_TABLE = "clips.csv"
FOLDER_INFO = "benchmark.json"
MAX_SHOWN = 50

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
_FOLDER_REQUIRED = ("key", "latitude", "longitude", "file")

Row = tuple[int, dict[str, str]]


def load_benchmark(spec: str, config: Config) -> Benchmark:
    """The benchmark that ``spec`` names: ``demo``, ``agl1k``, a table's path or a folder's.

    Raises ``Agl1kError`` when there is none, ``FileRefusedError`` when its table is broken.
    """
    if spec == "demo":
        return read_demo()
    if spec == PUBLISHED_SLUG:
        return _read_fetched(config)
    path = Path(spec)
    if path.is_dir():
        return read_folder(path)
    if path.is_file() and path.name == FOLDER_TABLE:
        return read_folder(path.parent)
    if path.is_file():
        folder = config.audio_dir or _folder_beside(path) or fetched_audio_dir(config)
        return read_published(path, audio_dir=folder, audio_url=config.audio_url)
    raise Agl1kError(
        f"There is no benchmark {spec!r}. Give 'demo', 'agl1k', the path of a table, "
        "or a folder that holds clips.csv."
    )


def read_demo() -> Benchmark:
    """The demo pack: synthetic clips that need no network."""
    return read_folder(Path(str(files("agl1k_core.benchmarks") / "demo")))


def published_table(config: Config) -> Path:
    """Where ``agl1k fetch`` puts the published table."""
    return config.data_dir / PUBLISHED_SLUG / PUBLISHED_FILE


def fetched_audio_dir(config: Config) -> Path:
    """Where fetched recordings are kept, each under its clip's key."""
    return config.audio_dir or config.data_dir / PUBLISHED_SLUG / "audio"


def _read_fetched(config: Config) -> Benchmark:
    path = published_table(config)
    if not path.is_file():
        raise Agl1kError(
            "The published AGL1K table is not here yet. 'agl1k fetch' brings it "
            "(half a megabyte; scoring needs no recordings)."
        )
    return read_published(path, audio_dir=fetched_audio_dir(config), audio_url=config.audio_url)


def _folder_beside(table: Path) -> Path | None:
    beside = (table.parent / name for name in ("audio", "audios"))
    return next((folder for folder in beside if folder.is_dir()), None)


def read_published(
    path: Path, *, audio_dir: Path | None = None, audio_url: str | None = None
) -> Benchmark:
    """The published AGL1K table. Raises ``FileRefusedError`` naming every line that is wrong."""
    rows = _read_rows(path, _published_columns)
    clips = _clips(rows, path.name, {**CLASSES, "file": "mp3name", "duration_s": "mp3seconds"})
    return Benchmark(
        slug=PUBLISHED_SLUG,
        name="AGL1K",
        version="1",
        clips=clips,
        notice="AGL1K: recordings from radio aporee, published for research purposes.",
        audio_dir=audio_dir,
        audio_url=audio_url,
        country_aliases=_country_aliases(PUBLISHED_SLUG),
    )


def read_folder(folder: Path, table: Path | None = None) -> Benchmark:
    """A folder in our own format: clips.csv, recordings, and perhaps benchmark.json.

    ``table`` is one of that format that lies elsewhere.
    """
    table = table or folder / FOLDER_TABLE
    if not table.is_file():
        raise Agl1kError(
            f"{folder} holds no {FOLDER_TABLE}. A benchmark folder has a table of that name "
            "(docs/benchmark-format.md) beside its recordings."
        )
    rows = _read_rows(table, _folder_columns)
    names = {name: name for name in CLASSES} | {"file": "file", "duration_s": "duration_s"}
    clips = _with_labels(_clips(rows, table.name, names))
    info = _read_info(folder / FOLDER_INFO)
    slug = info.get("slug") or places.fold(folder.resolve().name).replace(" ", "-")
    return Benchmark(
        slug=slug,
        name=info.get("name") or folder.resolve().name,
        version=info.get("version") or "1",
        clips=clips,
        notice=info.get("notice", ""),
        audio_dir=folder,
        country_aliases=_country_aliases(slug),
    )


def _country_aliases(slug: str) -> Mapping[str, str]:
    """Codes that this benchmark's labels file under another one."""
    table = files("agl1k_core.benchmarks") / "data" / "benchmark_countries.json"
    aliases = json.loads(table.read_text("utf-8")).get(slug, {})
    return {str(code): str(label) for code, label in aliases.items()}


def _read_info(path: Path) -> dict[str, str]:
    if not path.is_file():
        return {}
    try:
        info = json.loads(path.read_text("utf-8-sig"))
    except ValueError as error:
        raise Agl1kError(f"{path.name} is not JSON: {error}. Mend or remove it.") from None
    if not isinstance(info, dict):
        raise Agl1kError(f'{path.name} must hold one JSON object, such as {{"name": "…"}}.')
    return {str(name): str(value) for name, value in info.items()}


def _with_labels(clips: tuple[Clip, ...]) -> tuple[Clip, ...]:
    """Fill empty place names from the geocoder that labelled the published table."""
    bare = [clip for clip in clips if not (clip.city and clip.country and clip.continent)]
    if not bare:
        return clips
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


# --- rows ------------------------------------------------------------------------------------


def _published_columns(header: list[str], first_width: int) -> tuple[list[str], list[Problem]]:
    if tuple(header) == _BROKEN_COLUMNS and first_width == len(_PUBLISHED_COLUMNS):
        return list(_PUBLISHED_COLUMNS), []
    missing = [name for name in _PUBLISHED_COLUMNS if name not in header]
    if tuple(header) == _BROKEN_COLUMNS or missing:
        found = f"{len(header)} names over {first_width} fields, without {', '.join(missing)}"
        todo = "Use the table as published, or name the columns as there"
        return header, [Problem(found=found, todo=todo, line=1)]
    return header, []


def _folder_columns(header: list[str], first_width: int) -> tuple[list[str], list[Problem]]:
    missing = [name for name in _FOLDER_REQUIRED if name not in header]
    todo = "Add the column; docs/benchmark-format.md lists them"
    return header, [Problem(f"there is no column {name!r}", todo, line=1) for name in missing]


def _read_rows(path: Path, columns_of: Any) -> list[Row]:
    text = _read_text(path)
    reader = csv.reader(io.StringIO(text, newline=""), strict=False)
    numbered = list(_numbered(reader, path.name))
    if len(numbered) < 2:
        raise FileRefusedError(
            path.name, [Problem("the table has no clips", "Give a header and a line per clip")]
        )
    header = [name.strip() for name in numbered[0][1]]
    columns, problems = columns_of(header, len(numbered[1][1]))
    if len(set(columns)) != len(columns):
        twice = sorted({name for name in columns if columns.count(name) > 1})
        problems.append(Problem(f"columns named twice: {', '.join(twice)}", "Rename one", line=1))
    if not problems:
        problems = [
            Problem(f"{len(row)} fields where {len(columns)} are expected", "Mend the line", line=n)
            for n, row in numbered[1:]
            if len(row) != len(columns)
        ]
    if problems:
        raise FileRefusedError(path.name, problems[:MAX_SHOWN], len(problems))
    return [(line, dict(zip(columns, row, strict=True))) for line, row in numbered[1:]]


def _numbered(reader: Any, name: str) -> Iterator[tuple[int, list[str]]]:
    """Each row with the line on which it starts; empty lines are left out."""
    start = 1
    try:
        for row in reader:
            if row:
                yield start, row
            start = reader.line_num + 1
    except csv.Error as error:
        raise FileRefusedError(
            name, [Problem(str(error), "Save the table as plain CSV in UTF-8", line=start)]
        ) from None


def _read_text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = path.read_bytes()[: error.start].count(b"\n") + 1
        raise FileRefusedError(
            path.name, [Problem("bytes that are not UTF-8", "Save the table as UTF-8", line=line)]
        ) from None
    except OSError as error:
        raise Agl1kError(f"{path} cannot be read: {error.strerror}.") from None


# --- clips -----------------------------------------------------------------------------------


def _clips(rows: list[Row], source: str, names: Mapping[str, str]) -> tuple[Clip, ...]:
    problems: list[Problem] = []
    first_line: dict[str, int] = {}
    clips = []
    for line, row in rows:
        clip = _clip(line, row, names, problems)
        if clip.key in first_line:
            found = f"the key stands on line {first_line[clip.key]} already"
            problems.append(Problem(found, "Give each clip its own key", line=line, clip=clip.key))
        first_line.setdefault(clip.key, line)
        clips.append(clip)
    if problems:
        raise FileRefusedError(source, problems[:MAX_SHOWN], len(problems))
    return tuple(clips)


def _clip(
    line: int, row: dict[str, str], names: Mapping[str, str], problems: list[Problem]
) -> Clip:
    key = row["key"].strip()
    if not key:
        problems.append(Problem("an empty key", "Give each clip a key", line=line, field="key"))

    def number(name: str, lowest: float, highest: float) -> float | None:
        text = row.get(name, "").strip()
        value = _float(text)
        if text and not lowest <= value <= highest:
            todo = f"Give a number from {lowest:g} to {highest:g}"
            problems.append(
                Problem(f"{text[:40]!r} is no such number", todo, None, line, key, name)
            )
        return value if text else None

    def coordinate(name: str, limit: float) -> float:
        value = number(name, -limit, limit)
        if value is None:
            todo = "Give the coordinate in degrees"
            problems.append(Problem("it is empty", todo, line=line, clip=key, field=name))
        return math.nan if value is None else value

    classes = {ours: number(theirs, 0, 1) for ours, theirs in names.items() if ours in CLASSES}
    return Clip(
        key=key,
        lat=coordinate("latitude", 90),
        lon=coordinate("longitude", 180),
        city=row.get("city", "").strip(),
        country=row.get("country", "").strip(),
        continent=row.get("continent", "").strip(),
        file_name=row.get(names["file"], "").strip(),
        duration_s=number(names["duration_s"], 0, math.inf),
        title=row.get("title", ""),
        description=row.get("description", ""),
        classes={name: value for name, value in classes.items() if value is not None},
    )


def _float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan

"""A table and a folder of raw recordings: the input of curation."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from agl1k_core import benchmarks
from agl1k_core.benchmarks import (
    Benchmark,
    Clip,
    CsvTable,
    TableRow,
    find_recording,
    forbidden_copy,
    recordings_in,
    time_of,
)
from agl1k_core.config import Config
from agl1k_core.curation.selection import Reason
from agl1k_core.errors import Agl1kError, Problems
from agl1k_core.file_names import name_in, shown
from agl1k_core.inputs import is_standard_input

#: Optional column of a folder's table, which scoring ignores: when a recording was made, ISO 8601.
RECORDED = "recorded"


@dataclass(frozen=True)
class Collection:
    """Clips with a known place and their recordings.

    Attributes
    ----------
    benchmark
        The clips of the table.
    folder
        The folder of the recordings.
    files
        The recording of each clip by key; None if none was found.
    recorded
        When each recording was made, by key, if the table gives a time.
    unlisted
        Recordings in the folder that the table does not list.
    """

    benchmark: Benchmark
    folder: Path
    files: Mapping[str, Path | None]
    recorded: Mapping[str, datetime] = field(default_factory=dict)
    unlisted: tuple[Path, ...] = ()


def open_collection(
    source: Path,
    recordings: Path | None = None,
    config: Config | None = None,
    kind: str = "",
    columns: Mapping[str, str] | None = None,
) -> Collection:
    """Read a table of raw recordings, once, and find the recordings.

    Parameters
    ----------
    source
        A folder with a table or with recordings whose tags hold the place; or a table of any of
        ``benchmarks.KINDS``, which may be packed as gzip or ZIP; ``-`` is standard input; a kind
        may be in front, as in ``hub:OWNER/NAME``.
    recordings
        The folder of the recordings. Default: beside the table.
    config
        Where recordings of a published table are. Default: the environment.
    kind
        One of ``benchmarks.KINDS``. Default: recognised by shape.
    columns
        The table's names of columns by ours, if they are unusual.

    Raises
    ------
    FileRefusedError
        If the table is broken; the error lists every problem.
    Agl1kError
        If there is no table or no folder.

    Examples
    --------
    >>> demo = benchmarks.read_demo()
    >>> collection = open_collection(demo.audio_dir)
    >>> len(collection.files), sorted(path.name for path in collection.files.values())[0]
    (24, 'd01.mp3')
    """
    source, kind = benchmarks.path_and_kind(source, kind)
    if not (kind == "hub" or is_standard_input(source) or source.exists()):
        raise Agl1kError(
            f"There is no {shown(source)}. Give a table, or a folder with a clips.csv."
        )
    if recordings and not recordings.is_dir():
        raise Agl1kError(
            f"There is no folder {shown(recordings)}. Give the folder of the recordings."
        )
    benchmark, table = benchmarks.open_table(
        source,
        config or Config.from_env(),
        kind=kind,
        recordings=recordings,
        columns=columns,
    )
    folder = benchmark.audio_dir or source.parent
    if not folder.is_dir():
        raise Agl1kError(
            f"There is no folder {shown(folder)}. Give the right one with --recordings."
        )
    files = {clip.key: find_recording(benchmark, clip, folder) for clip in benchmark.clips}
    unlisted = tuple(_unlisted(benchmark, folder, files))
    times = _recorded(table) if table else _recorded_of_clips(benchmark)
    return Collection(benchmark, folder, files, times, unlisted)


def collection_of(benchmark: Benchmark, keys: Iterable[str]) -> Collection:
    """Some clips of a benchmark with their recordings; raises ``Agl1kError`` without a folder."""
    folder = benchmark.audio_dir
    if folder is None or not folder.is_dir():
        raise Agl1kError(
            f"No folder with the recordings of {benchmark.name} is known. Name it in AGL1K_AUDIO, "
            "or fetch them with agl1k fetch --recordings."
        )
    clips = (benchmark.clip(key) for key in keys)
    return Collection(
        benchmark, folder, {clip.key: find_recording(benchmark, clip, folder) for clip in clips}
    )


def licence_refusal(clip: Clip) -> str:
    """Why no copy of a clip may be given away; empty if one may, or nothing is known."""
    forbidden = forbidden_copy(clip.licence)
    return f"Its licence, {clip.licence}, forbids {forbidden}." if forbidden else ""


def own_info(folder: Path) -> Mapping[str, Any]:
    """What a folder's own ``benchmark.json`` says; nothing if there is none."""
    with suppress(OSError, ValueError):
        found = json.loads((folder / benchmarks.FOLDER_INFO).read_text("utf-8-sig"))
        return found if isinstance(found, dict) else {}
    return {}


def why_unlisted(collection: Collection, path: Path) -> tuple[Reason, str]:
    """Why a recording in the folder is no clip, and the details."""
    about = collection.benchmark.left_out.get(name_in(collection.folder, path))
    if about is None:
        return Reason.NO_LINE, "The recording is not in the table."
    return Reason.BROKEN if about.is_broken else Reason.NO_PLACE, f"{about.detail}."


def _unlisted(
    benchmark: Benchmark, folder: Path, files: Mapping[str, Path | None]
) -> Iterable[Path]:
    """The recordings in a folder that do not belong to a clip."""
    try:
        found, _ = recordings_in([folder])
    except Agl1kError:
        return []
    # not Path.resolve, which raises for links that lead to themselves
    listed = {os.path.realpath(path) for path in files.values() if path}
    # a broken link is not a recording, but the table names it
    named = {folder / clip.file_name for clip in benchmark.clips if not files[clip.key]}
    return [path for path in found if os.path.realpath(path) not in listed and path not in named]


def _recorded(table: CsvTable) -> dict[str, datetime]:
    """The time of each recording by key, from the optional column."""
    if RECORDED not in table.header:
        return {}
    problems = Problems(table.path.name)
    rows = benchmarks.read_rows(table, problems, lambda header, *_: header)
    times = {row.text("key"): _time(row) for row in rows}
    problems.raise_if_any()
    return {key: time for key, time in times.items() if time}


def _recorded_of_clips(benchmark: Benchmark) -> dict[str, datetime]:
    times = {clip.key: time_of(clip.recorded) for clip in benchmark.clips}
    return {key: time for key, time in times.items() if time}


def _time(row: TableRow) -> datetime | None:
    text = row.text(RECORDED)
    try:
        return time_of(text)
    except ValueError:
        row.problem(RECORDED, f"{text[:40]!r} is not a time", "Write it as 2024-05-31T06:30")
        return None

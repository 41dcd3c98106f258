"""A table and a folder of raw recordings: what curation starts from."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from agl1k_core import benchmarks
from agl1k_core.benchmarks import Benchmark, find_recording
from agl1k_core.config import Config
from agl1k_core.curation.analysis import recordings_in
from agl1k_core.errors import Agl1kError, Problem, Problems

#: Column of a folder's table that scoring does not know: when a recording was made, ISO 8601.
RECORDED = "recorded"


@dataclass(frozen=True)
class Collection:
    """Clips with their recordings, as far as there are any.

    ``files``: key -> path, None where no recording was found; ``recorded``: key -> when it was
    made, where the table says so; ``unlisted``: recordings in the folder that no line is about.
    """

    benchmark: Benchmark
    folder: Path
    files: dict[str, Path | None]
    recorded: dict[str, datetime] = field(default_factory=dict)
    unlisted: tuple[Path, ...] = ()


def open_collection(source: Path, recordings: Path | None, config: Config) -> Collection:
    """Read a folder with its ``clips.csv``, or a table beside a folder of recordings.

    A table may be in the folder's format or the published one. Raises ``Agl1kError`` where there is
    none or no recordings are known, ``FileRefusedError`` where the table is broken.
    """
    if not source.exists():
        raise Agl1kError(f"There is no {source}. Name a table, or a folder that holds clips.csv.")
    if recordings and not recordings.is_dir():
        raise Agl1kError(f"There is no folder {recordings}. Name the one with the recordings.")
    if source.is_dir() or _is_folder_table(source):
        table = source / benchmarks.FOLDER_TABLE if source.is_dir() else source
        folder = recordings or table.parent
        benchmark = benchmarks.read_folder(folder, table)
    else:
        table = source
        audio_dir = recordings or config.audio_dir
        benchmark = benchmarks.load_benchmark(str(source), replace(config, audio_dir=audio_dir))
        folder = benchmark.audio_dir or source.parent
    if not folder.is_dir():
        raise Agl1kError(f"There is no folder {folder}. Name the recordings' with --recordings.")
    files = {clip.key: find_recording(benchmark, clip, folder) for clip in benchmark.clips}
    listed = {path.resolve() for path in files.values() if path}
    # a link that leads nowhere is no recording, but its line is about it
    named = {folder / clip.file_name for clip in benchmark.clips if not files[clip.key]}
    unlisted = [path for path in _unlisted(folder, listed) if path not in named]
    return Collection(benchmark, folder, files, _recorded(table), tuple(unlisted))


def collection_of(benchmark: Benchmark, keys: Iterable[str]) -> Collection:
    """Some clips of a benchmark with their recordings; raises ``Agl1kError`` without a folder."""
    folder = benchmark.audio_dir
    if folder is None or not folder.is_dir():
        raise Agl1kError(
            f"The recordings of {benchmark.name} are in no folder that is known here. Name it in "
            "AGL1K_AUDIO, or bring them with agl1k fetch --recordings."
        )
    clips = (benchmark.clip(key) for key in keys)
    return Collection(
        benchmark, folder, {clip.key: find_recording(benchmark, clip, folder) for clip in clips}
    )


def _is_folder_table(table: Path) -> bool:
    try:
        with table.open(encoding="utf-8-sig", newline="") as file:
            header = next(csv.reader(file), [])
    except (OSError, ValueError, csv.Error):
        return False
    return {"key", "latitude", "longitude", "file"} <= {name.strip() for name in header}


def _unlisted(folder: Path, listed: set[Path]) -> list[Path]:
    try:
        found, _ = recordings_in([folder])
    except Agl1kError:
        return []
    return [path for path in found if path.resolve() not in listed]


def _recorded(table: Path) -> dict[str, datetime]:
    """Key -> time, from the optional column; times without a zone count as UTC."""
    times: dict[str, datetime] = {}
    problems = Problems(table.name)
    if not table.is_file():
        return times
    with table.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file)
        reader.fieldnames = [name.strip() for name in reader.fieldnames or []]
        for row in reader:
            key, text = (row.get("key") or "").strip(), (row.get(RECORDED) or "").strip()
            if not text:
                continue
            try:
                time = datetime.fromisoformat(text)
            except ValueError:
                found, todo = f"{text[:40]!r} is no time", "Give it as 2024-05-31T06:30, or none"
                problems.add(Problem(found, todo, None, reader.line_num, key, RECORDED))
                continue
            times[key] = time if time.tzinfo else time.replace(tzinfo=UTC)
    problems.raise_if_any()
    return times

"""Cuts long recordings into clips at quiet points, without their tags: the input of curation.

The result is a folder with a ``clips.csv``: each part has the place and the credits of its
recording. ``cuts.csv`` says what became of each recording. A recording that was cut is not cut
again by the next run, which writes the same bytes.
"""

from __future__ import annotations

import json
import multiprocessing
import tempfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from agl1k_core import audio
from agl1k_core.audio import CopyNotWrittenError
from agl1k_core.benchmarks import CREDITS, FOLDER_TABLE, Clip, recording_name
from agl1k_core.curation import analysis_rows, results_cache
from agl1k_core.curation.collection import Collection, licence_refusal
from agl1k_core.errors import Agl1kError
from agl1k_core.file_names import name_in, shown
from agl1k_core.files import write_atomically

MIN_S, MAX_S = 30.0, 180.0
CUTS = "cuts.csv"
#: What became of a recording, besides ``missing`` and ``licence``.
CUT, WHOLE, TOO_SHORT, NOT_CUT, CRASHED = "cut", "whole", "too_short", "not_cut", "crashed"

_JOURNAL, _VERSION = "cuts.jsonl", 1


@dataclass(frozen=True)
class Piece:
    """A part of a recording, in a file of its own; times in seconds."""

    file: str
    start_s: float
    duration_s: float
    n_bytes: int


@dataclass(frozen=True)
class Cutting:
    """What became of one recording; ``message`` says why if it has no pieces."""

    outcome: str
    message: str = ""
    pieces: tuple[Piece, ...] = ()

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Cutting:
        """The inverse of ``asdict``."""
        pieces = tuple(Piece(**piece) for piece in data["pieces"])
        return cls(data["outcome"], data["message"], pieces)


def cut_recordings(
    collection: Collection,
    out: Path,
    work: Path,
    *,
    min_s: float = MIN_S,
    max_s: float = MAX_S,
    workers: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Cutting]:
    """Cut the recordings of a collection into parts at quiet points.

    A recording that is no longer than ``max_s`` stays whole; one shorter than ``min_s`` is left
    out. Sound is copied as ``audio.stripped_copy`` does, so it is not encoded again if that can be
    avoided. Memory does not grow with the recordings.

    Parameters
    ----------
    collection
        The table and the recordings, from ``open_collection``.
    out
        A new folder, or one of an earlier run.
    work
        A folder that keeps what was done, so that an interrupted run is resumed.
    min_s, max_s
        Limits of the parts in seconds.
    workers
        Number of recordings cut at once, each in a process of its own.
    progress
        Called with the number of recordings done and of all recordings.

    Returns
    -------
    dict of str to Cutting
        By key of the recording, in the order of the table.

    Raises
    ------
    Agl1kError
        If a folder cannot be written, the limits leave no choice, or no part is left.
    """
    audio.check_limits(min_s, max_s)
    _check_output(out, collection.folder)
    try:
        out.mkdir(parents=True, exist_ok=True)
        work.mkdir(parents=True, exist_ok=True)
        if not (out / CUTS).exists():  # the folder is ours from now on
            write_atomically(out / CUTS, "")
        with FileLock(work / "lock", blocking=False):
            done = _all_cut(collection, out, work, (min_s, max_s), workers, progress)
            _write_tables(collection, out, done)
    except Timeout:
        raise Agl1kError(f"Another run uses {shown(work)}. Wait for it to end.") from None
    except OSError as error:
        raise Agl1kError(
            f"{shown(out)} or {shown(work)} cannot be written: {error.strerror}. Free some space."
        ) from None
    if not any(cutting.pieces for cutting in done.values()):
        raise Agl1kError(f"Nothing was cut. {shown(out / CUTS)} says why for each recording.")
    return done


def cut_recording(source: Path, target: Path, min_s: float, max_s: float) -> Cutting:
    """Cut one recording into files named after ``target``; never raises for its content.

    Raises ``CopyNotWrittenError`` if a file cannot be written.
    """
    try:
        return _cut(source, target, min_s, max_s)
    except CopyNotWrittenError:
        raise
    except Agl1kError as error:
        return Cutting(NOT_CUT, str(error))


def _cut(source: Path, target: Path, min_s: float, max_s: float) -> Cutting:
    levels = audio.levels_of(source)
    if levels.duration_s < min_s:
        return Cutting(TOO_SHORT, f"{levels.duration_s:.1f} s are shorter than {min_s:g} s.")
    if levels.duration_s <= max_s:
        copy = audio.stripped_copy(source, target).path
        return Cutting(WHOLE, pieces=(_piece(copy, 0.0),))
    cuts_s = audio.quiet_cuts(levels.power, min_s, max_s)
    with _cuttable(source, target.parent) as recording:
        parts = audio.stripped_parts(recording, target, cuts_s)
    return Cutting(CUT, pieces=tuple(map(_piece, parts, [0.0, *cuts_s])))


@contextmanager
def _cuttable(source: Path, folder: Path) -> Iterator[Path]:
    """The recording, or a copy in another format if parts of it cannot be copied."""
    if audio.can_be_cut(source):
        yield source
        return
    with tempfile.TemporaryDirectory(prefix=".cut-", dir=folder) as scratch:
        yield audio.tag_free_copy(source, Path(scratch, "whole"))


def _piece(path: Path, start_s: float) -> Piece:
    """Decoded once more: what is in the table can be played."""
    duration_s = round(audio.probe(path).duration_s, 3)
    return Piece(path.name, round(start_s, 1), duration_s, path.stat().st_size)


# --- all recordings --------------------------------------------------------------------------


def _all_cut(
    collection: Collection,
    out: Path,
    work: Path,
    limits: tuple[float, float],
    workers: int,
    progress: Callable[[int, int], None] | None,
) -> dict[str, Cutting]:
    journal = _Journal(work / _JOURNAL, limits)
    forbidden = _forbidden(collection)
    stamps = {
        key: f"{key}|{results_cache.stamp(path, collection.folder)}"
        for key, path in collection.files.items()
        if path and key not in forbidden
    }
    done = {key: known for key, stamp in stamps.items() if (known := journal.known(stamp, out))}
    todo = {key: collection.files[key] for key in stamps if key not in done}
    for key, cutting in _cut_in_processes(collection, todo, out, limits, workers):
        done[key] = cutting
        if cutting.outcome != CRASHED:
            journal.add(stamps[key], cutting)
        if progress:
            progress(len(done), len(stamps))
    missing = Cutting("missing", "Its recording was not found. Check the column 'file'.")
    done |= forbidden
    return {clip.key: done.get(clip.key, missing) for clip in collection.benchmark.clips}


def _forbidden(collection: Collection) -> dict[str, Cutting]:
    """The recordings of which no parts may be made."""
    return {
        clip.key: Cutting("licence", sentence)
        for clip in collection.benchmark.clips
        if (sentence := licence_refusal(clip))
    }


def _cut_in_processes(
    collection: Collection,
    todo: Mapping[str, Path | None],
    out: Path,
    limits: tuple[float, float],
    workers: int,
) -> Iterator[tuple[str, Cutting]]:
    with ThreadPoolExecutor(max(1, workers)) as threads:
        running: dict[Future[Cutting], str] = {}
        for key, path in todo.items():
            target = out / recording_name(replace(collection.benchmark.clip(key), file_name=""))
            assert path
            running[threads.submit(_cut_in_process, path, target, *limits)] = key
        try:
            for future in as_completed(running):
                yield running[future], future.result()
        finally:
            threads.shutdown(cancel_futures=True)


def _cut_in_process(source: Path, target: Path, min_s: float, max_s: float) -> Cutting:
    """A decoder that crashes ends its process, and costs one recording."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, context) as process:
        try:
            return process.submit(cut_recording, source, target, min_s, max_s).result()
        except BrokenProcessPool:
            return Cutting(CRASHED, "The decoder crashed on this file. Convert the file.")


class _Journal:
    """What was done with each recording, a line of JSON each."""

    def __init__(self, path: Path, limits: tuple[float, float]) -> None:
        self._path = path
        self._settings = [_VERSION, *limits]
        self._known: dict[str, Cutting] = {}
        for line in path.read_bytes().splitlines() if path.exists() else []:
            try:
                record = json.loads(line)
                if record["settings"] == self._settings:
                    self._known[record["stamp"]] = Cutting.from_dict(record["cutting"])
            except (ValueError, KeyError, TypeError):
                continue  # an incomplete line

    def known(self, stamp: str, out: Path) -> Cutting | None:
        """What an earlier run did, if all its files are still there."""
        known = self._known.get(stamp)
        if known is None or known.outcome == NOT_CUT:
            return None
        files = [(out / piece.file, piece.n_bytes) for piece in known.pieces]
        there = all(path.is_file() and path.stat().st_size == n_bytes for path, n_bytes in files)
        return known if there else None

    def add(self, stamp: str, cutting: Cutting) -> None:
        record = {"settings": self._settings, "stamp": stamp, "cutting": asdict(cutting)}
        with self._path.open("ab") as file:
            file.write(b"\n" + json.dumps(record).encode() + b"\n")


# --- tables ----------------------------------------------------------------------------------


def _check_output(out: Path, recordings: Path) -> None:
    if out.is_dir() and not (out / CUTS).is_file() and any(out.iterdir()):
        raise Agl1kError(f"{shown(out)} contains files of others. Choose a new folder.")
    if out.exists() and not out.is_dir():
        raise Agl1kError(f"{shown(out)} is not a folder. Choose a new folder.")
    if out.resolve().is_relative_to(recordings.resolve()):
        raise Agl1kError(f"{shown(out)} is inside the folder of recordings. Choose another folder.")


def _write_tables(collection: Collection, out: Path, done: Mapping[str, Cutting]) -> None:
    rows = [row for key, cutting in done.items() for row in _clip_rows(collection, key, cutting)]
    keys = [row["key"] for row in rows]
    twice = sorted({key for key in keys if keys.count(key) > 1}) if len({*keys}) < len(keys) else []
    if twice:
        raise Agl1kError(f"Parts would have the same key: {', '.join(twice)}. Rename the clips.")
    before = analysis_rows.recordings_in(out / FOLDER_TABLE)
    write_atomically(
        out / CUTS,
        analysis_rows.csv_text([_report_row(collection, *item) for item in done.items()]),
    )
    if rows:
        write_atomically(out / FOLDER_TABLE, analysis_rows.csv_text(rows))
    for stale in before - {row["file"] for row in rows}:
        (out / stale).unlink(missing_ok=True)


def _clip_rows(collection: Collection, key: str, cutting: Cutting) -> list[dict[str, Any]]:
    clip = collection.benchmark.clip(key)
    whole = cutting.outcome == WHOLE
    return [
        {
            "key": key if whole else f"{key}-{number:03}",
            "latitude": clip.lat,
            "longitude": clip.lon,
            "file": piece.file,
            "city": clip.city,
            "country": clip.country,
            "continent": clip.continent,
            "title": clip.title,
            "description": clip.description,
            **{name: getattr(clip, name) for name in CREDITS},
            "recorded": _recorded(collection, clip, piece.start_s),
            "duration_s": analysis_rows.number(piece.duration_s),
            "part_of": key,
            "start_s": analysis_rows.number(piece.start_s),
        }
        for number, piece in enumerate(cutting.pieces, 1)
    ]


def _recorded(collection: Collection, clip: Clip, start_s: float) -> str:
    """When a part begins, if the table gives the time of day."""
    time = collection.recorded.get(clip.key)
    if time is None or start_s == 0 or ":" not in clip.recorded:
        return clip.recorded
    return (time + timedelta(seconds=start_s)).isoformat(timespec="seconds")


def _report_row(collection: Collection, key: str, cutting: Cutting) -> dict[str, Any]:
    path = collection.files[key]
    return {
        "key": key,
        "file": name_in(collection.folder, path) if path else "",
        "outcome": cutting.outcome,
        "parts": len(cutting.pieces),
        "message": cutting.message,
    }

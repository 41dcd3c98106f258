"""``listen``: a whole benchmark, from recordings to a prediction file with its provenance.

Hearing takes seconds per clip, believing none. So what was heard is kept in a file beside the
predictions, line by line, and is not heard again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agl1k_core import __version__
from agl1k_core.benchmarks import Benchmark, find_recording
from agl1k_core.errors import Agl1kError
from agl1k_core.files import append_durably, make_folder, save_text, sha256_of_file
from agl1k_core.listener.belief import Heard, believe, pin, reason_for
from agl1k_core.listener.ears import MAX_SECONDS, Ears
from agl1k_core.listener.grid import land_grid
from agl1k_core.models import LISTENER_COMMAND, PROVENANCE

NAME = "Listener"
_SHOWN = 5


@dataclass(frozen=True)
class Listened:
    """What came out of ``listen``.

    Attributes
    ----------
    file
        The prediction file.
    heard
        What was heard, by clip.
    errors
        Why a clip could not be heard, by clip.
    """

    file: Path
    heard: Mapping[str, Heard]
    errors: Mapping[str, str]


def recordings_to_hear(
    benchmark: Benchmark,
    keys: Sequence[str] | None = None,
    limit: int | None = None,
    folder: Path | None = None,
) -> tuple[dict[str, Path], list[str]]:
    """The recordings of clips, and the clips that have none.

    Parameters
    ----------
    benchmark
        The clips.
    keys
        Only these; None for all.
    limit
        The first so many that have a recording; None for all.
    folder
        Where the recordings are; by default the benchmark's own folder.

    Raises
    ------
    Agl1kError
        If a key is unknown, or no clip has a recording.
    """
    wanted = list(benchmark.index if keys is None else dict.fromkeys(keys))
    unknown = [key for key in wanted if key not in benchmark]
    if unknown:
        names = ", ".join(map(repr, unknown[:_SHOWN]))
        raise Agl1kError(f"The benchmark {benchmark.slug} has no clip {names}.")
    where = folder or benchmark.audio_dir
    found = {
        key: path
        for key in wanted
        if where and (path := find_recording(benchmark, benchmark.clip(key), where))
    }
    if not found:
        raise Agl1kError(
            f"None of {len(wanted)} clips has a recording in {where}. Give their folder with "
            "--audio, or run agl1k fetch --recordings."
        )
    missing = [key for key in wanted if key not in found]
    return dict(list(found.items())[:limit]), missing


def listen(
    benchmark: Benchmark,
    recordings: Mapping[str, Path],
    ears: Ears,
    target: Path,
    done: Callable[[], object] = lambda: None,
) -> Listened:
    """Listen to recordings and write where each was made; run again to resume.

    Parameters
    ----------
    benchmark
        The clips' benchmark.
    recordings
        The clips' recordings, by key.
    ears
        What hears.
    target
        The prediction file, JSON Lines. Beside it are ``provenance.json`` and what was heard.
    done
        Called after each clip.

    Returns
    -------
    Listened
        A recording that cannot be heard is an error of its clip.

    Raises
    ------
    Agl1kError
        If a file cannot be written, or the folder has the provenance of something else.
    """
    _refuse_other(target)
    make_folder(target.parent)
    memory = _Memory(_memory_of(target), ears.identity)
    heard, errors = {}, {}
    for key, path in recordings.items():
        try:
            heard[key] = memory.hear(key, path, ears)
        except _UnheardError as error:
            errors[key] = str(error)
        done()
    records = (
        {"key": key, "error": errors[key]} if key in errors else prediction(key, heard[key])
        for key in recordings
    )
    save_text(target, "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records))
    told = _provenance(benchmark, ears, target, len(heard), len(errors))
    save_text(target.with_name(PROVENANCE), json.dumps(told, indent=1, ensure_ascii=False) + "\n")
    return Listened(target, heard, errors)


def prediction(key: str, heard: Heard) -> dict[str, Any]:
    """The record of a clip in a prediction file, from what was heard in it."""
    belief = believe(heard)
    place = pin(belief)
    return {
        "key": key,
        "latitude": place.lat,
        "longitude": place.lon,
        "city": place.label.city,
        "country": place.label.country,
        "continent": place.label.continent,
        "reason": reason_for(heard, belief),
    }


def _provenance(
    benchmark: Benchmark, ears: Ears, target: Path, n_answered: int, n_failed: int
) -> dict[str, Any]:
    """How the file came about; without dates, so that the same sound gives the same bytes."""
    return {
        "made_by": LISTENER_COMMAND,
        "version": __version__,
        "benchmark": {"slug": benchmark.slug, "hash": benchmark.content_hash},
        "model": {"named": NAME, "reported": []},
        "heard_with": ears.identity,
        "grid": {"pieces": len(land_grid())},
        "endpoint": {"host": "", "dialect": None},
        "audio": {"sample_rate_hz": 16000, "channels": 1, "max_seconds": MAX_SECONDS},
        "passes": 1,
        "clips": {"asked": n_answered + n_failed, "answered": n_answered, "failed": n_failed},
        "predictions": {target.name: sha256_of_file(target)},
    }


def is_listeners(told: Mapping[str, Any]) -> bool:
    """Whether a provenance is that of a file of ``listen``."""
    return told.get("made_by") == LISTENER_COMMAND


def _refuse_other(target: Path) -> None:
    """Raise ``Agl1kError`` if the folder has the provenance of another run or file."""
    path = target.with_name(PROVENANCE)
    if not path.exists():
        return
    try:
        told = json.loads(path.read_text("utf-8"))
        is_ours = is_listeners(told) and list(told["predictions"]) == [target.name]
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        is_ours = False
    if not is_ours:
        raise Agl1kError(
            f"{path} belongs to another prediction file. Give --output a file in another folder."
        )


def _memory_of(target: Path) -> Path:
    return target.with_name(f"{target.stem}.heard.jsonl")


def heard_beside(file: Path) -> dict[str, Heard]:
    """What was heard in each clip, as kept beside a prediction file of ``listen``."""
    return {key: heard_in(record) for key, record in _lines(_memory_of(file))}


class _UnheardError(Agl1kError):
    """A recording that cannot be heard."""


class _Memory:
    """What was heard before by the same ears in the same recordings, one line per clip."""

    def __init__(self, path: Path, ears: Mapping[str, str]) -> None:
        self._path, self._ears = path, dict(ears)
        self._known = dict(_lines(path))

    def hear(self, key: str, recording: Path, ears: Ears) -> Heard:
        """What is heard in a recording; raises ``_UnheardError`` if it cannot be heard."""
        try:
            sha256 = sha256_of_file(recording)
        except OSError as error:
            raise _UnheardError(f"The recording cannot be read: {error.strerror}.") from None
        known = self._known.get(key)
        if known and known.get("recording") == sha256 and known.get("ears") == self._ears:
            return heard_in(known)
        try:
            heard = ears.hear(recording)
        except Agl1kError as error:
            raise _UnheardError(str(error)) from None
        self._append(
            {
                "key": key,
                "recording": sha256,
                "ears": self._ears,
                "presence": heard.presence,
                "languages": heard.languages,
                "speech_s": heard.speech_s,
            }
        )
        return heard

    def _append(self, record: Mapping[str, Any]) -> None:
        try:
            append_durably(self._path, json.dumps(record))
        except OSError as error:
            raise Agl1kError(f"{self._path} cannot be written: {error.strerror}.") from None


def _lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The clips and lines of what was heard; torn ones are left out."""
    try:
        lines = path.read_bytes().split(b"\n") if path.exists() else []
    except OSError as error:
        raise Agl1kError(f"{path} cannot be read: {error.strerror}.") from None
    for line in lines:
        try:
            record = json.loads(line)
            heard_in(record)
            yield record["key"], record
        except (ValueError, LookupError, TypeError, AttributeError):
            continue


def heard_in(record: Mapping[str, Any]) -> Heard:
    """What was heard, from a line of the file beside the predictions."""
    presence = {str(name): float(share) for name, share in record["presence"].items()}
    languages = {str(name): float(share) for name, share in record["languages"].items()}
    return Heard(presence, languages, float(record["speech_s"]))

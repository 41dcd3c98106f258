"""Where a clip's recording is in a folder.

A clip is known by its key. File names are not unique, so a recording found by its file name
counts only where no other clip of the benchmark has that name.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from agl1k_core.benchmarks.model import Benchmark, Clip

SUFFIXES = (".mp3", ".m4a", ".ogg", ".opus", ".flac", ".wav", ".aac")

#: Keys that are the same file name on every system; others get a hash instead of odd characters.
_PLAIN = re.compile(r"[a-z0-9][a-z0-9_.-]{0,99}")


def recording_name(clip: Clip) -> str:
    """The file name under which a clip's recording is kept: its key and its file's suffix.

    Two keys never share a name, on file systems that fold case either; no key leaves the folder.
    """
    suffix = PurePosixPath(clip.file_name).suffix.lower()
    return _stem(clip.key) + (suffix if suffix in SUFFIXES else SUFFIXES[0])


def find_recording(benchmark: Benchmark, clip: Clip, folder: Path) -> Path | None:
    """A clip's recording in a folder, or None.

    Looked for in turn: ``<key>.<suffix>``, ``<key>/<file name>`` (as the Internet Archive has it),
    and the file name alone if no other clip has it. Names that lead out of the folder are not
    followed.
    """
    for name in _candidates(benchmark, clip):
        path = folder / name
        if path.is_file():
            return path
    return None


def _stem(key: str) -> str:
    if _PLAIN.fullmatch(key) and not key.endswith("."):
        return key
    readable = re.sub(r"[^a-z0-9_-]+", "-", key.lower()).strip("-")[:60]
    return f"{readable or 'clip'}-{hashlib.sha256(key.encode()).hexdigest()[:16]}"


def _candidates(benchmark: Benchmark, clip: Clip) -> Iterator[str]:
    yield recording_name(clip)
    stems = [_stem(clip.key)]
    if _is_inside(clip.key) and "/" not in clip.key:
        stems.append(clip.key)
    for stem in stems:
        yield from (stem + suffix for suffix in SUFFIXES)
    if not _is_inside(clip.file_name):
        return
    names = {clip.file_name, *(unicodedata.normalize(f, clip.file_name) for f in ("NFC", "NFD"))}
    for name in sorted(names):
        yield from (f"{stem}/{name}" for stem in stems)
    if benchmark.file_name_counts[clip.file_name.casefold()] == 1:
        yield from sorted(names)


def _is_inside(name: str) -> bool:
    parts = name.split("/")
    return bool(name) and "\0" not in name and "\\" not in name and not {"", ".", ".."} & {*parts}

"""Finds a clip's recording in a folder, and all recordings.

A clip is identified by its key. File names are not unique, so a recording found by its file name
counts only if no other clip of the benchmark has that name.
"""

from __future__ import annotations

import hashlib
import os
import re
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from agl1k_core.benchmarks.model import Benchmark, Clip
from agl1k_core.errors import Agl1kError
from agl1k_core.file_names import named

SUFFIXES = (".mp3", ".m4a", ".ogg", ".opus", ".flac", ".wav", ".aac", ".mka")

#: Suffixes of the files in a folder that are treated as recordings.
_KNOWN = """
.mp3 .mp2 .m4a .m4b .mp4 .aac .ogg .oga .opus .flac .wav .w64 .aif .aiff .caf .au .wma .webm .mka
.ape .wv .tta .ac3 .amr .3gp
"""
AUDIO_SUFFIXES = frozenset(_KNOWN.split())

#: Keys that are valid file names on every system; in others a hash replaces odd characters.
_PLAIN = re.compile(r"[a-z0-9][a-z0-9_.-]{0,99}")


def recording_name(clip: Clip) -> str:
    """The file name under which a clip's recording is stored: its key and its file's suffix.

    Two keys never share a name, even on file systems that ignore case, and stay within the folder.
    """
    suffix = PurePosixPath(clip.file_name).suffix.lower()
    return _stem(clip.key) + (suffix if suffix in SUFFIXES else SUFFIXES[0])


def find_recording(benchmark: Benchmark, clip: Clip, folder: Path) -> Path | None:
    """Find a clip's recording in a folder.

    Tried in turn: ``<key>.<suffix>``, ``<key>/<file name>`` (as in the Internet Archive), and the
    file name alone if no other clip has it. Names that lead out of the folder are ignored.

    Parameters
    ----------
    benchmark
        The clip's benchmark.
    clip
        The clip.
    folder
        Where to look.

    Returns
    -------
    Path or None
        The recording, None if it is not there.

    Examples
    --------
    >>> from agl1k_core.benchmarks import load_benchmark
    >>> demo = load_benchmark("demo")
    >>> find_recording(demo, demo.clips[0], demo.audio_dir).name
    'd01.mp3'
    """
    for name in _candidates(benchmark, clip):
        path = folder / name
        if os.path.isfile(path):  # noqa: PTH113 - Path.is_file raises for names that are too long
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
    said = clip.file_name
    forms = (said, *(unicodedata.normalize(form, said) for form in ("NFC", "NFD")))
    names = list(filter(_is_inside, dict.fromkeys((said, *map(named, forms)))))
    for name in names:
        yield from (f"{stem}/{name}" for stem in stems)
    if benchmark.file_name_counts[said.casefold()] == 1:
        yield from names


def _is_inside(name: str) -> bool:
    parts = name.split("/")
    separates = "\\" in name and os.sep == "\\"
    return bool(name) and "\0" not in name and not separates and not {"", ".", ".."} & {*parts}


def recordings_in(paths: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """Find recordings.

    Links are followed. Broken links, pipes, devices and folders that cannot be read are among the
    recordings, so that their analysis reports them.

    Parameters
    ----------
    paths
        Files, which are taken whatever their suffix, even if they do not exist; and folders,
        of which all files with a suffix of audio are taken, except hidden ones.

    Returns
    -------
    recordings : list of Path
        Each file once.
    others : list of Path
        Files in the folders with another suffix.

    Raises
    ------
    Agl1kError
        If there are no recordings.
    """
    taken: dict[Path, None] = {}
    passed: list[Path] = []
    for path in paths:
        if not path.is_dir():
            taken[path] = None
            continue
        unreadable: list[Path] = []
        for found in sorted(_files_below(path, unreadable), key=_in_order):
            if found.suffix.lower() in AUDIO_SUFFIXES:
                taken[found] = None
            else:
                passed.append(found)
        taken |= dict.fromkeys(unreadable)
    if not taken:
        raise Agl1kError("No recordings were found there. Give audio files, or a folder of them.")
    return list(taken), passed


def _in_order(path: Path) -> list[bytes]:
    """Sorts paths alike in every locale."""
    return [*map(os.fsencode, path.parts)]


def _files_below(folder: Path, unreadable: list[Path]) -> Iterator[Path]:
    """Everything but folders, except what is hidden; each folder once, even if linked twice."""
    seen: set[str] = set()

    def note(error: OSError) -> None:
        unreadable.append(Path(error.filename))

    for parent, folders, names in os.walk(folder, onerror=note, followlinks=True):
        real = os.path.realpath(parent)
        folders[:] = [] if real in seen else [name for name in folders if not name.startswith(".")]
        if real in seen:
            continue
        seen.add(real)
        for name in names:
            found = Path(parent, name)
            if not name.startswith("."):
                yield found

"""Listens to many recordings at once: each file ends in a named outcome, measures and tags.

Files are shared out to processes, so that a decoder that crashes costs the file it crashed on and
not the run. What is heard of a file is plain data, and depends on the file and the
``Analyzer`` alone.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from agl1k_core import tagging
from agl1k_core.audio import AcousticFilters, MonoBuffer, NoRoomError, Outcome, inspect_recording
from agl1k_core.errors import Agl1kError
from agl1k_core.extras import check
from agl1k_core.files import sha256_of_file
from agl1k_core.tagging import FloatArray, Tagger

#: Endings under which recordings are looked for in a folder.
_KNOWN = """
.mp3 .mp2 .m4a .m4b .mp4 .aac .ogg .oga .opus .flac .wav .w64 .aif .aiff .caf .au .wma .webm .mka
.ape .wv .tta .ac3 .amr .3gp
"""
AUDIO_SUFFIXES = frozenset(_KNOWN.split())
#: Beside the outcomes of ``inspect_recording``: the decoder ended its process, or raised an
#: unexpected error.
CRASHED, FAILED = "crashed", "failed"

#: Goes up when the same file would be heard otherwise than before.
_VERSION = 1


@dataclass(frozen=True)
class Analysis:
    """What came of one file; only the outcome ``ok`` can be used.

    ``failures``: measure -> sentence, for each acoustic filter that it does not pass; such files
    are not tagged. ``sound_sha256`` is of the decoded sound as tagged, so that a copy with other
    tags or in another lossless format has the same; empty where it was not tagged.
    """

    outcome: str
    message: str = ""
    notes: tuple[str, ...] = ()
    duration_s: float | None = None
    sample_rate_hz: int | None = None
    channels: int | None = None
    codec: str = ""
    measures: Mapping[str, float] = field(default_factory=dict)
    failures: Mapping[str, str] = field(default_factory=dict)
    tags: Mapping[str, Any] = field(default_factory=dict)
    file_sha256: str = ""
    sound_sha256: str = ""

    @property
    def usable(self) -> bool:
        """Whether it is a recording that passes the filters."""
        return self.outcome == Outcome.OK and not self.failures

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Analysis:
        """The reverse of ``to_dict``; raises ``TypeError`` for other data."""
        return cls(**{**data, "notes": tuple(data["notes"])})


@dataclass(frozen=True)
class Analyzer:
    """How to listen. ``filters`` None lets every sound pass; ``make_tagger`` None tags nothing.

    ``make_tagger`` is called once in each process, and must be picklable.
    """

    filters: AcousticFilters | None = None
    make_tagger: Callable[[], Tagger] | None = None

    @cached_property
    def tagger(self) -> Tagger | None:
        """The tagger; raises ``Agl1kError`` where it cannot be loaded."""
        return self.make_tagger() if self.make_tagger else None

    @cached_property
    def settings(self) -> dict[str, Any]:
        """All that decides what is heard of a file."""
        tagger = self.tagger
        return {
            "version": _VERSION,
            "filters": asdict(self.filters) if self.filters else None,
            "tagger": tagger
            and {
                "name": tagger.name,
                "weights_sha256": tagger.weights_sha256,
                "threshold": tagger.threshold,
            },
        }

    @cached_property
    def settings_hash(self) -> str:
        """Short hash of ``settings``."""
        text = json.dumps(self.settings, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def release(self) -> None:
        """Let go of the tagger; it is loaded again where it is needed."""
        self.__dict__.pop("tagger", None)

    def __getstate__(self) -> dict[str, Any]:
        return {"filters": self.filters, "make_tagger": self.make_tagger}

    def analyze(self, path: Path) -> Analysis:
        """Analyze one file, which is decoded once.

        Parameters
        ----------
        path
            The file. Whatever it holds, there is a result.

        Raises
        ------
        NoRoomError
            If the temporary folder is full.
        Agl1kError
            If the tagger cannot be loaded.

        Examples
        --------
        >>> Analyzer().analyze(Path("missing.wav")).outcome
        'missing'
        """
        tagger = self.tagger
        try:
            with MonoBuffer(tagger.sample_rate_hz) if tagger else nullcontext() as sound:
                return self._analysis(path, sound)
        except NoRoomError:
            raise  # not a property of the file
        except Exception as error:
            return Analysis(FAILED, f"Unexpected {type(error).__name__}: {error}")

    def _analysis(self, path: Path, sound: MonoBuffer | None) -> Analysis:
        inspection = inspect_recording(path, sound)
        info, measures = inspection.info, inspection.measures
        failures: dict[str, str] = {}
        if inspection.usable and measures and self.filters:
            failures = self.filters.failures(measures)
        tags: dict[str, Any] = {}
        sound_sha256 = ""
        if sound and inspection.usable and not failures:
            tags, sound_sha256 = self._tagged(sound.blocks(first_channel=inspection.first_channel))
        return Analysis(
            outcome=str(inspection.outcome),
            message=inspection.message,
            notes=tuple(map(str, inspection.notes)),
            duration_s=info.duration_s if info else None,
            sample_rate_hz=info.sample_rate_hz if info else None,
            channels=info.channels if info else None,
            codec=info.codec if info else "",
            measures=measures.to_dict() if measures else {},
            failures=failures,
            tags=tags,
            file_sha256=sha256_of_file(path) if inspection.usable else "",
            sound_sha256=sound_sha256,
        )

    def _tagged(self, blocks: Iterator[FloatArray]) -> tuple[dict[str, Any], str]:
        """The tags of mono sound, and its hash."""
        assert self.tagger
        hashed = _Hashed(blocks)
        tags = tagging.summary_of_blocks(hashed, self.tagger)
        return tags, hashed.digest.hexdigest()


class _Hashed:
    """Blocks of sound, hashed as they pass by."""

    def __init__(self, blocks: Iterable[FloatArray]) -> None:
        self.digest = hashlib.sha256()
        self._blocks = blocks

    def __iter__(self) -> Iterator[FloatArray]:
        for block in self._blocks:
            # 16 bits: sound that another decoder rounds differently is still the same sound
            self.digest.update(np.rint(block * 32767).astype("<i2").tobytes())
            yield block


def recordings_in(paths: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """Files to listen to, and files passed over for their ending.

    A file that is named counts whatever its ending, and even if it is not there; of a folder, all
    files below it with an ending of ``AUDIO_SUFFIXES`` do, but for hidden ones; links are followed,
    and where one leads nowhere, or a folder cannot be read, it counts, for its outcome to be told.
    Raises ``Agl1kError`` where nothing is left.
    """
    taken: dict[Path, None] = {}
    passed: list[Path] = []
    for path in paths:
        if not path.is_dir():
            taken[path] = None
            continue
        unreadable: list[Path] = []
        for found in sorted(_files_below(path, unreadable)):
            if found.suffix.lower() in AUDIO_SUFFIXES:
                taken[found] = None
            else:
                passed.append(found)
        taken |= dict.fromkeys(unreadable)
    if not taken:
        raise Agl1kError("There is no recording in what you named. Name files, or their folder.")
    return list(taken), passed


def _files_below(folder: Path, unreadable: list[Path]) -> Iterator[Path]:
    """Files and dead links, without hidden ones; each folder once, whatever links lead to it."""
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
            # not Path.is_file, which raises where a folder may be listed and not entered
            is_there = os.path.exists(found)  # noqa: PTH110
            if not name.startswith(".") and (not is_there or found.is_file()):
                yield found


def analyze_all(
    paths: Iterable[Path], analyzer: Analyzer, *, workers: int = 1
) -> Iterator[tuple[Path, Analysis]]:
    """Listen to files in ``workers`` processes, yielding each as it is done, in any order.

    0 workers listen in this process. Raises ``Agl1kError`` where the tagger cannot be loaded.
    """
    check("av")  # what is missing is better told once, here
    _ = analyzer.settings
    if workers < 1:
        yield from ((path, analyzer.analyze(path)) for path in paths)
        return
    analyzer.release()  # each process has its own
    waiting = deque(paths)
    while waiting:
        suspects: list[Path] = []
        yield from _until_a_crash(waiting, suspects, analyzer, workers)
        worker = IsolatedWorker(analyzer)
        for path in suspects:
            yield path, worker.analyze(path)
        worker.close()


def _until_a_crash(
    waiting: deque[Path], suspects: list[Path], analyzer: Analyzer, workers: int
) -> Iterator[tuple[Path, Analysis]]:
    """Work off ``waiting``; where a process dies, ``suspects`` are the files it may have had."""
    running: dict[Future[Analysis], Path] = {}
    pool = _pool(analyzer, workers)
    try:
        while waiting or running:
            while waiting and len(running) < 4 * workers:
                running[pool.submit(_analyze, waiting[0])] = waiting[0]
                waiting.popleft()
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                analysis = future.result()
                yield running.pop(future), analysis
    except BrokenProcessPool:
        suspects.extend(running.values())
    finally:
        pool.shutdown(cancel_futures=True)


class IsolatedWorker:
    """Listens in a process of its own: a crash is an outcome, and the next file gets a new one."""

    def __init__(self, analyzer: Analyzer) -> None:
        self._analyzer = analyzer
        self._pool: ProcessPoolExecutor | None = None

    def analyze(self, path: Path) -> Analysis:
        """What one file holds; never raises for what is in it."""
        self._pool = self._pool or _pool(self._analyzer, 1)
        try:
            return self._pool.submit(_analyze, path).result()
        except BrokenProcessPool:
            self.close()
            return Analysis(CRASHED, "Decoding ended its process. Convert the file and try again.")

    def close(self) -> None:
        """End the process."""
        if self._pool:
            self._pool.shutdown()
        self._pool = None


def _pool(analyzer: Analyzer, workers: int) -> ProcessPoolExecutor:
    # spawned, not forked: a fork would copy locks that threads of this process hold
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(workers, context, initializer=_prepare, initargs=(analyzer,))


_analyzer = Analyzer()


def _prepare(analyzer: Analyzer) -> None:
    global _analyzer
    _analyzer = analyzer
    _ = analyzer.tagger
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A pool's processes would wait for work forever when the main process is killed."""
    parent = multiprocessing.parent_process()
    if parent:
        parent.join()
        os._exit(1)


def _analyze(path: Path) -> Analysis:
    return _analyzer.analyze(path)

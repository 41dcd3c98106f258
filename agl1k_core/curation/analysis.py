"""Analyzes many recordings at once: outcome, measures and tags of each file.

Files are distributed over processes, so that a decoder that crashes costs one file and not the run.
The analysis of a file is plain data and depends only on the file and the ``Analyzer``.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import threading
from base64 import b64decode, b64encode
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from agl1k_core import tagging
from agl1k_core.audio import (
    LANDMARK_RATE_HZ,
    AcousticFilters,
    MonoBuffer,
    NoRoomError,
    Outcome,
    Peaks,
    inspect_recording,
    landmarks,
    resampled,
)
from agl1k_core.extras import check
from agl1k_core.files import sha256_of_file
from agl1k_core.tagging import FloatArray, Tagger

#: Besides the outcomes of ``inspect_recording``: the decoder killed its process, or raised an
#: unexpected error.
CRASHED, FAILED = "crashed", "failed"

#: Increased when the analysis of a file would come out differently.
_VERSION = 2


@dataclass(frozen=True)
class Analysis:
    """The analysis of one file.

    Attributes
    ----------
    outcome
        One of ``audio.Outcome``, ``CRASHED`` or ``FAILED``; only ``ok`` can be used.
    message
        What is wrong and what to do; empty for ``ok``.
    notes
        Oddities, as ``audio.Note``.
    duration_s, sample_rate_hz, channels, codec
        Properties of the recording; None or empty if it could not be decoded.
    measures
        ``AcousticMeasures`` by name.
    failures
        A sentence for each measure that fails its filter; such files are not tagged.
    tags
        What ``Tags.to_dict`` returns; empty if the file was not tagged.
    file_sha256
        Hash of a file that can be used.
    sound_sha256
        Hash of the decoded sound that was tagged. Copies with other metadata or in another lossless
        format share it. Empty if the file was not tagged.
    landmarks
        The ``peaks`` as base64; empty unless the ``Analyzer`` finds them.
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
    landmarks: str = ""

    @property
    def usable(self) -> bool:
        """Whether it is a recording that passes the filters."""
        return self.outcome == Outcome.OK and not self.failures

    @property
    def peaks(self) -> Peaks:
        """What ``audio.landmarks`` found; none if it was not asked."""
        return np.frombuffer(b64decode(self.landmarks), "<u4")

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Analysis:
        """The inverse of ``to_dict``; raises ``TypeError`` for other data."""
        return cls(**{**data, "notes": tuple(data["notes"])})


@dataclass(frozen=True)
class Analyzer:
    """Analyzes recordings: inspection, acoustic filters, tags.

    Parameters
    ----------
    filters
        Files that fail are not tagged. Default: every sound passes.
    make_tagger
        Loads the tagger, once in each process, so it must be picklable. Default: nothing is tagged.
    landmarks
        Find the landmarks of files that pass, by which copies are recognized.

    Examples
    --------
    >>> Analyzer(AcousticFilters()).settings["tagger"] is None
    True
    """

    filters: AcousticFilters | None = None
    make_tagger: Callable[[], Tagger] | None = None
    landmarks: bool = False

    @cached_property
    def tagger(self) -> Tagger | None:
        """The tagger; raises ``Agl1kError`` if it cannot be loaded."""
        return self.make_tagger() if self.make_tagger else None

    @cached_property
    def settings(self) -> dict[str, Any]:
        """Everything that the analysis of a file depends on."""
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
            # absent otherwise, so that results of earlier versions stay usable
            **({"landmarks": 1} if self.landmarks else {}),
        }

    @cached_property
    def settings_hash(self) -> str:
        """Short hash of ``settings``."""
        text = json.dumps(self.settings, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def release(self) -> None:
        """Free the tagger; it is loaded again when it is needed."""
        self.__dict__.pop("tagger", None)

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("filters", "make_tagger", "landmarks")}

    def analyze(self, path: Path) -> Analysis:
        """Analyze one file, which is decoded once.

        Parameters
        ----------
        path
            The file. There is a result whatever its content.

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
        rate_hz = self._rate_hz
        try:
            with MonoBuffer(rate_hz) if rate_hz else nullcontext() as sound:
                return self._analysis(path, sound)
        except NoRoomError:
            raise  # not a property of the file
        except Exception as error:
            return Analysis(FAILED, f"Unexpected {type(error).__name__}: {error}")

    @property
    def _rate_hz(self) -> int | None:
        """The rate at which sound is kept until it has passed; None if it is not needed again."""
        if self.tagger:
            return self.tagger.sample_rate_hz
        return LANDMARK_RATE_HZ if self.landmarks else None

    def _analysis(self, path: Path, sound: MonoBuffer | None) -> Analysis:
        inspection = inspect_recording(path, sound)
        info, measures = inspection.info, inspection.measures
        failures: dict[str, str] = {}
        if inspection.usable and measures and self.filters:
            failures = self.filters.failures(measures)
        tags: dict[str, Any] = {}
        sound_sha256 = peaks = ""
        if sound and inspection.usable and not failures:
            first = inspection.first_channel
            if self.tagger:
                tags, sound_sha256 = self._tagged(sound.blocks(first_channel=first))
            if self.landmarks:
                peaks = _landmarks(sound.blocks(first_channel=first), sound.sample_rate_hz)
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
            landmarks=peaks,
        )

    def _tagged(self, blocks: Iterator[FloatArray]) -> tuple[dict[str, Any], str]:
        """The tags of mono sound, and its hash."""
        assert self.tagger
        hashed = _Hashed(blocks)
        tags = tagging.summary_of_blocks(hashed, self.tagger)
        return tags, hashed.digest.hexdigest()


def _landmarks(blocks: Iterator[FloatArray], rate_hz: int) -> str:
    peaks = landmarks(resampled(blocks, rate_hz, LANDMARK_RATE_HZ))
    return b64encode(peaks.astype("<u4").tobytes()).decode()


class _Hashed:
    """Blocks of sound, hashed as they pass through."""

    def __init__(self, blocks: Iterable[FloatArray]) -> None:
        self.digest = hashlib.sha256()
        self._blocks = blocks

    def __iter__(self) -> Iterator[FloatArray]:
        for block in self._blocks:
            # 16 bits, so that the rounding of another decoder makes no difference
            self.digest.update(np.rint(block * 32767).astype("<i2").tobytes())
            yield block


def analyze_all(
    paths: Iterable[Path], analyzer: Analyzer, *, workers: int = 1
) -> Iterator[tuple[Path, Analysis]]:
    """Analyze files in several processes.

    Parameters
    ----------
    paths
        The files.
    analyzer
        Filters and tagger.
    workers
        Number of processes; 0 analyzes in this process.

    Yields
    ------
    tuple of Path and Analysis
        Each file as soon as it is done, in any order.

    Raises
    ------
    Agl1kError
        If the tagger cannot be loaded, or the temporary folder is full.

    Examples
    --------
    >>> [(path, analysis)] = analyze_all([Path("missing.wav")], Analyzer(), workers=0)
    >>> analysis.outcome
    'missing'
    """
    check("av")  # report a missing tagger once, not for each file
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
    """Analyze ``waiting``; if a process dies, ``suspects`` are the files that may be the cause."""
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
    """Analyzes in its own process; a crash is an outcome, after which a new process starts."""

    def __init__(self, analyzer: Analyzer) -> None:
        self._analyzer = analyzer
        self._pool: ProcessPoolExecutor | None = None

    def analyze(self, path: Path) -> Analysis:
        """The analysis of one file; never raises because of its content."""
        self._pool = self._pool or _pool(self._analyzer, 1)
        try:
            return self._pool.submit(_analyze, path).result()
        except BrokenProcessPool:
            self.close()
            return Analysis(
                CRASHED, "The decoder crashed on this file. Convert the file and try again."
            )

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
    """Processes of a pool would wait for work forever after the main process was killed."""
    parent = multiprocessing.parent_process()
    if parent:
        parent.join()
        os._exit(1)


def _analyze(path: Path) -> Analysis:
    return _analyzer.analyze(path)

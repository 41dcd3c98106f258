"""Fetches the published table and its recordings.

Recordings are stored by key (``recordings.recording_name``), because file names are not unique.
Nothing is requested until a person asks for it.
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from urllib.parse import quote
from xml.etree import ElementTree

import httpx
from filelock import FileLock, Timeout

from agl1k_core import audio
from agl1k_core.benchmarks.download import (
    FolderError,
    Received,
    Source,
    UnreachableError,
    download,
)
from agl1k_core.benchmarks.model import Benchmark, Clip
from agl1k_core.benchmarks.recordings import find_recording, recording_name
from agl1k_core.errors import Agl1kError
from agl1k_core.extras import check
from agl1k_core.file_names import shown
from agl1k_core.http import Patience, open_client

MAX_TABLE_BYTES = 64_000_000
MAX_RECORDING_BYTES = 200_000_000
_MAX_CHECKSUMS_BYTES = 2_000_000

#: Every item of the Internet Archive lists its files with their MD5 and SHA-1.
ARCHIVE = "https://archive.org/download/{key}/"
ARCHIVE_CHECKSUMS = ARCHIVE + "{key}_files.xml"

PATIENCE = Patience()


class FetchOutcome(StrEnum):
    """What happened to one recording."""

    FETCHED = "fetched"
    PRESENT = "already there"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Fetched:
    """One recording: its ``path``, or the ``reason`` why it failed.

    ``verified_by`` names the digest that the file matched; it is empty if there was none.
    """

    key: str
    outcome: FetchOutcome
    path: Path | None = None
    reason: str = ""
    n_bytes: int = 0
    verified_by: str = ""


@dataclass(frozen=True, slots=True)
class FetchReport:
    """All requested recordings, in the order of the benchmark."""

    results: tuple[Fetched, ...]

    def of(self, outcome: FetchOutcome) -> tuple[Fetched, ...]:
        """The recordings with this outcome."""
        return tuple(result for result in self.results if result.outcome is outcome)

    def __str__(self) -> str:
        counts = ", ".join(f"{len(self.of(outcome)):,} {outcome}" for outcome in FetchOutcome)
        failures = [f"  {result.key}: {result.reason}" for result in self.of(FetchOutcome.FAILED)]
        return "\n".join([f"{counts}.", *failures])


def fetch_table(
    url: str,
    target: Path,
    *,
    check: Callable[[Path], object] | None = None,
    patience: Patience = PATIENCE,
) -> Path:
    """Fetch the published table into ``target``, which stays unchanged if that fails.

    ``check`` gets the new file before it replaces the old one, and raises ``Agl1kError`` if it is
    not such a table. Raises ``Agl1kError``.
    """
    _make_folder(target.parent)
    with open_client(patience) as http:
        download(http, Source(url, MAX_TABLE_BYTES, check=check), target, patience=patience)
    return target


def fetch_recording(
    benchmark: Benchmark, key: str, folder: Path, *, patience: Patience = PATIENCE
) -> Path:
    """Fetch a clip's recording into ``folder``; raises ``Agl1kError``, ``KeyError``."""
    check("av")
    clip = benchmark.clip(key)
    _make_folder(folder)
    with open_client(patience) as http:
        target = folder / recording_name(clip)
        source = _source(benchmark, clip, {})
        download(http, source, target, patience=patience)
    return target


def fetch_recordings(
    benchmark: Benchmark,
    folder: Path,
    *,
    keys: Iterable[str] | None = None,
    workers: int = 4,
    progress: Callable[[Fetched], object] | None = None,
    checksum_url: str | None = None,
    patience: Patience = PATIENCE,
) -> FetchReport:
    """Fetch the recordings that ``folder`` lacks; a failed one does not stop the others.

    Parameters
    ----------
    benchmark
        Its ``audio_url`` is the template of the addresses.
    folder
        Where recordings are stored, each under its clip's key.
    keys
        Clips to fetch; all by default.
    workers
        Number of simultaneous downloads.
    progress
        Called in this thread after each recording.
    checksum_url
        Template of addresses of checksums in the Internet Archive's ``_files.xml`` format; ``""``
        for none. By default the Archive's own are used for recordings that come from there.
    patience
        How long to wait and how often to try.

    Returns
    -------
    FetchReport
        An outcome for each clip. If the folder is full, or the source cannot be reached at all,
        the remaining recordings are reported as not tried.

    Raises
    ------
    Agl1kError
        If nothing can be fetched at all.
    """
    check("av")  # checks what arrives
    wanted = benchmark.index if keys is None else dict.fromkeys(keys)
    clips = [benchmark.clip(key) for key in wanted]
    if not benchmark.audio_url:
        raise Agl1kError(
            f"Benchmark {benchmark.slug} has no address from which to fetch recordings."
        )
    if checksum_url is None:
        checksum_url = ARCHIVE_CHECKSUMS if benchmark.audio_url.startswith(ARCHIVE) else ""
    _make_folder(folder)
    try:
        with FileLock(folder / ".fetch.lock", timeout=0), open_client(patience) as http:
            run = _Run(benchmark, folder, http, checksum_url, patience, 2 * workers)
            return _in_parallel(run, clips, workers, progress)
    except Timeout:
        raise Agl1kError(
            "Another fetch is filling this folder. Wait until it has finished."
        ) from None


def _in_parallel(
    run: _Run,
    clips: Sequence[Clip],
    workers: int,
    progress: Callable[[Fetched], object] | None,
) -> FetchReport:
    results: dict[str, Fetched] = {}
    with ThreadPoolExecutor(workers, thread_name_prefix="fetch") as pool:
        futures = [pool.submit(run.fetch, clip) for clip in clips]
        try:
            for future in as_completed(futures):
                result = future.result()
                results[result.key] = result
                if progress:
                    progress(result)
        except BaseException:  # also Ctrl-C: running downloads end soon, and their parts are kept
            run.stop("stopped")
            pool.shutdown(cancel_futures=True)
            raise
    return FetchReport(tuple(results[clip.key] for clip in clips))


class _Run:
    """What the workers of one ``fetch_recordings`` share."""

    def __init__(
        self,
        benchmark: Benchmark,
        folder: Path,
        http: httpx.Client,
        checksum_url: str,
        patience: Patience,
        most_unreachable: int,
    ) -> None:
        self._benchmark, self._folder, self._http = benchmark, folder, http
        self._checksum_url, self._patience = checksum_url, patience
        self._most_unreachable = most_unreachable
        self._unreachable = 0
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._why_stopped = ""

    def stop(self, reason: str) -> None:
        with self._lock:
            self._why_stopped = self._why_stopped or reason
            self._stopped.set()

    def fetch(self, clip: Clip) -> Fetched:
        if self._stopped.is_set():
            return Fetched(clip.key, FetchOutcome.FAILED, reason=f"not tried: {self._why_stopped}")
        try:
            return self._present(clip) or self._fetched(clip)
        except FolderError as error:
            self.stop(str(error))
            return Fetched(clip.key, FetchOutcome.FAILED, reason=str(error))
        except Agl1kError as error:
            self._count(isinstance(error, UnreachableError), str(error))
            return Fetched(clip.key, FetchOutcome.FAILED, reason=str(error))

    def _present(self, clip: Clip) -> Fetched | None:
        path = find_recording(self._benchmark, clip, self._folder)
        if path is None:
            return None
        try:
            audio.common_shelter().check_beginning(path)
        except Agl1kError:
            return None
        return Fetched(clip.key, FetchOutcome.PRESENT, path, n_bytes=path.stat().st_size)

    def _fetched(self, clip: Clip) -> Fetched:
        checksums = self._checksums(clip) if self._checksum_url else {}
        source = _source(self._benchmark, clip, checksums)
        target = self._folder / recording_name(clip)
        received: Received = download(
            self._http, source, target, patience=self._patience, stop=self._stopped
        )
        self._count(False, "")
        return Fetched(
            clip.key, FetchOutcome.FETCHED, target, "", received.n_bytes, received.verified_by
        )

    def _count(self, unreachable: bool, reason: str) -> None:
        """Give up after too many recordings in a row without a connection."""
        with self._lock:
            self._unreachable = self._unreachable + 1 if unreachable else 0
            give_up = self._unreachable >= self._most_unreachable
        if give_up:
            self.stop(reason)

    def _checksums(self, clip: Clip) -> Mapping[str, str]:
        """The source's checksums; without any, the recording is fetched unverified."""
        url = _filled(self._checksum_url, clip)
        with tempfile.TemporaryDirectory() as scratch:
            path = Path(scratch) / "files.xml"
            try:
                download(
                    self._http,
                    Source(url, _MAX_CHECKSUMS_BYTES),
                    path,
                    patience=self._patience,
                    stop=self._stopped,
                )
                return archive_checksums(path.read_bytes(), clip.file_name)
            except FolderError:
                return {}
            except Agl1kError as error:
                if isinstance(error, UnreachableError):
                    raise
                return {}


def archive_checksums(xml: bytes, file_name: str) -> dict[str, str]:
    """``md5`` and ``sha1`` of a file in an Internet Archive ``_files.xml``; empty if absent."""
    try:
        root = ElementTree.fromstring(xml)
    except ElementTree.ParseError:
        return {}
    for entry in root.iter("file"):
        if entry.get("name") == file_name:
            found = {name: (entry.findtext(name) or "").strip() for name in ("md5", "sha1")}
            return {name: digest for name, digest in found.items() if digest}
    return {}


def _source(benchmark: Benchmark, clip: Clip, checksums: Mapping[str, str]) -> Source:
    if not benchmark.audio_url:
        raise Agl1kError(
            f"Benchmark {benchmark.slug} has no address from which to fetch recordings."
        )
    url = _filled(benchmark.audio_url, clip)
    return Source(url, MAX_RECORDING_BYTES, checksums, audio.common_shelter().check_beginning)


def _filled(template: str, clip: Clip) -> str:
    """A clip's address; raises for a key or name of dots alone, which would leave its folder."""
    values = {"{key}": clip.key, "{file_name}": clip.file_name}
    for name, value in values.items():
        if name in template and not value.strip("."):
            raise Agl1kError(
                f"The clip's {name.strip('{}')} {value!r} cannot be part of an address."
            )
    parts = template.replace("{key}", "\0key\0").replace("{file_name}", "\0file_name\0")
    filled = parts.replace("\0key\0", quote(clip.key, safe=""))
    return filled.replace("\0file_name\0", quote(clip.file_name, safe=""))


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise Agl1kError(
            f"The folder {shown(folder)} cannot be written to: {error.strerror}. Choose another "
            "one, or change its permissions."
        ) from None

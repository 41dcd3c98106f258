"""The sound of a clip, without its place: copies all alike, at addresses that reveal nothing.

A recording comes from the benchmark's folder or, if it has an address, is fetched when it is
needed. A browser gets a copy from a bounded cache, in which the names and times of files reveal
nothing about the recording. Messages contain a clip's key at most.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import queue
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, Request, Response
from fastapi.responses import FileResponse, PlainTextResponse

from agl1k_core import audio
from agl1k_core.benchmarks import (
    Benchmark,
    UnreachableError,
    fetch_recording,
    find_recording,
)
from agl1k_core.errors import Agl1kError
from agl1k_core.http import Patience
from web.threads import writing

log = logging.getLogger(__name__)

#: A player is waiting, so there are fewer and shorter tries than in ``agl1k fetch``.
PATIENCE = Patience(connect_s=5, read_s=10, attempt_s=60, attempts=3, longest_wait_s=5)

MAX_CACHE_BYTES = 2_000_000_000
N_PEAKS = 200
MEDIA_TYPE = "audio/mpeg"
NO_SUCH_SOUND = (
    "There is no such sound, or it can no longer be played. Go back to the game and reload it."
)
NO_SOUND_NOW = "This sound cannot be loaded at the moment. Skip it, or report it as broken."

#: Changes whenever copies are made in another way, so that older ones are made again.
_MADE = 2
_FIXED_MTIME_S = 946_684_800  # 2000-01-01: the real time would reveal when a clip was added
_IN_USE_S = 900
_LEFT_OVER_S = 86_400
_FAILURE_LASTS_S = 30
_TELL_AGAIN_S = 3600
_MAX_WAITING = 200
_MAX_SLOW = 8
_LIST_LASTS_S = 30
#: How long the game's outline of a clip needs no look at the folders. Its sound is always checked.
_CHECK_LASTS_S = 60
_MOST_CHECKED = 1000

Fetch = Callable[[Benchmark, str, Path], Path]
Resolve = Callable[[str], tuple[Benchmark, str] | None]


@dataclass(frozen=True, slots=True)
class PreparedClip:
    """A copy that may be sent to a browser; ``peaks`` (0 to 1) draw its waveform.

    The duration is a whole number of seconds, like that of all copies.
    """

    path: Path
    duration_s: int
    peaks: tuple[float, ...]


def fetch_for_player(benchmark: Benchmark, key: str, folder: Path) -> Path:
    """``fetch_recording`` with a player's patience."""
    return fetch_recording(benchmark, key, folder, patience=PATIENCE)


class ClipStore:
    """A cache of prepared clips in ``cache_dir``, of about ``max_bytes`` at most.

    The least recently used copies are deleted first, but none that were used in the last
    ``in_use_s``. Safe to use from many threads: a clip that several ask for is prepared once.
    ``shelter`` decodes, so that a recording cannot crash this process.
    """

    def __init__(
        self,
        cache_dir: Path,
        *,
        fetch: Fetch = fetch_for_player,
        max_bytes: int = MAX_CACHE_BYTES,
        in_use_s: float = _IN_USE_S,
        failure_lasts_s: float = _FAILURE_LASTS_S,
        prefetchers: int = 2,
        shelter: audio.Shelter | None = None,
    ) -> None:
        self._folder = cache_dir
        self._fetch = fetch
        self._shelter = shelter or audio.common_shelter()
        self._max_bytes = max_bytes
        self._in_use_s = in_use_s
        self._failure_lasts_s = failure_lasts_s
        self._lock = threading.Lock()
        self._making: dict[str, Future[PreparedClip]] = {}
        self._failed: dict[str, tuple[float, Agl1kError]] = {}
        self._told: dict[tuple[str, str], float] = {}  # causes, and when each was logged
        self._unreachable_s = float("-inf")
        self._found: dict[str, tuple[float, frozenset[str]]] = {}
        self._checked: dict[str, tuple[float, PreparedClip]] = {}
        self._prefetcher = _Prefetcher(self.prepare, prefetchers)

    def prepare(self, benchmark: Benchmark, key: str) -> PreparedClip:
        """The copy of a clip, made now if it is not cached.

        Raises ``Agl1kError`` if the recording is not available, which is remembered for a while so
        that a browser's retries don't become downloads.
        """
        if key not in benchmark:
            raise Agl1kError(f"Benchmark {benchmark.slug} has no clip {key}.")
        name = _opaque_name(benchmark, key)
        checked_s, prepared = self._checked.get(name, (-_CHECK_LASTS_S, None))
        if time.monotonic() - checked_s >= _CHECK_LASTS_S:
            prepared = self.cached(benchmark, key)
        if prepared:
            return prepared
        with self._lock:
            self._raise_recent_failure(name)
            running = self._making.get(name)
            mine: Future[PreparedClip] = Future()
            if running is None:
                self._making[name] = mine
        if running is not None:
            return running.result()
        try:
            # Another thread may have finished between the check of the cache and the lock.
            mine.set_result(self.cached(benchmark, key) or self._made(benchmark, key))
        except Exception as error:
            mine.set_exception(self._noted_failure(benchmark, key, error))
        finally:
            mine.cancel()  # wakes waiting threads after an interrupt; has no effect otherwise
            with self._lock:
                del self._making[name]
        return mine.result()

    def cached(self, benchmark: Benchmark, key: str) -> PreparedClip | None:
        """The cached copy of a clip, if it was made from the recording now in the folder."""
        name = _opaque_name(benchmark, key)
        self._checked.pop(name, None)
        try:
            about = json.loads((self._folder / f"{name}.json").read_bytes())
            path = self._folder / f"{name}.mp3"
            whole = path.stat().st_size == about["n_bytes"]
            prepared = PreparedClip(path, about["duration_s"], tuple(about["peaks"]))
            source = _in_folder(benchmark, key)
            of_source = source is None or about["of"] == _stamp(source)
            current = of_source and about["made"] == _MADE
        except (OSError, ValueError, KeyError, TypeError):
            return None
        if not (whole and current):
            return None
        with suppress(OSError):
            os.utime(path, (time.time(), _FIXED_MTIME_S))
        if len(self._checked) >= _MOST_CHECKED:
            self._checked.clear()
        self._checked[name] = time.monotonic(), prepared
        return prepared

    def available(self, benchmark: Benchmark) -> frozenset[str] | None:
        """The clips that need no network, or None if any clip can be fetched.

        Looked up only if nothing can be fetched: no address is known, or the source could not be
        reached a moment ago.
        """
        if benchmark.audio_url and not self._is_offline():
            return None
        now = time.monotonic()
        looked_s, keys = self._found.get(benchmark.content_hash, (-_LIST_LASTS_S, frozenset()))
        if now - looked_s >= _LIST_LASTS_S:
            keys = frozenset(
                key
                for key in benchmark.index
                if _in_folder(benchmark, key) or self.has(benchmark, key)
            )
            self._found[benchmark.content_hash] = (now, keys)
        return keys

    def has(self, benchmark: Benchmark, key: str) -> bool:
        """Whether the cache holds a copy of a clip."""
        return (self._folder / f"{_opaque_name(benchmark, key)}.json").is_file()

    def _is_offline(self) -> bool:
        return time.monotonic() - self._unreachable_s < self._failure_lasts_s

    def _fetched(self, benchmark: Benchmark, key: str, folder: Path) -> Path:
        """Fetch a recording; a source that cannot be reached is not tried again for a while."""
        if self._is_offline():
            raise Agl1kError("The source of the recordings could not be reached a moment ago.")
        try:
            return self._fetch(benchmark, key, folder)
        except UnreachableError:
            self._unreachable_s = time.monotonic()
            raise

    def prefetch(self, benchmark: Benchmark, keys: Iterable[str]) -> None:
        """Prepare clips in the background; if too many are waiting, the newest are skipped."""
        for key in keys:
            self._prefetcher.add(benchmark, key)

    def close(self) -> None:
        """Stop the background work; clips being prepared are finished or abandoned."""
        self._prefetcher.close()

    def _made(self, benchmark: Benchmark, key: str) -> PreparedClip:
        self._folder.mkdir(parents=True, exist_ok=True)
        self._clear_left_overs()
        with tempfile.TemporaryDirectory(prefix="incoming-", dir=self._folder) as scratch:
            source = _in_folder(benchmark, key)
            stamp = _stamp(source) if source else ""
            recording = source or self._fetched(benchmark, key, Path(scratch))
            copy = self._shelter.served_copy(recording, Path(scratch) / "copy")
            info, peaks = self._shelter.outline(copy, N_PEAKS)
            duration_s = round(info.duration_s)
            about = {
                "made": _MADE,
                "of": stamp,
                "n_bytes": copy.stat().st_size,
                "duration_s": duration_s,
                "peaks": peaks,
            }
            described = Path(scratch) / "copy.json"
            described.write_text(json.dumps(about))
            name = _opaque_name(benchmark, key)
            os.utime(copy, (time.time(), _FIXED_MTIME_S))
            path = copy.replace(self._folder / f"{name}.mp3")
            described.replace(self._folder / f"{name}.json")
            path.with_suffix(".m4a").unlink(missing_ok=True)  # made by an earlier version
        self._delete_oldest()
        return PreparedClip(path, duration_s, tuple(peaks))

    def _raise_recent_failure(self, name: str) -> None:
        failed = self._failed.get(name)
        if failed and time.monotonic() - failed[0] < self._failure_lasts_s:
            raise failed[1]

    def _noted_failure(self, benchmark: Benchmark, key: str, error: Exception) -> Agl1kError:
        if isinstance(error, OSError):  # without its file name
            reason = f"The cache of sounds cannot be written: {error.strerror}."
        elif isinstance(error, Agl1kError):
            reason = str(error)
        else:
            log.exception("Clip %s of %s could not be prepared", key, benchmark.slug)
            reason = f"Unexpected {type(error).__name__}."
        if self._is_news((benchmark.slug, reason.replace(key, ""))):
            log.warning("Clip %s of %s is not available: %s", key, benchmark.slug, reason)
        failure = Agl1kError(f"Clip {key} is not available: {reason}")
        with self._lock:
            now = time.monotonic()
            recent = [item for item in self._failed.items() if now - item[1][0] < 60]
            self._failed = {**dict(recent), _opaque_name(benchmark, key): (now, failure)}
        return failure

    def _is_news(self, cause: tuple[str, str]) -> bool:
        """Whether a cause was not logged recently; offline, all clips fail for the same one."""
        with self._lock:
            now = time.monotonic()
            self._told = {each: at for each, at in self._told.items() if now - at < _TELL_AGAIN_S}
            return self._told.setdefault(cause, now) == now

    def _delete_oldest(self) -> None:
        """Keep the copies within ``max_bytes``, except those in use."""
        copies = []
        for path in self._folder.iterdir():
            with suppress(FileNotFoundError):
                if path.suffix in (".mp3", ".m4a"):  # the latter by an earlier version
                    copies.append((path.stat().st_atime, path.stat().st_size, path))
        excess = sum(n_bytes for _, n_bytes, _ in copies) - self._max_bytes
        for used_s, n_bytes, path in sorted(copies):
            if excess <= 0 or used_s > time.time() - self._in_use_s:
                return
            path.with_suffix(".json").unlink(missing_ok=True)
            path.unlink(missing_ok=True)
            excess -= n_bytes

    def _clear_left_overs(self) -> None:
        """Remove files that a killed process left behind."""
        for path in self._folder.glob("incoming-*"):
            with suppress(FileNotFoundError):
                if time.time() - path.stat().st_mtime > _LEFT_OVER_S:
                    shutil.rmtree(path, ignore_errors=True)


def clip_router(
    store: ClipStore, resolve: Resolve, sent: Callable[[str], None] = lambda token: None
) -> APIRouter:
    """The route ``/clip/{token}``: a clip's sound, whole or in ranges.

    ``resolve`` returns the benchmark and key of a token, or None if it may not be heard. ``sent``
    is called with the tokens whose sound is sent. Clips are prepared in threads, and those that
    must be fetched do not hold up those that are cached.
    """
    router = APIRouter()
    slow = CapacityLimiter(_MAX_SLOW)

    @writing
    def look_up(token: str) -> tuple[Benchmark, str, PreparedClip | None] | None:
        found = resolve(token)
        return (*found, store.cached(*found)) if found else None

    @router.api_route("/clip/{token}", methods=["GET", "HEAD"], include_in_schema=False)
    async def clip(token: str, request: Request) -> Response:
        found = await look_up(token)
        if found is None:
            return _plain(404, NO_SUCH_SOUND)
        benchmark, key, prepared = found
        try:
            if prepared is None:
                prepared = await to_thread.run_sync(store.prepare, benchmark, key, limiter=slow)
            answer = await to_thread.run_sync(_answer, prepared)
        except (Agl1kError, OSError):
            return _plain(503, NO_SOUND_NOW)
        if request.method == "GET":
            sent(token)
        return answer

    return router


def _answer(prepared: PreparedClip) -> FileResponse:
    """Without a file name; ETag and Last-Modified come from a fixed time and the copy's size."""
    return FileResponse(
        prepared.path,
        media_type=MEDIA_TYPE,
        stat_result=prepared.path.stat(),
        headers={"Cache-Control": "private, max-age=3600", "X-Content-Type-Options": "nosniff"},
    )


def _plain(status_code: int, sentence: str) -> PlainTextResponse:
    return PlainTextResponse(sentence, status_code, headers={"Cache-Control": "no-store"})


def _opaque_name(benchmark: Benchmark, key: str) -> str:
    return hashlib.sha256(f"{benchmark.slug}\0{key}".encode()).hexdigest()[:32]


def _in_folder(benchmark: Benchmark, key: str) -> Path | None:
    if benchmark.audio_dir is None:
        return None
    return find_recording(benchmark, benchmark.clip(key), benchmark.audio_dir)


def _stamp(source: Path) -> str:
    found = source.stat()
    return f"{found.st_size}-{found.st_mtime_ns}"


class _Prefetcher:
    """Daemon threads that work through a bounded queue; started with the first clip."""

    def __init__(self, prepare: Callable[[Benchmark, str], object], n_threads: int) -> None:
        self._prepare = prepare
        self._n_threads = n_threads
        self._waiting: queue.Queue[tuple[Benchmark, str] | None] = queue.Queue(_MAX_WAITING)
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()
        self._closed = False

    def add(self, benchmark: Benchmark, key: str) -> None:
        with self._lock:
            if self._closed:
                return
            if not self._threads:
                self._threads = [
                    threading.Thread(target=self._work, name=f"prefetch-{n}", daemon=True)
                    for n in range(self._n_threads)
                ]
                for thread in self._threads:
                    thread.start()
        with suppress(queue.Full):
            self._waiting.put_nowait((benchmark, key))

    def close(self) -> None:
        with self._lock:
            self._closed = True
        with suppress(queue.Empty):
            while True:
                self._waiting.get_nowait()
        for _ in self._threads:
            self._waiting.put(None)

    def _work(self) -> None:
        while (item := self._waiting.get()) is not None:
            # The player of the clip sees the error; here it would only end the thread.
            with suppress(Exception):
                self._prepare(*item)

"""Decodes in processes of their own, so that a decoder that crashes ends none but its own.

FFmpeg is a million lines of C, and recordings come from strangers. A server therefore decodes no
file itself: it asks a ``Shelter``, for which a crash is an error like any other.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from agl1k_core.audio.decode import AudioInfo
from agl1k_core.errors import Agl1kError

PATIENCE_S = 300.0
_N_PROCESSES = 2
_PACKAGES = Path(__file__).parents[2]
_CLOSED = "Nothing is decoded any more, because the program is ending. Start it again."


class CrashedError(Agl1kError):
    """A file ended the process that decoded it, or took too long."""


class Shelter:
    """Decodes in up to ``n_processes`` processes; safe to use from many threads.

    A process starts when it is needed, and ends when nothing has been asked of it for a minute.

    Parameters
    ----------
    n_processes
        Files decoded at the same time; more wait.
    patience_s
        Seconds after which a file is given up.

    Examples
    --------
    >>> info, peaks = Shelter().outline(Path("recording.mp3"))  # doctest: +SKIP
    """

    def __init__(self, n_processes: int = _N_PROCESSES, patience_s: float = PATIENCE_S) -> None:
        self._workers = [_Worker(patience_s) for _ in range(n_processes)]
        self._free: queue.LifoQueue[_Worker] = queue.LifoQueue()
        for worker in self._workers:
            self._free.put(worker)

    def check_beginning(self, path: Path) -> None:
        """``audio.check_beginning``; also raises ``CrashedError``."""
        self._ask(do="check_beginning", path=str(path.absolute()))

    def served_copy(self, source: Path, target: Path) -> Path:
        """``audio.served_copy``; also raises ``CrashedError``."""
        paths = {"source": str(source.absolute()), "target": str(target.absolute())}
        return Path(self._ask(do="served_copy", **paths))

    def outline(self, path: Path, n: int = 200) -> tuple[AudioInfo, list[float]]:
        """``audio.outline``; also raises ``CrashedError``."""
        info, peaks = self._ask(do="outline", path=str(path.absolute()), n=n)
        return AudioInfo(**info), peaks

    def written_tags(self, path: Path) -> dict[str, str]:
        """``audio.written_tags``; also raises ``CrashedError``."""
        tags: dict[str, str] = self._ask(do="written_tags", path=str(path.absolute()))
        return tags

    def close(self) -> None:
        """End the processes; what they are decoding fails."""
        for worker in self._workers:
            worker.close()

    def _ask(self, **request: Any) -> Any:
        with self._free_worker() as worker:
            answer = worker.ask(request)
        if "problem" in answer:
            raise Agl1kError(answer["problem"])
        if "bug" in answer:
            raise RuntimeError(answer["bug"])
        return answer["result"]

    @contextmanager
    def _free_worker(self) -> Iterator[_Worker]:
        worker = self._free.get()
        try:
            yield worker
        finally:
            self._free.put(worker)


@cache
def common_shelter() -> Shelter:
    """The shelter that all parts of this process share."""
    return Shelter()


class _Worker:
    """A process that answers one request at a time, each in a line of JSON."""

    def __init__(self, patience_s: float) -> None:
        self._patience_s = patience_s
        self._process: subprocess.Popen[bytes] | None = None
        self._closed = False

    def ask(self, request: Mapping[str, Any]) -> Any:
        """The answer to a request; raises ``CrashedError`` if there is none."""
        line = json.dumps(request).encode() + b"\n"
        for _ in range(2):
            process = self._process = self._process or self._started()
            answer, late = self._answer(process, line)
            if answer:
                return json.loads(answer)
            self._process = None
            # it ended because it was idle, or before it knew of this file
            if _exit_code(process) != 0 and answer is not None:
                break
        raise self._crashed(late)

    def close(self) -> None:
        self._closed = True
        process = self._process
        if process:
            process.kill()

    def _started(self) -> subprocess.Popen[bytes]:
        if self._closed:
            raise Agl1kError(_CLOSED)
        try:
            return subprocess.Popen(
                [sys.executable, "-m", "agl1k_core.audio._sheltered"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,  # where FFmpeg prints names and tags
                env=_environment(),
                start_new_session=True,  # Ctrl-C is for the main process
            )
        except OSError as error:
            raise Agl1kError(
                f"No process for decoding can be started: {error.strerror}. Free some memory."
            ) from None

    def _answer(self, process: subprocess.Popen[bytes], line: bytes) -> tuple[bytes | None, bool]:
        """The answer, empty if the process ended, None if it had ended before it was asked; and
        whether it ended because it took too long."""
        assert process.stdin
        assert process.stdout
        late = threading.Event()

        def give_up() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(self._patience_s, give_up)
        timer.daemon = True
        timer.start()
        try:
            process.stdin.write(line)
            process.stdin.flush()
            return process.stdout.readline(), late.is_set()
        except BrokenPipeError:
            return None, late.is_set()
        finally:
            timer.cancel()

    def _crashed(self, late: bool) -> Agl1kError:
        if self._closed:
            return Agl1kError(_CLOSED)
        if late:
            return CrashedError(
                f"Decoding was given up after {self._patience_s:g} s. Shorten or convert the file."
            )
        return CrashedError("The decoder crashed on this file. Convert the file and try again.")


def _exit_code(process: subprocess.Popen[bytes]) -> int:
    # leaving closes its pipes, of which one may hold a request that nobody reads, and waits
    with suppress(BrokenPipeError), process:
        pass
    return process.wait()


def _environment() -> dict[str, str]:
    """With this package on the path, which may be neither installed nor in the current folder."""
    paths = [str(_PACKAGES), os.environ.get("PYTHONPATH", "")]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "OPENBLAS_NUM_THREADS": "1",  # each thread would reserve memory
    }

"""The journal of a run: every response, on disk before it is read, so that nothing is lost.

``journal.jsonl`` has one line per event: the run's identity, each question before it is sent, each
response as it arrived. Responses are flushed to the disk before anything else happens to them. A
process that is killed loses at most the questions that were under way; a torn last line is skipped.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from filelock import FileLock, Timeout

from agl1k_core.errors import Agl1kError

JOURNAL = "journal.jsonl"
_LOCK = ".lock"


class Turn(NamedTuple):
    """One question of a run: the pass, the clip, and the step of a conversation about it."""

    n_pass: int
    clip: str
    step: int = 0


@dataclass
class Journal:
    """A journal that is open for writing; any thread may append."""

    path: Path
    _file: int
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _torn: bool = False

    def append(self, line: str, *, durable: bool = True, **values: Any) -> None:
        """Append an event; ``durable`` waits until it is on the disk.

        Raises ``Agl1kError`` if it cannot be written.
        """
        event = {"line": line, "at": now(), **values}
        data = msgspec.json.encode(event) + b"\n"
        try:
            with self._lock:
                before, self._torn = self._torn, True
                _write_all(self._file, b"\n" + data if before else data)
                self._torn = False
            if durable:
                os.fsync(self._file)
        except OSError as error:
            raise Agl1kError(
                f"{self.path} cannot be written: {error.strerror}. Make room, then run the same "
                "command again: it resumes."
            ) from None


@contextmanager
def open_journal(folder: Path) -> Iterator[Journal]:
    """Open a folder's journal, which no other process may do at the same time.

    Raises ``Agl1kError`` if one does, or the folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / _LOCK, timeout=0)
        lock.acquire()
    except Timeout:
        raise Agl1kError(
            f"Another process is running in {folder}. Wait until it ends, or choose another folder."
        ) from None
    except OSError as error:
        raise Agl1kError(f"{folder} cannot be written: {error.strerror}.") from None
    path = folder / JOURNAL
    try:
        file = _opened(path)
        try:
            yield Journal(path, file)
        finally:
            os.close(file)
    finally:
        lock.release()


def read_journal(folder: Path) -> Iterator[Mapping[str, Any]]:
    """The events of a folder's journal, in order; none if there is no journal.

    Lines that a killed process left incomplete are skipped. Raises ``Agl1kError``.
    """
    path = folder / JOURNAL
    try:
        with path.open("rb") as file:
            for data in file:
                event = _event(data)
                if event is not None:
                    yield event
    except FileNotFoundError:
        return
    except OSError as error:
        raise Agl1kError(f"{path} cannot be read: {error.strerror}.") from None


def turn_of(event: Mapping[str, Any]) -> Turn:
    """The turn that an event belongs to."""
    return Turn(event["n_pass"], event["clip"], event["step"])


def now() -> str:
    """The time in UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _event(data: bytes) -> Mapping[str, Any] | None:
    if not data.endswith(b"\n"):
        return None
    try:
        event = json.loads(data)
    except ValueError:
        return None
    return event if isinstance(event, dict) and "line" in event else None


def _opened(path: Path) -> int:
    """A file to append to, after a torn last line if there is one."""
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        size = os.fstat(file).st_size
        if size and os.pread(file, 1, size - 1) != b"\n":
            os.write(file, b"\n")
        return file
    except OSError as error:
        raise Agl1kError(f"{path} cannot be written: {error.strerror}.") from None


def _write_all(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]

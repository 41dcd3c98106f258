"""Results that outlive a killed run: one line of JSON per file, appended as soon as it is heard.

A cache belongs to one way of listening (``Analyzer.settings_hash``). A file is known by its name,
size and time of change, so that a changed file is heard anew. A line that was cut off is no line.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from filelock import FileLock, Timeout

from agl1k_core.curation.analysis import CRASHED, Analysis, Analyzer
from agl1k_core.errors import Agl1kError


def stamp(path: Path, folder: Path) -> str:
    """What a file is known by; only its name where it cannot be looked at."""
    name = path.relative_to(folder).as_posix() if path.is_relative_to(folder) else str(path)
    try:
        found = path.stat()
    except OSError:
        return name
    return f"{name}|{found.st_size}|{found.st_mtime_ns}"


class ResultsCache:
    """The results in ``folder`` for one ``Analyzer``; a context for one process at a time.

    Raises ``Agl1kError`` where the folder cannot be written or another run is in it.
    """

    def __init__(self, folder: Path, analyzer: Analyzer) -> None:
        self._path = folder / f"heard-{analyzer.settings_hash}.jsonl"
        self._settings = analyzer.settings
        self._lock = FileLock(folder / "lock")
        self._known: dict[str, Analysis] = {}
        self._file: IO[bytes] | None = None

    def __enter__(self) -> Self:
        folder = self._path.parent
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._lock.acquire(blocking=False)
            self._known = dict(_read(self._path))
            self._file = self._path.open("ab")
            if _ends_torn(self._path):
                self._file.write(b"\n")
            if not self._path.stat().st_size:
                self._append({"settings": self._settings})
        except Timeout:
            raise Agl1kError(
                f"Another run is at work in {folder}. Wait for it, or name another --work."
            ) from None
        except OSError as error:
            self.close()
            raise Agl1kError(f"{folder} cannot be written: {error.strerror}.") from None
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file and let others in."""
        if self._file:
            self._file.close()
        self._lock.release()

    def known(self, stamp: str) -> Analysis | None:
        """What was heard before."""
        return self._known.get(stamp)

    def add(self, stamp: str, analysis: Analysis) -> None:
        """Keep a result. A crash may have been for lack of memory, and is tried again."""
        self._known[stamp] = analysis
        if analysis.outcome != CRASHED:
            self._append({"stamp": stamp, "heard": analysis.to_dict()})

    def _append(self, line: Mapping[str, object]) -> None:
        assert self._file, "enter the journal first"
        try:
            self._file.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
            self._file.flush()
        except OSError as error:
            raise Agl1kError(
                f"{self._path} cannot be written: {error.strerror}. Make room and run again; "
                "what is done is kept."
            ) from None


def _read(path: Path) -> list[tuple[str, Analysis]]:
    found: list[tuple[str, Analysis]] = []
    if not path.exists():
        return found
    with path.open("rb") as file:
        for line in file:
            try:
                record = json.loads(line)
                found.append((record["stamp"], Analysis.from_dict(record["heard"])))
            except (ValueError, KeyError, TypeError):
                continue  # the settings, or a line that was cut off
    return found


def _ends_torn(path: Path) -> bool:
    content = path.stat().st_size
    if not content:
        return False
    with path.open("rb") as file:
        file.seek(content - 1)
        return file.read(1) != b"\n"

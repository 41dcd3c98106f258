"""Results that survive a killed run: one line of JSON per file, appended when it is analyzed.

A cache belongs to the settings of one ``Analyzer``. A file is identified by name, size and time of
change, so a changed file is analyzed again. Incomplete lines are ignored.
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
from agl1k_core.file_names import shown, written


def stamp(path: Path, folder: Path) -> str:
    """Name, size and time of change of a file; only its name if the rest cannot be read."""
    name = path.relative_to(folder).as_posix() if path.is_relative_to(folder) else str(path)
    name = written(name)
    try:
        found = path.stat()
    except OSError:
        return name
    return f"{name}|{found.st_size}|{found.st_mtime_ns}"


class ResultsCache:
    """The results in ``folder`` for one ``Analyzer``; a context for one process at a time.

    Raises ``Agl1kError`` if the folder cannot be written or another run uses it.
    """

    def __init__(self, folder: Path, analyzer: Analyzer) -> None:
        # the names on disk are those of older versions, whose results stay usable
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
                f"Another run uses {shown(folder)}. Wait for it to end, or choose another --work."
            ) from None
        except OSError as error:
            self.close()
            raise Agl1kError(
                f"{shown(folder)} cannot be written: {error.strerror}. Choose another --work."
            ) from None
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file and release the folder."""
        if self._file:
            self._file.close()
        self._lock.release()

    def known(self, stamp: str) -> Analysis | None:
        """The result of an earlier run."""
        return self._known.get(stamp)

    def add(self, stamp: str, analysis: Analysis) -> None:
        """Keep a result, except a crash: memory may have run out, so the file is retried."""
        self._known[stamp] = analysis
        if analysis.outcome != CRASHED:
            self._append({"stamp": stamp, "heard": analysis.to_dict()})

    def _append(self, line: Mapping[str, object]) -> None:
        assert self._file, "enter the cache first"
        try:
            self._file.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
            self._file.flush()
        except OSError as error:
            raise Agl1kError(
                f"{shown(self._path)} cannot be written: {error.strerror}. Free some space "
                "and run again; results so far are kept."
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
                continue  # the settings, or an incomplete line
    return found


def _ends_torn(path: Path) -> bool:
    content = path.stat().st_size
    if not content:
        return False
    with path.open("rb") as file:
        file.seek(content - 1)
        return file.read(1) != b"\n"

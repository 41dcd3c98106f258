"""Reports on prediction files, and a cache of the latest."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

from agl1k_core.benchmarks import Benchmark
from agl1k_core.errors import Problem
from agl1k_core.scoring import Evaluation

MOST_FILES = 8
MOST_BYTES = 64 * 2**20


@dataclass(frozen=True)
class Report:
    """The result of a dry run: the scores by both protocols, or everything that is wrong.

    ``warnings`` are signs that the file was not read as it was meant. On a sealed benchmark there
    is no score by the paper's protocol. ``hold`` says why a moderator must look at the result
    first, or is empty; it is not part of ``to_dict``.
    """

    file_name: str
    file_bytes: int
    file_sha256: str
    board: str
    strict: Evaluation | None = None
    paper: Evaluation | None = None
    problems: tuple[Problem, ...] = ()
    n_problems: int = 0
    message: str = ""
    warnings: tuple[Problem, ...] = ()
    hold: str = ""

    @property
    def accepted(self) -> bool:
        return self.strict is not None

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data."""
        return {
            "accepted": self.accepted,
            "stored": False,
            "board": self.board,
            "file_name": self.file_name,
            "file_bytes": self.file_bytes,
            "file_sha256": self.file_sha256,
            "message": self.message,
            "n_problems": self.n_problems,
            "problems": [str(problem) for problem in self.problems],
            "warnings": [str(warning) for warning in self.warnings],
            "strict": self.strict.to_dict() if self.strict else None,
            "paper": self.paper.to_dict() if self.paper else None,
        }


class RecentReports:
    """A cache of the latest reports, by the bytes of the file.

    The oldest are dropped when there are more than ``most_files``, or ``most_bytes`` in all their
    files. Every method may be called from any thread.
    """

    def __init__(self, most_files: int = MOST_FILES, most_bytes: int = MOST_BYTES) -> None:
        self._most_files, self._most_bytes = most_files, most_bytes
        self._reports: OrderedDict[tuple[bytes, str], Report] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, data: bytes, benchmark: Benchmark) -> Report | None:
        """The report on this file for this benchmark, or None."""
        with self._lock:
            return self._reports.get((data, benchmark.content_hash))

    def put(self, data: bytes, benchmark: Benchmark, report: Report) -> None:
        """Remember a report."""
        with self._lock:
            self._reports[data, benchmark.content_hash] = report
            while self._is_full():
                self._reports.popitem(last=False)

    def _is_full(self) -> bool:
        n_bytes = sum(report.file_bytes for report in self._reports.values())
        return len(self._reports) > self._most_files or n_bytes > self._most_bytes

"""The two kinds of error that people see, and the line that tells one problem."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


class Agl1kError(Exception):
    """Something the person at the keyboard can act on; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong in a file: where it is, what was found, what to do about it.

    ``record`` counts from 1; ``line`` is a line of the file, from 1.
    """

    found: str
    todo: str
    record: int | None = None
    line: int | None = None
    clip: str | None = None
    field: str | None = None

    def __str__(self) -> str:
        places = [
            f"record {self.record}" if self.record is not None else "",
            f"line {self.line}" if self.line is not None else "",
            f"clip {self.clip}" if self.clip else "",
            f"field {self.field}" if self.field else "",
        ]
        where = ", ".join(place for place in places if place)
        return f"{where}: {self.found}. {self.todo}" if where else f"{self.found}. {self.todo}"


class FileRefusedError(Agl1kError):
    """A file that cannot be used, with all its problems at once.

    ``problems`` holds what is shown; ``total`` counts what was found, which may be more.
    """

    def __init__(self, source: str, problems: Sequence[Problem], total: int | None = None) -> None:
        self.source = source
        self.problems = tuple(problems)
        self.total = len(self.problems) if total is None else total
        super().__init__(str(self))

    def __str__(self) -> str:
        noun = "problem" if self.total == 1 else "problems"
        lines = [f"{self.source} was refused: {self.total} {noun}"]
        lines += [f"  {number}. {problem}" for number, problem in enumerate(self.problems, 1)]
        if self.total > len(self.problems):
            lines.append(f"  … and {self.total - len(self.problems)} more like these")
        return "\n".join(lines)

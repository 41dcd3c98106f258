"""The two kinds of error that people see, and the problems that a file is refused for."""

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


#: Problems that are listed one by one; further ones are counted.
MOST_SHOWN = 50


class Problems:
    """Collects the problems of a file: the first ones in full, all of them counted."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.shown: list[Problem] = []
        self.total = 0

    def add(self, problem: Problem) -> None:
        """Add a problem after the others."""
        self.total += 1
        if len(self.shown) < MOST_SHOWN:
            self.shown.append(problem)

    def add_first(self, problem: Problem) -> None:
        """Add a problem that is told before all others."""
        self.total += 1
        self.shown = [problem, *self.shown][:MOST_SHOWN]

    def refusal(self, problem: Problem | None = None) -> FileRefusedError:
        """The error for all problems, with one more after which nothing can be read."""
        if problem is not None:
            self.add(problem)
        return FileRefusedError(self.source, self.shown, self.total)

    def raise_if_any(self) -> None:
        """Raise ``FileRefusedError`` if there are problems."""
        if self.total:
            raise self.refusal()

"""The errors that users see, and the problems because of which a file is refused."""

from __future__ import annotations

from bisect import insort_right
from collections.abc import Sequence
from dataclasses import dataclass

from agl1k_core.file_names import shown


class Agl1kError(Exception):
    """An error that a user can act on: the message says what to do.

    Examples
    --------
    >>> import agl1k_core as ag
    >>> try:
    ...     ag.load_benchmark("nowhere")
    ... except ag.Agl1kError as error:
    ...     print(error)
    There is no benchmark 'nowhere'. Give 'demo', 'agl1k', the path of a table, ...
    """


class UnavailableError(Agl1kError):
    """Something that the server needs does not work at the moment, whatever was asked.

    It is not about the input: code that handles refusals should let it pass. A server answers 503.
    """

    #: After how many seconds it is worth trying again.
    retry_after_s = 5


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong in a file: where it is, what was found, and what to do about it.

    Parameters
    ----------
    found, todo
        What is wrong, and what to do, in words.
    record, line
        Number of the record, and line of the file, both from 1; None if unknown.
    clip, node, field
        Key of the clip, id of the node of a graph, and name of the field; None if the problem is
        not about one.

    Examples
    --------
    >>> print(Problem("latitude is 95", "Give -90 to 90", record=3, clip="a_1"))
    record 3, clip a_1: latitude is 95. Give -90 to 90
    """

    found: str
    todo: str
    record: int | None = None
    line: int | None = None
    clip: str | None = None
    field: str | None = None
    node: str | None = None

    def __str__(self) -> str:
        places = [
            f"record {self.record}" if self.record is not None else "",
            f"line {self.line}" if self.line is not None else "",
            f"clip {self.clip}" if self.clip else "",
            f"node {self.node}" if self.node else "",
            f"field {self.field}" if self.field else "",
        ]
        where = ", ".join(place for place in places if place)
        return f"{where}: {self.found}. {self.todo}" if where else f"{self.found}. {self.todo}"


class FileRefusedError(Agl1kError):
    """A file that cannot be used, with all of its problems.

    Parameters
    ----------
    source
        What was refused, such as the file's name.
    problems
        The problems that are shown.
    total
        How many were found, if more than are shown.

    Examples
    --------
    >>> print(FileRefusedError("mine.csv", [Problem("latitude is 95", "Give -90 to 90", line=2)]))
    mine.csv was refused: 1 problem
      1. line 2: latitude is 95. Give -90 to 90
    """

    def __init__(self, source: str, problems: Sequence[Problem], total: int | None = None) -> None:
        self.source = shown(source)
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


def _place(problem: Problem) -> int:
    """Where in its file a problem is."""
    return problem.line or problem.record or 0


#: Problems that are listed one by one; further ones are counted.
MOST_SHOWN = 50


class Problems:
    """Collects the problems of a file: keeps the first of them in its order, and counts all."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.shown: list[Problem] = []
        self.total = 0

    def add(self, problem: Problem) -> None:
        """Add a problem, in the order of lines or records; those of the whole file come first."""
        self.total += 1
        if len(self.shown) < MOST_SHOWN or _place(problem) < _place(self.shown[-1]):
            insort_right(self.shown, problem, key=_place)
            del self.shown[MOST_SHOWN:]

    def add_first(self, problem: Problem) -> None:
        """Add a problem before all others."""
        self.total += 1
        self.shown = [problem, *self.shown][:MOST_SHOWN]

    def refusal(self, problem: Problem | None = None) -> FileRefusedError:
        """The error for all problems and a last one, after which nothing can be read."""
        if problem is not None:
            self.add(problem)
        return FileRefusedError(self.source, self.shown, self.total)

    def raise_if_any(self) -> None:
        """Raise ``FileRefusedError`` if there are problems."""
        if self.total:
            raise self.refusal()

"""What is wrong with graphs: faults that make one unusable, and doubts about one that is not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agl1k_core.errors import MOST_SHOWN, Agl1kError, Problem
from agl1k_core.file_names import shown


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong with a graph, or with a file of graphs.

    Attributes
    ----------
    source
        The file.
    problem
        Where in it, what was found, and what to do.
    graph
        The graph's key, empty if the fault is the file's.
    is_fatal
        Whether the graph cannot be used.

    Examples
    --------
    >>> print(Fault("paris.json", Problem("lat is 95", "Give -90 to 90", node="a"), "paris"))
    paris.json: error: node a: lat is 95. Give -90 to 90
    """

    source: str
    problem: Problem
    graph: str = ""
    is_fatal: bool = True

    def __str__(self) -> str:
        weight = "error" if self.is_fatal else "warning"
        return f"{shown(self.source)}: {weight}: {self.problem}"


class GraphsRefusedError(Agl1kError):
    """Graphs that cannot be used, with all faults because of which."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults = tuple(faults)
        n, n_files = len(self.faults), len({fault.source for fault in self.faults})
        errors, files = "error" if n == 1 else "errors", "file" if n_files == 1 else "files"
        lines = [f"{n:,} {errors} in {n_files:,} {files} of graphs"]
        lines += [f"  {number}. {fault}" for number, fault in enumerate(faults[:MOST_SHOWN], 1)]
        if n > MOST_SHOWN:
            lines.append(f"  … and {n - MOST_SHOWN:,} more: see agl1k wander validate")
        super().__init__("\n".join(lines))

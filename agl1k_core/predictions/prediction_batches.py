"""What reading a prediction file yields: batches of records, and the problems found on the way."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter

from agl1k_core.errors import Problem, Problems

ID_KEYS = ("key", "id", "clip", "question_id")
#: Records that are turned into columns at a time, which bounds the memory of a large file.
BATCH_SIZE = 50_000
#: More fields than any record has; every one of them costs.
MOST_FIELDS = 1000
WHAT_TO_SEND = "Send JSON, JSON Lines or CSV as plain UTF-8 text"


@dataclass(frozen=True)
class Batch:
    """Records of the same fields. ``numbers`` and ``lines`` tell where each of them stands."""

    names: tuple[str, ...]
    numbers: Sequence[int]
    lines: Sequence[int] | None

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def columns(self, names: Sequence[str]) -> dict[str, Sequence[object]]:
        """All values of some fields."""

    @abstractmethod
    def row(self, position: int) -> dict[str, object]:
        """One record as an object."""

    def line(self, position: int) -> int | None:
        return self.lines[position] if self.lines is not None else None


@dataclass(frozen=True)
class ObjectBatch(Batch):
    """Records as objects."""

    rows: Sequence[Mapping[str, object]]

    def __len__(self) -> int:
        return len(self.rows)

    def columns(self, names: Sequence[str]) -> dict[str, Sequence[object]]:
        if not names:
            return {}
        rows = map(itemgetter(*names, names[0]), self.rows)  # of two or more: it gives a tuple
        values = list(chain.from_iterable(rows))
        return {name: values[at :: len(names) + 1] for at, name in enumerate(names)}

    def row(self, position: int) -> dict[str, object]:
        return dict(self.rows[position])


@dataclass(frozen=True)
class ColumnBatch(Batch):
    """Records as one column of ``values`` for each name."""

    values: Sequence[Sequence[object]]

    def __len__(self) -> int:
        return len(self.values[0])

    def columns(self, names: Sequence[str]) -> dict[str, Sequence[object]]:
        return {name: self.values[self.names.index(name)] for name in names}

    def row(self, position: int) -> dict[str, object]:
        values = (column[position] for column in self.values)
        return dict(zip(self.names, values, strict=True))


def decoded(data: bytes, encoding: str, problems: Problems) -> str:
    """The text of a file; raises ``FileRefusedError`` that names the first byte that is none."""
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        found = f"Byte {error.start + 1} is not {encoding.upper()} text"
        raise problems.refusal(Problem(found, "Save the file as UTF-8", line=line)) from None


def add_surplus(problems: Problems, most: int) -> None:
    """Tell, before all else, that a file goes on after ``most`` records."""
    found = f"The file has more than {most:,} records, many more than there are clips"
    todo = "Send one record per clip, and choose the benchmark that they belong to"
    problems.add_first(Problem(found, todo))

"""Records of a prediction file as columns, and the problems of a file that has none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter, itemgetter
from typing import TypeVar, cast

from agl1k_core.errors import Problem, Problems

T = TypeVar("T")

#: The fields that may name the clip of a record, in the order in which they count.
ID_KEYS = ("key", "id", "clip", "question_id")
#: The clip of a record in an object that maps clips to records.
KEYED = "\0clip"

WHAT_TO_SEND = "Send JSON, JSON Lines or CSV as plain UTF-8 text"
#: A record with more fields is not a prediction, and would take long to read.
MOST_FIELDS = 1000
ROWS_AT_ONCE = 50_000


class UnreadableError(Exception):
    """A problem after which nothing more can be read."""

    def __init__(self, found: str, todo: str, line: int | None = None) -> None:
        super().__init__(found)
        self.problem = Problem(found, todo, line=line)


class LazyColumns(Mapping[str, Sequence[object]]):
    """The values of each field of some objects, collected on first use: most fields never are.

    ``attributes`` maps the name of each field to the objects' attribute.
    """

    def __init__(self, objects: Sequence[object], attributes: Mapping[str, str]) -> None:
        self._objects, self._attributes = objects, attributes
        self._collected: dict[str, Sequence[object]] = {}

    def __getitem__(self, name: str) -> Sequence[object]:
        if name not in self._collected:
            get = attrgetter(self._attributes[name])
            self._collected[name] = list(map(get, self._objects))
        return self._collected[name]

    def __contains__(self, name: object) -> bool:
        return name in self._attributes

    def __iter__(self) -> Iterator[str]:
        return iter(self._attributes)

    def __len__(self) -> int:
        return len(self._attributes)

    def record(self, position: int) -> dict[str, object]:
        """One of the objects."""
        found = self._objects[position]
        return {name: getattr(found, attribute) for name, attribute in self._attributes.items()}


@dataclass(frozen=True)
class Records:
    """Records that have the same fields, as one column of values per field.

    ``numbers`` and ``lines`` locate each record in the file, counted from 1; ``lines`` is
    None if the format has no lines.
    """

    columns: Mapping[str, Sequence[object]]
    numbers: Sequence[int]
    lines: Sequence[int] | None = None

    def __len__(self) -> int:
        return len(self.numbers)

    def record(self, position: int) -> dict[str, object]:
        """One record as an object."""
        if isinstance(self.columns, LazyColumns):
            return self.columns.record(position)
        return {name: column[position] for name, column in self.columns.items()}

    def problem(self, position: int, found: str, todo: str, *, field: str | None = None) -> Problem:
        """A problem of one record."""
        line = self.lines[position] if self.lines is not None else None
        return Problem(found, todo, record=self.numbers[position], line=line, field=field)


def add_surplus(problems: Problems, most: int) -> None:
    """Add the problem of a file with more than ``most`` records."""
    found = f"The file has more than {most:,} records, many more than there are clips"
    todo = "Send one record per clip, and choose the benchmark that they belong to"
    problems.add_first(Problem(found, todo))


def decoded(data: bytes, encoding: str) -> str:
    """The text of a file; raises ``UnreadableError`` that names the first invalid byte."""
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        found = f"Byte {error.start + 1} is not {encoding.upper()} text"
        raise UnreadableError(found, "Save the file as UTF-8", line) from None


class JsonObject(dict[str, object]):
    """A JSON object that remembers which of its names are repeated, and whether values differ."""

    __slots__ = ("repeated",)

    def __init__(self, pairs: list[tuple[str, object]]) -> None:
        super().__init__(pairs)
        self.repeated: list[tuple[str, bool]] = []
        if len(self) < len(pairs):
            seen: dict[str, object] = {}
            for name, value in pairs:
                if name in seen:
                    self.repeated.append((name, seen[name] != value))
                seen[name] = value


class BadLine:
    """A placeholder for a line whose problem is already reported."""


def object_records(
    records: Sequence[object],
    numbers: Sequence[int],
    lines: Sequence[int] | None,
    problems: Problems,
) -> Iterator[Records]:
    """Objects as records, grouped by their fields; adds anything else to ``problems``."""
    # reading takes 1.2 times as long without this, see perf/reading.py
    columns = _same_columns(records)
    if columns:
        yield Records(columns, numbers, lines)
        return
    groups: dict[tuple[str, ...], list[int]] = {}
    where = Records({}, numbers, lines)
    for position, record in enumerate(records):
        if isinstance(record, dict) and len(record) <= MOST_FIELDS:
            groups.setdefault(tuple(record), []).append(position)
            if type(record) is JsonObject:
                _check_repeated(record, where, position, problems)
        elif isinstance(record, dict):
            found = f"The record has {len(record):,} fields, the limit is {MOST_FIELDS:,}"
            problems.add(where.problem(position, found, "Leave out what is not needed"))
        elif not isinstance(record, BadLine):
            found = f"The record is {_kind(record)} instead of an object"
            problems.add(where.problem(position, found, "Send an object"))
    for names, positions in groups.items():
        yield _group(names, _picked(records, positions), where, positions)


def _same_columns(records: Sequence[object]) -> dict[str, Sequence[object]]:
    """The columns of objects that all have the same fields; empty if they do not."""
    if set(map(type, records)) != {dict}:
        return {}
    objects = cast("Sequence[dict[str, object]]", records)
    names = tuple(objects[0])
    if not 0 < len(names) <= MOST_FIELDS or set(map(len, objects)) != {len(names)}:
        return {}
    try:
        # the first field twice, so that itemgetter returns tuples even for one field
        rows: Iterator[tuple[object, ...]] = map(itemgetter(*names, names[0]), objects)
        values = list(chain.from_iterable(rows))
    except KeyError:
        return {}
    return {name: values[at :: len(names) + 1] for at, name in enumerate(names)}


def _group(
    names: tuple[str, ...], group: Sequence[object], where: Records, positions: list[int]
) -> Records:
    return Records(
        {name: list(map(itemgetter(name), group)) for name in names},  # type: ignore[arg-type]
        _picked(where.numbers, positions),
        _picked(where.lines, positions) if where.lines is not None else None,
    )


def _picked(values: Sequence[T], positions: list[int]) -> Sequence[T]:
    return values if len(values) == len(positions) else [values[at] for at in positions]


def _check_repeated(record: JsonObject, where: Records, position: int, problems: Problems) -> None:
    for name, differs in record.repeated:
        if differs:
            found = "The record contains it twice, with different values"
            problems.add(where.problem(position, found, "Keep one", field=name))


def _kind(value: object) -> str:
    kinds = {str: "text", list: "a list", type(None): "null", bool: "true or false"}
    return kinds.get(type(value), "a number")

"""Bytes of a prediction file -> batches of records, whatever its format; all problems collected.

The format is told by the content, never by the name: JSON (a list of records, an object keyed by
clip, one record), JSON Lines or CSV (comma, semicolon or tab).
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from operator import itemgetter

import numpy as np
import orjson

from agl1k_core.errors import FileRefusedError, Problem

#: Problems listed one by one; further ones are counted.
SHOWN_PROBLEMS = 50
ID_KEYS = ("key", "id", "clip", "question_id")
#: Records that are turned into columns at a time, which bounds the memory of a large file.
_BATCH = 50_000
#: More fields than any record has; every one of them costs.
MOST_FIELDS = 1000
_CONTAINERS = frozenset({dict, list})
_WRAPPERS = {"predictions", "results", "records", "data"}
#: The field that a record of an object keyed by clip gets for its clip.
KEYED = "\0clip"
#: The field that holds a record that is a raw answer and nothing else.
ANSWER = "answer"

_SIGNATURES: Mapping[bytes, str] = {
    b"PK\x03\x04": "a ZIP archive (or an Office file)",
    b"PK\x05\x06": "a ZIP archive",
    b"\x1f\x8b": "a gzip archive",
    b"BZh": "a bzip2 archive",
    b"\xfd7zXZ": "an xz archive",
    b"7z\xbc\xaf": "a 7-Zip archive",
    b"\x28\xb5\x2f\xfd": "a zstd archive",
    b"Rar!": "a RAR archive",
    b"PAR1": "a Parquet file",
    b"%PDF": "a PDF file",
    b"SQLite format 3": "an SQLite database",
}
_WHAT_TO_SEND = "Send JSON, JSON Lines or CSV as plain UTF-8 text"
_LONE_SURROGATE = re.compile(
    r"(?<!\\)((?:\\\\)*)(?:\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])"
    r"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2})"
)


class Problems:
    """The problems of a file: the first ones in full, all of them counted."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.shown: list[Problem] = []
        self.total = 0

    def add(self, problem: Problem) -> None:
        self.total += 1
        if len(self.shown) < SHOWN_PROBLEMS:
            self.shown.append(problem)

    def add_surplus(self, most: int) -> None:
        """Tell, before all else, that a file goes on after ``most`` records."""
        found = f"The file has more than {most:,} records, many more than there are clips"
        todo = "Send one record per clip, and choose the benchmark that they belong to"
        self.total += 1
        self.shown = [Problem(found, todo), *self.shown][:SHOWN_PROBLEMS]

    def refusal(self, found: str, todo: str, line: int | None = None) -> FileRefusedError:
        """The error for a problem after which nothing more can be read."""
        self.add(Problem(found, todo, line=line))
        return FileRefusedError(self.source, self.shown, self.total)

    def raise_if_any(self) -> None:
        if self.total:
            raise FileRefusedError(self.source, self.shown, self.total)


@dataclass(frozen=True)
class Batch:
    """Records of the same fields: ``rows`` are objects, or lists in the order of ``names``."""

    names: tuple[str, ...]
    numbers: Sequence[int]
    lines: Sequence[int] | None
    rows: Sequence[Mapping[str, object]] | Sequence[Sequence[object]]
    tabular: bool = field(default=False)

    def columns(self, names: Sequence[str]) -> dict[str, list[object]]:
        """All values of some fields, from one pass over the rows."""
        if not names:
            return {}
        places: list[object] = [self.names.index(n) if self.tabular else n for n in names]
        rows = map(itemgetter(*places, places[0]), self.rows)  # of two or more: it gives a tuple
        values = list(chain.from_iterable(rows))
        return {name: values[at :: len(places) + 1] for at, name in enumerate(names)}

    def row(self, position: int) -> dict[str, object]:
        """One record as an object."""
        row = self.rows[position]
        return dict(row) if isinstance(row, Mapping) else dict(zip(self.names, row, strict=True))

    def line(self, position: int) -> int | None:
        return self.lines[position] if self.lines is not None else None


class _Object(dict[str, object]):
    """A JSON object that remembers which of its names came twice with different values."""

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


def read_batches(data: bytes, problems: Problems, most: int) -> Iterator[Batch]:
    """Records of a file; adds what is wrong with single ones to ``problems``.

    Nothing is read after ``most`` records: that there are more is a problem, too. Raises
    ``FileRefusedError`` where the file as a whole cannot be read.
    """
    data = _as_utf8(data, problems)
    start = data.lstrip()[:1]
    if not start:
        raise problems.refusal("The file is empty", _WHAT_TO_SEND)
    read = _json_batches if start in b"{[" else _csv_batches
    yield from read(data, problems, most)


def _as_utf8(data: bytes, problems: Problems) -> bytes:
    for signature, kind in _SIGNATURES.items():
        if data.startswith(signature):
            raise problems.refusal(f"The file is {kind}", f"Unpack it. {_WHAT_TO_SEND}")
    if data[257:262] == b"ustar":
        raise problems.refusal("The file is a tar archive", f"Unpack it. {_WHAT_TO_SEND}")
    for mark, encoding in (
        (b"\xff\xfe\x00\x00", "utf-32"),
        (b"\x00\x00\xfe\xff", "utf-32"),
        (b"\xff\xfe", "utf-16"),
        (b"\xfe\xff", "utf-16"),
    ):
        if data.startswith(mark):
            return _decoded(data, encoding, problems).encode("utf-8", "replace")
    data = data.removeprefix(b"\xef\xbb\xbf")
    if b"\x00" in data:
        line = data.count(b"\n", 0, data.index(b"\x00")) + 1
        raise problems.refusal("The file is binary: it holds a zero byte", _WHAT_TO_SEND, line)
    return data


def _decoded(data: bytes, encoding: str, problems: Problems) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        found = f"Byte {error.start + 1} is not {encoding.upper()} text"
        raise problems.refusal(found, "Save the file as UTF-8", line) from None


# JSON and JSON Lines


def _json_batches(data: bytes, problems: Problems, most: int) -> Iterator[Batch]:
    try:
        tree = orjson.loads(data)
    except orjson.JSONDecodeError:
        if _is_json_lines(data):
            yield from _json_lines(data, problems, most)
            return
        tree = _lenient_json(_decoded(data, "utf-8", problems), problems)
    else:
        if _may_repeat_names(data, tree):
            tree = _lenient_json(data.decode("utf-8"), problems)
    records = _records_of(tree, problems)
    if len(records) > most:
        problems.add_surplus(most)
        records = records[:most]
    for first in range(0, len(records), _BATCH):
        numbers = range(first + 1, first + 1 + _BATCH)
        yield from _grouped(records[first : first + _BATCH], numbers, None, problems)


def _is_json_lines(data: bytes) -> bool:
    """Whether an invalid JSON text has several lines that each begin an object."""
    lines = (line for line in data[: 2**22].split(b"\n") if line.strip())
    first, second = next(lines, b""), next(lines, b"")
    return first.lstrip()[:1] == b"{" and (
        second.lstrip()[:1] == b"{" or first.rstrip().endswith(b"}")
    )


def _may_repeat_names(data: bytes, tree: object) -> bool:
    """Whether an object may name a field twice: orjson silently keeps the last.

    A quote inside a string is escaped, so ``":`` counts the names of a compact text exactly; where
    the count differs for another reason, the slow reader finds nothing and nothing is lost.
    """
    if len(data) < 3:
        return False
    characters = np.frombuffer(data, dtype=np.uint8)
    colons = np.flatnonzero(characters == ord(":"))
    quoted = colons[characters[colons - 1] == ord('"')]
    unescaped = np.count_nonzero(characters[quoted - 2] != ord("\\"))
    return int(unescaped) != _count_of_flat(tree) and int(unescaped) != _count_names(tree)


def _count_of_flat(tree: object) -> int:
    """Names of the records of a list, which are all where these are flat."""
    if type(tree) is not list or set(map(type, tree)) != {dict}:
        return -1
    return sum(map(len, tree))


def _count_names(tree: object) -> int:
    """Names in all objects of a tree; loops in C where objects are flat, as most are."""
    total = 0
    stack = [tree]
    while stack:
        node = stack.pop()
        values: Collection[object] = ()
        if type(node) is dict:
            total += len(node)
            values = node.values()
        elif type(node) is list:
            values = node
        if not _CONTAINERS.isdisjoint(map(type, values)):
            stack.extend(value for value in values if type(value) in _CONTAINERS)
    return total


def _lenient_json(text: str, problems: Problems) -> object:
    """A JSON text with NaN, Infinity, control characters or lone surrogates in it."""
    try:
        return _lenient_loads(text)
    except RecursionError:
        found, line = "The JSON is nested too deeply", None
        todo = "Send a list of flat records"
    except json.JSONDecodeError as error:
        found, line = f"The JSON breaks off or is broken at column {error.colno}: {error.msg}", None
        line, todo = error.lineno, "Correct it there, or write the file with a JSON library"
    raise problems.refusal(found, todo, line)


def _lenient_loads(text: str) -> object:
    if "\\ud" in text or "\\uD" in text:
        text = _LONE_SURROGATE.sub(r"\1\\ufffd", text)
    return json.loads(text, strict=False, object_pairs_hook=_Object, parse_int=_int)


def _int(digits: str) -> int | float:
    return int(digits) if len(digits) < 19 else float(digits)


def _records_of(tree: object, problems: Problems) -> list[object]:
    """The records of a whole JSON text."""
    if isinstance(tree, list):
        return tree
    if not isinstance(tree, dict):
        raise problems.refusal("The JSON holds no records", "Send a list of objects, one per clip")
    if any(isinstance(tree.get(name), str | int) for name in ID_KEYS):
        return [tree]
    for name in _WRAPPERS & tree.keys():
        if isinstance(tree[name], list) and any(isinstance(item, dict) for item in tree[name]):
            return list(tree[name])
    if isinstance(tree, _Object):
        for name, _ in tree.repeated:
            problems.add(Problem("The object names it twice", "Keep one answer", clip=name))
    return [_keyed_record(clip, value) for clip, value in tree.items()]


def _keyed_record(clip: str, value: object) -> dict[str, object]:
    if isinstance(value, dict):
        value[KEYED] = clip
        return value
    return {KEYED: clip, ANSWER: value}


def _json_lines(data: bytes, problems: Problems, most: int) -> Iterator[Batch]:
    count = 0
    every_line = data.split(b"\n")
    for first in range(0, len(every_line), _BATCH):
        numbered = enumerate(every_line[first : first + _BATCH], first + 1)
        filled = [(number, line) for number, line in numbered if line and not line.isspace()]
        if is_surplus := count + len(filled) > most:
            problems.add_surplus(most)
            filled = filled[: most - count]
        numbers, lines = [number for number, _ in filled], [line for _, line in filled]
        records = range(count + 1, count + 1 + len(lines))
        yield from _grouped(_parsed(lines, numbers, problems), records, numbers, problems)
        if is_surplus:
            return
        count += len(lines)


def _parsed(lines: list[bytes], numbers: list[int], problems: Problems) -> list[object]:
    text = b"[" + b",".join(lines) + b"]"
    try:
        records: list[object] = orjson.loads(text)
        if len(records) == len(lines) and not _may_repeat_names(text, records):
            return records
    except orjson.JSONDecodeError:
        pass
    return [_parsed_line(*item, problems) for item in zip(lines, numbers, strict=True)]


class _Unreadable:
    """Stands for a line that was told as a problem already."""


def _parsed_line(line: bytes, number: int, problems: Problems) -> object:
    try:
        return _lenient_loads(line.decode("utf-8").strip())
    except UnicodeDecodeError as error:
        found, todo = f"Byte {error.start + 1} of the line is not UTF-8", "Save the file as UTF-8"
    except RecursionError:
        found, todo = "The JSON is nested too deeply", "Send a flat record"
    except json.JSONDecodeError as error:
        found = f"The line is no JSON: {error.msg} at column {error.colno}"
        todo = "Write one complete object per line"
    problems.add(Problem(found, todo, line=number))
    return _Unreadable()


def _grouped(
    records: Sequence[object],
    numbers: Sequence[int],
    lines: Sequence[int] | None,
    problems: Problems,
) -> Iterator[Batch]:
    """Batches of records with the same names in the same order."""
    if set(map(type, records)) == {dict}:
        shapes: set[tuple[str, ...]] = set(map(tuple, records))  # type: ignore[arg-type]
        if len(shapes) == 1 and len(min(shapes)) <= MOST_FIELDS:
            yield Batch(shapes.pop(), numbers, lines, records)  # type: ignore[arg-type]
            return
    groups: dict[tuple[str, ...], list[int]] = {}
    for position, record in enumerate(records):
        if isinstance(record, dict) and len(record) > MOST_FIELDS:
            found = f"The record has {len(record):,} fields, the limit is {MOST_FIELDS:,}"
            line = lines[position] if lines else None
            todo = "Leave out what is not needed"
            problems.add(Problem(found, todo, record=numbers[position], line=line))
        elif isinstance(record, dict):
            groups.setdefault(tuple(record), []).append(position)
        elif not isinstance(record, _Unreadable):
            found = f"The record is no object but {_kind(record)}"
            line = lines[position] if lines else None
            problems.add(Problem(found, "Send an object", record=numbers[position], line=line))
    for names, positions in groups.items():
        batch = Batch(
            names,
            [numbers[position] for position in positions],
            [lines[position] for position in positions] if lines else None,
            [records[position] for position in positions],  # type: ignore[arg-type]
        )
        _check_repeated(batch, problems)
        yield batch


def _check_repeated(batch: Batch, problems: Problems) -> None:
    for position, row in enumerate(batch.rows):
        if type(row) is not _Object:
            return
        for name, differs in row.repeated:
            if differs:
                found, todo = "The record names it twice, with different values", "Keep one"
                number, line = batch.numbers[position], batch.line(position)
                problems.add(Problem(found, todo, record=number, line=line, field=name))


def _kind(value: object) -> str:
    kinds = {str: "a text", list: "a list", type(None): "null", bool: "true or false"}
    return kinds.get(type(value), "a number")


# CSV


def _csv_batches(data: bytes, problems: Problems, most: int) -> Iterator[Batch]:
    text = _decoded(data, "utf-8", problems)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text), strict=True)
    try:
        names = tuple(name.strip() for name in next(reader, []))
    except csv.Error as error:
        raise problems.refusal(f"The header is broken: {error}", "Check the quotes", 1) from None
    _check_header(names, problems)
    rows: list[list[str]] = []
    numbers: list[int] = []
    lines: list[int] = []
    for number, (row, line) in enumerate(_csv_rows(reader, problems), 1):
        if number > most:
            problems.add_surplus(most)
            break
        if len(row) != len(names):
            found = f"The row has {len(row)} fields, the header {len(names)}"
            problems.add(Problem(found, "Quote texts with separators", record=number, line=line))
            continue
        rows.append(row)
        numbers.append(number)
        lines.append(line)
        if len(rows) == _BATCH:
            yield Batch(names, numbers, lines, rows, tabular=True)
            rows, numbers, lines = [], [], []
    if rows:
        yield Batch(names, numbers, lines, rows, tabular=True)


def _csv_rows(reader: Iterator[list[str]], problems: Problems) -> Iterator[tuple[list[str], int]]:
    """Rows that hold anything, with the line they begin on; a broken quote ends them."""
    line = reader.line_num + 1  # type: ignore[attr-defined]
    try:
        for row in reader:
            if any(map(str.strip, row)):
                yield row, line
            line = reader.line_num + 1  # type: ignore[attr-defined]
    except csv.Error as error:
        problems.add(Problem(f"The CSV is broken: {error}", "Check the quotes", line=line))


def _delimiter(text: str) -> str:
    header = text[: text.find("\n") % (len(text) + 1)]
    return max(",;\t", key=header.count)


def _check_header(names: tuple[str, ...], problems: Problems) -> None:
    if not {name.casefold() for name in names} & set(ID_KEYS):
        found = f"The first line names none of the columns {', '.join(ID_KEYS)}"
        shown = ", ".join(repr(name[:40]) for name in names[:8])
        todo = f"It begins {shown}. {_WHAT_TO_SEND}; a CSV needs a header with the clip's key"
        raise problems.refusal(found, todo, 1)
    if len(names) > MOST_FIELDS:
        found = f"The header has {len(names):,} columns, the limit is {MOST_FIELDS:,}"
        raise problems.refusal(found, "Leave out what is not needed", 1)
    for name in sorted(name for name, times in Counter(names).items() if name and times > 1):
        problems.add(Problem("The header names it twice", "Rename one", line=1, field=name))
    problems.raise_if_any()

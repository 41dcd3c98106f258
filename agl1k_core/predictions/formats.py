"""Turns the bytes of a prediction file, in any format, into records; problems are collected.

The format is recognised by the content, never by the name: JSON (a list of records, an object that
maps clips to records, a single record), JSON Lines, or CSV (comma, semicolon or tab).
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter, itemgetter
from typing import Any, TypeVar, cast

import msgspec
import numpy as np

from agl1k_core.errors import Problem, Problems

T = TypeVar("T")

#: The fields that may name the clip of a record, in the order in which they count.
ID_KEYS = ("key", "id", "clip", "question_id")
#: The clip of a record in an object that maps clips to records.
KEYED = "\0clip"

#: A record that is only a raw answer is read as if it were in this field.
_ANSWER = "answer"
_WRAPPERS = {"predictions", "results", "records", "data"}
#: A record with more fields is not a prediction, and would take long to read.
_MOST_FIELDS = 1000
#: Lines are read in parts of this size, which bounds the memory for a large file.
_PART_BYTES = 2**22
_ROWS_AT_ONCE = 50_000
#: Fields that published files repeat in each record and that are not part of an answer.
_NOT_READ = frozenset({"question", "prompt"})
#: A longer first record is not a plain answer.
_FIRST_RECORD_BYTES = 2**16
_WHAT_TO_SEND = "Send JSON, JSON Lines or CSV as plain UTF-8 text"

_SIGNATURES: Mapping[bytes, str] = {
    b"PK\x03\x04": "a ZIP archive inside another",
    b"\x1f\x8b": "a gzip file inside another",
    b"BZh": "a bzip2 archive",
    b"\xfd7zXZ": "an xz archive",
    b"7z\xbc\xaf": "a 7-Zip archive",
    b"\x28\xb5\x2f\xfd": "a zstd archive",
    b"Rar!": "a RAR archive",
    b"PAR1": "a Parquet file",
    b"%PDF": "a PDF file",
    b"SQLite format 3": "an SQLite database",
}


class UnreadableError(Exception):
    """A problem after which nothing more can be read."""

    def __init__(self, found: str, todo: str, line: int | None = None) -> None:
        super().__init__(found)
        self.problem = Problem(found, todo, line=line)


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
        return {name: column[position] for name, column in self.columns.items()}

    def problem(self, position: int, found: str, todo: str, *, field: str | None = None) -> Problem:
        """A problem of one record."""
        line = self.lines[position] if self.lines is not None else None
        return Problem(found, todo, record=self.numbers[position], line=line, field=field)


def read_records(
    content: bytes | Sequence[object], problems: Problems, most: int
) -> Iterator[Records]:
    """The records of a file's content, or of objects; adds problems of single ones to ``problems``.

    Reading stops after ``most`` records; if there are more, that is a problem too. Raises
    ``UnreadableError`` if the file as a whole cannot be read.
    """
    if not isinstance(content, bytes):
        yield from _object_records(content, range(1, len(content) + 1), None, problems)
        return
    data = _as_utf8(content)
    start = data.lstrip()[:1]
    if not start:
        raise UnreadableError("The file is empty", _WHAT_TO_SEND)
    if start in b"{[":
        yield from _json_records(data, problems, most)
    else:
        yield from _csv_records(data, problems, most)


def _object_records(
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
        if isinstance(record, dict) and len(record) <= _MOST_FIELDS:
            groups.setdefault(tuple(record), []).append(position)
            if type(record) is _Object:
                _check_repeated(record, where, position, problems)
        elif isinstance(record, dict):
            found = f"The record has {len(record):,} fields, the limit is {_MOST_FIELDS:,}"
            problems.add(where.problem(position, found, "Leave out what is not needed"))
        elif not isinstance(record, _Unreadable):
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
    if not 0 < len(names) <= _MOST_FIELDS or set(map(len, objects)) != {len(names)}:
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


# --- text ---------------------------------------------------------------------------------------


def _as_utf8(data: bytes) -> bytes:
    for signature, kind in _SIGNATURES.items():
        if data.startswith(signature):
            raise UnreadableError(f"The file is {kind}", f"Unpack it. {_WHAT_TO_SEND}")
    if data[257:262] == b"ustar":
        raise UnreadableError("The file is a tar archive", f"Unpack it. {_WHAT_TO_SEND}")
    for mark, encoding in (
        (b"\xff\xfe\x00\x00", "utf-32"),
        (b"\x00\x00\xfe\xff", "utf-32"),
        (b"\xff\xfe", "utf-16"),
        (b"\xfe\xff", "utf-16"),
    ):
        if data.startswith(mark):
            return _decoded(data, encoding).encode("utf-8", "replace")
    data = data.removeprefix(b"\xef\xbb\xbf")
    if b"\x00" in data:
        line = data.count(b"\n", 0, data.index(b"\x00")) + 1
        found = "The file is binary: it contains a zero byte"
        raise UnreadableError(found, _WHAT_TO_SEND, line)
    return data


def _decoded(data: bytes, encoding: str) -> str:
    """The text of a file; raises ``UnreadableError`` that names the first invalid byte."""
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        found = f"Byte {error.start + 1} is not {encoding.upper()} text"
        raise UnreadableError(found, "Save the file as UTF-8", line) from None


def _add_surplus(problems: Problems, most: int) -> None:
    found = f"The file has more than {most:,} records, many more than there are clips"
    todo = "Send one record per clip, and choose the benchmark that they belong to"
    problems.add_first(Problem(found, todo))


# --- CSV ----------------------------------------------------------------------------------------


def _csv_records(data: bytes, problems: Problems, most: int) -> Iterator[Records]:
    text = _decoded(data, "utf-8")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text), strict=True)
    names = _header(reader, problems)
    if problems.total:
        return
    rows: list[list[str]] = []
    numbers: list[int] = []
    lines: list[int] = []
    for number, (row, line) in enumerate(_csv_rows(reader, problems), 1):
        if number > most:
            _add_surplus(problems, most)
            break
        if len(row) != len(names):
            found = f"The row has {len(row)} fields, the header {len(names)}"
            problems.add(
                Problem(found, "Quote text that contains separators", record=number, line=line)
            )
            continue
        rows.append(row)
        numbers.append(number)
        lines.append(line)
        if len(rows) == _ROWS_AT_ONCE:
            yield _rows_as_records(names, rows, numbers, lines)
            rows, numbers, lines = [], [], []
    if rows:
        yield _rows_as_records(names, rows, numbers, lines)


def _rows_as_records(
    names: tuple[str, ...], rows: list[list[str]], numbers: list[int], lines: list[int]
) -> Records:
    columns = zip(*rows, strict=True)
    return Records(dict(zip(names, columns, strict=True)), numbers, lines)


def _csv_rows(reader: Iterator[list[str]], problems: Problems) -> Iterator[tuple[list[str], int]]:
    """Rows that are not blank, with the line on which each begins, up to a broken quote."""
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


def _header(reader: Iterator[list[str]], problems: Problems) -> tuple[str, ...]:
    """The names of the columns; raises ``UnreadableError`` if they cannot be used."""
    try:
        names = tuple(name.strip() for name in next(reader, []))
    except csv.Error as error:
        raise UnreadableError(f"The header is broken: {error}", "Check the quotes", 1) from None
    if not {name.casefold() for name in names} & set(ID_KEYS):
        found = f"The first line names none of the columns {', '.join(ID_KEYS)}"
        shown = ", ".join(repr(name[:40]) for name in names[:8])
        todo = f"It begins {shown}. {_WHAT_TO_SEND}; a CSV needs a header with the clip's key"
        raise UnreadableError(found, todo, 1)
    if len(names) > _MOST_FIELDS:
        found = f"The header has {len(names):,} columns, the limit is {_MOST_FIELDS:,}"
        raise UnreadableError(found, "Leave out what is not needed", 1)
    for name in sorted(name for name, times in Counter(names).items() if name and times > 1):
        problems.add(Problem("The header contains it twice", "Rename one", line=1, field=name))
    return names


# --- JSON ---------------------------------------------------------------------------------------

_CONTAINERS = frozenset({dict, list})
_LONE_SURROGATE = re.compile(
    r"(?<!\\)((?:\\\\)*)(?:\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])"
    r"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2})"
)


class _Object(dict[str, object]):
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


def _json_records(data: bytes, problems: Problems, most: int) -> Iterator[Records]:
    # reading the published file takes 1.3 times as long without this, see perf/reading.py
    columns = _flat_columns(data)
    if columns and len(next(iter(columns.values()))) <= most:
        yield from _parts(columns)
        return
    try:
        tree = msgspec.json.decode(data)
    except (ValueError, RecursionError):
        if _is_json_lines(data):
            yield from _json_lines(data, problems, most)
            return
        tree = _lenient_json(_decoded(data, "utf-8"))
    else:
        if _may_repeat_names(data, tree):
            tree = _lenient_json(data.decode("utf-8"))
    records = _records_of(tree, problems)
    if len(records) > most:
        _add_surplus(problems, most)
        records = records[:most]
    for first in range(0, len(records), _ROWS_AT_ONCE):
        part = records[first : first + _ROWS_AT_ONCE]
        numbers = range(first + 1, first + 1 + len(part))
        yield from _object_records(part, numbers, None, problems)


def _flat_columns(data: bytes) -> dict[str, list[object]]:
    """The columns of a list of flat records that all have the same fields; empty for other JSON.

    Fields that are not part of an answer, such as long questions, are not decoded.
    """
    names = _first_names(data)
    if not 0 < len(names) <= _MOST_FIELDS:
        return {}
    fields = [f"field_{at}" for at in range(len(names))]
    kinds = [msgspec.Raw if name in _NOT_READ else Any for name in names]
    rename = dict(zip(fields, names, strict=True))
    try:
        pairs = list(zip(fields, kinds, strict=True))
        record: Any = msgspec.defstruct("Record", pairs, rename=rename, gc=False)
        records = msgspec.json.decode(data, type=list[record])
    except (ValueError, RecursionError):
        return {}
    # each record has all of these fields, so by their number none has others or repeats one
    if not records or _count_quoted_names(data) != len(records) * len(names):
        return {}
    columns = {name: list(map(attrgetter(field), records)) for field, name in rename.items()}
    passed_over = chain.from_iterable(columns.pop(name) for name in _NOT_READ & columns.keys())
    # what is not decoded is not checked to be UTF-8
    return columns if b"".join(passed_over).isascii() else {}


def _first_names(data: bytes) -> tuple[str, ...]:
    """The names of the first record of a list; empty if there is none."""
    text = data[:_FIRST_RECORD_BYTES].decode("utf-8", "ignore").lstrip()
    try:
        record, _ = json.JSONDecoder().raw_decode(text[1:].lstrip())
    except (ValueError, RecursionError):
        return ()
    return tuple(record) if text.startswith("[") and isinstance(record, dict) else ()


def _parts(columns: dict[str, list[object]]) -> Iterator[Records]:
    size = len(next(iter(columns.values())))
    for first in range(0, size, _ROWS_AT_ONCE):
        part = {name: column[first : first + _ROWS_AT_ONCE] for name, column in columns.items()}
        yield Records(part, range(first + 1, min(first + _ROWS_AT_ONCE, size) + 1))


def _may_repeat_names(data: bytes, tree: object) -> bool:
    """Whether an object may repeat a name: msgspec silently keeps the last value.

    If the counts differ for another reason, the lenient parser finds nothing wrong.
    """
    names = _count_quoted_names(data)
    return names != _count_of_flat(tree) and names != _count_names(tree)


def _count_quoted_names(data: bytes) -> int:
    """The number of ``":`` after an unescaped character, which is one per name in compact JSON:
    inside a string a quote is always escaped."""
    characters = np.frombuffer(data, dtype=np.uint8)
    colons = np.flatnonzero(characters[2:] == ord(":")) + 2
    ends = colons[characters[colons - 1] == ord('"')] - 2
    return int(np.count_nonzero(characters[ends] != ord("\\")))


def _count_of_flat(tree: object) -> int:
    """The names in a list of flat records; too few if the records are not flat."""
    if type(tree) is not list or set(map(type, tree)) != {dict}:
        return -1
    return sum(map(len, tree))


def _count_names(tree: object) -> int:
    """The names in all objects of a tree."""
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


def _lenient_json(text: str) -> object:
    """Parse JSON that contains NaN, Infinity, control characters or lone surrogates."""
    try:
        return _lenient_loads(text)
    except RecursionError:
        todo = "Send a list of flat records"
        raise UnreadableError("The JSON is nested too deeply", todo) from None
    except json.JSONDecodeError as error:
        found = f"The JSON is cut off or invalid at column {error.colno}: {error.msg}"
        todo = "Correct it there, or write the file with a JSON library"
        raise UnreadableError(found, todo, error.lineno) from None


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
        todo = "Send a list of objects, one per clip"
        raise UnreadableError("The JSON contains no records", todo)
    if any(isinstance(tree.get(name), str | int) for name in ID_KEYS):
        return [tree]
    for name in _WRAPPERS & tree.keys():
        if isinstance(tree[name], list) and any(isinstance(item, dict) for item in tree[name]):
            return list(tree[name])
    if isinstance(tree, _Object):
        for name, _ in tree.repeated:
            problems.add(Problem("The object contains it twice", "Keep one answer", clip=name))
    return [_keyed_record(clip, value) for clip, value in tree.items()]


def _keyed_record(clip: str, value: object) -> dict[str, object]:
    if isinstance(value, dict):
        value[KEYED] = clip
        return value
    return {KEYED: clip, _ANSWER: value}


# --- JSON Lines ---------------------------------------------------------------------------------


class _Unreadable:
    """A placeholder for a line whose problem is already reported."""


def _is_json_lines(data: bytes) -> bool:
    """Whether an invalid JSON text has several lines that each begin an object."""
    lines = (line for line in data[: 2**22].split(b"\n") if line.strip())
    first, second = next(lines, b""), next(lines, b"")
    return first.lstrip()[:1] == b"{" and (
        second.lstrip()[:1] == b"{" or first.rstrip().endswith(b"}")
    )


def _json_lines(data: bytes, problems: Problems, most: int) -> Iterator[Records]:
    count, line = 0, 1
    for part in _whole_lines(data):
        records, lines = _parsed_lines(part, line, problems)
        if is_surplus := count + len(records) > most:
            _add_surplus(problems, most)
            records, lines = records[: most - count], lines[: most - count]
        numbers = range(count + 1, count + 1 + len(records))
        yield from _object_records(records, numbers, lines, problems)
        if is_surplus:
            return
        count += len(records)
        line += part.count(b"\n")


def _whole_lines(data: bytes) -> Iterator[bytes]:
    start = 0
    while start < len(data):
        end = data.find(b"\n", start + _PART_BYTES) + 1 or len(data)
        yield data[start:end]
        start = end


def _parsed_lines(
    part: bytes, first: int, problems: Problems
) -> tuple[Sequence[object], Sequence[int]]:
    """The values of lines, and the number of each one's line; blank lines are skipped."""
    try:  # 3 times as fast as line by line, see perf/reading.py
        records: list[object] = msgspec.json.Decoder().decode_lines(part)
        if _is_one_a_line(part, len(records)) and not _may_repeat_names(part, records):
            return records, range(first, first + len(records))
    except (ValueError, RecursionError):
        pass
    numbered = enumerate(part.split(b"\n"), first)
    filled = [(number, line) for number, line in numbered if line and not line.isspace()]
    parsed = [_parsed_line(line, number, problems) for number, line in filled]
    return parsed, [number for number, _ in filled]


def _is_one_a_line(part: bytes, n_records: int) -> bool:
    """Whether each line begins an object, and there are as many lines as objects."""
    begun = part.count(b"\n{") + part.startswith(b"{")
    return n_records == begun == part.count(b"\n") + (not part.endswith(b"\n"))


def _parsed_line(line: bytes, number: int, problems: Problems) -> object:
    try:
        return _lenient_loads(line.decode("utf-8").strip())
    except UnicodeDecodeError as error:
        found, todo = f"Byte {error.start + 1} of the line is not UTF-8", "Save the file as UTF-8"
    except RecursionError:
        found, todo = "The JSON is nested too deeply", "Send a flat record"
    except json.JSONDecodeError as error:
        found = f"The line is not JSON: {error.msg} at column {error.colno}"
        todo = "Write one complete object per line"
    problems.add(Problem(found, todo, line=number))
    return _Unreadable()


# --- objects ------------------------------------------------------------------------------------


def _check_repeated(record: _Object, where: Records, position: int, problems: Problems) -> None:
    for name, differs in record.repeated:
        if differs:
            found = "The record contains it twice, with different values"
            problems.add(where.problem(position, found, "Keep one", field=name))


def _kind(value: object) -> str:
    kinds = {str: "text", list: "a list", type(None): "null", bool: "true or false"}
    return kinds.get(type(value), "a number")

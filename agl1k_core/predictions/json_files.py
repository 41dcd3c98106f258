"""JSON and JSON Lines as records; well-formed files take the fast ways."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import msgspec
import numpy as np

from agl1k_core.errors import Problem, Problems
from agl1k_core.predictions.records import (
    MOST_FIELDS,
    ROWS_AT_ONCE,
    BadLine,
    JsonObject,
    LazyColumns,
    Records,
    UnreadableError,
    add_surplus,
    decoded,
    object_records,
)
from agl1k_core.predictions.shapes import IsClip, records_in

#: Lines are read in parts of this size, which bounds the memory for a large file.
_PART_BYTES = 2**22
#: Fields that published files repeat in each record and that are not part of an answer.
_NOT_READ = frozenset({"question", "prompt"})
#: A longer first record is not a plain answer.
_FIRST_RECORD_BYTES = 2**16

_CONTAINERS = frozenset({dict, list})
_LONE_SURROGATE = re.compile(
    r"(?<!\\)((?:\\\\)*)(?:\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])"
    r"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2})"
)


def json_records(data: bytes, problems: Problems, most: int, is_clip: IsClip) -> Iterator[Records]:
    """The records of JSON or JSON Lines; see ``read_records``."""
    # reading the published file takes 1.3 times as long without this, see perf/reading.py
    flat = _flat_records(data)
    if flat and len(flat.records) <= most:
        yield from flat.parts()
        return
    try:
        tree = msgspec.json.decode(data)
    except (ValueError, RecursionError):
        if _is_json_lines(data):
            yield from _json_lines(data, problems, most)
            return
        tree = _lenient_json(decoded(data, "utf-8"))
    else:
        if _may_repeat_names(data, tree):
            tree = _lenient_json(data.decode("utf-8"))
    if isinstance(tree, JsonObject):
        for name, _ in tree.repeated:
            problems.add(Problem("The object contains it twice", "Keep one answer", clip=name))
    records = records_in(tree, is_clip)
    if len(records) > most:
        add_surplus(problems, most)
        records = records[:most]
    for first in range(0, len(records), ROWS_AT_ONCE):
        part = records[first : first + ROWS_AT_ONCE]
        numbers = range(first + 1, first + 1 + len(part))
        yield from object_records(part, numbers, None, problems)


@dataclass(frozen=True)
class _Flat:
    """Decoded records, and the attribute of each field that an answer may be in."""

    records: Sequence[object]
    attributes: Mapping[str, str]

    def parts(self) -> Iterator[Records]:
        """The records, some at a time."""
        for first in range(0, len(self.records), ROWS_AT_ONCE):
            part = self.records[first : first + ROWS_AT_ONCE]
            columns = LazyColumns(part, self.attributes)
            yield Records(columns, range(first + 1, first + 1 + len(part)))


def _flat_records(data: bytes) -> _Flat | None:
    """The records of a list that are flat and all have the same fields; None for other JSON.

    Fields that are not part of an answer, such as long questions, are not decoded.
    """
    names = _first_names(data)
    if not 0 < len(names) <= MOST_FIELDS:
        return None
    fields = [f"field_{at}" for at in range(len(names))]
    kinds = [msgspec.Raw if name in _NOT_READ else Any for name in names]
    rename = dict(zip(fields, names, strict=True))
    try:
        pairs = list(zip(fields, kinds, strict=True))
        record: Any = msgspec.defstruct("Record", pairs, rename=rename, gc=False)
        records = msgspec.json.decode(data, type=list[record])
    except (ValueError, RecursionError):
        return None
    # each record has all of these fields, so by their number none has others or repeats one
    if not records or _count_quoted_names(data) != len(records) * len(names):
        return None
    columns = LazyColumns(records, {name: field for field, name in rename.items()})
    passed_over = chain.from_iterable(columns[name] for name in _NOT_READ & columns.keys())
    # what is not decoded is not checked to be UTF-8
    if not b"".join(passed_over).isascii():  # type: ignore[arg-type]
        return None
    return _Flat(records, {n: f for f, n in rename.items() if n not in _NOT_READ})


def _first_names(data: bytes) -> tuple[str, ...]:
    """The names of the first record of a list; empty if there is none."""
    text = data[:_FIRST_RECORD_BYTES].decode("utf-8", "ignore").lstrip()
    try:
        record, _ = json.JSONDecoder().raw_decode(text[1:].lstrip())
    except (ValueError, RecursionError):
        return ()
    return tuple(record) if text.startswith("[") and isinstance(record, dict) else ()


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
    return json.loads(text, strict=False, object_pairs_hook=JsonObject, parse_int=_int)


def _int(digits: str) -> int | float:
    return int(digits) if len(digits) < 19 else float(digits)


# --- JSON Lines ---------------------------------------------------------------------------------


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
            add_surplus(problems, most)
            records, lines = records[: most - count], lines[: most - count]
        numbers = range(count + 1, count + 1 + len(records))
        yield from object_records(records, numbers, lines, problems)
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
    return BadLine()

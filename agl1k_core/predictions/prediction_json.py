"""JSON and JSON Lines -> batches of records; names that come twice, which JSON hides, are told."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Sequence

import msgspec

from agl1k_core.errors import Problem, Problems
from agl1k_core.predictions.flat_records import FlatColumns, Needed, count_names, flat_columns
from agl1k_core.predictions.prediction_batches import (
    BATCH_SIZE,
    ID_KEYS,
    MOST_FIELDS,
    Batch,
    ColumnBatch,
    ObjectBatch,
    add_surplus,
    decoded,
)

_CONTAINERS = frozenset({dict, list})
_WRAPPERS = {"predictions", "results", "records", "data"}
#: The field that a record of an object keyed by clip gets for its clip.
KEYED = "\0clip"
#: The field that holds a record that is a raw answer and nothing else.
ANSWER = "answer"

_LONE_SURROGATE = re.compile(
    r"(?<!\\)((?:\\\\)*)(?:\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])"
    r"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2})"
)


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


def json_batches(data: bytes, problems: Problems, most: int, needed: Needed) -> Iterator[Batch]:
    """Records of a JSON text, or of one JSON object a line; as ``read_batches``."""
    if (flat := flat_columns(data, needed)) and len(flat.values[0]) <= most:
        yield from _flat_batches(flat)
        return
    try:
        tree = msgspec.json.decode(data)
    except (ValueError, RecursionError):
        if _is_json_lines(data):
            yield from _json_lines(data, problems, most, needed)
            return
        tree = _lenient_json(decoded(data, "utf-8", problems), problems)
    else:
        if _may_repeat_names(data, tree):
            tree = _lenient_json(data.decode("utf-8"), problems)
    records = _records_of(tree, problems)
    if len(records) > most:
        add_surplus(problems, most)
        records = records[:most]
    for first in range(0, len(records), BATCH_SIZE):
        numbers = range(first + 1, first + 1 + BATCH_SIZE)
        yield from _grouped(records[first : first + BATCH_SIZE], numbers, None, problems)


def _flat_batches(flat: FlatColumns) -> Iterator[Batch]:
    for first in range(0, len(flat.values[0]), BATCH_SIZE):
        values = [column[first : first + BATCH_SIZE] for column in flat.values]
        numbers = range(first + 1, first + 1 + len(values[0]))
        yield ColumnBatch(flat.names, numbers, None, values)


def _is_json_lines(data: bytes) -> bool:
    """Whether an invalid JSON text has several lines that each begin an object."""
    lines = (line for line in data[: 2**22].split(b"\n") if line.strip())
    first, second = next(lines, b""), next(lines, b"")
    return first.lstrip()[:1] == b"{" and (
        second.lstrip()[:1] == b"{" or first.rstrip().endswith(b"}")
    )


def _may_repeat_names(data: bytes, tree: object) -> bool:
    """Whether an object may name a field twice: msgspec silently keeps the last.

    Where the counts differ for another reason, the slow reader finds nothing and nothing is lost.
    """
    names = count_names(data)
    return names != _count_of_flat(tree) and names != _count_names(tree)


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
    raise problems.refusal(Problem(found, todo, line=line))


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
        raise problems.refusal(
            Problem("The JSON holds no records", "Send a list of objects, one per clip")
        )
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


def _json_lines(data: bytes, problems: Problems, most: int, needed: Needed) -> Iterator[Batch]:
    count = 0
    every_line = data.split(b"\n")
    for first in range(0, len(every_line), BATCH_SIZE):
        numbered = enumerate(every_line[first : first + BATCH_SIZE], first + 1)
        filled = [(number, line) for number, line in numbered if line and not line.isspace()]
        if is_surplus := count + len(filled) > most:
            add_surplus(problems, most)
            filled = filled[: most - count]
        numbers, lines = [number for number, _ in filled], [line for _, line in filled]
        records = range(count + 1, count + 1 + len(lines))
        text = b"[" + b",".join(lines) + b"]"
        if (flat := flat_columns(text, needed)) and len(flat.values[0]) == len(lines):
            yield ColumnBatch(flat.names, records, numbers, flat.values)
        else:
            parsed = _parsed(text, lines, numbers, problems)
            yield from _grouped(parsed, records, numbers, problems)
        if is_surplus:
            return
        count += len(lines)


def _parsed(
    text: bytes, lines: list[bytes], numbers: list[int], problems: Problems
) -> list[object]:
    try:
        records: list[object] = msgspec.json.decode(text)
        if len(records) == len(lines) and not _may_repeat_names(text, records):
            return records
    except (ValueError, RecursionError):
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
            yield ObjectBatch(shapes.pop(), numbers, lines, records)  # type: ignore[arg-type]
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
        batch = ObjectBatch(
            names,
            [numbers[position] for position in positions],
            [lines[position] for position in positions] if lines else None,
            [records[position] for position in positions],  # type: ignore[misc]
        )
        _check_repeated(batch, problems)
        yield batch


def _check_repeated(batch: ObjectBatch, problems: Problems) -> None:
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

"""Turns the bytes of a prediction file, in any format, into records; problems are collected.

The format is recognised by the content, never by the name: JSON, JSON Lines or a table of text.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterator, Sequence

from agl1k_core import extras
from agl1k_core.answers import field_of_key
from agl1k_core.delimited import (
    BrokenTableError,
    DelimitedText,
    encoding_of,
    look_alike,
    odd_letter,
    plain_number,
)
from agl1k_core.errors import Problem, Problems
from agl1k_core.inputs import check_text
from agl1k_core.predictions.json_files import json_records
from agl1k_core.predictions.records import (
    ID_KEYS,
    MOST_FIELDS,
    ROWS_AT_ONCE,
    WHAT_TO_SEND,
    Records,
    UnreadableError,
    add_surplus,
    decoded,
    object_records,
)
from agl1k_core.predictions.shapes import IsClip

_PARQUET = b"PAR1"


def read_records(
    content: bytes | Sequence[object], problems: Problems, most: int, is_clip: IsClip
) -> Iterator[Records]:
    """The records of a file's content, or of objects; adds problems of single ones to ``problems``.

    Reading stops after ``most`` records; if there are more, that is a problem too. Raises
    ``UnreadableError`` if the file as a whole cannot be read.
    """
    if not isinstance(content, bytes):
        yield from object_records(content, range(1, len(content) + 1), None, problems)
        return
    if content.startswith(_PARQUET):
        yield from _parquet_records(content, problems, most)
        return
    data = _as_utf8(content)
    start = data.lstrip()[:1]
    if not start:
        raise UnreadableError("The file is empty", WHAT_TO_SEND)
    if start in b"{[":
        yield from json_records(data, problems, most, is_clip)
    else:
        yield from _csv_records(data, problems, most, is_clip)


# --- text ---------------------------------------------------------------------------------------


def _as_utf8(data: bytes) -> bytes:
    check_text(data, WHAT_TO_SEND)
    encoding = encoding_of(data)
    if encoding.startswith(("utf-16", "utf-32")):
        return decoded(data, encoding).encode("utf-8", "replace")
    return data.removeprefix(b"\xef\xbb\xbf")


# --- tables -------------------------------------------------------------------------------------


def _csv_records(data: bytes, problems: Problems, most: int, is_clip: IsClip) -> Iterator[Records]:
    try:
        table = DelimitedText(decoded(data, "utf-8"))
    except BrokenTableError as error:
        raise UnreadableError(f"The header is broken: {error}", "Check the quotes", 1) from None
    _check_header(table, problems, is_clip)
    if problems.total:
        return
    rows: list[list[str]] = []
    numbers: list[int] = []
    lines: list[int] = []
    for number, (line, row) in enumerate(_whole_rows(table, problems), 1):
        if number > most:
            add_surplus(problems, most)
            break
        fitted = _fitted(row, len(table.header))
        if fitted is None:
            found = f"The row has {len(row)} fields, the header {len(table.header)}"
            todo = "Quote text that contains separators"
            problems.add(Problem(found, todo, record=number, line=line))
            continue
        rows.append(fitted)
        numbers.append(number)
        lines.append(line)
        if len(rows) == ROWS_AT_ONCE:
            yield _rows_as_records(table, rows, numbers, lines)
            rows, numbers, lines = [], [], []
    if rows:
        yield _rows_as_records(table, rows, numbers, lines)


def _fitted(row: list[str], width: int) -> list[str] | None:
    """A row without blank cells behind the last column; None if it has more or fewer cells."""
    if len(row) > width and not any(map(str.strip, row[width:])):
        return row[:width]
    return row if len(row) == width else None


def _rows_as_records(
    table: DelimitedText, rows: list[list[str]], numbers: list[int], lines: list[int]
) -> Records:
    columns = dict(zip(table.header, zip(*rows, strict=True), strict=True))
    columns.pop("", None)  # a column without a name, such as the index of a data frame
    if table.delimiter != ",":
        for name in columns:
            if field_of_key(name) in ("latitude", "longitude"):
                columns[name] = tuple(plain_number(x, decimal_comma=True) for x in columns[name])
    return Records(columns, numbers, lines)


def _whole_rows(table: DelimitedText, problems: Problems) -> Iterator[tuple[int, list[str]]]:
    """The rows, up to a broken quote."""
    try:
        yield from table.rows()
    except BrokenTableError as error:
        problems.add(Problem(f"The CSV is broken: {error}", "Check the quotes", line=error.line))


def _check_header(table: DelimitedText, problems: Problems, is_clip: IsClip) -> None:
    """Raise ``UnreadableError`` if no clips are named; add names that are there twice."""
    names, line = table.header, table.header_line
    folded = {name.casefold() for name in names}
    if not folded & {*ID_KEYS, "custom_id"} and not {"index", "prediction"} <= folded:
        raise _without_keys(names, line, is_clip)
    if len(names) > MOST_FIELDS:
        found = f"The header has {len(names):,} columns, the limit is {MOST_FIELDS:,}"
        raise UnreadableError(found, "Leave out what is not needed", line)
    for name in sorted(name for name, times in Counter(names).items() if name and times > 1):
        problems.add(Problem("The header contains it twice", "Rename one", line=line, field=name))


def _without_keys(names: Sequence[str], line: int, is_clip: IsClip) -> UnreadableError:
    """What to say of a table whose first line names no column of clips."""
    meant = next((name for name in names if look_alike(name, ID_KEYS[:1])), "")
    if meant:
        odd = odd_letter(meant)
        found = f"The header has no column 'key', but {meant!r}" + (f" with {odd}" if odd else "")
        return UnreadableError(found, "Rename it to key", line)
    if any(map(is_clip, names)):
        found = "The table has no header: its first line is already a clip's"
        return UnreadableError(found, "Put the names of the columns first: key, latitude, …", line)
    found = f"The first line names none of the columns {', '.join(ID_KEYS)}"
    shown = ", ".join(repr(name[:40]) for name in names[:8])
    todo = f"It begins {shown}. {WHAT_TO_SEND}; a CSV needs a header with the clip's key"
    return UnreadableError(found, todo, line)


def _parquet_records(data: bytes, problems: Problems, most: int) -> Iterator[Records]:
    """The rows of a Parquet file; raises ``Agl1kError`` without the extra that reads it."""
    parquet = extras.need("pyarrow.parquet")
    try:
        table = parquet.ParquetFile(io.BytesIO(data))
        if table.metadata.num_rows > most:
            add_surplus(problems, most)
            return
        columns = table.read().to_pydict()
    except Exception:  # pyarrow's errors of damaged files are of many kinds
        todo = "Write it again, or send JSON, JSON Lines or CSV"
        raise UnreadableError("The Parquet file is damaged", todo) from None
    columns.pop("__index_level_0__", None)
    if columns and len(next(iter(columns.values()))):
        size = len(next(iter(columns.values())))
        yield Records(columns, range(1, size + 1))

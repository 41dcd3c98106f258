"""Bytes of a prediction file -> batches of records, whatever its format; all problems collected.

The format is told by the content, never by the name: JSON (a list of records, an object keyed by
clip, one record), JSON Lines or CSV (comma, semicolon or tab).
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Mapping

from agl1k_core.errors import Problem, Problems
from agl1k_core.predictions.flat_records import Needed
from agl1k_core.predictions.prediction_batches import (
    BATCH_SIZE,
    ID_KEYS,
    MOST_FIELDS,
    WHAT_TO_SEND,
    Batch,
    ColumnBatch,
    add_surplus,
    decoded,
)
from agl1k_core.predictions.prediction_json import json_batches

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


def read_batches(data: bytes, problems: Problems, most: int, needed: Needed) -> Iterator[Batch]:
    """Records of a file, or what is ``needed`` of them; adds what is wrong with single ones to
    ``problems``.

    Nothing is read after ``most`` records: that there are more is a problem, too. Raises
    ``FileRefusedError`` where the file as a whole cannot be read.
    """
    data = _as_utf8(data, problems)
    start = data.lstrip()[:1]
    if not start:
        raise problems.refusal(Problem("The file is empty", WHAT_TO_SEND))
    if start in b"{[":
        yield from json_batches(data, problems, most, needed)
    else:
        yield from _csv_batches(data, problems, most)


def _as_utf8(data: bytes, problems: Problems) -> bytes:
    for signature, kind in _SIGNATURES.items():
        if data.startswith(signature):
            raise problems.refusal(Problem(f"The file is {kind}", f"Unpack it. {WHAT_TO_SEND}"))
    if data[257:262] == b"ustar":
        raise problems.refusal(Problem("The file is a tar archive", f"Unpack it. {WHAT_TO_SEND}"))
    for mark, encoding in (
        (b"\xff\xfe\x00\x00", "utf-32"),
        (b"\x00\x00\xfe\xff", "utf-32"),
        (b"\xff\xfe", "utf-16"),
        (b"\xfe\xff", "utf-16"),
    ):
        if data.startswith(mark):
            return decoded(data, encoding, problems).encode("utf-8", "replace")
    data = data.removeprefix(b"\xef\xbb\xbf")
    if b"\x00" in data:
        line = data.count(b"\n", 0, data.index(b"\x00")) + 1
        raise problems.refusal(
            Problem("The file is binary: it holds a zero byte", WHAT_TO_SEND, line=line)
        )
    return data


# CSV


def _csv_batches(data: bytes, problems: Problems, most: int) -> Iterator[Batch]:
    text = decoded(data, "utf-8", problems)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text), strict=True)
    try:
        names = tuple(name.strip() for name in next(reader, []))
    except csv.Error as error:
        raise problems.refusal(
            Problem(f"The header is broken: {error}", "Check the quotes", line=1)
        ) from None
    _check_header(names, problems)
    rows: list[list[str]] = []
    numbers: list[int] = []
    lines: list[int] = []
    for number, (row, line) in enumerate(_csv_rows(reader, problems), 1):
        if number > most:
            add_surplus(problems, most)
            break
        if len(row) != len(names):
            found = f"The row has {len(row)} fields, the header {len(names)}"
            problems.add(Problem(found, "Quote texts with separators", record=number, line=line))
            continue
        rows.append(row)
        numbers.append(number)
        lines.append(line)
        if len(rows) == BATCH_SIZE:
            yield ColumnBatch(names, numbers, lines, list(zip(*rows, strict=True)))
            rows, numbers, lines = [], [], []
    if rows:
        yield ColumnBatch(names, numbers, lines, list(zip(*rows, strict=True)))


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
        todo = f"It begins {shown}. {WHAT_TO_SEND}; a CSV needs a header with the clip's key"
        raise problems.refusal(Problem(found, todo, line=1))
    if len(names) > MOST_FIELDS:
        found = f"The header has {len(names):,} columns, the limit is {MOST_FIELDS:,}"
        raise problems.refusal(Problem(found, "Leave out what is not needed", line=1))
    for name in sorted(name for name, times in Counter(names).items() if name and times > 1):
        problems.add(Problem("The header names it twice", "Rename one", line=1, field=name))
    problems.raise_if_any()

"""Reads any table of text with a header: its rows by name, and every problem with its line."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from agl1k_core.delimited import (
    BrokenTableError,
    DelimitedText,
    encoding_of,
    look_alike,
    odd_letter,
    plain_number,
)
from agl1k_core.errors import Problem, Problems
from agl1k_core.inputs import UnreadableFileError, check_text, name_of, read_unpacked

#: The columns that make a table one of a benchmark folder.
FOLDER_REQUIRED = ("key", "latitude", "longitude", "file")

_WHAT_TO_GIVE = "Give a table as CSV or JSON, in UTF-8"

#: (names in the header, fields of the first row, problems) -> the names to use.
Columns = Callable[[list[str], int, Problems], list[str]]


@dataclass(frozen=True, slots=True)
class CsvTable:
    """A table that has been read: its header, and the fields of each row with the row's line.

    Names are in lower case. Functions that take the path of a table also take this, so that its
    file is read once.
    """

    path: Path
    header: list[str]
    rows: tuple[tuple[int, list[str]], ...]
    delimiter: str = ","

    @property
    def is_of_folder(self) -> bool:
        """Whether it has the columns of a benchmark folder's table."""
        return {*FOLDER_REQUIRED} <= {*self.header}


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of a table: the line on which it begins, its fields by name, and where problems go.

    ``decimal_comma``: 48,85 is a number.
    """

    line: int
    fields: Mapping[str, str]
    problems: Problems
    decimal_comma: bool = False

    def text(self, name: str) -> str:
        """A field without surrounding spaces; empty if there is no such column."""
        return self.fields.get(name, "").strip()

    def number(
        self,
        name: str,
        lowest: float,
        highest: float = math.inf,
        todo: str = "Correct the field",
    ) -> float | None:
        """A field as a number, None if it is empty; anything else is a problem."""
        text = self.text(name)
        if not text:
            return None
        value = _float(plain_number(text, decimal_comma=self.decimal_comma))
        if not (lowest <= value <= highest and math.isfinite(value)):
            limits = f"from {lowest:g} to {highest:g}"
            limits = limits if math.isfinite(highest) else f"of {lowest:g} or more"
            if math.isnan(value) and math.isfinite(_float(plain_number(text, decimal_comma=True))):
                todo = "Write it with a decimal point"
            self.problem(name, f"{text[:40]!r} is not a number {limits}", todo)
        return value

    def problem(self, name: str, found: str, todo: str) -> None:
        """Add a problem of a field."""
        clip = self.text("key") or None
        self.problems.add(Problem(found, todo, line=self.line, clip=clip, field=name))


def read_csv(path: Path, problems: Problems | None = None) -> CsvTable:
    """Read a table of text, which may be packed as gzip or ZIP.

    Columns are separated by commas, semicolons, tabs or bars; blank rows, and blank columns without
    a name, are skipped. The path ``-`` is standard input.

    Raises
    ------
    FileRefusedError
        With ``problems`` if given, if the file cannot be read, or is not a table in UTF-8 or
        UTF-16.
    """
    problems = problems or Problems(name_of(path))
    return csv_of(path, read_text(path, problems), problems)


def csv_of(path: Path, text: str, problems: Problems) -> CsvTable:
    """The table in the text of a file; raises ``FileRefusedError`` with ``problems``."""
    try:
        table = DelimitedText(text)
        rows = tuple(table.rows())
    except BrokenTableError as error:
        todo = "Check the quotes, and save the table as plain CSV in UTF-8"
        raise problems.refusal(Problem(str(error), todo, line=error.line)) from None
    return CsvTable(path, [name.casefold() for name in table.header], rows, table.delimiter)


def read_rows(
    table: Path | CsvTable, problems: Problems, columns_of: Columns, empty: Problem | None = None
) -> Iterator[TableRow]:
    """The rows of a table of text with a header.

    Parameters
    ----------
    table
        The table.
    problems
        Collects rows that do not have as many fields as the header, and what ``TableRow`` finds.
    columns_of
        Checks the header: from its names, the number of fields in the first row (0 without rows)
        and ``problems``, it returns the names of the columns.
    empty
        The problem to report for a table without rows, if any.

    Raises
    ------
    FileRefusedError
        If the header has problems, or the file is not a table.
    Agl1kError
        If the file cannot be read.
    """
    table = table if isinstance(table, CsvTable) else read_csv(table, problems)
    if empty and not table.rows:
        raise problems.refusal(empty)
    first = _without_ghosts(table.rows[0][1], len(table.header)) if table.rows else []
    columns = columns_of(table.header, len(first), problems)
    twice = sorted({name for name in columns if name and columns.count(name) > 1})
    if twice:
        problems.add(Problem(f"duplicate columns: {', '.join(twice)}", "Rename one", line=1))
    problems.raise_if_any()
    for line, cells in table.rows:
        row = _without_ghosts(cells, len(columns))
        if len(row) == len(columns):
            fields = dict(zip(columns, row, strict=True))
            yield TableRow(line, fields, problems, decimal_comma=table.delimiter != ",")
        else:
            found = f"{len(row)} fields where {len(columns)} are expected"
            problems.add(Problem(found, "Correct the line", line=line))


def missing_column(name: str, header: list[str], todo: str) -> Problem:
    """The problem of a table without a column, with the name that may have been meant."""
    meant = next((other for other in header if other and look_alike(other, (name,))), "")
    if not meant:
        return Problem(f"there is no column {name!r}", todo, line=1)
    odd = odd_letter(meant)
    found = f"there is no column {name!r}, but {meant!r}"
    return Problem(found + (f" with {odd}" if odd else ""), f"Rename it to {name}", line=1)


def _without_ghosts(row: list[str], width: int) -> list[str]:
    """A row without the blank cells behind the last column that has a name."""
    return row[:width] if not any(map(str.strip, row[width:])) else row


def read_text(path: Path, problems: Problems) -> str:
    """The text of a file, unpacked; raises ``FileRefusedError`` with ``problems``."""
    try:
        data = read_unpacked(path)
        check_text(data, _WHAT_TO_GIVE)
    except UnreadableFileError as error:
        raise problems.refusal(error.problem) from None
    try:
        text = data.decode(encoding_of(data))
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        problem = Problem("bytes that are not UTF-8", "Save the table as UTF-8", line=line)
        raise problems.refusal(problem) from None
    if not text.strip("\ufeff \t\r\n"):
        raise problems.refusal(Problem("The file is empty", _WHAT_TO_GIVE))
    return text


def _float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan

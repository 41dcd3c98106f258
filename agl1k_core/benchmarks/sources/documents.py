"""Reads a table, JSON or JSON lines into records, each with its place in the file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from agl1k_core.benchmarks.csv_tables import CsvTable, csv_of, read_rows, read_text
from agl1k_core.delimited import plain_number
from agl1k_core.errors import Problem, Problems
from agl1k_core.file_names import shown
from agl1k_core.inputs import name_of

#: Names under which an object holds the list of its records.
LISTS = (
    "features", "recordings", "audio", "results",
    "data", "records", "items", "rows", "clips", "sounds",
)  # fmt: skip
#: Those of the pages of an API, each of which may be a line of its own.
_PAGES = ("features", "recordings", "results")
#: Around a line; sequences of JSON (RFC 7464) begin each record with U+001E.
_SPACE = " \t\r\x1e"


@dataclass(frozen=True, slots=True)
class Record:
    """One recording as its source describes it: fields by name in lower case, and where it is."""

    fields: Mapping[str, Any]
    line: int | None = None
    number: int | None = None

    def problem(self, found: str, todo: str, *, clip: str = "", field: str = "") -> Problem:
        """A problem of this record."""
        return Problem(found, todo, self.number, self.line, clip or None, field or None)


@dataclass(frozen=True)
class Document:
    """What a file contains.

    Attributes
    ----------
    path
        The file.
    records
        Its records.
    problems
        What is wrong with it so far, such as lines that are not JSON.
    wrapper
        The name of the list in which JSON holds the records; empty if there is none.
    beside
        What else is in the object that holds the list, such as COCO's categories.
    is_json
        Whether it is JSON, and not a table of text.
    """

    path: Path
    records: tuple[Record, ...]
    problems: Problems
    wrapper: str = ""
    beside: Mapping[str, Any] = field(default_factory=dict)
    is_json: bool = True

    @classmethod
    def of_names(cls, path: Path, names: Iterable[str]) -> Document:
        """A document of which only the names of the fields are known."""
        records = (Record(dict.fromkeys(names)),)
        return cls(path, records, Problems(name_of(path)), is_json=False)

    @property
    def names(self) -> frozenset[str]:
        """The names of all fields."""
        return frozenset(name for record in self.records for name in record.fields)


def read_document(path: Path) -> Document | CsvTable:
    """Read a file, which may be packed as gzip or ZIP; ``-`` is standard input.

    Returns
    -------
    Document or CsvTable
        The records of JSON or JSON lines; a table as it is.

    Raises
    ------
    FileRefusedError
        If it cannot be read, or is neither a table nor JSON.
    """
    problems = Problems(name_of(path))
    text = read_text(path, problems)
    if text.lstrip("\ufeff \t\r\n\x1e").startswith(("{", "[")) or _is_lines(text):
        return _of_json(path, text, problems)
    return csv_of(path, text, problems)


def document_of(table: CsvTable) -> Document:
    """The records of a table; raises ``FileRefusedError`` if its header has problems."""
    problems = Problems(name_of(table.path))
    rows = read_rows(table, problems, lambda header, *_: header)
    comma = table.delimiter != ","
    records = [
        Record({name: _cell(text, comma) for name, text in row.fields.items()}, line=row.line)
        for row in rows
    ]
    return Document(table.path, tuple(records), problems, is_json=False)


def table_of(document: Document) -> CsvTable:
    """Records as a table of text, numbers with all their digits; raises ``FileRefusedError``."""
    document.problems.raise_if_any()
    header = [*dict.fromkeys(name for record in document.records for name in record.fields)]
    rows = (
        (record.line or record.number or 0, [_text(record.fields.get(name)) for name in header])
        for record in document.records
    )
    return CsvTable(document.path, header, tuple(rows))


def _text(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else repr(value)


def _cell(text: str, decimal_comma: bool) -> str:
    plain = plain_number(text, decimal_comma=decimal_comma)
    try:
        float(plain)
    except ValueError:
        return text
    return plain


def _of_json(path: Path, text: str, problems: Problems) -> Document:
    try:
        tree = json.loads(text)
    except (ValueError, RecursionError) as error:
        if _is_lines(text):
            return _document(path, _of_lines(text, problems), problems)
        line = getattr(error, "lineno", None)
        todo = "Fetch or export the file again, or correct the line"
        raise problems.refusal(Problem(_not_json(error), todo, line=line)) from None
    return _of_tree(path, tree, problems)


def _not_json(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"this is not JSON: {error.msg.lower().removesuffix(' at')} at column {error.colno}"
    return f"this is not JSON that can be read: {error}"


def _is_lines(text: str) -> bool:
    """Whether most lines are objects of their own."""
    lines = [line.strip(_SPACE) for line in text.splitlines() if line.strip(_SPACE)]
    whole = sum(line.startswith("{") and line.endswith("}") for line in lines)
    return len(lines) > 1 and 2 * whole >= len(lines)


def _of_lines(text: str, problems: Problems) -> Iterator[Record]:
    """The object of each line; a line that is none becomes a problem."""
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip(_SPACE):
            record = _of_line(line.strip(_SPACE), number, problems)
            if record:
                yield from _records_of(record, problems)


def _records_of(record: Record, problems: Problems) -> list[Record]:
    """The records of a page that an API sent, if a line is one; else the record itself."""
    pages = (record.fields.get(name) for name in _PAGES)
    page = next((found for found in pages if isinstance(found, list)), None)
    if page is None:
        return [record]
    return [replace(one, line=record.line) for one in _of_list(page, problems)]


def _of_line(line: str, number: int, problems: Problems) -> Record | None:
    todo = "Correct or remove the line"
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        problems.add(Problem(_not_json(error), todo, line=number))
        return None
    if not isinstance(value, dict):
        problems.add(Problem("this is no JSON object", todo, line=number))
        return None
    return Record(lower_names(value), line=number)


def _of_tree(path: Path, tree: Any, problems: Problems) -> Document:
    wrapper = _wrapper(tree)
    pages = tree if isinstance(tree, list) else [tree]
    wrapper = wrapper or _wrapper(pages[0] if pages else None)
    if not wrapper:
        return _document(path, _of_list(pages, problems), problems)
    items = [item for page in pages for item in _page(page, wrapper)]
    beside = pages[0] if len(pages) == 1 else {}
    return _document(path, _of_list(items, problems), problems, wrapper, beside)


def _wrapper(tree: Any) -> str:
    """The name of the list that an object holds, if it is no record itself."""
    if not isinstance(tree, dict):
        return ""
    return next((name for name in LISTS if _is_list_of_objects(tree.get(name))), "")


def _is_list_of_objects(value: Any) -> bool:
    return isinstance(value, list) and (not value or any(isinstance(one, dict) for one in value))


def _page(page: Any, wrapper: str) -> list[Any]:
    """The items of one page of an API; what is no page is an item, and becomes a problem."""
    found = page.get(wrapper) if isinstance(page, dict) else None
    return found if isinstance(found, list) else [page]


def _of_list(items: Iterable[Any], problems: Problems) -> Iterator[Record]:
    for number, item in enumerate(items, 1):
        if isinstance(item, dict):
            yield Record(lower_names(item), number=number)
        else:
            todo = "Correct or remove the record"
            problems.add(Problem(f"{str(item)[:40]!r} is no JSON object", todo, record=number))


def _document(
    path: Path,
    records: Iterable[Record],
    problems: Problems,
    wrapper: str = "",
    beside: Mapping[str, Any] | None = None,
) -> Document:
    return Document(path, tuple(records), problems, wrapper, beside or {})


def listed_names(names: Iterable[str]) -> str:
    """The names of fields for a message, at most a dozen."""
    return ", ".join(shown(name)[:60] for name in sorted(names)[:12]) or "none"


def lower_names(item: Mapping[str, Any]) -> dict[str, Any]:
    """An object with its names in lower case."""
    return {name.casefold(): value for name, value in item.items()}

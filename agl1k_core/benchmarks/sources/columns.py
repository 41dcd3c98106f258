"""Columns that a person names: ours by theirs, as ``latitude=lat,file=clip``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from agl1k_core.benchmarks.csv_tables import CsvTable
from agl1k_core.benchmarks.model import CLASSES
from agl1k_core.benchmarks.sources.documents import Document, listed_names
from agl1k_core.errors import Agl1kError
from agl1k_core.file_names import shown

#: Columns of ``clips.csv``, which may have other names elsewhere.
OURS = (
    "key", "latitude", "longitude", "file", "city", "country", "continent", "title", "description",
    "author", "licence", "url", "recorded", "duration_s", *CLASSES,
)  # fmt: skip


def read_columns(text: str) -> dict[str, str]:
    """Their names by ours.

    Raises ``Agl1kError`` for what is not ``ours=theirs``.

    Examples
    --------
    >>> read_columns("latitude=Lat, file=clip")
    {'latitude': 'Lat', 'file': 'clip'}
    """
    parts = [part.strip() for part in text.split(",") if part.strip()]
    pairs = [part.partition("=") for part in parts]
    found = {ours.strip().casefold(): theirs.strip() for ours, _, theirs in pairs}
    if "" in found.values() or not {*found} <= {*OURS}:
        raise Agl1kError(
            f"'{shown(text)}' names no columns. Give OURS=THEIRS, joined by commas, such as "
            f"latitude=lat,longitude=lon; ours are {', '.join(OURS)}."
        )
    return found


def renamed_names(names: Iterable[str], columns: Mapping[str, str]) -> dict[str, str]:
    """Our names by theirs, both in lower case; raises ``Agl1kError`` for those that do not exist.

    A column that has one of our names, but is not the one that was named, loses it.
    """
    there = {name.casefold() for name in names}
    theirs = {name.casefold(): ours for ours, name in columns.items()}
    missing = [name for name in theirs if name not in there]
    if missing:
        raise Agl1kError(
            f"There is no column {', '.join(map(shown, missing))}. "
            f"The columns are {listed_names(there)}."
        )
    others = {name: f"other {name}" for name in there if name in columns and name not in theirs}
    return theirs | others


def with_columns(source: Document | CsvTable, columns: Mapping[str, str]) -> Document | CsvTable:
    """A source whose columns have our names; raises ``Agl1kError`` for those that do not exist."""
    if not columns:
        return source
    if isinstance(source, CsvTable):
        names = renamed_names(source.header, columns)
        return replace(source, header=[names.get(name, name) for name in source.header])
    names = renamed_names(source.names, columns)
    records = (
        replace(record, fields={names.get(name, name): v for name, v in record.fields.items()})
        for record in source.records
    )
    return replace(source, records=tuple(records))

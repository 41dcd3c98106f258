"""A JSON list of flat records that all have the same names: only the fields needed are decoded.

Nearly every prediction file is one, most of its bytes a question repeated in each record. Whatever
is not quite so is left to the slower reader, which tells what is wrong.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter
from typing import Any

import msgspec
import numpy as np

#: Which of a record's names are looked at; None for all of them.
Needed = Callable[[tuple[str, ...]], Collection[str] | None]

_MOST_FIELDS = 100
#: A first record that is longer has more in it than answers.
_FIRST_RECORD_BYTES = 2**16


@dataclass(frozen=True)
class FlatColumns:
    """The names needed, and a column of values for each of them."""

    names: tuple[str, ...]
    values: list[list[Any]]


def flat_columns(data: bytes, needed: Needed) -> FlatColumns | None:
    """What is needed of a list, or None where the text is no such list of flat records, or where
    a name may come twice in a record.

    What is not needed is no more than skipped: a byte in it that is no UTF-8 goes unnoticed.
    """
    names = _names_of_first(data)
    wanted = needed(names) if names else None
    if wanted is None or len(names) > _MOST_FIELDS:
        return None
    kept = tuple(name for name in names if name in wanted)
    if not kept:
        return None
    try:
        records = _decoder(names, kept).decode(data)
    except (ValueError, RecursionError):
        return None
    # every record has all the names, so that none more in the text means none twice
    if count_names(data) != len(records) * len(names):
        return None
    values = [list(map(attrgetter(f"f{names.index(name)}"), records)) for name in kept]
    return FlatColumns(kept, values)


def _names_of_first(data: bytes) -> tuple[str, ...]:
    """The names of the first record of a list, empty where there is no such record."""
    text = data[:_FIRST_RECORD_BYTES].decode("utf-8", "ignore").lstrip()
    if not text.startswith("["):
        return ()
    try:
        record, _ = json.JSONDecoder(strict=False).raw_decode(text[1:].lstrip())
    except (ValueError, RecursionError):
        return ()
    return tuple(record) if isinstance(record, dict) else ()


@lru_cache(maxsize=8)
def _decoder(names: tuple[str, ...], kept: tuple[str, ...]) -> msgspec.json.Decoder[list[Any]]:
    """Raises ``ValueError`` for names that would need an escape."""
    fields = [f"f{place}" for place in range(len(names))]
    kinds = [Any if name in kept else msgspec.Raw for name in names]
    record = msgspec.defstruct(
        "Record",
        list(zip(fields, kinds, strict=True)),
        rename=dict(zip(fields, names, strict=True)),
        forbid_unknown_fields=True,
        gc=False,
    )
    return msgspec.json.Decoder(list[record])  # type: ignore[valid-type]


def count_names(data: bytes) -> int:
    """How often ``":`` stands in a text where the quote is not escaped: once for each name of a
    compact text, since a quote inside a string always is."""
    if len(data) < 3:
        return 0
    characters = np.frombuffer(data, dtype=np.uint8)
    colons = np.flatnonzero(characters == ord(":"))
    quoted = colons[characters[colons - 1] == ord('"')]
    return int(np.count_nonzero(characters[quoted - 2] != ord("\\")))

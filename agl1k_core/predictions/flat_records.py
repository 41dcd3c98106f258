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
import numpy.typing as npt
from numpy.lib.stride_tricks import sliding_window_view

#: Which of a record's names are looked at; None for all of them.
Needed = Callable[[tuple[str, ...]], Collection[str] | None]

_MOST_FIELDS = 100
#: Names that agree in more than this, from the end, are taken for the same.
_ENDING_BYTES = 24
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
        records = _decoder(kept).decode(data)
    except (ValueError, RecursionError):
        return None
    if not _have_names(data, names, len(records)):
        return None
    return FlatColumns(kept, [list(map(attrgetter(field), records)) for field in _fields(kept)])


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


def _fields(names: tuple[str, ...]) -> list[str]:
    return [f"f{place}" for place in range(len(names))]


@lru_cache(maxsize=8)
def _decoder(kept: tuple[str, ...]) -> msgspec.json.Decoder[list[Any]]:
    """Skips all other names. Raises ``ValueError`` for names that would need an escape."""
    fields = _fields(kept)
    record = msgspec.defstruct(
        "Record",
        [(field, Any) for field in fields],
        rename=dict(zip(fields, kept, strict=True)),
        gc=False,
    )
    return msgspec.json.Decoder(list[record])  # type: ignore[valid-type]


def _have_names(data: bytes, names: tuple[str, ...], n_records: int) -> bool:
    """Whether every record has the names of the first in their order, and none twice.

    Compared is how names end. As no two of the first end alike, one that came twice would show.
    """
    ends = _name_ends(data)
    if len(ends) != n_records * len(names):
        return False
    later = ends[len(names) :] - _ENDING_BYTES
    if not len(later):
        return True
    endings = [f'"{name}'.encode()[-_ENDING_BYTES:] for name in names]
    if len(set(endings)) < len(names) or later[0] < 0:
        return False
    wanted = np.array([list(ending.rjust(_ENDING_BYTES, b"\0")) for ending in endings], np.uint8)
    windows = sliding_window_view(np.frombuffer(data, np.uint8), _ENDING_BYTES)
    found = windows[later].reshape(n_records - 1, *wanted.shape)
    return bool(((found == wanted) | (wanted == 0)).all())


def count_names(data: bytes) -> int:
    """How many names a compact text has in all its objects."""
    return len(_name_ends(data))


def _name_ends(data: bytes) -> npt.NDArray[np.intp]:
    """Where ``":`` stands in a text and the quote is not escaped: at the end of each name of a
    compact text, since a quote inside a string always is escaped."""
    characters = np.frombuffer(data, dtype=np.uint8)
    colons = np.flatnonzero(characters[2:] == ord(":")) + 2
    ends: npt.NDArray[np.intp] = colons[characters[colons - 1] == ord('"')] - 1
    return np.asarray(ends[characters[ends - 1] != ord("\\")])

"""A player's answers as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from web.spreadsheets import Cell, write_csv

COLUMNS = (
    "round", "position", "mode", "benchmark", "clip", "answered_utc", "action", "pin_latitude",
    "pin_longitude", "true_latitude", "true_longitude", "distance_km", "points", "seconds",
    "nickname",
)  # fmt: skip


def own_csv(answers: Sequence[Mapping[str, Cell | None]]) -> str:
    """The answers as CSV with a header, also if there are none."""
    return write_csv(COLUMNS, [[answer[name] for name in COLUMNS] for answer in answers])

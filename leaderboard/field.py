"""A picture of the field: the chosen metric of all rows with its interval, and by speech."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from leaderboard.columns import COLUMN, Column
from leaderboard.rows import KIND_NAME, Kind, Row
from leaderboard.view import View
from ui.names import isolated

#: More rows do not fit in a picture that people read.
MOST_ROWS = 24
_SPEECH = ("speech", "non_speech")


@dataclass(frozen=True, slots=True)
class Mark:
    """One row of the picture. Places on the axis are in percent of its length, NaN if unknown."""

    row_id: str
    name: str
    kind: Kind
    text: str
    at: float
    low: float = math.nan
    high: float = math.nan
    speech: float = math.nan
    non_speech: float = math.nan
    speech_text: str = ""

    @property
    def has_speech(self) -> bool:
        """Whether both halves are known."""
        return not math.isnan(self.speech + self.non_speech)

    @property
    def has_interval(self) -> bool:
        """Whether both ends are known."""
        return not math.isnan(self.low + self.high)


@dataclass(frozen=True, slots=True)
class Field:
    """The picture: its column, the marks from best to worst, labels of the axis, and words."""

    column: Column
    marks: tuple[Mark, ...]
    ends: tuple[str, str]
    n_left_out: int
    words: str


def make_field(view: View) -> Field | None:
    """The picture of a view; None with fewer than two rows that have the metric."""
    column, subset = COLUMN[view.query.rank_by], view.query.subset
    rows = [e.row for e in view.entries if not math.isnan(e.row.value(column.name, subset))]
    rows.sort(key=lambda row: row.value(column.name, subset), reverse=not column.lower_is_better)
    if len(rows) < 2:
        return None
    shown = _thinned(rows)
    least, most = _axis(shown, column, subset)

    def place(value: float) -> float:
        return 100 * (value - least) / (most - least)

    return Field(
        column=column,
        marks=tuple(_mark(row, column, subset, place) for row in shown),
        ends=(_end(column, least), _end(column, most)),
        n_left_out=len(rows) - len(shown),
        words=_words(rows, column, subset),
    )


def _end(column: Column, value: float) -> str:
    return f"{100 * value:.0f} %" if column.unit == "share" else f"{value:,.0f}"


def _thinned(rows: Sequence[Row]) -> list[Row]:
    """At most `MOST_ROWS`: people and baselines, and the best of the others."""
    if len(rows) <= MOST_ROWS:
        return list(rows)
    always = {row.row_id for row in rows if row.kind in ("people", "baseline")}
    others = [row.row_id for row in rows if row.row_id not in always]
    chosen = always | set(others[: MOST_ROWS - len(always)])
    return [row for row in rows if row.row_id in chosen]


def _axis(rows: Iterable[Row], column: Column, subset: str) -> tuple[float, float]:
    """From 0 to a round number beyond all values and ends."""
    reach = 0.0
    for row in rows:
        interval = row.interval(column.name, subset)
        halves = (row.value(column.name, half) for half in _SPEECH)
        values = (row.value(column.name, subset), interval.high if interval else 0.0, *halves)
        reach = max(reach, *(value for value in values if not math.isnan(value)))
    if reach <= 0:
        return 0.0, 1.0
    step = 10 ** math.floor(math.log10(reach)) / 2
    return 0.0, math.ceil(reach / step) * step


def _mark(row: Row, column: Column, subset: str, place: Callable[[float], float]) -> Mark:
    interval = row.interval(column.name, subset)
    speech, other = (row.value(column.name, half) for half in _SPEECH)
    return Mark(
        row_id=row.row_id,
        name=row.model,
        kind=row.kind,
        text=column.text(row.value(column.name, subset), coarse=row.kind == "reported"),
        at=place(row.value(column.name, subset)),
        low=place(interval.low) if interval else math.nan,
        high=place(interval.high) if interval else math.nan,
        speech=place(speech),
        non_speech=place(other),
        speech_text=f"{column.text(speech)} with speech, {column.text(other)} without",
    )


def _words(rows: Sequence[Row], column: Column, subset: str) -> str:
    """The picture in one or two sentences."""

    def said(row: Row) -> str:
        coarse = row.kind == "reported"
        return f"{isolated(row.model)} {column.text(row.value(column.name, subset), coarse=coarse)}"

    models = [row for row in rows if row.kind in ("scored", "reported")]
    parts = []
    if models:
        kind = KIND_NAME[models[0].kind]
        best = f"Best of {len(models)} models" if len(models) > 1 else "The only model"
        parts.append(f"{best}: {said(models[0])} ({kind}).")
    others = [said(row) for row in rows if row.kind in ("people", "baseline")]
    if others:
        parts.append(f"For comparison: {', '.join(others)}.")
    return " ".join(parts)

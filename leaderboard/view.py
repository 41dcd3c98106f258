"""A board filtered and sorted by a query, neither of which changes the ranks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from agl1k_core.scoring import Rank, told_groups
from leaderboard.board import Board
from leaderboard.columns import COLUMN, DEFAULT_COLUMNS, SUBSETS
from leaderboard.query import KINDS, Query
from leaderboard.rows import NO_MODELS, Row

ROWS_PER_PAGE = 50

#: Rates that look better for a file that leaves clips out: a missing clip is no refusal.
_FLATTERED = frozenset({"reject_rate"})

SortKey = tuple[bool, float, str]


@dataclass(frozen=True, slots=True)
class Entry:
    """A row with its rank; without one, ``words`` take its place and ``why`` gives the reason."""

    row: Row
    rank: Rank | None = None
    why: str = ""
    words: str = ""


@dataclass(frozen=True)
class View:
    """The rows to show, and how many the filters hide.

    ``best``: (recomputed or not, column) -> best value among all rows, shown or not.
    """

    board: Board
    query: Query
    entries: tuple[Entry, ...]
    n_hidden: int
    best: Mapping[tuple[bool, str], float]
    columns: tuple[str, ...]

    @property
    def n_pages(self) -> int:
        """How many pages the rows fill."""
        return max(1, math.ceil(len(self.entries) / ROWS_PER_PAGE))

    @property
    def page(self) -> int:
        """The page to show, from 1; the last one if the query asks for one beyond it."""
        return min(self.query.page, self.n_pages)

    @property
    def on_page(self) -> tuple[Entry, ...]:
        """The entries of that page."""
        first = (self.page - 1) * ROWS_PER_PAGE
        return self.entries[first : first + ROWS_PER_PAGE]


def make_view(board: Board, query: Query) -> View:
    """Apply a query to a board."""
    everything = board.rows(query.as_of)
    rows = standing(everything, query)
    gone = {row.row_id for row in everything if not row.part_of} - {row.row_id for row in rows}
    ranks = board.ranks(query.rank_by, query.subset, without=gone, as_of=query.as_of)
    shown = [row for row in rows if matches(row, query)]
    places = _reported_places(rows, query)
    entries = [
        Entry(row, ranks[row.row_id])
        if row.row_id in ranks
        else Entry(row, None, board.why_unranked(row), _words(row, places))
        for row in shown
    ]
    return View(
        board=board,
        query=query,
        entries=tuple(arrange(entries, query)),
        n_hidden=len(rows) - len(shown),
        best=best_values(rows, query),
        columns=_columns(rows, query),
    )


def standing(rows: Sequence[Row], query: Query) -> list[Row]:
    """The rows that count: as of the query's date, and if asked for, only the latest of a model.

    What people had guessed by then is not known, so their row is of today only. Its parts are left
    out, unless the query wants them.
    """
    if not query.tools:
        rows = [row for row in rows if not row.part_of]
    if query.as_of:
        rows = [row for row in rows if row.published <= query.as_of and row.kind != "people"]
    if not query.latest:
        return list(rows)
    newest = {_same_model(row): row.row_id for row in rows}  # rows come oldest first
    return [row for row in rows if newest[_same_model(row)] == row.row_id]


def _same_model(row: Row) -> tuple[str, ...]:
    """Equal for files of one model by the same people."""
    if row.kind != "scored":
        return (row.row_id,)
    return (row.owner or row.organisation.casefold(), row.model.casefold())


def _columns(rows: Iterable[Row], query: Query) -> tuple[str, ...]:
    """The columns to show: by default with the coverage, if any model's file is partial."""
    partial = any(row.kind == "scored" and row.is_partial for row in rows)
    if query.columns == DEFAULT_COLUMNS and partial:
        return ("coverage", *query.columns)
    return query.columns


def _reported_places(rows: Iterable[Row], query: Query) -> dict[str, int]:
    """The place of each reported row among these, by row id."""
    values = {
        row.row_id: row.value(query.rank_by, query.subset) for row in rows if row.kind == "reported"
    }
    known = {row_id: value for row_id, value in values.items() if not math.isnan(value)}
    sign = 1 if COLUMN[query.rank_by].lower_is_better else -1
    return {
        row_id: 1 + sum(sign * other < sign * value for other in known.values())
        for row_id, value in known.items()
    }


def _words(row: Row, places: Mapping[str, int]) -> str:
    if row.kind == "reported":
        place = places.get(row.row_id)
        return f"{ordinal(place)} in the paper" if place else "not in the paper"
    return row.kind if row.kind in NO_MODELS else "not ranked"


def ordinal(number: int) -> str:
    """A number as English writes a place: 1st, 2nd, 3rd, 4th, 11th."""
    last = 0 if 10 < number % 100 < 14 else number % 10
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(last, 'th') }"


def matches(row: Row, query: Query) -> bool:
    """Whether a row passes search and filters. An unknown coverage passes."""
    words = query.search.casefold().split()
    text = f"{row.model} {row.organisation}".casefold()
    return (
        all(word in text for word in words)
        and (not query.kinds or row.kind in query.kinds)
        and (not query.weights or row.weights == query.weights)
        and not row.coverage * 100 < query.min_coverage
    )


def arrange(entries: Iterable[Entry], query: Query) -> list[Entry]:
    """Sorted by the query's column, best or A first; rows without a value come last."""
    by_name = sorted(entries, key=lambda entry: entry.row.model.casefold())
    with_value = [e for e in by_name if not math.isnan(_sort_value(e, query)[0])]
    without = [e for e in by_name if math.isnan(_sort_value(e, query)[0])]
    with_value.sort(key=lambda entry: _sort_value(entry, query), reverse=query.reverse)
    return with_value + without


def _sort_value(entry: Entry, query: Query) -> tuple[float, str]:
    """A number, NaN if there is none, and a text; smaller ones come first."""
    row, name = entry.row, query.sort_column
    if name == "rank":
        return (float(entry.rank.place) if entry.rank else math.nan, "")
    if name == "kind":
        return (float(KINDS.index(row.kind)), "")
    column = COLUMN.get(name)
    if column is None or column.unit == "text":
        text = str(getattr(row, name)).casefold()
        return (0.0 if text else math.nan, text)
    value = row.value(name, query.subset)
    return (value if column.lower_is_better else -value, "")


def best_values(rows: Iterable[Row], query: Query) -> dict[tuple[bool, str], float]:
    """Best value of each shown metric, separately for models scored here and reported ones.

    People and baselines do not count as models, and a partial file not for `_FLATTERED` rates. If
    all are equal, none is best.
    """
    found: dict[tuple[bool, str], list[float]] = {}
    for row in (row for row in rows if row.kind not in NO_MODELS):
        for name in (name for name in query.columns if COLUMN[name].is_metric):
            if row.is_partial and name in _FLATTERED:
                continue
            value = row.value(name, query.subset)
            if not math.isnan(value):
                found.setdefault((row.is_recomputed, name), []).append(value)
    return {
        (recomputed, name): (min if COLUMN[name].lower_is_better else max)(values)
        for (recomputed, name), values in found.items()
        if len(set(values)) > 1
    }


def subset_sizes(board: Board) -> dict[str, int | None]:
    """Each subset that the board can show, with its number of clips (None without the table)."""
    benchmark = board.benchmark
    if benchmark is None:
        known = {subset for row in board.rows() for subset in row.values}
        return {name: None for name in SUBSETS if name in known or name == "all"}
    sizes = {"all": len(benchmark)}
    if benchmark.sealed:
        sizes |= told_groups(benchmark)
    else:
        sizes |= {name: int(mask.sum()) for name, mask in benchmark.subsets.items()}
    return {name: sizes[name] for name in SUBSETS if sizes.get(name)}

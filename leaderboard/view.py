"""A board filtered and sorted by a query, neither of which changes the ranks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from agl1k_core.scoring import Rank
from leaderboard.board import Board
from leaderboard.columns import COLUMN, SUBSETS
from leaderboard.query import KINDS, Query
from leaderboard.rows import Row

#: Kinds of rows that are on the board for comparison with models.
NO_MODELS = frozenset({"people", "baseline"})

SortKey = tuple[bool, float, str]


@dataclass(frozen=True, slots=True)
class Entry:
    """A row with its rank; if ``rank`` is None, ``why`` gives the reason."""

    row: Row
    rank: Rank | None = None
    why: str = ""


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


def make_view(board: Board, query: Query) -> View:
    """Apply a query to a board."""
    rows = board.rows()
    ranks = board.ranks(query.rank_by, query.subset)
    shown = [row for row in rows if matches(row, query)]
    entries = [
        Entry(row, ranks.get(row.row_id), "" if row.row_id in ranks else board.why_unranked(row))
        for row in shown
    ]
    return View(
        board=board,
        query=query,
        entries=tuple(arrange(entries, query)),
        n_hidden=len(rows) - len(shown),
        best=best_values(rows, query),
    )


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

    People and baselines do not count as models. If all are equal, none is best.
    """
    found: dict[tuple[bool, str], list[float]] = {}
    for row in (row for row in rows if row.kind not in NO_MODELS):
        for name in (name for name in query.columns if COLUMN[name].is_metric):
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
    sizes |= {name: int(mask.sum()) for name, mask in benchmark.subsets.items()}
    return {name: sizes[name] for name in SUBSETS if sizes.get(name)}

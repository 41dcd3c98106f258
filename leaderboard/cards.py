"""What a link to a row of a board looks like in chats and feeds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from urllib.parse import parse_qsl

from agl1k_core.scoring import Rank
from leaderboard.board import Board
from leaderboard.query import TAB, Query, from_mapping, to_text
from leaderboard.rows import Row
from ui.card import Card
from ui.names import isolated


def row_card(boards: Mapping[str, Board], given: Mapping[str, Sequence[str]]) -> Card | None:
    """The card of the row that an address names; None if there is no such row.

    ``boards`` are by slug, the default first.
    """
    asked = from_mapping({name: values[0] for name, values in given.items()})
    board = boards.get(asked.board or next(iter(boards)))
    row = board.row(asked.row) if board is not None and asked.row else None
    if board is None or row is None:
        return None
    rank = board.ranks(Query().rank_by, "all").get(row.row_id)
    told = ", ".join([*_rank_in_words(rank), *_values_in_words(row)])
    link = to_text(Query(board=asked.board, row=row.row_id))
    return Card(
        title=f"{isolated(row.model)} on the leaderboard of {board.name}",
        text=f"{told}. Models, people and baselines side by side.",
        kind=f"Leaderboard, {board.name}",
        headline=row.model,
        line=told,
        query=tuple(parse_qsl(link)),
    )


def is_of_board(given: Mapping[str, Sequence[str]]) -> bool:
    """Whether an address leads to a row of the leaderboard."""
    return "row" in given and given.get("tab", [TAB])[0] == TAB


def _rank_in_words(rank: Rank | None) -> list[str]:
    if rank is None:
        return []
    span = f" ({rank.best} to {rank.worst})" if rank.best != rank.worst else ""
    return [f"rank {rank.place}{span}"]


def _values_in_words(row: Row) -> list[str]:
    """The two metrics that most people ask for, with their intervals."""
    found = []
    for name, words in (("geoscore", "geoscore {}"), ("distance_km", "{} km off on average")):
        value, interval = row.value(name), row.interval(name)
        if math.isfinite(value):
            span = f" ({interval.low:,.0f} to {interval.high:,.0f})" if interval else ""
            found.append(words.format(f"{value:,.0f}{span}"))
    return found

"""The card of a row: its name, its rank and its two best known metrics."""

from __future__ import annotations

from leaderboard.board import Board
from leaderboard.cards import is_of_board, row_card
from tests.support.toy_board import add_model
from ui.card import Card


def card_of(own: Board, **query: str) -> Card | None:
    return row_card({own.slug: own}, {name: [value] for name, value in query.items()})


def test_a_row_tells_its_rank_and_metrics(board: Board) -> None:
    row_id = add_model(board, "Near", 1.0).submission.row_id
    add_model(board, "Far", 60.0)
    row = board.row(row_id)
    card = card_of(board, tab="leaderboard", row=row_id)
    assert row is not None
    assert card is not None
    assert card.title == f"Near on the leaderboard of {board.name}"
    assert card.headline == "Near"
    assert card.line.startswith("rank 1")
    assert f"geoscore {row.value('geoscore'):,.0f} (" in card.line
    assert f"{row.value('distance_km'):,.0f} (" in card.line
    assert card.line.endswith(" km off on average")
    assert card.query == (("tab", "leaderboard"), ("row", row_id))


def test_a_name_from_right_to_left_leaves_the_title_in_order(board: Board) -> None:
    row_id = add_model(board, "דגם 5", 1.0).submission.row_id
    card = card_of(board, row=row_id)
    assert card is not None
    assert card.title.startswith("\u2068דגם 5\u2069 on the leaderboard")
    assert card.headline == "דגם 5"


def test_a_row_without_a_rank_has_a_card(board: Board) -> None:
    card = card_of(board, row="baseline-random")
    assert card is not None
    assert card.line.startswith("geoscore")


def test_unknown_rows_and_boards_have_none(board: Board) -> None:
    assert card_of(board, row="nobody") is None
    assert card_of(board, row="baseline-random", board="elsewhere") is None
    assert card_of(board) is None


def test_which_addresses_lead_to_a_row() -> None:
    assert is_of_board({"row": ["x"]})
    assert is_of_board({"row": ["x"], "tab": ["leaderboard"]})
    assert not is_of_board({"row": ["x"], "tab": ["play"]})
    assert not is_of_board({"tab": ["leaderboard"]})

"""Whom players can play against: rows that answered enough clips, and none that is hidden."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agl1k_core.benchmarks import Benchmark
from leaderboard.board import PEOPLE_ID, Board
from leaderboard.submit import withdraw
from store.database import Database
from tests.support.toy_board import add_guesses, add_model, make_board
from tests.support.waiting import eventually

KEYS = [f"clip-{number:02d}" for number in range(40)]


def names(board: Board) -> list[str]:
    return [one.name for one in board.opponents(fresh=True) or ()]


def test_models_come_nearest_first_and_baselines_after_them(board: Board) -> None:
    add_model(board, "Far", 9.0)
    add_model(board, "Near", 0.1)
    found = names(board)
    assert found[:2] == ["Near", "Far"]
    assert {"Random point", "Median location"} <= {*found[2:]}


def test_a_row_needs_answers_on_half_of_the_clips_that_are_played(board: Board) -> None:
    add_model(board, "Half", first=20)
    add_model(board, "Less", first=19)
    add_model(board, "Refuses", refused=21)
    found = names(board)
    assert "Half" in found
    assert not {"Less", "Refuses"} & {*found}


def test_an_opponent_has_the_distances_of_its_answers(board: Board, toy: Benchmark) -> None:
    done = add_model(board, "Near", 0.5, refused=3)
    near = (board.opponents(fresh=True) or ())[0]
    scored = board.scored(done.submission.row_id)
    assert scored is not None
    table = scored.table.set_index("key")["distance_km"]
    assert {*near.distances_km} == {*KEYS[3:]}
    for key, distance_km in near.distances_km.items():
        assert distance_km == pytest.approx(table[key])


def test_people_are_the_median_of_those_who_answered_a_clip(board: Board) -> None:
    for player, degrees_off in (("a", 0.0), ("b", 1.0), ("c", 8.0)):
        add_guesses(board, player, KEYS[:25], degrees_off=degrees_off, tools="loop")
    add_guesses(board, "d", KEYS[20:30], degrees_off=1.0)
    board.warm()
    [people] = [one for one in board.opponents() or () if one.kind == "people"]
    assert people.row_id == PEOPLE_ID, "their part with tools is no opponent"
    assert {*people.distances_km} == {*KEYS[:25]}, "three answers to a clip at least"
    assert people.distances_km[KEYS[0]] == pytest.approx(111.2, abs=0.5)


@pytest.mark.parametrize("how", ["hide", "hold", "remove", "withdraw"])
def test_a_row_that_is_hidden_or_withdrawn_is_no_opponent(board: Board, how: str) -> None:
    done = add_model(board, "Secret", 0.1)
    assert names(board)[0] == "Secret"
    name = done.submission.submission_id
    if how == "withdraw":
        withdraw(board.submissions, name, done.withdraw_key)
    else:
        board.submissions.moderation.decide("submission", name, how, "test")  # type: ignore[arg-type]
    assert "Secret" not in names(board)


def test_a_guess_asks_without_the_database_and_learns_of_changes_soon(
    database: Database, board: Board, toy: Benchmark
) -> None:
    assert board.opponents() is None, "nothing is scored yet"
    board.warm()
    add_model(make_board(database, lambda: toy), "New", 1.0)
    eventually(lambda: "New" in [one.name for one in board.opponents() or ()])


def test_opponents_are_made_once_until_their_rows_change(board: Board) -> None:
    add_model(board, "Near", 0.1)
    before = (board.opponents(fresh=True) or ())[0]
    assert (board.opponents(fresh=True) or ())[0] is before
    add_model(board, "Far", 9.0)
    assert (board.opponents(fresh=True) or ())[0] is not before


def test_without_its_table_a_board_has_no_opponents(absent: Board) -> None:
    assert absent.opponents(fresh=True) is None


def test_a_sealed_benchmark_has_no_opponents(database: Database, toy: Benchmark) -> None:
    sealed = make_board(database, lambda: replace(toy, sealed=True))
    add_model(sealed, "Near", 0.1)
    sealed.warm()
    assert sealed.opponents(fresh=True) == sealed.opponents() == ()


def test_a_row_that_was_hidden_while_nobody_played_is_not_shown_once_more(
    database: Database, toy: Benchmark
) -> None:
    now = [0.0]
    board = make_board(database, lambda: toy, clock=lambda: now[0])
    done = add_model(board, "Secret", 0.1)
    assert "Secret" in names(board)
    board.submissions.moderation.decide("submission", done.submission.row_id, "hide", "test")
    now[0] += 60
    assert "Secret" not in [one.name for one in board.opponents() or ()]

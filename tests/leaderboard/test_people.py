from __future__ import annotations

import pytest

from agl1k_core.answers import Status
from agl1k_core.benchmarks import Benchmark
from leaderboard.board import PEOPLE_ID, Board
from leaderboard.people import people_note, people_predictions
from store.database import Database
from tests.support.toy_board import add_guesses, make_board

KEYS = [f"clip-{i:02d}" for i in range(12)]


def test_no_guesses_make_no_row(board: Board) -> None:
    assert board.row(PEOPLE_ID) is None


def test_what_players_did_becomes_predictions(board: Board) -> None:
    assert board.benchmark is not None
    add_guesses(board, "ann", ["clip-00", "clip-01"])
    add_guesses(board, "ann", ["clip-02"], action="skip")
    add_guesses(board, "ben", ["clip-00"], action="timeout")
    add_guesses(board, "ben", ["clip-03"], action="broken")
    read = people_predictions(board.guesses.table("toy"), board.benchmark)
    assert list(read.keys) == ["clip-00", "clip-01", "clip-02", "clip-00"]
    assert list(read.status) == [Status.ANSWERED, Status.ANSWERED, Status.REFUSED, Status.ANSWERED]
    assert read.clusters is not None
    assert list(read.clusters) == ["ann", "ann", "ann", "ben"]
    assert read.country[0] == "France"
    assert read.country[2] == ""


def test_only_the_first_guess_at_a_clip_counts(board: Board) -> None:
    assert board.benchmark is not None
    add_guesses(board, "ann", ["clip-00"], degrees_off=10)
    add_guesses(board, "ann", ["clip-00"], degrees_off=0)
    row = board.row(PEOPLE_ID)
    assert row is not None
    assert row.n_guesses == 1
    assert row.value("distance_km") > 1000
    note = people_note(board.guesses.table("toy"), board.benchmark)
    assert note.startswith("1 guess by 1 player on 1 clip. 1 more do not count")


def test_guesses_at_another_table_do_not_count(board: Board) -> None:
    add_guesses(board, "ann", ["clip-00"], benchmark_hash="of another table")
    assert board.row(PEOPLE_ID) is None


def test_people_are_scored_as_models_are(board: Board) -> None:
    add_guesses(board, "ann", KEYS)
    add_guesses(board, "ben", KEYS[:3], action="skip")
    for name in ("cem", "dan", "eve"):
        add_guesses(board, name, KEYS[:1])
    row = board.row(PEOPLE_ID)
    assert row is not None
    assert row.n_guesses == 18
    assert row.value("distance_km") == pytest.approx(3 / 18 * 10_000, abs=1e-6)
    assert row.value("reject_rate") == pytest.approx(3 / 18)
    assert row.value("country_accuracy") == pytest.approx(15 / 18)
    assert row.coverage == pytest.approx(12 / 40)
    assert row.interval("distance_km") is not None
    assert "interval" not in row.note


def test_a_few_players_have_no_interval_and_the_reason(board: Board) -> None:
    add_guesses(board, "ann", KEYS)
    row = board.row(PEOPLE_ID)
    assert row is not None
    assert row.interval("distance_km") is None
    assert "Intervals need 5 players" in row.note


def test_new_guesses_are_scored_but_not_all_the_time(database: Database, toy: Benchmark) -> None:
    now = [0.0]

    def slow_clock() -> float:
        now[0] += 1.0
        return now[0]

    board = make_board(database, lambda: toy, clock=slow_clock)
    add_guesses(board, "ann", KEYS[:1])
    assert _n_guesses(board) == 1
    add_guesses(board, "ann", KEYS[1:2])
    assert _n_guesses(board) == 1  # scoring took a second, so it rests for twenty
    now[0] += 30
    assert _n_guesses(board) == 2


def _n_guesses(board: Board) -> int:
    row = board.row(PEOPLE_ID)
    return row.n_guesses if row else 0

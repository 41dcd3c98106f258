from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from agl1k_core.answers import Status
from agl1k_core.benchmarks import Benchmark
from leaderboard.board import PEOPLE_ID, Board
from leaderboard.compare import compare
from leaderboard.people import MOST_PER_PLAYER, counted_guesses, people_note, people_predictions
from leaderboard.query import Query
from leaderboard.rows import Row
from leaderboard.view import make_view
from store.database import Database
from tests.support.toy_board import add_guesses, make_benchmark, make_board

KEYS = [f"clip-{i:02d}" for i in range(12)]


def test_no_guesses_make_no_row(board: Board) -> None:
    assert board.row(PEOPLE_ID) is None


def test_what_players_did_becomes_predictions(board: Board) -> None:
    assert board.benchmark is not None
    add_guesses(board, "ann", KEYS[:5])
    add_guesses(board, "ann", ["clip-05"], action="skip")
    add_guesses(board, "ben", KEYS[5:10], action="timeout")
    add_guesses(board, "ben", ["clip-10"], action="broken")
    read = people_predictions(board.guesses.table("toy"), board.benchmark)
    assert list(read.keys) == [*KEYS[:6], *KEYS[5:10]]
    assert list(read.status) == [*[Status.ANSWERED] * 5, Status.REFUSED, *[Status.ANSWERED] * 5]
    assert read.clusters is not None
    assert list(read.clusters) == ["ann"] * 6 + ["ben"] * 5
    assert read.country[0] == "France"
    assert read.country[5] == ""


def test_only_the_first_guess_at_a_clip_counts(board: Board) -> None:
    assert board.benchmark is not None
    add_guesses(board, "ann", KEYS[:5], degrees_off=10)
    add_guesses(board, "ann", KEYS[:5], degrees_off=0)
    row = board.row(PEOPLE_ID)
    assert row is not None
    assert row.n_guesses == 5
    assert row.value("distance_km") > 1000
    note = people_note(board.guesses.table("toy"), board.benchmark)
    assert note.startswith("5 guesses by 1 player on 5 clips. Counted: ")
    assert "5 other answers do not count." in note


def test_clips_whose_continent_the_player_chose_do_not_count(board: Board) -> None:
    """Nor does a later answer to them, since their places are known then."""
    assert board.benchmark is not None
    add_guesses(board, "ann", KEYS[:5], continent="Europe")
    assert counted_guesses(board.guesses.table("toy"), board.benchmark).empty
    add_guesses(board, "ann", KEYS[:10])
    counted = counted_guesses(board.guesses.table("toy"), board.benchmark)
    assert counted["clip_key"].tolist() == KEYS[5:10]


@pytest.mark.parametrize("action", ["broken", "skip", "timeout", "guess"])
def test_a_guess_after_the_first_sight_never_counts(board: Board, action: str) -> None:
    add_guesses(board, "ann", KEYS[:5], action=action, degrees_off=10)
    add_guesses(board, "ann", KEYS[:6])
    assert board.benchmark is not None
    read = people_predictions(board.guesses.table("toy"), board.benchmark)
    right = [
        key for key, lat in zip(read.keys, read.lat, strict=True) if _is_right(board, key, lat)
    ]
    assert right == ["clip-05"]


def _is_right(board: Board, key: str, lat: float) -> bool:
    assert board.benchmark is not None
    return bool(lat == board.benchmark.clip(key).lat)


def test_a_clip_met_in_another_table_or_benchmark_does_not_count(board: Board) -> None:
    add_guesses(board, "ann", KEYS[:2], benchmark_hash="of another table")
    add_guesses(board, "ann", KEYS[2:4], benchmark="other")
    add_guesses(board, "ben", KEYS[:1], benchmark="other")
    add_guesses(board, "ann", KEYS[:7])
    add_guesses(board, "ann", KEYS[6:7], benchmark="other")
    assert board.benchmark is not None
    read = people_predictions(board.guesses.table("toy"), board.benchmark)
    assert list(read.keys) == KEYS[4:7]


def test_a_player_counts_from_a_full_round_on(board: Board) -> None:
    for key in KEYS[:6]:  # rounds that were left after a clip
        add_guesses(board, "ann", [key])
    assert board.benchmark is not None
    assert counted_guesses(board.guesses.table("toy"), board.benchmark).empty
    assert "0 guesses by 0 players" in people_note(board.guesses.table("toy"), board.benchmark)
    add_guesses(board, "ann", KEYS[6:11])
    assert len(counted_guesses(board.guesses.table("toy"), board.benchmark)) == 11


def test_rounds_too_fast_to_listen_are_left_out(board: Board) -> None:
    for number in range(20):
        add_guesses(board, f"bot{number}", KEYS[:5], seconds=0.3)
        add_guesses(board, f"deaf{number}", KEYS[:5], seconds=None)
    add_guesses(board, "ann", KEYS[:5], degrees_off=10)
    assert _n_guesses(board) == 5


def test_clips_that_were_not_loaded_are_left_out(board: Board) -> None:
    assert board.benchmark is not None
    add_guesses(board, "ann", KEYS[:5], degrees_off=10)
    add_guesses(board, "ann", KEYS[5:6], seconds=None)
    add_guesses(board, "ann", KEYS[5:7])
    counted = counted_guesses(board.guesses.table("toy"), board.benchmark)
    assert list(counted["clip_key"]) == [*KEYS[:5], KEYS[6]], "its place was seen"


def test_the_weight_of_a_player_is_bounded() -> None:
    benchmark = make_benchmark(150)
    with Database("sqlite://") as database:
        board = make_board(database, lambda: benchmark)
        every = [clip.key for clip in benchmark.clips]
        add_guesses(board, "ann", every, degrees_off=10)
        add_guesses(board, "ben", every[:5])
        read = people_predictions(board.guesses.table("toy"), benchmark)
    assert read.clusters is not None
    assert Counter(read.clusters) == {"ann": MOST_PER_PLAYER, "ben": 5}
    assert list(read.keys[:MOST_PER_PLAYER]) == every[:MOST_PER_PLAYER]


def test_guesses_at_another_table_do_not_count(board: Board) -> None:
    add_guesses(board, "ann", KEYS[:5], benchmark_hash="of another table")
    assert board.row(PEOPLE_ID) is None


def test_people_are_scored_as_models_are(board: Board) -> None:
    add_guesses(board, "ann", KEYS)
    add_guesses(board, "ben", KEYS[:5], action="skip")
    for name in ("cem", "dan", "eve"):
        add_guesses(board, name, KEYS[:5])
    row = board.row(PEOPLE_ID)
    assert row is not None
    assert row.n_guesses == 32
    assert row.value("distance_km") == pytest.approx(5 / 32 * 10_000, abs=1e-6)
    assert row.value("reject_rate") == pytest.approx(5 / 32)
    assert row.value("country_accuracy") == pytest.approx(27 / 32)
    assert row.coverage == pytest.approx(12 / 40)
    assert row.interval("distance_km") is not None
    assert "Intervals" not in row.note


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
    add_guesses(board, "ann", KEYS[:5])
    assert _n_guesses(board) == 5
    add_guesses(board, "ann", KEYS[5:6])
    assert _n_guesses(board) == 5  # scoring took a second, so it rests for twenty
    now[0] += 30
    assert _n_guesses(board) == 6


def _n_guesses(board: Board) -> int:
    row = board.row(PEOPLE_ID)
    return row.n_guesses if row else 0


def add_tool_users(board: Board) -> None:
    """Six players: near without tools, far with them; two old ones said nothing."""
    for number in range(6):
        add_guesses(board, f"bare{number}", KEYS[:6], degrees_off=0.1, tools="")
        add_guesses(board, f"aided{number}", KEYS[:6], degrees_off=9, tools="loop,slow")
    for number in range(2):
        add_guesses(board, f"old{number}", KEYS[:6], degrees_off=30)


def test_people_with_and_without_tools_are_rows_on_request(board: Board) -> None:
    add_tool_users(board)
    assert [row for row in shown(board, Query()) if row != "People"] == []
    rows = shown(board, Query(tools=True))
    assert {name: row.n_guesses for name, row in rows.items()} == {
        "People": 84,
        "People with tools": 36,
        "People without tools": 36,
    }
    near, far = rows["People without tools"], rows["People with tools"]
    assert near.value("distance_km") == pytest.approx(11, abs=2)
    assert far.value("distance_km") == pytest.approx(1000, abs=10)
    for row in rows.values():
        assert row.interval("distance_km") is not None
    assert "Tools for listening closely: 36 with, 36 without, 12 not known." in rows["People"].note
    assert near.note.startswith("36 guesses by 6 players on 6 clips. In none was a tool")


def shown(board: Board, query: Query) -> dict[str, Row]:
    found = make_view(board, replace(query, kinds=("people",))).entries
    return {entry.row.model: entry.row for entry in found}


def test_old_guesses_make_the_row_of_all_people_alone(board: Board) -> None:
    for name in ("ann", "ben", "cem", "dan", "eve"):
        add_guesses(board, name, KEYS[:5])
    assert list(shown(board, Query(tools=True))) == ["People"]


def test_tools_change_no_rank_and_count_by_the_same_rules(board: Board) -> None:
    add_guesses(board, "ann", KEYS[:6], tools="")
    add_guesses(board, "ann", KEYS[:6], tools="loop")  # no first sight
    for number in range(5):
        add_guesses(board, f"bot{number}", KEYS[:5], seconds=0.3, tools="band")
    assert list(shown(board, Query(tools=True))) == ["People", "People without tools"]
    whole, split = (make_view(board, Query(tools=tools)) for tools in (False, True))
    ranks = {entry.row.row_id: entry.rank for entry in split.entries}
    assert {entry.row.row_id: entry.rank for entry in whole.entries}.items() <= ranks.items()


def test_people_with_and_without_tools_can_be_compared(board: Board) -> None:
    add_tool_users(board)
    found = compare(board, "people-with-tools", "people-without-tools")
    assert found.n_common == 6

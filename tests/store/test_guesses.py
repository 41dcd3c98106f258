from __future__ import annotations

import dataclasses
import threading
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from functools import partial
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import update

from agl1k_core.errors import Agl1kError
from store.database import Database
from store.guesses import Counts, Guess, GuessStore, Round
from store.schema import rounds

NOW = datetime.fromisoformat("2026-03-01T12:30:15.123456+00:00")
In = TypeVar("In")
Out = TypeVar("Out")
MakeGuess = Callable[..., Guess]
MakeRound = Callable[..., Round]


@pytest.fixture
def store(database: Database) -> GuessStore:
    return GuessStore(database)


def at_once(call: Callable[[In], Out], arguments: list[In]) -> list[Out]:
    """Call with each argument in a thread of its own, all started at the same moment."""
    gate = threading.Barrier(len(arguments))

    def run(argument: In) -> Out:
        gate.wait()
        return call(argument)

    with ThreadPoolExecutor(len(arguments)) as pool:
        return list(pool.map(run, arguments))


def test_an_empty_store(store: GuessStore) -> None:
    assert store.round("none") is None
    assert store.of_round("none") == []
    assert store.of_benchmark("none") == []
    assert len(store.table("none")) == 0
    assert store.daily_rounds("none", "demo") == []
    assert store.seen_clips("none", "demo") == []
    assert store.latest_round("none") is None
    assert store.counts("none") == Counts(0, 0, 0, 0, 0)
    assert store.advance("none", 0) is False


def test_a_round_is_read_back_unchanged(store: GuessStore, make_round: MakeRound) -> None:
    for new in (
        make_round(),
        make_round(timer_s=None, filters={}, clip_keys=(), mode="challenge", label="x/y z"),
        make_round(clip_started_utc=NOW, position=4),
    ):
        assert store.add_round(new) == new
        assert store.round(new.round_id) == new


def test_times_are_read_back_in_utc(store: GuessStore, make_round: MakeRound) -> None:
    in_suva = NOW.astimezone(timezone(timedelta(hours=12)))
    store.add_round(make_round(round_id="r", created_utc=in_suva))
    stored = store.round("r")
    assert stored is not None
    assert stored.created_utc == NOW
    assert stored.created_utc.utcoffset() == timedelta(0)


def test_a_time_without_a_zone_is_refused(store: GuessStore, make_round: MakeRound) -> None:
    with pytest.raises(Exception, match="no time zone"):
        store.add_round(make_round(created_utc=NOW.replace(tzinfo=None)))


def test_adding_a_round_again_changes_nothing(store: GuessStore, make_round: MakeRound) -> None:
    first = store.add_round(make_round(round_id="r"))
    assert store.add_round(make_round(round_id="r", player_id="thief")) == first
    assert store.round("r") == first


def test_one_daily_round_a_day(store: GuessStore, make_round: MakeRound) -> None:
    tries = [make_round(mode="daily", label="2026-03-01") for _ in range(6)]
    stand = at_once(store.add_round, tries)
    assert len({standing.round_id for standing in stand}) == 1
    others = [
        make_round(mode="daily", label="2026-03-02"),
        make_round(mode="daily", label="2026-03-01", player_id="player-2"),
        make_round(mode="daily", label="2026-03-01", benchmark_hash="hash-2"),
    ]
    assert [store.add_round(new) for new in others] == others
    labels = [daily.label for daily, _ in store.daily_rounds("player-1", "demo")]
    assert labels == ["2026-03-01", "2026-03-01", "2026-03-02"]
    free = [make_round(), make_round()]
    assert [store.add_round(new) for new in free] == free


def test_the_first_start_of_a_clip_is_kept(store: GuessStore, make_round: MakeRound) -> None:
    store.add_round(make_round(round_id="r"))
    assert store.start_clip("r", 0, NOW) == NOW
    assert store.start_clip("r", 0, NOW + timedelta(seconds=30)) == NOW
    assert store.advance("r", 0)
    later = NOW + timedelta(seconds=60)
    assert store.start_clip("r", 1, later) == later


@pytest.mark.parametrize("position", [0, 2, 99])
def test_a_clip_out_of_turn_is_not_started(
    store: GuessStore, make_round: MakeRound, position: int
) -> None:
    store.add_round(make_round(round_id="r", position=1))
    with pytest.raises(Agl1kError, match=r"is at clip 2, not .*Reload"):
        store.start_clip("r", position, NOW)
    stored = store.round("r")
    assert stored is not None
    assert stored.clip_started_utc is None


def test_an_unknown_round_is_refused(store: GuessStore) -> None:
    with pytest.raises(Agl1kError, match="unknown here"):
        store.start_clip("none", 0, NOW)
    with pytest.raises(Agl1kError, match="unknown here"):
        store.replace_clip("none", 0, "z")


def test_one_of_many_advances(store: GuessStore, make_round: MakeRound) -> None:
    store.add_round(make_round(round_id="r"))
    for position in range(3):
        moved = at_once(partial(store.advance, "r"), [position] * 12)
        assert sum(moved) == 1
        stored = store.round("r")
        assert stored is not None
        assert stored.position == position + 1
    assert not store.advance("r", 0)


def test_a_clip_is_replaced(store: GuessStore, make_round: MakeRound) -> None:
    store.add_round(make_round(round_id="r"))
    store.start_clip("r", 0, NOW)
    stands = store.replace_clip("r", 0, "z")
    assert stands.clip_keys == ("z", "b", "c", "d", "e")
    assert stands.clip_started_utc is None, "the new clip starts afresh"
    assert store.round("r") == stands
    store.start_clip("r", 0, NOW)
    assert store.replace_clip("r", 3, "y").clip_started_utc == NOW


def test_two_replacements_of_one_clip_agree(store: GuessStore, make_round: MakeRound) -> None:
    store.add_round(make_round(round_id="r"))
    keys = [f"new-{number}" for number in range(8)]
    stand = at_once(lambda key: store.replace_clip("r", 1, key, instead_of="b"), keys)
    assert len({standing.clip_keys for standing in stand}) == 1


def test_an_answered_clip_is_not_replaced(
    store: GuessStore, make_round: MakeRound, make_guess: MakeGuess
) -> None:
    stands = store.add_round(make_round(round_id="round-1"))
    store.record(make_guess(position=0, clip_key="a"))
    assert store.replace_clip("round-1", 0, "z") == stands


@pytest.mark.parametrize("position", [-1, 5])
def test_no_clip_outside_the_round(store: GuessStore, make_round: MakeRound, position: int) -> None:
    store.add_round(make_round(round_id="r"))
    with pytest.raises(Agl1kError, match="has no clip"):
        store.replace_clip("r", position, "z")


def test_a_guess_is_read_back_unchanged(store: GuessStore, make_guess: MakeGuess) -> None:
    nothing = dict.fromkeys(("latitude", "longitude", "distance_km", "score", "seconds"))
    answers = [
        make_guess(position=0),
        make_guess(position=1, action="skip", **nothing),
        make_guess(position=2, action="broken", **nothing),
        make_guess(position=3, action="timeout", mode="daily", **nothing),
        make_guess(position=4, latitude=-90.0, longitude=180.0, score=0.0, nickname=""),
    ]
    for answer in reversed(answers):
        assert store.record(answer) == answer
    assert store.of_round("round-1") == answers
    assert store.of_benchmark("demo") == answers[::-1]
    assert store.counts("demo") == Counts(2, 1, 1, 1, players=1)


def test_rounds_with_their_answers(
    store: GuessStore, make_round: MakeRound, make_guess: MakeGuess
) -> None:
    made = [
        store.add_round(make_round(round_id=name, mode="daily", label=f"2026-03-0{day}"))
        for day, name in enumerate("abc", 1)
    ]
    stored = [
        store.record(make_guess(round_id=name, position=position))
        for name, position in (("a", 1), ("b", 0), ("a", 0), ("other", 0))
    ]
    expected = [(made[0], [stored[2], stored[0]]), (made[1], [stored[1]]), (made[2], [])]
    assert store.daily_rounds("player-1", "demo") == expected
    assert [store.open_round(name) for name in "abc"] == expected
    assert store.open_round("other") is None
    assert store.daily_rounds("player-1", "another") == []


def test_the_table_has_numbers_and_times(store: GuessStore, make_guess: MakeGuess) -> None:
    store.record(make_guess(position=0, latitude=None, longitude=None, action="skip"))
    store.record(make_guess(position=1))
    table = store.table("demo")
    assert list(table.columns) == [
        *(field.name for field in dataclasses.fields(Guess)),
        "met_elsewhere",
        "continent_chosen",
    ]
    assert table["latitude"].dtype == "float64"
    assert table["latitude"].isna().tolist() == [True, False]
    assert table["created_utc"].tolist() == [NOW, NOW]


def test_the_table_says_whose_continent_was_known(
    store: GuessStore, make_round: MakeRound, make_guess: MakeGuess
) -> None:
    for number, filters in enumerate([{"continent": "Asia"}, {"continent": ""}, {}]):
        store.add_round(make_round(round_id=f"round-{number}", filters=filters))
    for number in range(4):  # the last one's round is not known here
        store.record(make_guess(round_id=f"round-{number}"))
    assert store.table("demo")["continent_chosen"].tolist() == [True, False, False, False]


def test_a_table_without_points_is_still_of_numbers(
    store: GuessStore, make_guess: MakeGuess
) -> None:
    store.record(make_guess(latitude=None, longitude=None, distance_km=None, score=None))
    assert store.table("demo")["latitude"].dtype == "float64"
    assert store.table("empty")["latitude"].dtype == "float64"


def test_seen_clips_are_those_of_player_and_benchmark(
    store: GuessStore, make_guess: MakeGuess
) -> None:
    store.record(make_guess(position=0, clip_key="a"))
    store.record(make_guess(position=1, clip_key="b", action="skip"))
    store.record(make_guess(position=2, clip_key="c", benchmark="other"))
    store.record(make_guess(position=3, clip_key="d", player_id="player-2"))
    assert store.seen_clips("player-1", "demo") == ["a", "b"]
    store.record(make_guess(round_id="round-2", clip_key="a"))
    assert store.seen_clips("player-1", "demo") == ["b", "a"], "longest ago first"
    assert store.counts("demo").players == 2


def test_the_latest_round_of_a_player(store: GuessStore, make_round: MakeRound) -> None:
    store.add_round(make_round(created_utc=NOW - timedelta(days=1)))
    latest = store.add_round(make_round(created_utc=NOW))
    store.add_round(make_round(created_utc=NOW + timedelta(days=1), player_id="player-2"))
    assert store.latest_round("player-1") == latest


def test_a_repeated_guess_id_changes_nothing(store: GuessStore, make_guess: MakeGuess) -> None:
    first = store.record(make_guess(guess_id="g"))
    assert store.record(make_guess(guess_id="g", latitude=1.0, position=3)) == first
    assert store.of_benchmark("demo") == [first]


def test_a_second_guess_for_a_clip_changes_nothing(
    store: GuessStore, make_guess: MakeGuess
) -> None:
    first = store.record(make_guess(guess_id="g"))
    assert store.record(make_guess(guess_id="h", latitude=1.0)) == first
    assert store.of_benchmark("demo") == [first]


def test_many_guesses_for_one_clip_leave_one_row(store: GuessStore, make_guess: MakeGuess) -> None:
    for position in range(5):
        tries = [make_guess(position=position, score=float(n)) for n in range(12)]
        stand = at_once(store.record, tries)
        assert len(set(stand)) == 1
        assert stand[0] in tries
    assert len(store.of_round("round-1")) == 5


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    calls=st.lists(
        st.tuples(st.sampled_from("abcd"), st.sampled_from("rs"), st.integers(0, 2)), max_size=12
    )
)
def test_the_first_guess_is_kept(
    store: GuessStore, make_guess: MakeGuess, calls: list[tuple[str, str, int]]
) -> None:
    example = uuid.uuid4().hex  # every example has its own rounds and ids
    by_id: dict[str, Guess] = {}
    by_place: dict[tuple[str, int], Guess] = {}
    for number, (guess_id, round_id, position) in enumerate(calls):
        guess = make_guess(
            guess_id=example + guess_id,
            round_id=example + round_id,
            position=position,
            score=float(number),
        )
        place = (guess.round_id, position)
        expected = by_id.get(guess.guess_id) or by_place.get(place) or guess
        assert store.record(guess) == expected
        if expected is guess:
            by_id[guess.guess_id] = by_place[place] = guess
    for name in "rs":
        stored = store.of_round(example + name)
        expected_rows = [by_place[p] for p in sorted(by_place) if p[0] == example + name]
        assert stored == expected_rows


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("action", "cheat"),
        ("latitude", 90.01),
        ("longitude", -180.5),
    ],
)
def test_an_impossible_guess_is_refused_without_quoting_it(
    store: GuessStore, make_guess: MakeGuess, field: str, value: object
) -> None:
    with pytest.raises(ValueError, match=f"ck_guesses_{field}") as refused:
        store.record(make_guess(**{field: value}, nickname="a private name"))
    assert "private" not in str(refused.value)
    assert store.of_benchmark("demo") == []


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("a\0b", "a\ufffdb"),
        ("a\ud83db", "a\ufffd\ufffd\ufffdb"),
        ("Ł🌍", "Ł🌍"),
        ("'; DROP TABLE guesses; --", "'; DROP TABLE guesses; --"),
        ("x" * 100_000, "x" * 100_000),
    ],
)
def test_any_text_can_be_stored(
    store: GuessStore, make_guess: MakeGuess, given: str, kept: str
) -> None:
    store.record(make_guess(nickname=given))
    assert [guess.nickname for guess in store.of_benchmark("demo")] == [kept]


def test_a_clock_set_back_brings_no_older_round_forward(
    database: Database, make_round: Callable[..., Round]
) -> None:
    store = GuessStore(database)
    times = [NOW, NOW - timedelta(days=3), NOW - timedelta(days=3), NOW - timedelta(hours=1)]
    for moment in times:
        started = store.add_round(make_round(created_utc=moment))
        other = store.add_round(make_round(player_id="player-2", created_utc=NOW))
        assert store.latest_round("player-1") == started
        assert store.latest_round("player-2") == other
    assert started.created_utc == times[-1]


def test_rounds_from_before_they_were_counted_are_older(
    database: Database, make_round: Callable[..., Round]
) -> None:
    store = GuessStore(database)
    old = [store.add_round(make_round(created_utc=NOW + timedelta(days=day))) for day in (1, 2)]
    with database.write() as connection:
        connection.execute(update(rounds).values(turn=0))
    assert store.latest_round("player-1") == old[1]
    new = store.add_round(make_round(created_utc=NOW))
    assert store.latest_round("player-1") == new


def test_a_clock_set_back_makes_no_second_answer_the_first(
    database: Database, make_guess: Callable[..., Guess]
) -> None:
    store = GuessStore(database)
    first = store.record(make_guess(position=0, clip_key="clip-1"))
    back = NOW - timedelta(days=1)
    store.record(make_guess(position=1, clip_key="clip-1", created_utc=back))
    store.record(make_guess(position=2, clip_key="clip-2", created_utc=back))
    other = store.record(make_guess(round_id="r2", player_id="player-2", created_utc=back))
    stored = store.of_benchmark("demo")
    assert [guess.position for guess in stored if guess.player_id == "player-1"] == [0, 1, 2]
    assert stored[0] == other
    assert stored[1] == first
    assert store.seen_clips("player-1", "demo") == ["clip-1", "clip-2"]
    later = store.record(make_guess(position=3, created_utc=NOW + timedelta(seconds=1)))
    assert store.of_benchmark("demo")[-1] == later

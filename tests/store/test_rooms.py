"""Rooms and seats on both engines."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from store.database import Database
from store.guesses import Guess, GuessStore
from store.hub.forget import forget
from store.rooms import MOST_SEATS, Room, RoomError, RoomStore, Seat

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
ROOM = Room("ABC123", "host", "demo", 30, 1, ("a", "b"), NOW, NOW + timedelta(hours=24))


def seat(player: str, name: str = "", game: int = 1, code: str = "ABC123") -> Seat:
    return Seat(code, game, player, name or player.title(), f"round-{player}-{game}", NOW)


@pytest.fixture
def store(database: Database) -> RoomStore:
    found = RoomStore(database)
    assert found.open(ROOM, seat("host"))
    return found


def test_a_room_is_kept_with_its_host(store: RoomStore) -> None:
    assert store.room("ABC123") == ROOM
    assert store.room("ABC124") is None
    assert store.seat("ABC123", "host") == seat("host")
    assert store.seat("ABC123", "anna") is None


def test_a_code_is_given_once(store: RoomStore) -> None:
    assert not store.open(replace(ROOM, opener_id="other"), seat("other"))
    assert store.room("ABC123") == ROOM
    assert store.seat("ABC123", "other") is None


def test_joining_twice_gives_one_seat_and_keeps_the_name(store: RoomStore) -> None:
    assert store.join(seat("anna")) == seat("anna")
    assert store.join(seat("anna", "Other")) == seat("anna")
    found = store.standings("ABC123", 1)
    assert found is not None
    assert [one.seat.nickname for one in found[1]] == ["Anna", "Host"]


@pytest.mark.parametrize("name", ["Host", "HOST", "host"])
def test_two_people_in_a_room_have_two_names(store: RoomStore, name: str) -> None:
    with pytest.raises(RoomError, match="somebody called"):
        store.join(seat("anna", name))


def test_a_room_is_bounded_even_if_all_come_at_once(store: RoomStore) -> None:
    def come(number: int) -> bool:
        try:
            store.join(seat(f"player{number}"))
        except RoomError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        came = [*pool.map(come, range(MOST_SEATS + 5))]
    assert sum(came) == MOST_SEATS - 1
    with pytest.raises(RoomError, match="full"):
        store.join(seat("late"))


def test_the_next_round_is_begun_once(store: RoomStore) -> None:
    later = replace(ROOM, game=2, clip_keys=("c", "d"), expires_utc=NOW + timedelta(hours=30))
    assert store.next_game(later, seat("host", game=2))
    assert not store.next_game(later, seat("host", game=2))
    assert store.room("ABC123") == later
    with pytest.raises(RoomError, match="new round has begun"):
        store.join(seat("anna"))
    assert store.join(seat("anna", game=2)) == seat("anna", game=2)
    assert store.seat("ABC123", "host") == seat("host", game=2)


def test_standings_have_the_answers_of_the_round(
    store: RoomStore, database: Database, make_guess: Callable[..., Guess]
) -> None:
    store.join(seat("anna"))
    guesses = GuessStore(database)
    for position, action, score in ((0, "guess", 4000.5), (1, "skip", 0.0)):
        guesses.record(
            make_guess(
                guess_id=f"id{position}", round_id="round-anna-1", player_id="anna",
                position=position, action=action, score=score,
            )
        )  # fmt: skip
    guesses.record(make_guess(guess_id="other", round_id="elsewhere", player_id="anna"))
    found = store.standings("ABC123", 1)
    assert found is not None
    answers = {one.seat.player_id: one.answers for one in found[1]}
    assert answers == {"host": {}, "anna": {0: ("guess", 4000.5), 1: ("skip", 0.0)}}
    assert store.standings("NOROOM", 1) is None


def test_expired_rooms_are_deleted_when_another_one_opens(store: RoomStore) -> None:
    later = NOW + timedelta(hours=24, seconds=1)
    newer = replace(ROOM, code="NEW234", created_utc=later, expires_utc=later + timedelta(hours=24))
    assert store.open(newer, seat("host", code="NEW234"))
    assert store.room("ABC123") is None
    assert store.seat("ABC123", "host") is None
    assert store.room("NEW234") == newer


def test_a_name_that_is_hidden_cannot_join_and_is_no_longer_shown(database: Database) -> None:
    hidden: set[str] = set()
    store = RoomStore(database, hidden.__contains__)
    store.open(ROOM, seat("host", "Rude"))
    hidden.add("Rude")
    with pytest.raises(RoomError, match="cannot be used"):
        store.join(seat("anna", "Rude"))
    found = store.standings("ABC123", 1)
    assert found is not None
    assert [one.seat.nickname for one in found[1]] == [""]


def test_a_name_that_is_deleted_is_deleted_in_rooms_too(
    store: RoomStore, database: Database
) -> None:
    GuessStore(database).drop_nickname("Host")
    found = store.seat("ABC123", "host")
    assert found is not None
    assert found.nickname == ""


def test_a_player_who_is_forgotten_is_in_no_room(store: RoomStore, database: Database) -> None:
    store.join(seat("anna"))
    forget(database, None, "host")
    assert store.seat("ABC123", "host") is None
    room = store.room("ABC123")
    assert room is not None
    assert room.opener_id == ""
    assert store.seat("ABC123", "anna") == seat("anna")

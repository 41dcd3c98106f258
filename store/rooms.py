"""Rooms: people who play the same clips at the same time, one round after another."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime

from sqlalchemy import Connection, bindparam, delete, select, update

from agl1k_core.errors import Agl1kError
from store.database import Database
from store.guesses import Action
from store.schema import guesses, room_seats, rooms

#: How many people can play in a room.
MOST_SEATS = 100


class RoomError(Agl1kError):
    """Somebody cannot sit down in a room."""


@dataclass(frozen=True, slots=True)
class Room:
    """A room: ``game`` counts its rounds from 1, ``clip_keys`` are the clips of the latest one.

    ``opener_id`` is the player who opened it.
    """

    code: str
    opener_id: str
    benchmark: str
    timer_s: int | None
    game: int
    clip_keys: tuple[str, ...]
    created_utc: datetime
    expires_utc: datetime


@dataclass(frozen=True, slots=True)
class Seat:
    """A player in one round of a room, which is the round ``round_id`` of that player."""

    code: str
    game: int
    player_id: str
    nickname: str
    round_id: str
    joined_utc: datetime


@dataclass(frozen=True, slots=True)
class Seated:
    """A seat, and the player's answers so far: action and score by position."""

    seat: Seat
    answers: Mapping[int, tuple[Action, float | None]] = field(default_factory=dict)


_ROOM_COLUMNS = [rooms.c[field.name] for field in fields(Room)]
_SEAT_COLUMNS = [room_seats.c[field.name] for field in fields(Seat)]
_N_SEAT_COLUMNS = len(_SEAT_COLUMNS)
_ROOM = select(*_ROOM_COLUMNS).where(rooms.c.code == bindparam("wanted"))
_SEATS = (
    select(*_SEAT_COLUMNS, guesses.c.position, guesses.c.action, guesses.c.score)
    .select_from(room_seats.outerjoin(guesses, guesses.c.round_id == room_seats.c.round_id))
    .where(room_seats.c.code == bindparam("wanted"), room_seats.c.game == bindparam("at"))
    .order_by(room_seats.c.joined_utc, room_seats.c.player_id, guesses.c.position)
)
_OWN_SEAT = (
    select(*_SEAT_COLUMNS)
    .where(room_seats.c.code == bindparam("wanted"), room_seats.c.player_id == bindparam("whose"))
    .order_by(room_seats.c.game.desc())
    .limit(1)
)


class RoomStore:
    """Rooms and their seats in a ``Database``; safe to use from any thread.

    ``is_hidden`` says whether an operator has hidden a nickname.
    """

    def __init__(
        self, database: Database, is_hidden: Callable[[str], bool] = lambda nickname: False
    ) -> None:
        self._database = database
        self._new_room = database.new_row(rooms)
        self._is_hidden = is_hidden

    def open(self, room: Room, seat: Seat) -> bool:
        """Store a new room and its host's seat; False if there is a room with this code.

        Rooms that have expired are deleted.
        """
        with self._database.write() as connection:
            _sweep(connection, room.created_utc)
            if connection.execute(self._new_room, _values(room)).rowcount != 1:
                return False
            self._sit_down(connection, seat, ())
            return True

    def room(self, code: str) -> Room | None:
        """The room with this code, or None."""
        with self._database.read() as connection:
            return _one_room(connection, code)

    def seat(self, code: str, player_id: str) -> Seat | None:
        """A player's seat in the latest round of a room that they joined, or None."""
        with self._database.read() as connection:
            row = connection.execute(_OWN_SEAT, {"wanted": code, "whose": player_id}).one_or_none()
            return None if row is None else Seat(*row)

    def join(self, seat: Seat) -> Seat:
        """Store a seat in the latest round of its room, or return the player's older one.

        Raises ``RoomError`` if the room is full, the name is taken or hidden, or another round
        has begun.
        """
        with self._database.write() as connection:
            room = _one_room(connection, seat.code, lock=True)
            if room is None or room.game != seat.game:
                raise RoomError("A new round has begun in this room. Join again.")
            taken = _seats(connection, seat.code, seat.game)
            mine = next((one.seat for one in taken if one.seat.player_id == seat.player_id), None)
            if mine is None:
                self._sit_down(connection, seat, taken)
            return mine or seat

    def next_game(self, room: Room, seat: Seat) -> bool:
        """Begin the next round of a room, with its host's seat; False if that was done before."""
        changed = {"game": room.game, "clip_keys": room.clip_keys, "expires_utc": room.expires_utc}
        before = rooms.c.code == room.code, rooms.c.game == room.game - 1
        with self._database.write() as connection:
            if connection.execute(update(rooms).where(*before).values(changed)).rowcount != 1:
                return False
            self._sit_down(connection, seat, ())
            return True

    def standings(self, code: str, game: int) -> tuple[Room, list[Seated]] | None:
        """A room and everybody in one of its rounds, in the order of joining; None without it.

        A nickname that an operator has hidden since is left out.
        """
        with self._database.read() as connection:
            room = _one_room(connection, code)
            found = _seats(connection, code, game)
        return None if room is None else (room, [self._shown(one) for one in found])

    def _shown(self, one: Seated) -> Seated:
        if not self._is_hidden(one.seat.nickname):
            return one
        return Seated(replace(one.seat, nickname=""), one.answers)

    def _sit_down(self, connection: Connection, seat: Seat, taken: Sequence[Seated]) -> None:
        if self._is_hidden(seat.nickname):
            raise RoomError("This name cannot be used here. Choose another one.")
        if len(taken) >= MOST_SEATS:
            raise RoomError(f"This room is full: {MOST_SEATS} people are in it. Open another one.")
        if seat.nickname.casefold() in {one.seat.nickname.casefold() for one in taken}:
            raise RoomError(
                f"There is somebody called {seat.nickname} in this room. Choose another name."
            )
        connection.execute(room_seats.insert().values(_values(seat)))


def _sweep(connection: Connection, now: datetime) -> None:
    expired = select(rooms.c.code).where(rooms.c.expires_utc < now)
    connection.execute(delete(room_seats).where(room_seats.c.code.in_(expired)))
    connection.execute(delete(rooms).where(rooms.c.expires_utc < now))


def _one_room(connection: Connection, code: str, *, lock: bool = False) -> Room | None:
    query = _ROOM.with_for_update() if lock else _ROOM
    row = connection.execute(query, {"wanted": code}).one_or_none()
    return None if row is None else Room(**{**row._mapping, "clip_keys": tuple(row.clip_keys)})


def _seats(connection: Connection, code: str, game: int) -> list[Seated]:
    """Everybody in a round, from rows that have one answer each, or none."""
    answers: dict[Seat, dict[int, tuple[Action, float | None]]] = {}
    for row in connection.execute(_SEATS, {"wanted": code, "at": game}):
        of_seat = answers.setdefault(Seat(*row[:_N_SEAT_COLUMNS]), {})
        if row.position is not None:
            of_seat[row.position] = row.action, row.score
    return [Seated(seat, of_seat) for seat, of_seat in answers.items()]


def _values(row: Room | Seat) -> dict[str, object]:
    return {field.name: getattr(row, field.name) for field in fields(row)}

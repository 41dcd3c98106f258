"""Rooms: everybody in one plays the same clips, and sees how the others stand.

Others' points leave the server only for clips that the viewer has answered too, and not reported
as broken; how many clips somebody has answered tells nothing about a place.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from agl1k_core.errors import Agl1kError
from game.dependencies import Surroundings
from game.guessing import MAX_POINTS, points_for
from game.nicknames import clean_nickname
from game.open_round import OpenRound
from game.refusals import ConflictError, NotFoundError, NotYoursError
from game.starting import RoundFactory, room_of
from game.tokens import new_room_code, read_room_code
from game.views import Standing, Standings
from store.guesses import Round
from store.rooms import Room, RoomStore, Seat, Seated

#: A room closes this long after its latest round began.
ROOM_STAYS = timedelta(hours=24)
#: Standings are looked up this often, however many people ask.
FRESH_FOR = timedelta(seconds=1)
_MOST_KEPT = 256
_TRIES = 5

NO_NAME = "Enter a name that the others in the room will see."
NO_ROOM = "There is no such room. It may have closed: rooms stay for a day. Ask for a new link."
NOT_THE_HOST = "Only the player who opened the room can start its next round."
PLAYED_ALREADY = (
    "You have already played these clips, as a challenge. Join the room again when its next round "
    "has begun, or open a room of your own."
)
_NOT_SEATED = "You are not in this room. Join it with its code and a name."

Looked = tuple[datetime, Room, list[Seated]]


class Rooms:
    """Opens and joins rooms, and says how everybody in one stands."""

    def __init__(self, store: RoomStore, factory: RoundFactory, surroundings: Surroundings) -> None:
        self._store, self._factory = store, factory
        self._clock, self._rng = surroundings.clock, surroundings.rng
        self._looked: dict[tuple[str, int], Looked] = {}

    def open(self, player_id: str, slug: str, nickname: object, timer_s: int | None) -> OpenRound:
        """A new room with its first round, and the host's own round in it."""
        name = _name_of(nickname)
        clips = self._factory.clips(player_id, slug, timer_s)
        now = self._clock()
        for _ in range(_TRIES):
            code = new_room_code(self._rng)
            room = Room(code, player_id, slug, timer_s, 1, clips, now, now + ROOM_STAYS)
            if self._store.open(room, self._seat(room, player_id, name)):
                return self._factory.in_room(player_id, room)
        raise ConflictError("No code is free for a new room at the moment. Try again.")

    def join(self, player_id: str, code: object, nickname: object) -> OpenRound:
        """The player's round in the latest round of a room; a name is needed the first time."""
        room = self._room(read_room_code(code))
        before = self._store.seat(room.code, player_id)
        if before is None or before.game != room.game:
            self._require_new(player_id, room)
            name = clean_nickname(nickname) or (before.nickname if before else "")
            self._store.join(self._seat(room, player_id, _name_of(name)))
        return self._factory.in_room(player_id, room)

    def _require_new(self, player_id: str, room: Room) -> None:
        """Raise ``ConflictError`` if the player met the clips in a challenge made from here."""
        _, seated = self._store.standings(room.code, room.game) or (room, [])
        done = (one.seat.round_id for one in seated if len(one.answers) >= len(room.clip_keys))
        if self._factory.has_challenged(player_id, done):
            raise ConflictError(PLAYED_ALREADY)

    def next_game(self, player_id: str, row: Round) -> OpenRound:
        """The next round of the room that ``row`` was played in, which only its host can begin."""
        code, game = _required(room_of(row))
        room = self._room(code)
        if room.opener_id != player_id:
            raise NotYoursError(NOT_THE_HOST)
        if room.game == game:
            self._begin(room, player_id)
        return self.join(player_id, code, "")

    def _begin(self, room: Room, player_id: str) -> None:
        clips = self._factory.clips(player_id, room.benchmark, room.timer_s)
        later = self._clock() + ROOM_STAYS
        following = replace(room, game=room.game + 1, clip_keys=clips, expires_utc=later)
        before = self._store.seat(room.code, player_id)
        name = before.nickname if before else ""
        self._store.next_game(following, self._seat(following, player_id, name))

    def standings(self, player_id: str, code: object, game: int | None = None) -> Standings:
        """How everybody in a room stands; ``game`` is one of its rounds, the player's by default.

        Raises ``NotYoursError`` if the player is not in it.
        """
        read = read_room_code(code)
        if game is None:
            seat = self._store.seat(read, player_id)
            game = seat.game if seat else self._room(read).game
        room, seated = self._looked_up(read, game, player_id)
        return _standings(room, game, seated, player_id)

    def _looked_up(self, code: str, game: int, player_id: str) -> tuple[Room, list[Seated]]:
        """The room and its people as of at most a second ago, this player included."""
        kept = self._looked.get((code, game))
        now = self._clock()
        if kept is None or now - kept[0] >= FRESH_FOR or not _is_in(kept[2], player_id):
            found = self._store.standings(code, game)
            if found is None or found[0].expires_utc <= now:
                raise NotFoundError(NO_ROOM)
            if len(self._looked) >= _MOST_KEPT:
                self._looked.clear()
            kept = self._looked[code, game] = (now, *found)
        if not _is_in(kept[2], player_id):
            raise NotYoursError(_NOT_SEATED)
        return kept[1], kept[2]

    def _room(self, code: str) -> Room:
        room = self._store.room(code)
        if room is None or room.expires_utc <= self._clock():
            raise NotFoundError(NO_ROOM)
        return room

    def _seat(self, room: Room, player_id: str, name: str) -> Seat:
        round_id = self._factory.room_round_id(player_id, room.code, room.game)
        return Seat(room.code, room.game, player_id, name, round_id, self._clock())


def _required(room: tuple[str, int] | None) -> tuple[str, int]:
    if room is None:
        raise ConflictError("This round was not played in a room.")
    return room


def _name_of(nickname: object) -> str:
    name = clean_nickname(nickname)
    if not name:
        raise Agl1kError(NO_NAME)
    return name


def _is_in(seated: Sequence[Seated], player_id: str) -> bool:
    return any(one.seat.player_id == player_id for one in seated)


def _standings(room: Room, game: int, seated: Sequence[Seated], viewer: str) -> Standings:
    """What one of the players may know: points of clips whose place this player has seen."""
    own = next(one for one in seated if one.seat.player_id == viewer)
    n_clips = len(room.clip_keys)
    known = {place for place, (action, _) in own.answers.items() if action != "broken"}
    players = [_standing(one, room, viewer, known, n_clips) for one in seated]
    players.sort(key=lambda one: (-one.total, -one.answered, one.name.casefold()))
    return Standings(
        code=room.code,
        game=game,
        n_clips=n_clips,
        players=tuple(players),
        is_host=room.opener_id == viewer,
        has_newer=room.game > game,
        is_over=all(one.answered >= n_clips for one in players),
    )


def _standing(
    one: Seated, room: Room, viewer: str, known: Collection[int], n_clips: int
) -> Standing:
    shown = [answer for position, answer in one.answers.items() if position in known]
    return Standing(
        name=one.seat.nickname,
        is_you=one.seat.player_id == viewer,
        is_host=one.seat.player_id == room.opener_id,
        answered=min(len(one.answers), n_clips),
        total=sum(points_for(action, score) for action, score in shown),
        max_total=MAX_POINTS * sum(action != "broken" for action, _ in shown),
    )

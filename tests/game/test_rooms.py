"""Rooms: the same clips for all, and nobody sees more of the others than they have answered."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agl1k_core.benchmarks import Benchmark
from agl1k_core.errors import Agl1kError
from game.answers import answer_of
from game.moves import Moves, Wish
from game.refusals import ConflictError, NotFoundError, NotYoursError
from game.rooms import NO_NAME, NO_ROOM, NOT_THE_HOST, PLAYED_ALREADY
from game.rounds import OWN_ROUND, Game
from game.tokens import read_room_code
from game.views import RoundView, Standing, Standings
from store.rooms import RoomError
from tests.support.toy_game import Clock, ToyClips, play, summary_of


@pytest.fixture
def moves(game: Game, toy: Benchmark) -> Moves:
    return Moves(game, [toy.slug])


class Somebody:
    """A player in a room."""

    def __init__(self, moves: Moves, game: Game, name: str, code: str = "", **wish: object) -> None:
        self.moves, self.game, self.name = moves, game, name
        self.token = game.new_player()
        wished = Wish(mode="room", code=code, nickname=name, **wish)  # type: ignore[arg-type]
        self.view: RoundView = moves.start(self.token, wished).view

    @property
    def code(self) -> str:
        assert self.view.room is not None
        return self.view.room.code

    def answer(self, lat: float = 10.0) -> None:
        if self.view.phase == "revealed":
            self.go_on()
        self.view = self.moves.guess(self.token, self.view.token, (lat, 20.0)).view

    def go_on(self) -> None:
        self.view = self.moves.go_on(self.token, self.view.token).view

    def sees(self, game: int | None = None) -> Standings:
        return self.moves.standings(self.token, self.code, game)

    def sees_of(self, name: str) -> Standing:
        return next(one for one in self.sees().players if one.name == name)


def test_everybody_hears_the_same_clips(moves: Moves, game: Game) -> None:
    host = Somebody(moves, game, "Host", timer_s=60)
    guest = Somebody(moves, game, "Guest", host.code.lower())
    assert (host.view.mode, host.view.label, host.view.timer_s) == ("room", host.code, 60)
    assert guest.view.timer_s == 60
    done = [play(game, one.token, one.view) for one in (host, guest)]
    mine, theirs = ([reveal.key for reveal in summary_of(view).reveals] for view in done)
    assert mine == theirs


def test_others_points_show_for_clips_that_the_viewer_has_answered(
    moves: Moves, game: Game, clock: Clock
) -> None:
    host = Somebody(moves, game, "Host")
    guest = Somebody(moves, game, "Guest", host.code)
    points = []
    for lat in (-1.0, 20.0, 40.0):
        host.answer(lat)
        points.append(host.view.reveals[-1].points)
    clock.forward(seconds=1)
    seen = guest.sees_of("Host")
    assert (seen.answered, seen.total, seen.max_total) == (3, 0, 0)
    assert host.sees_of("Host").total == sum(points)
    for known in range(1, 4):
        guest.answer()
        clock.forward(seconds=1)
        seen = guest.sees_of("Host")
        assert (seen.answered, seen.total) == (3, sum(points[:known]))
        assert seen.max_total == 5000 * known


def test_a_clip_reported_as_broken_tells_nothing_of_others_points(
    moves: Moves, game: Game, clock: Clock
) -> None:
    host = Somebody(moves, game, "Host")
    guest = Somebody(moves, game, "Guest", host.code)
    for _ in range(2):
        host.answer()
    guest.view = moves.broken(guest.token, guest.view.token).view
    clock.forward(seconds=1)
    seen = guest.sees_of("Host")
    assert (seen.answered, seen.total, seen.max_total) == (2, 0, 0)
    guest.answer()
    clock.forward(seconds=1)
    assert guest.sees_of("Host").total == host.view.reveals[1].points


def test_the_state_of_a_round_does_not_depend_on_what_others_answered(
    moves: Moves, game: Game
) -> None:
    host = Somebody(moves, game, "Host")
    guest = Somebody(moves, game, "Guest", host.code)
    before = answer_of(moves.state(guest.token))
    for _ in range(5):
        host.answer()
    assert answer_of(moves.state(guest.token)) == before


@given(
    st.lists(st.integers(0, 5), min_size=2, max_size=2),
    st.lists(st.floats(-80, 80), min_size=5, max_size=5),
)
@settings(
    max_examples=12,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],  # each has a room of its own
)
def test_what_a_viewer_sees_is_a_function_of_the_clips_both_answered(
    game: Game, toy: Benchmark, clock: Clock, counts: list[int], lats: list[float]
) -> None:
    """However the host answers clips that the guest has open, the guest sees the same."""
    moves = Moves(game, [toy.slug])
    n_host, n_guest = counts
    host = Somebody(moves, game, "Host")
    guest = Somebody(moves, game, "Guest", host.code)
    for _ in range(n_guest):
        guest.answer()
    mine = []
    for lat in lats[:n_host]:
        host.answer(lat)
        mine.append(host.view.reveals[-1].points)
    clock.forward(seconds=1)
    seen = guest.sees_of("Host")
    assert (seen.answered, seen.total) == (n_host, sum(mine[:n_guest]))


def test_nothing_in_standings_names_a_player_or_a_place(
    moves: Moves, game: Game, toy: Benchmark, clock: Clock
) -> None:
    host = Somebody(moves, game, "Host")
    guest = Somebody(moves, game, "Guest", host.code)
    host.answer()
    guest.answer()
    clock.forward(seconds=1)
    packed = msgspec.json.encode(guest.sees()).decode()
    ids = [game.player_id(one.token) for one in (host, guest)]
    assert not [one for one in ids if one and one in packed]
    assert not [clip.key for clip in toy.clips if clip.key in packed]
    assert "latitude" not in packed
    assert "km" not in packed


def test_the_order_follows_what_the_viewer_may_know(moves: Moves, game: Game, clock: Clock) -> None:
    host = Somebody(moves, game, "A")
    ahead = Somebody(moves, game, "B", host.code)
    for _ in range(2):
        ahead.answer()
    clock.forward(seconds=1)
    assert [one.name for one in host.sees().players] == ["B", "A"], "by answered clips"
    assert [one.total for one in host.sees().players] == [0, 0]
    assert [one.is_host for one in host.sees().players] == [False, True]
    assert [one.is_you for one in ahead.sees().players] == [True, False]


def test_standings_are_looked_up_once_a_second(moves: Moves, game: Game, clock: Clock) -> None:
    host = Somebody(moves, game, "Host")
    assert len(host.sees().players) == 1
    guest = Somebody(moves, game, "Guest", host.code)
    assert len(host.sees().players) == 1
    assert len(guest.sees().players) == 2, "those who have just joined are in them"
    clock.forward(seconds=1)
    assert len(host.sees().players) == 2


def test_the_host_begins_the_next_round_and_others_are_invited(
    moves: Moves, game: Game, clock: Clock
) -> None:
    host = Somebody(moves, game, "Host")
    guest = Somebody(moves, game, "Guest", host.code)
    first = summary_of(play(game, host.token, host.view))
    play(game, guest.token, guest.view)
    clock.forward(seconds=1)
    assert guest.sees().is_over
    assert not guest.sees().has_newer
    with pytest.raises(NotYoursError, match=NOT_THE_HOST):
        moves.next_in_room(guest.token, guest.view.token)
    view = moves.next_in_room(host.token, host.view.token).view
    assert view.room is not None
    assert (view.room.code, view.room.game, view.phase) == (host.code, 2, "playing")
    again = moves.next_in_room(host.token, host.view.token).view
    assert again.room == view.room, "begun once, however often it is asked for"
    clock.forward(seconds=1)
    seen = guest.sees()
    assert (seen.game, seen.has_newer) == (1, True)
    joined = moves.start(guest.token, Wish(mode="room", code=host.code)).view
    assert joined.room == view.room
    assert {one.name for one in guest.sees().players} == {"Host", "Guest"}
    second = summary_of(play(game, guest.token, joined))
    assert not {one.key for one in first.reveals} & {one.key for one in second.reveals}
    assert guest.sees(1).has_newer


def test_a_link_continues_the_own_round_and_asks_a_stranger_for_a_name(
    moves: Moves, game: Game
) -> None:
    host = Somebody(moves, game, "Host")
    host.answer()
    link = f"https://example.org/?room={host.code}"
    assert moves.open(host.token, link).view.reveals == host.view.reveals
    stranger = moves.open("", link)
    assert stranger.problems == NO_NAME
    assert stranger.view.mode == "free"
    with pytest.raises(NotYoursError, match="not in this room"):
        moves.standings(stranger.player, host.code)


def test_a_room_gives_no_second_try_with_its_clips(moves: Moves, game: Game) -> None:
    host = Somebody(moves, game, "Host")
    guest = Somebody(moves, game, "Guest", host.code)
    guest.answer()
    code = summary_of(play(game, host.token, host.view)).code
    view = moves.start(guest.token, Wish(mode="challenge", code=code)).view
    assert view.reveals == guest.view.reveals
    assert OWN_ROUND in view.notes
    stranger = game.new_player()
    view = moves.start(stranger, Wish(mode="challenge", code=code)).view
    assert (view.mode, view.room) == ("challenge", None)
    played = summary_of(play(game, stranger, view))
    others = summary_of(play(game, host.token, moves.state(host.token).view))
    assert [one.key for one in played.reveals] == [one.key for one in others.reveals]


def test_who_played_the_clips_as_a_challenge_waits_for_the_next_round(
    moves: Moves, game: Game
) -> None:
    host = Somebody(moves, game, "Host")
    code = summary_of(play(game, host.token, host.view)).code
    friend = game.new_player()
    done = play(game, friend, moves.start(friend, Wish(mode="challenge", code=code)).view)
    again = game.new_player()  # a challenge from a challenge has the same clips
    opened = moves.start(again, Wish(mode="challenge", code=summary_of(done).code)).view
    moves.skip(again, opened.token)
    joining = Wish(mode="room", code=host.code, nickname="Friend")
    for knowing in (friend, again):
        with pytest.raises(ConflictError, match=PLAYED_ALREADY.split(".")[0]):
            moves.start(knowing, joining)
    moves.next_in_room(host.token, host.view.token)
    assert moves.start(friend, joining).view.room is not None


def test_playing_again_leaves_the_room(moves: Moves, game: Game) -> None:
    host = Somebody(moves, game, "Host")
    view = moves.again(host.token, host.view.token).view
    assert (view.mode, view.room) == ("free", None)


def test_a_room_closes_a_day_after_its_latest_round(moves: Moves, game: Game, clock: Clock) -> None:
    host = Somebody(moves, game, "Host")
    clock.forward(hours=23)
    moves.next_in_room(host.token, host.view.token)
    clock.forward(hours=23)
    assert host.sees().game == 2
    clock.forward(hours=1)
    for attempt in (
        host.sees,
        lambda: Somebody(moves, game, "Late", host.code),
        lambda: moves.next_in_room(host.token, host.view.token),
    ):
        with pytest.raises(NotFoundError, match=NO_ROOM.split(".")[0]):
            attempt()
    assert moves.state(host.token).view.room is not None, "the round itself goes on"


def test_a_lost_clip_is_replaced_by_the_same_one_for_all(
    new_game: Callable[..., Game], toy: Benchmark
) -> None:
    lost: set[str] = set()
    game = new_game(clips=ToyClips(lambda _, key: key not in lost))
    moves = Moves(game, [toy.slug])
    host = Somebody(moves, game, "Host")
    keys = [reveal.key for reveal in summary_of(play(game, host.token, host.view)).reveals]
    lost.add(keys[2])
    others = [Somebody(moves, game, name, host.code) for name in ("A", "B")]
    played = [
        [reveal.key for reveal in summary_of(play(game, one.token, one.view)).reveals]
        for one in others
    ]
    assert played[0] == played[1]
    assert played[0][:2] == keys[:2]


@pytest.mark.parametrize(
    ("wish", "error", "sentence"),
    [
        (Wish(mode="room"), Agl1kError, NO_NAME),
        (Wish(mode="room", nickname=" \u200b "), Agl1kError, NO_NAME),
        (Wish(mode="room", nickname="A", code="ABCDEF"), NotFoundError, "no such room"),
        (Wish(mode="room", nickname="A", code="ABC"), Agl1kError, "not a room's code"),
        (Wish(mode="room", nickname="A", timer_s=7), Agl1kError, "no timer of 7"),
        (Wish(mode="room", nickname="A", benchmark="x"), NotFoundError, "not played here"),
    ],
)
def test_what_cannot_be_joined_or_opened(
    moves: Moves, game: Game, wish: Wish, error: type[Exception], sentence: str
) -> None:
    with pytest.raises(error, match=sentence):
        moves.start(game.new_player(), wish)


def test_a_taken_name_is_refused(moves: Moves, game: Game) -> None:
    host = Somebody(moves, game, "Host")
    with pytest.raises(RoomError, match="somebody called host"):
        Somebody(moves, game, "host", host.code)


def test_only_a_round_in_a_room_has_a_next_one(moves: Moves, game: Game) -> None:
    state = moves.open("")
    with pytest.raises(ConflictError, match="not played in a room"):
        moves.next_in_room(state.player, state.view.token)


@pytest.mark.parametrize(
    "typed", ["ABC12O", "abc12o", " a b c 1 2 0 ", "https://x.example/?room=abc-12o", "ABCL2O"]
)
def test_a_code_may_be_typed_in_many_ways(typed: str) -> None:
    assert read_room_code(typed) == "ABC120"


def test_servers_on_one_database_agree(new_game: Callable[..., Game], toy: Benchmark) -> None:
    here, there = new_game(), new_game()
    host = Somebody(Moves(here, [toy.slug]), here, "Host")
    guest = Somebody(Moves(there, [toy.slug]), there, "Guest", host.code)
    host.answer()
    guest.answer()
    seen = guest.sees_of("Host")
    assert (seen.answered, seen.total) == (1, host.view.total)
    moves = Moves(there, [toy.slug])
    assert moves.next_in_room(host.token, host.view.token).view.room != host.view.room

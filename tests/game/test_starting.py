"""The daily five and challenges: the same clips for everybody, one try each."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from agl1k_core.benchmarks import Benchmark
from agl1k_core.errors import Agl1kError, UnavailableError
from game.dependencies import Content, Surroundings
from game.picking import Filters
from game.replacement import REPLACED
from game.rounds import OWN_ROUND, Game
from game.views import RoundView, Streak
from store.database import Database
from store.guesses import GuessStore, Round
from store.rooms import RoomStore
from tests.support.toy_game import SECRET, Clock, ToyClips, current_clip, play, summary_of


def keys_of(view: RoundView) -> list[str]:
    return [reveal.key for reveal in summary_of(view).reveals]


def streak_of(game: Game, player: str) -> Streak:
    return game.dailies(player, "toy").streak


def played_by(game: Game, day: str | None = None) -> list[str]:
    player = game.new_player()
    return keys_of(play(game, player, game.start_daily(player, "toy", day)))


def test_the_daily_is_the_same_for_everybody(new_game: Callable[..., Game], toy: Benchmark) -> None:
    game = new_game()
    keys = played_by(game)
    assert played_by(new_game()) == keys
    assert len({toy.clip(key).country for key in keys}) == 5
    assert len({toy.clip(key).continent for key in keys}) >= 2


def test_servers_with_one_secret_agree_and_others_cannot_know(toy: Benchmark, clock: Clock) -> None:
    """The fives before anybody has played them, asked of databases that share nothing else."""

    def five(secret: bytes) -> list[str]:
        with Database("sqlite://") as database:
            content, stores = (
                Content({"toy": toy}, ToyClips()),
                (GuessStore(database), RoomStore(database)),
            )
            return played_by(Game(content, *stores, secret, Surroundings(clock)))

    assert five(SECRET) == five(SECRET)
    assert five(SECRET) != five(b"another secret of tests")


def test_nobody_can_know_which_clips_take_the_place_of_lost_ones(
    toy: Benchmark, clock: Clock
) -> None:
    """Players know the ids of their rounds, so these alone must not decide it."""
    lost = {clip.key for clip in toy.clips[::2]}
    clips = ToyClips(lambda _, key: key not in lost)

    def played(secret: bytes) -> list[list[str]]:
        with Database("sqlite://") as database:
            stores = GuessStore(database), RoomStore(database)
            around = Surroundings(clock, random.Random(7))
            game = Game(Content({"toy": toy}, clips), *stores, secret, around)
            player = game.new_player()
            clock.forward(minutes=5)  # lost ones are tried again
            rounds = [play(game, player, game.start_free(player, "toy")) for _ in range(3)]
            return [keys_of(one) for one in rounds]

    assert played(SECRET) == played(SECRET)
    assert played(SECRET) != played(b"another secret of tests")


def test_a_daily_that_was_played_stays_what_it_was(
    toy: Benchmark, guess_store: GuessStore, room_store: RoomStore, clock: Clock
) -> None:
    def played(secret: bytes, day: str) -> list[str]:
        stores = guess_store, room_store
        game = Game(Content({"toy": toy}, ToyClips()), *stores, secret, Surroundings(clock))
        return played_by(game, day)

    before = played(SECRET, "2026-03-01")
    assert played(b"another secret of tests", "2026-03-01") == before
    later = played(b"another secret of tests", "2026-03-02")
    assert played(SECRET, "2026-03-02") == later


def test_clips_out_of_play_are_in_no_round(
    new_game: Callable[..., Game], toy: Benchmark, clock: Clock
) -> None:
    """Nor in one that had them before: another clip takes their place."""
    whole = new_game()
    player, friend = whole.new_player(), whole.new_player()
    daily = played_by(whole)
    finished = play(whole, player, whole.start_free(player, "toy"))
    free = keys_of(finished)
    left_out = {*daily[:2], *free[:2]}
    keepers = replace(toy, out_of_play=dict.fromkeys(left_out, "asked"))
    game = new_game(benchmarks={"toy": keepers})
    assert game.n_clips("toy") == 40 - len(left_out)
    assert sum(game.continents("toy").values()) == 40 - len(left_out)
    code = summary_of(finished).code
    rounds = [keys_of(play(game, friend, game.start_challenge(friend, code))), played_by(game)]
    for _ in range(8):
        rounds.append(keys_of(play(game, player, game.start_free(player, "toy"))))
        clock.forward(days=1)
        rounds.append(played_by(game))
    assert not left_out & {key for keys in rounds for key in keys}
    assert {*free} - left_out <= {*rounds[0]}
    assert {*daily} - left_out <= {*rounds[1]}


def test_the_day_changes_at_midnight_utc(game: Game, clock: Clock) -> None:
    player = game.new_player()
    clock.forward(hours=11, minutes=59)
    assert game.start_daily(player, "toy").label == "2026-03-14"
    clock.forward(minutes=1)
    assert game.start_daily(player, "toy").label == "2026-03-15"


def test_past_dailies_are_played_and_future_ones_wait(game: Game, clock: Clock) -> None:
    past = played_by(game, "2026-03-01")
    assert past != played_by(game)
    player = game.new_player()
    with pytest.raises(Agl1kError, match=r"2026-03-15 comes out .* UTC\. Today is 2026-03-14"):
        game.start_daily(player, "toy", "2026-03-15")
    with pytest.raises(Agl1kError, match="began on 2026-01-01; there is none for 2025-12-31"):
        game.start_daily(player, "toy", "2025-12-31")
    with pytest.raises(Agl1kError, match=r"'soon' is not a date\. Write it like 2026-03-14"):
        game.start_daily(player, "toy", "soon")
    clock.forward(days=1)
    assert game.start_daily(player, "toy", "2026-03-15").label == "2026-03-15"


def test_a_daily_needs_five_clips(
    new_game: Callable[..., Game], benchmark_of: Callable[..., Benchmark]
) -> None:
    game = new_game(benchmarks={"toy": benchmark_of(4)})
    with pytest.raises(Agl1kError, match="too few clips for a daily five: 4"):
        game.start_daily(game.new_player(), "toy")


def test_a_daily_is_played_once(game: Game, clock: Clock) -> None:
    player = game.new_player()
    view = game.next_clip(game.skip(game.start_daily(player, "toy").token, player).token, player)
    clock.forward(hours=1)
    assert game.start_daily(player, "toy") == view
    done = play(game, player, view)
    again = game.start_daily(player, "toy")
    assert (again.phase, again.total, again.token) == ("finished", done.total, done.token)


def test_all_whose_clip_is_lost_get_the_same_one_instead(new_game: Callable[..., Game]) -> None:
    keys = played_by(new_game())
    games = [
        new_game(clips=ToyClips(lambda benchmark, key: key not in keys[1:3])) for _ in range(2)
    ]
    first, second = (played_by(game) for game in games)
    assert first == second
    assert first[0] == keys[0]
    assert not set(first) & set(keys[1:3])


def test_the_list_of_dailies_and_the_streak(game: Game, clock: Clock) -> None:
    player = game.new_player()
    for _ in range(3):
        play(game, player, game.start_daily(player, "toy"))
        clock.forward(days=1)
    assert streak_of(game, player).days == 3
    assert not streak_of(game, player).played_today
    play(game, player, game.start_daily(player, "toy", "2026-03-13"))
    view = game.start_daily(player, "toy")
    assert streak_of(game, player).days == 3
    listed = game.dailies(player, "toy", limit=6).entries
    assert [(entry.day[-2:], entry.state) for entry in listed] == [
        ("17", "started"),
        ("16", "finished"),
        ("15", "finished"),
        ("14", "finished"),
        ("13", "finished"),
        ("12", "new"),
    ]
    assert listed[1].total is not None
    done = play(game, player, view)
    summary = summary_of(done)
    assert summary.streak == streak_of(game, player)
    assert summary.streak is not None
    assert (summary.streak.days, summary.streak.played_today) == (4, True)
    clock.forward(days=2)
    assert streak_of(game, player).days == 0
    assert len(game.dailies(player, "toy", limit=500).entries) == 78


def test_the_streak_counts_with_the_last_reveal_still_open(game: Game) -> None:
    player = game.new_player()
    view = game.start_daily(player, "toy")
    for _ in range(4):
        view = game.next_clip(game.skip(view.token, player).token, player)
    game.skip(view.token, player)
    assert streak_of(game, player).days == 1


def test_a_challenge_gives_the_same_clips_timer_and_filters(game: Game) -> None:
    player, friend = game.new_player(), game.new_player()
    view = game.start_free(player, "toy", Filters("speech", ""), timer_s=60)
    done = play(game, player, view)
    mine = summary_of(done)
    theirs = game.start_challenge(friend, f" {mine.code.lower()} ")
    assert (theirs.mode, theirs.label) == ("challenge", mine.code)
    assert (theirs.timer_s, theirs.filters["speech"]) == (60, "speech")
    assert theirs.notes == ()
    done = play(game, friend, theirs, lat=40)
    summary = summary_of(done)
    assert [reveal.key for reveal in summary.reveals] == [reveal.key for reveal in mine.reveals]
    assert summary.challenger is not None
    assert (summary.challenger.total, summary.challenger.max_total) == (mine.total, 25_000)
    assert mine.challenger is None


def test_a_challenge_is_tried_once(game: Game) -> None:
    player, friend = game.new_player(), game.new_player()
    code = summary_of(play(game, player, game.start_free(player, "toy"))).code
    view = game.start_challenge(friend, code)
    view = game.next_clip(game.skip(view.token, friend).token, friend)
    again = game.start_challenge(friend, code)
    assert (again.token, again.notes) == (view.token, (OWN_ROUND,))
    own = game.start_challenge(player, code)
    assert (own.phase, own.mode, own.notes) == ("finished", "free", (OWN_ROUND,))


def test_a_challenge_passed_on_gives_no_second_try(game: Game) -> None:
    first, second, third = (game.new_player() for _ in range(3))
    done = play(game, first, game.start_free(first, "toy"))
    code = summary_of(done).code
    passed_on = play(game, second, game.start_challenge(second, code), lat=50)
    code_2 = summary_of(passed_on).code
    assert code_2 != code
    assert game.start_challenge(first, code_2).token == done.token
    view = game.start_challenge(third, code_2)
    summary = summary_of(play(game, third, view))
    assert summary.challenger is not None
    assert summary.challenger.total == passed_on.total
    assert game.start_challenge(third, code).token == game.view(view.token, third).token


def test_the_challenge_of_a_daily_is_that_daily(game: Game) -> None:
    player, friend = game.new_player(), game.new_player()
    done = play(game, player, game.start_daily(player, "toy", "2026-03-02"))
    mine = summary_of(done)
    view = game.start_challenge(friend, mine.code)
    assert (view.mode, view.label) == ("daily", "2026-03-02")
    summary = summary_of(play(game, friend, view))
    assert summary.challenger is not None
    assert summary.challenger.total == mine.total
    assert game.start_daily(friend, "toy", "2026-03-02").phase == "finished"


def test_invalid_challenges_are_errors(game: Game) -> None:
    player, friend = game.new_player(), game.new_player()
    with pytest.raises(Agl1kError, match="not a challenge code"):
        game.start_challenge(friend, "nonsense")
    with pytest.raises(Agl1kError, match="no such challenge here"):
        game.start_challenge(friend, game.tokens.challenge_code("0" * 12))
    view = game.start_free(player, "toy")
    code = game.tokens.challenge_code(str(view.clip_token).split("-")[0])
    with pytest.raises(Agl1kError, match="has not finished the round yet"):
        game.start_challenge(friend, code)


def test_the_challenge_of_a_benchmark_that_is_gone(new_game: Callable[..., Game]) -> None:
    game = new_game()
    player = game.new_player()
    code = summary_of(play(game, player, game.start_free(player, "toy"))).code
    gone = new_game(benchmarks={})
    with pytest.raises(Agl1kError, match="'toy' is not played here"):
        gone.start_challenge(game.new_player(), code)


def test_a_challenge_replaces_what_the_benchmark_lost(
    new_game: Callable[..., Game], toy: Benchmark
) -> None:
    game = new_game()
    player, friend = game.new_player(), game.new_player()
    done = play(game, player, game.start_free(player, "toy"))
    summary = summary_of(done)
    kept = tuple(clip for clip in toy.clips if clip.key != summary.reveals[0].key)
    smaller = new_game(benchmarks={"toy": Benchmark("toy", "Toy benchmark", "2", kept)})
    view = smaller.start_challenge(friend, summary.code)
    assert view.notes == (REPLACED,)
    assert current_clip(smaller, view).key in {clip.key for clip in kept}


def test_friends_whose_clip_is_lost_get_the_same_one_instead(
    new_game: Callable[..., Game],
) -> None:
    game = new_game()
    player = game.new_player()
    done = play(game, player, game.start_free(player, "toy"))
    mine = summary_of(done)
    lost = [reveal.key for reveal in mine.reveals[1:4]]
    heard = []
    for n_rounds_before in (0, 3):
        other = new_game(clips=ToyClips(lambda benchmark, key: key not in lost))
        friend = other.new_player()
        for _ in range(n_rounds_before):
            play(other, friend, other.start_free(friend, "toy"))
        view = other.start_challenge(friend, mine.code)
        heard.append(keys_of(play(other, friend, view)))
    assert heard[0] == heard[1]
    assert not set(heard[0]) & set(lost)


# Many at once


@pytest.fixture
def busy_store(tmp_path: Path) -> Iterator[GuessStore]:
    with Database(f"sqlite:///{tmp_path / 'busy.db'}") as database:
        yield GuessStore(database)


@pytest.fixture
def busy_game(new_game: Callable[..., Game], busy_store: GuessStore) -> Game:
    return new_game(store=busy_store)


def at_once(n: int, act: Callable[[int], object]) -> list[object]:
    """The results of ``n`` threads that all start together."""
    barrier = threading.Barrier(n)

    def run(number: int) -> object:
        barrier.wait()
        return act(number)

    with ThreadPoolExecutor(n) as pool:
        return list(pool.map(run, range(n)))


def test_a_double_click_is_one_answer(busy_game: Game, busy_store: GuessStore) -> None:
    game, player = busy_game, busy_game.new_player()
    view = game.start_free(player, "toy")
    reveals = at_once(8, lambda number: game.guess(view.token, player, float(number), 0.0).reveal)
    assert len(set(map(repr, reveals))) == 1
    assert len(busy_store.of_benchmark("toy")) == 1


def test_going_on_twice_moves_one_clip(busy_game: Game) -> None:
    game, player = busy_game, busy_game.new_player()
    view = game.skip(game.start_free(player, "toy").token, player)
    tokens = at_once(8, lambda number: game.next_clip(view.token, player).token)
    assert len(set(tokens)) == 1
    assert game.view(view.token, player).position == 1


def test_tabs_that_begin_a_daily_at_once_share_it(busy_game: Game, busy_store: GuessStore) -> None:
    game, player = busy_game, busy_game.new_player()
    tokens = at_once(8, lambda number: game.start_daily(player, "toy").token)
    assert len(set(tokens)) == 1
    assert len(busy_store.daily_rounds(game.player_id(player) or "", "toy")) == 1


def test_players_at_once_stay_apart(busy_game: Game, busy_store: GuessStore) -> None:
    game = busy_game

    def whole_round(number: int) -> tuple[int, int]:
        player = game.new_player()
        done = play(game, player, game.start_free(player, "toy"), lat=number)
        pins = {reveal.pin_lat for reveal in done.reveals}
        assert pins == {float(number)}
        return number, done.total

    assert len(at_once(6, whole_round)) == 6
    rows = busy_store.of_benchmark("toy")
    assert len(rows) == 30
    assert len({row.round_id for row in rows}) == 6


def test_only_new_rounds_need_admission(new_game: Callable[..., Game]) -> None:
    asked: list[str] = []
    game = new_game(admit=asked.append)
    player = game.new_player()
    game.start_free(player, "toy")
    game.start_free(player, "toy")
    game.start_daily(player, "toy")
    game.start_daily(player, "toy")
    assert asked == [game.player_id(player)] * 3


def test_a_refused_round_is_an_error_and_nothing_is_stored(
    new_game: Callable[..., Game], guess_store: GuessStore
) -> None:
    def refuse(player_id: str) -> None:
        raise Agl1kError("Enough for now.")

    game = new_game(admit=refuse)
    player = game.new_player()
    with pytest.raises(Agl1kError, match="Enough for now"):
        game.start_free(player, "toy")
    assert game.resume(player) is None


class AwayStore(GuessStore):
    """A store that can be told to be unavailable for writing."""

    away = False

    def add_round(self, new: Round) -> Round:
        if self.away:
            raise UnavailableError("The database is away.")
        return super().add_round(new)


def test_a_round_that_cannot_be_stored_does_not_count(
    new_game: Callable[..., Game], migrated: Database
) -> None:
    taken: list[str] = []
    store = AwayStore(migrated)
    game = new_game(admit=taken.append, give_back=taken.remove, store=store)
    player = game.new_player()
    store.away = True
    with pytest.raises(UnavailableError):
        game.start_free(player, "toy")
    assert taken == []
    store.away = False
    game.start_free(player, "toy")
    assert taken == [game.player_id(player)]

"""The rules as a player meets them: starting, one answer each, reloads, the timer."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from agl1k_core.benchmarks import Benchmark
from agl1k_core.errors import Agl1kError
from agl1k_core.places import geodesic_km
from game.dependencies import Content
from game.guessing import Details
from game.picking import Filters
from game.rounds import ANSWERED, TOO_LATE, Game
from store.guesses import GuessStore
from store.rooms import RoomStore
from tests.support.toy_game import Clock, ToyClips, current_clip, play, started, summary_of
from ui.model_guess import ModelGuess


def test_a_round_from_start_to_summary(game: Game, toy: Benchmark, clock: Clock) -> None:
    player = game.new_player()
    view = game.start_free(player, "toy")
    assert (view.phase, view.position, view.n_clips, view.reveals) == ("playing", 0, 5, ())
    total, heard = 0, []
    for position in range(5):
        clip = current_clip(game, view)
        view = game.guess(view.token, player, clip.lat + position, clip.lon)
        reveal = view.reveal
        assert reveal is not None
        assert (view.phase, view.position) == ("revealed", position)
        assert (reveal.key, reveal.lat, reveal.lon) == (clip.key, clip.lat, clip.lon)
        assert reveal.distance_km == pytest.approx(
            float(geodesic_km(clip.lat + position, clip.lon, clip.lat, clip.lon)), abs=1e-6
        )
        total += reveal.points
        heard.append(clip.key)
        assert (view.total, view.max_total) == (total, 5000 * (position + 1))
        view = game.next_clip(view.token, player)
    assert (view.phase, view.position, view.clip_token) == ("finished", 5, None)
    summary = summary_of(view)
    assert [reveal.key for reveal in summary.reveals] == heard
    assert len({toy.clip(key).country for key in heard}) == 5
    assert (summary.total, summary.max_total) == (total, 25_000)
    clock.forward(hours=1, seconds=1)
    assert game.resume(player) is None


def test_invalid_options_are_errors(game: Game) -> None:
    player = game.new_player()
    with pytest.raises(Agl1kError, match=r"'moon' is not played here\. Choose one of: toy"):
        game.start_free(player, "moon")
    with pytest.raises(Agl1kError, match=r"no timer of 45 seconds\. Choose 30, 60, 120, or none"):
        game.start_free(player, "toy", timer_s=45)
    with pytest.raises(Agl1kError, match="no clip from 'Atlantis'"):
        game.start_free(player, "toy", Filters("speech", "Atlantis"))


def test_a_filter_that_leaves_few_clips_makes_a_short_round(game: Game, toy: Benchmark) -> None:
    player = game.new_player()
    view = game.start_free(player, "toy", Filters("speech", "Europe"))
    assert view.n_clips == 4
    done = play(game, player, view)
    summary = summary_of(done)
    assert len({reveal.key for reveal in summary.reveals}) == 4
    assert all(toy.clip(reveal.key).continent == "Europe" for reveal in summary.reveals)
    assert summary.max_total == 20_000
    assert game.play_again(done.token, player).n_clips == 4, "heard ones come back"


def test_filters_hold_and_stay_on_play_again(game: Game) -> None:
    player = game.new_player()
    view = game.start_free(player, "toy", Filters("speech", ""), timer_s=60)
    first = view
    for view in (first, game.play_again(first.token, player)):
        assert (view.filters["speech"], view.timer_s) == ("speech", 60)
        assert current_clip(game, view).has("human")
    assert view.token != first.token


def test_clips_do_not_come_back_while_there_are_unheard_ones(game: Game) -> None:
    player = game.new_player()
    heard: list[str] = []
    for _ in range(8):
        view = play(game, player, game.start_free(player, "toy"))
        heard += [reveal.key for reveal in view.reveals]
    assert len(set(heard)) == 40


# One answer each


def test_another_players_round_is_closed(game: Game) -> None:
    player, other = game.new_player(), game.new_player()
    view = game.start_free(player, "toy")
    for act in (game.view, game.skip, game.next_clip, game.play_again):
        with pytest.raises(Agl1kError, match="another player's round"):
            act(view.token, other)
    with pytest.raises(Agl1kError, match="another player's round"):
        game.guess(view.token, other, 0, 0)
    assert game.view(view.token, player).phase == "playing"


@pytest.mark.parametrize("forged", [None, "", "x.y", 3, "WyJhIiwwXQ.AAAA"])
def test_forged_tokens_open_nothing(game: Game, forged: object) -> None:
    player = game.new_player()
    view = game.start_free(player, "toy")
    with pytest.raises(Agl1kError, match="token is not valid"):
        game.guess(forged, player, 0, 0)
    with pytest.raises(Agl1kError, match="lost its player"):
        game.guess(view.token, forged, 0, 0)
    with pytest.raises(Agl1kError, match="lost its player"):
        game.start_free(forged, "toy")
    assert game.player_id(forged) is None
    assert game.resume(forged) is None


def test_a_token_of_another_server_opens_nothing(
    game: Game, toy: Benchmark, guess_store: GuessStore, room_store: RoomStore
) -> None:
    content = Content({"toy": toy}, ToyClips())
    stranger = Game(content, guess_store, room_store, b"another secret for tests")
    player = game.new_player()
    assert stranger.player_id(player) is None
    view = game.start_free(player, "toy")
    with pytest.raises(Agl1kError, match="token is not valid"):
        stranger.guess(view.token, stranger.new_player(), 0, 0)


def test_a_token_is_good_for_one_answer(game: Game, guess_store: GuessStore) -> None:
    player = game.new_player()
    view = game.start_free(player, "toy")
    first = game.guess(view.token, player, 10, 20, Details("Ada"))
    assert first.notes == ()
    assert game.guess(view.token, player, 10, 20) == first
    for second in (game.guess(view.token, player, 11, 20), game.skip(view.token, player)):
        assert second.notes == (ANSWERED,)
        assert second.reveals == first.reveals
    (row,) = guess_store.of_benchmark("toy")
    assert (row.latitude, row.longitude, row.nickname, row.action) == (10, 20, "Ada", "guess")


def test_a_stale_tab_gets_a_note_and_can_go_on(game: Game) -> None:
    player = game.new_player()
    stale = game.start_free(player, "toy")
    view = game.guess(stale.token, player, 10, 20)
    view = game.next_clip(view.token, player)
    late = game.guess(stale.token, player, 55, 66)
    assert (late.phase, late.position, late.notes) == ("revealed", 0, (ANSWERED,))
    assert late.reveal is not None
    assert (late.reveal.pin_lat, late.total) == (10, late.reveal.points)
    game.skip(view.token, player)
    assert game.guess(stale.token, player, 55, 66) == late
    assert game.next_clip(late.token, player).position == 1
    caught_up = game.next_clip(view.token, player)
    assert (caught_up.phase, caught_up.position) == ("playing", 2)
    assert game.next_clip(late.token, player) == caught_up


def test_nobody_goes_on_without_an_answer(game: Game) -> None:
    player = game.new_player()
    view = game.start_free(player, "toy")
    with pytest.raises(Agl1kError, match="Answer this clip first"):
        game.next_clip(view.token, player)
    assert view.summary is None


def test_a_finished_round_takes_no_more_answers(game: Game) -> None:
    player = game.new_player()
    view = play(game, player, game.start_free(player, "toy"))
    with pytest.raises(Agl1kError, match="moved on"):
        game.guess(view.token, player, 0, 0)


def test_skipped_and_broken_clips_are_recorded(game: Game, guess_store: GuessStore) -> None:
    player = game.new_player()
    view = game.skip(game.start_free(player, "toy").token, player)
    assert (view.total, view.max_total) == (0, 5000)
    view = game.report_broken(game.next_clip(view.token, player).token, player)
    assert (view.total, view.max_total) == (0, 5000)
    assert [row.action for row in guess_store.of_benchmark("toy")] == ["skip", "broken"]
    assert summary_of(play(game, player, view)).max_total == 20_000


def test_models_show_up_in_the_reveal(new_game: Callable[..., Game]) -> None:
    asked: list[list[str]] = []

    def models(benchmark: Benchmark, keys: Sequence[str]) -> dict[str, list[ModelGuess]]:
        asked.append([*keys])
        return {key: [ModelGuess(f"A model of {key}", 1.0, 2.0, 3.0)] for key in keys}

    game = new_game(models=models)
    player = game.new_player()
    view = game.start_free(player, "toy")
    assert asked == []
    view = game.guess(view.token, player, 0, 0)
    view = game.skip(game.next_clip(view.token, player).token, player)
    keys = [reveal.key for reveal in view.reveals]
    assert [[model.name for model in reveal.models] for reveal in view.reveals] == [
        [],
        [f"A model of {keys[1]}"],
    ]
    assert asked == [keys[:1], keys[1:]], "only for the clip that was just answered"


# Reload


def test_a_reload_resumes_at_every_step(new_game: Callable[..., Game]) -> None:
    game = new_game()
    player = game.new_player()
    view = game.start_free(player, "toy")
    for _ in range(5):
        assert new_game().resume(player) == view
        view = game.guess(view.token, player, 10, 20)
        assert new_game().resume(player) == view
        assert new_game().view(view.token, player) == view
        view = game.next_clip(view.token, player)
    assert new_game().resume(player) == view
    assert new_game().view(view.token, player) == view


def test_only_the_latest_round_is_resumed(game: Game, clock: Clock) -> None:
    player = game.new_player()
    game.start_free(player, "toy")
    clock.forward(minutes=1)
    second = game.start_free(player, "toy")
    assert game.resume(player) == second
    play(game, player, second)
    finished = game.resume(player)
    assert finished is not None
    assert finished.phase == "finished"
    clock.forward(hours=1, seconds=1)
    assert game.resume(player) is None
    assert game.resume(game.new_player()) is None


def test_a_benchmark_that_changed_ends_the_round_with_a_message(
    new_game: Callable[..., Game], benchmark_of: Callable[..., Benchmark]
) -> None:
    game = new_game()
    player = game.new_player()
    view = game.guess(game.start_free(player, "toy").token, player, 0, 0)
    changed = new_game(benchmarks={"toy": Benchmark("toy", "Toy benchmark", "2", ())})
    assert changed.resume(player) is None
    with pytest.raises(Agl1kError, match="has changed since this round"):
        changed.view(view.token, player)
    assert new_game(benchmarks={}).resume(player) is None


# Timer


def test_the_timer_runs_from_the_first_sound(game: Game, clock: Clock) -> None:
    player = game.new_player()
    view = game.start_free(player, "toy", timer_s=30)
    assert (view.started, view.remaining_s) == (False, 30)
    clock.forward(seconds=100)
    assert game.view(view.token, player).remaining_s == 30
    assert started(game, player, view).started
    clock.forward(seconds=10)
    assert started(game, player, view).remaining_s == 20
    resumed = game.resume(player)
    assert resumed is not None
    assert resumed.remaining_s == 20


def test_fetching_the_sound_starts_the_timer(game: Game, clock: Clock) -> None:
    player = game.new_player()
    view = game.start_free(player, "toy", timer_s=30)
    game.resolve(view.clip_token)
    clock.forward(seconds=34)
    late = game.guess(view.token, player, 0, 0)
    assert late.notes == (TOO_LATE,)
    assert late.reveal is not None
    assert (late.reveal.action, late.total, late.max_total) == ("timeout", 0, 5000)


def test_time_runs_out_without_a_pin(game: Game, clock: Clock) -> None:
    player = game.new_player()
    view = game.start_free(player, "toy", timer_s=30)
    started(game, player, view)
    with pytest.raises(Agl1kError, match="not up yet"):
        game.time_out(view.token, player)
    clock.forward(seconds=30)
    reveal = game.time_out(view.token, player).reveal
    assert reveal is not None
    assert (reveal.action, reveal.points, reveal.seconds) == ("timeout", 0, 30)


def test_each_clip_has_its_own_time(game: Game, clock: Clock) -> None:
    player = game.new_player()
    view = game.start_free(player, "toy", timer_s=30)
    started(game, player, view)
    clock.forward(seconds=29)
    view = game.next_clip(game.guess(view.token, player, 0, 0).token, player)
    assert (view.started, view.remaining_s) == (False, 30)


def test_seconds_are_noted_without_a_timer(game: Game, clock: Clock) -> None:
    player = game.new_player()
    view = game.start_free(player, "toy")
    clock.forward(seconds=7)
    reveal = game.guess(view.token, player, 0, 0).reveal
    assert reveal is not None
    assert reveal.seconds == 7

"""Moves: what a player does, and the round and the page that result."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from agl1k_core.benchmarks import Benchmark
from agl1k_core.errors import UnavailableError
from game.answers import Answer, Fragments, answer_of
from game.guessing import Details
from game.moves import Moves, Outcome, Wish
from game.refusals import ConflictError, NoPlayerError, NothingToPlayError
from game.rounds import Game
from store.database import Database
from store.guesses import Guess, GuessStore, Round, RoundAndAnswers
from tests.support.toy_game import Clock, ToyClips, summary_of
from ui.model_guess import ModelGuess

PIN = (12.5, -45.25)


@pytest.fixture
def moves(game: Game, toy: Benchmark) -> Moves:
    return Moves(game, [toy.slug])


def page(outcome: Outcome) -> Answer:
    """What the page gets."""
    return answer_of(outcome, "https://a.example/", fragments=True)


def html(outcome: Outcome) -> Fragments:
    fragments = page(outcome).fragments
    assert isinstance(fragments, Fragments)
    return fragments


def test_a_first_visit_begins_a_free_round(moves: Moves) -> None:
    first = moves.open("")
    assert (first.view.phase, first.view.mode, first.problems) == ("playing", "free", "")
    assert "Where was this recorded?" in html(first).result


def test_a_reload_resumes_at_every_stage(moves: Moves) -> None:
    first = moves.open("")
    player = first.player
    assert moves.open(player) == first
    revealed = moves.guess(player, first.view.token, PIN)
    for again in (moves.open(player), moves.state(player)):
        assert again.view == revealed.view
        assert html(again) == html(revealed)
    second = moves.go_on(player, revealed.view.token)
    assert moves.open(player).view == second.view


def test_a_forged_player_is_a_new_player(moves: Moves) -> None:
    first = moves.open("not.signed")
    assert first.player != "not.signed"
    assert first.view.phase == "playing"


@pytest.mark.parametrize("player", ["forged", "\ud800", "x" * 1_000_000, 10**300, None, ["x"]])
def test_an_invalid_player_token_is_refused(moves: Moves, player: str) -> None:
    for act in (
        lambda: moves.guess(player, "x", PIN),
        lambda: moves.again(player, "x"),
        lambda: moves.start(player, Wish()),
        lambda: moves.state(player),
        lambda: moves.dailies(player),
    ):
        with pytest.raises(NoPlayerError, match="lost its player"):
            act()


def test_an_invalid_address_opens_the_page(moves: Moves) -> None:
    assert moves.open("", "http://[").view.phase == "playing"


def test_a_lost_round_token_goes_on_with_the_open_round(moves: Moves, game: Game) -> None:
    first = moves.open("")
    assert moves.skip(first.player, "").view.phase == "revealed"
    with pytest.raises(ConflictError, match="lost its round"):
        moves.skip(game.new_player(), "")


def test_links_to_dailies(moves: Moves, clock: Clock) -> None:
    today = moves.open("", "http://x/?daily=today")
    assert (today.view.mode, today.view.label) == ("daily", clock.now.date().isoformat())
    future = moves.open("", "http://x/?daily=2999-01-01")
    assert "comes out on that day" in future.problems
    assert future.view.mode == "free"


def test_the_challenger_s_nickname_is_clean(moves: Moves) -> None:
    outcome = moves.open("")
    for _ in range(5):
        moves.guess(outcome.player, outcome.view.token, PIN, Details("  Ann\u202e "))
        outcome = moves.go_on(outcome.player, outcome.view.token)
    friend = moves.open("", f"?challenge={summary_of(outcome.view).code}")
    assert friend.view.challenger is not None
    assert friend.view.challenger.nickname == "Ann"
    assert "Challenge" in html(friend).status
    again = moves.open(outcome.player)
    assert html(again) == html(outcome), "a reload of a finished round"


def test_a_pin_that_is_there_when_the_time_ends_counts(moves: Moves, clock: Clock) -> None:
    player = moves.open("").player
    started = moves.start(player, Wish(timer_s=30))
    clock.forward(seconds=30)
    ended = moves.time_up(player, started.view.token, None)
    assert "The time ran out" in html(ended).result
    second = moves.go_on(player, ended.view.token)
    assert second.view.remaining_s == 30
    clock.forward(seconds=30)
    assert "of your pin" in html(moves.time_up(player, second.view.token, PIN)).result


def test_a_clip_whose_outline_cannot_be_drawn_is_still_offered(
    new_game: Callable[..., Game], toy: Benchmark
) -> None:
    clips = ToyClips()
    moves = Moves(new_game(clips=clips), [toy.slug])
    first = moves.open("")
    clips.is_there = lambda benchmark, key: False
    for outcome in (
        moves.guess(first.player, first.view.token, PIN),
        moves.go_on(first.player, first.view.token),
    ):
        sound = page(outcome).clip
        assert sound is not None
        assert sound.url.startswith("clip/")
        assert (sound.peaks, sound.duration_s) == ((), 0.0)


def test_no_recordings_at_all(new_game: Callable[..., Game], toy: Benchmark) -> None:
    silent = new_game(clips=ToyClips(lambda benchmark, key: False))
    with pytest.raises(NothingToPlayError, match="cannot be loaded at the moment"):
        Moves(silent, [toy.slug]).open("", "")


def test_another_benchmark_is_played_if_the_default_is_not_available(
    new_game: Callable[..., Game], benchmark_of: Callable[..., Benchmark]
) -> None:
    far, near = benchmark_of(slug="far"), benchmark_of(slug="near")
    game = new_game(
        benchmarks={"far": far, "near": near},
        clips=ToyClips(lambda benchmark, key: benchmark.slug == "near"),
    )
    outcome = Moves(game, ["far", "near"]).open("", "")
    assert outcome.view.benchmark == "near"
    assert "cannot be loaded at the moment" in outcome.problems


def test_names_of_models_are_text(new_game: Callable[..., Game], toy: Benchmark) -> None:
    with_models = new_game(
        models=lambda _, keys: {key: [ModelGuess("<b>Bold</b>", 1.0, 2.0, 500.0)] for key in keys}
    )
    moves = Moves(with_models, [toy.slug])
    first = moves.open("")
    revealed = moves.guess(first.player, first.view.token, PIN)
    assert "&lt;b&gt;Bold&lt;/b&gt;" in html(revealed).result
    assert "500 km" in html(revealed).result
    command = page(revealed).map
    assert isinstance(command, dict)
    assert [model["name"] for model in command["models"]] == ["<b>Bold</b>"]


def test_a_reveal_says_how_many_models_it_leaves_out(
    new_game: Callable[..., Game], toy: Benchmark
) -> None:
    few = [ModelGuess(f"Model {n}", 1.0, 2.0, 500.0, n_models=469) for n in range(7)]
    moves = Moves(new_game(models=lambda _, keys: dict.fromkeys(keys, few)), [toy.slug])
    first = moves.open("")
    revealed = moves.guess(first.player, first.view.token, PIN)
    assert "the nearest, the median and the farthest of 469" in html(revealed).result


class AwayStore(GuessStore):
    """A store that can be told to be unavailable."""

    away = False

    def latest_round(self, player_id: str) -> Round | None:
        self._leave()
        return super().latest_round(player_id)

    def record(self, guess: Guess) -> Guess:
        self._leave()
        return super().record(guess)

    def daily_rounds(self, player_id: str, benchmark: str) -> list[RoundAndAnswers]:
        self._leave()
        return super().daily_rounds(player_id, benchmark)

    def _leave(self) -> None:
        if self.away:
            raise UnavailableError("The database is away.")


def test_an_unavailable_store_changes_no_round(
    new_game: Callable[..., Game], migrated: Database, toy: Benchmark
) -> None:
    store = AwayStore(migrated)
    moves = Moves(new_game(store=store), [toy.slug])
    first = moves.open("")
    player, token = first.player, first.view.token
    store.away = True
    for act in (
        lambda: moves.open(player),
        lambda: moves.guess(player, token, PIN),
        lambda: moves.guess(player, "", PIN),
        lambda: moves.dailies(player, toy.slug),
    ):
        with pytest.raises(UnavailableError):
            act()
    store.away = False
    assert moves.open(player) == first
    assert moves.guess(player, token, PIN).view.phase == "revealed"

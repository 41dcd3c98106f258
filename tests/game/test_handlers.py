"""Handlers: what a player does, and the screen that results."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict

import pytest

from agl1k_core.benchmarks import Benchmark
from agl1k_core.errors import UnavailableError
from game.handlers import Play
from game.moves import NO_PIN, Wish
from game.rounds import Game
from game.screens import Screen
from store.database import Database
from store.guesses import Guess, GuessStore, Round, RoundAndAnswers
from tests.support.toy_game import Clock, ToyClips
from ui.model_guess import ModelGuess

PIN = json.dumps({"latitude": 12.5, "longitude": -45.25})


@pytest.fixture
def play(game: Game, toy: Benchmark) -> Play:
    return Play(game, [toy.slug])


def everything(screen: Screen) -> str:
    return json.dumps(asdict(screen), default=str)


def test_a_first_visit_begins_a_free_round(play: Play) -> None:
    screen = play.open("")
    assert screen.stage == "playing"
    assert screen.player
    assert screen.sound is not None
    assert screen.sound.url.startswith("clip/")
    assert screen.sound.label == "Clip 1 of 5"
    assert screen.sound.duration_s == 21.5
    assert screen.sound.next_url.startswith("clip/")
    assert screen.map_command is not None
    assert screen.map_command["op"] == "reset"
    assert "Where is this?" in (screen.result or "")
    assert screen.message == ""


def test_a_reload_resumes_at_every_stage(play: Play) -> None:
    first = play.open("")
    player = first.player
    assert play.open(player).round == first.round
    revealed = play.submit(player, str(first.round), PIN)
    again = play.open(player)
    assert again.stage == "revealed"
    assert again.result == revealed.result
    assert again.sound == first.sound
    second = play.go_on(player, str(revealed.round))
    assert play.open(player).round == second.round


def test_nothing_of_the_place_before_the_guess(play: Play, toy: Benchmark) -> None:
    screen = play.open("")
    for _ in range(5):
        before = everything(screen)
        revealed = play.submit(screen.player, str(screen.round), PIN)
        command = revealed.map_command
        assert command is not None
        clip = next(c for c in toy.clips if (c.lat, c.lon) == tuple(command["truth"].values()))
        for secret in (clip.key, clip.title, clip.city, clip.country, str(clip.lat), str(clip.lon)):
            assert secret
            assert secret not in before
        screen = play.go_on(screen.player, str(revealed.round))


@pytest.mark.parametrize("pin", [None, ""])
def test_no_pin_is_a_message_and_changes_nothing(play: Play, pin: str | None) -> None:
    first = play.open("")
    screen = play.submit(first.player, str(first.round), pin)
    assert screen.message == NO_PIN
    assert [screen.stage, screen.round, screen.result, screen.map_command] == [None] * 4
    assert play.open(first.player).stage == "playing"


@pytest.mark.parametrize("pin", ["x", '{"latitude": 91, "longitude": 0}', "[1, 2]", "null"])
def test_a_bad_pin_is_a_message(play: Play, pin: str) -> None:
    first = play.open("")
    assert "pin" in play.submit(first.player, str(first.round), pin).message.lower()


def test_submitting_twice_shows_the_same_and_counts_once(play: Play) -> None:
    first = play.open("")
    one = play.submit(first.player, str(first.round), PIN)
    two = play.submit(first.player, str(first.round), PIN)
    assert (one.result, one.status) == (two.result, two.status)
    other = play.submit(first.player, str(first.round), '{"latitude": 0, "longitude": 1}')
    assert other.result == one.result
    assert "first answer counts" in other.message


def test_tokens_of_others_and_forged_ones_are_messages(play: Play) -> None:
    mine, theirs = play.open(""), play.open("")
    assert "another player's round" in play.submit(mine.player, str(theirs.round), PIN).message
    assert "not valid" in play.submit(mine.player, "forged", PIN).message
    assert "lost its player" in play.skip("forged", str(mine.round)).message


def test_a_forged_player_is_a_new_player(play: Play) -> None:
    screen = play.open("not.signed")
    assert screen.player != "not.signed"
    assert screen.stage == "playing"


@pytest.mark.parametrize("player", ["forged", "\ud800", "x" * 1_000_000, 10**300, None, ["x"]])
def test_an_invalid_player_token_is_not_sent_back(play: Play, player: str) -> None:
    for screen in (play.submit(player, "x", PIN), play.play_again(player, "x")):
        assert screen.player == ""
        assert "lost its player" in screen.message


def test_an_invalid_address_opens_the_page(play: Play) -> None:
    assert play.open("", "http://[").stage == "playing"


def test_a_lost_round_token_goes_on_with_the_open_round(play: Play) -> None:
    first = play.open("")
    screen = play.skip(first.player, "")
    assert screen.stage == "revealed"
    nobody = play.skip(play.open("").player, "")
    assert nobody.stage == "revealed"


def test_skip_and_broken(play: Play) -> None:
    first = play.open("")
    skipped = play.skip(first.player, str(first.round))
    assert "You skipped this clip" in (skipped.result or "")
    second = play.go_on(first.player, str(skipped.round))
    broken = play.broken(first.player, str(second.round))
    assert "does not count" in (broken.result or "")


def test_a_whole_round_ends_in_a_summary(play: Play) -> None:
    screen = play.open("")
    player = screen.player
    for position in range(5):
        screen = play.submit(player, str(screen.round), PIN, "  Ann\u202e ")
        assert screen.is_last == (position == 4)
        screen = play.go_on(player, str(screen.round), "https://a.example/page?tab=play")
    assert screen.stage == "finished"
    assert screen.map_command is not None
    assert len(screen.map_command["rounds"]) == 5
    assert screen.share is not None
    assert "https://a.example/page?challenge=" in screen.share
    assert screen.history_entry is not None
    assert screen.history_entry["max_total"] == 25_000
    reloaded = play.open(player, "https://a.example/page")
    assert (reloaded.stage, reloaded.share) == ("finished", screen.share)
    friend = play.open("", screen.share.split()[-1])
    assert friend.stage == "playing"
    assert "Challenge" in (friend.status or "")
    again = play.play_again(player, str(screen.round))
    assert again.stage == "playing"


def test_a_bad_link_shows_a_message_and_still_plays(play: Play) -> None:
    screen = play.open("", "http://127.0.0.1/?challenge=NONSENSE")
    assert "not a challenge code" in screen.message
    assert screen.stage == "playing"


def test_days_to_choose_from(play: Play, clock: Clock) -> None:
    player = play.open("").player
    play.start(player, Wish(mode="daily"))
    dailies = play.dailies(player, "toy")
    assert dailies is not None
    assert [entry.state for entry in dailies.entries[:2]] == ["started", "new"]
    assert dailies.entries[0].day == clock.now.date().isoformat()
    assert dailies.streak.days == 0
    assert play.dailies("forged", "toy") is None
    assert play.dailies(player, "nowhere") is None


def test_links_to_dailies(play: Play, clock: Clock) -> None:
    today = play.open("", "http://x/?daily=today")
    assert "Daily five of" in (today.status or "")
    future = play.open("", "http://x/?daily=2999-01-01")
    assert "comes out on that day" in future.message
    assert future.stage == "playing"


@pytest.mark.parametrize(
    ("wish", "message"),
    [
        (Wish(speech="loud"), "no sound filter"),
        (Wish(continent="Atlantis"), "Atlantis"),
        (Wish(timer_s=7), "timer"),
        (Wish(benchmark="other"), "not played here"),
        (Wish(mode="daily", day="soon"), "not a date"),
        (Wish(mode="challenge", code=""), "not a challenge code"),
    ],
)
def test_a_wish_that_cannot_be_met(play: Play, wish: Wish, message: str) -> None:
    player = play.open("").player
    screen = play.start(player, wish)
    assert message in screen.message
    assert screen.stage is None


def test_a_timer_runs_from_the_start_and_ends_the_clip(play: Play, clock: Clock) -> None:
    player = play.open("").player
    screen = play.start(player, Wish(timer_s=30))
    assert screen.remaining_s == 30
    early = play.time_up(player, str(screen.round), None)
    assert "not up yet" in early.message
    clock.forward(seconds=30)
    ended = play.time_up(player, str(screen.round), None)
    assert ended.stage == "revealed"
    assert "The time ran out" in (ended.result or "")
    second = play.go_on(player, str(ended.round))
    assert second.remaining_s == 30
    clock.forward(seconds=30)
    with_pin = play.time_up(player, str(second.round), PIN)
    assert "of your pin" in (with_pin.result or "")


def test_a_clip_whose_outline_cannot_be_drawn_is_still_offered(
    new_game: Callable[..., Game], toy: Benchmark
) -> None:
    clips = ToyClips()
    play = Play(new_game(clips=clips), [toy.slug])
    first = play.open("")
    clips.is_there = lambda benchmark, key: False
    for screen in (
        play.submit(first.player, str(first.round), PIN),
        play.go_on(first.player, str(first.round)),
    ):
        assert screen.sound is not None
        assert screen.sound.url.startswith("clip/")
        assert (screen.sound.peaks, screen.sound.duration_s) == ((), 0.0)


def test_no_recordings_at_all_is_a_message(new_game: Callable[..., Game], toy: Benchmark) -> None:
    silent = new_game(clips=ToyClips(lambda benchmark, key: False))
    screen = Play(silent, [toy.slug]).open("", "")
    assert screen.stage == "none"
    assert "cannot be loaded at the moment" in screen.message


def test_another_benchmark_is_played_if_the_default_is_not_available(
    new_game: Callable[..., Game], benchmark_of: Callable[..., Benchmark]
) -> None:
    far, near = benchmark_of(slug="far"), benchmark_of(slug="near")
    game = new_game(
        benchmarks={"far": far, "near": near},
        clips=ToyClips(lambda benchmark, key: benchmark.slug == "near"),
    )
    screen = Play(game, ["far", "near"]).open("", "")
    assert screen.stage == "playing"
    assert "cannot be loaded at the moment" in screen.message


def test_models_guesses_are_shown_after_the_guess_only(
    new_game: Callable[..., Game], toy: Benchmark
) -> None:
    with_models = new_game(
        models=lambda _, keys: {key: [ModelGuess("<b>Bold</b>", 1.0, 2.0, 500.0)] for key in keys}
    )
    play = Play(with_models, [toy.slug])
    screen = play.open("")
    assert "Bold" not in everything(screen)
    revealed = play.submit(screen.player, str(screen.round), PIN)
    assert "&lt;b&gt;Bold&lt;/b&gt;" in (revealed.result or "")
    assert "500 km" in (revealed.result or "")
    assert revealed.map_command is not None
    assert [model["name"] for model in revealed.map_command["models"]] == ["<b>Bold</b>"]


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


def test_an_unavailable_store_changes_nothing_on_the_page_and_no_round(
    new_game: Callable[..., Game], migrated: Database, toy: Benchmark
) -> None:
    store = AwayStore(migrated)
    play = Play(new_game(store=store), [toy.slug])
    first = play.open("")
    player, token = first.player, str(first.round)
    store.away = True
    for act in (
        lambda: play.open(player),
        lambda: play.submit(player, token, PIN),
        lambda: play.submit(player, "", PIN),
        lambda: play.dailies(player, toy.slug),
    ):
        with pytest.raises(UnavailableError):
            act()
    store.away = False
    assert play.open(player).round == first.round
    assert play.submit(player, token, PIN).stage == "revealed"

"""Answers to clips whose sound was never sent do not count for people."""

from __future__ import annotations

from collections.abc import Callable

from game.heard import Heard
from game.rounds import NOT_HEARD, Game
from store.guesses import GuessStore
from tests.support.toy_game import Clock


def test_a_clip_that_was_not_sent_has_no_time(
    new_game: Callable[..., Game], guess_store: GuessStore, clock: Clock
) -> None:
    heard = Heard(clock)
    game = new_game(heard=heard.of)
    player = game.new_player()
    view = game.start_free(player, "toy")
    assert view.clip_token
    assert view.next_clip_token
    heard.note(view.next_clip_token)  # loaded ahead
    clock.forward(seconds=9)
    deaf = game.guess(view.token, player, 1, 2)
    assert NOT_HEARD in deaf.notes
    assert NOT_HEARD in game.guess(view.token, player, 1, 2).notes, "sent once more"
    view = game.next_clip(deaf.token, player)
    clock.forward(seconds=8)
    assert NOT_HEARD not in game.guess(view.token, player, 1, 2).notes
    [round_] = [guess_store.latest_round(game.player_id(player) or "")]
    assert round_
    assert [guess.seconds for guess in guess_store.of_round(round_.round_id)] == [None, 8]


def test_a_clip_that_cannot_be_heard_can_be_reported_without_a_note(
    new_game: Callable[..., Game], clock: Clock
) -> None:
    game = new_game(heard=Heard(clock).of)
    player = game.new_player()
    view = game.start_free(player, "toy")
    assert NOT_HEARD not in game.report_broken(view.token, player).notes


def test_a_timer_runs_whether_the_sound_was_sent_or_not(
    new_game: Callable[..., Game], clock: Clock
) -> None:
    game = new_game(heard=Heard(clock).of)
    player = game.new_player()
    view = game.start_free(player, "toy", timer_s=30, begin=True)
    clock.forward(seconds=40)
    assert game.guess(view.token, player, 1, 2).reveals[0].action == "timeout"


def test_rounds_older_than_the_server_pass_for_heard(
    new_game: Callable[..., Game], clock: Clock
) -> None:
    game = new_game(heard=Heard(clock).of)
    player = game.new_player()
    view = game.start_free(player, "toy")
    clock.forward(seconds=60)
    restarted = new_game(heard=Heard(clock).of)
    assert NOT_HEARD not in restarted.guess(view.token, player, 1, 2).notes


def test_what_is_remembered_is_bounded(new_game: Callable[..., Game], clock: Clock) -> None:
    heard = Heard(clock, most=2)
    game = new_game(heard=heard.of)
    player = game.new_player()
    view = game.start_free(player, "toy")
    clock.forward(seconds=1)
    for number in range(3):
        heard.note(f"ROUND-{number}-mac")
    assert NOT_HEARD not in game.guess(view.token, player, 1, 2).notes, (
        "forgotten: not held against"
    )
    clock.forward(seconds=1)
    fresh = game.start_free(player, "toy")
    assert NOT_HEARD in game.guess(fresh.token, player, 1, 2).notes

"""Pieces of the play tab as text: status, days, streaks, outcomes."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from game.guessing import Details
from game.reveal import streak_in_words
from game.rounds import Game
from game.screens import (
    help_html,
    reveal_html,
    status_html,
    streak_html,
    summary_html,
    waiting_html,
)
from game.views import Challenger, Streak
from tests.support.toy_game import Clock, play, summary_of


def shape(page: str) -> list[str]:
    """Tags and classes, which decide how high a piece of the page is."""
    return re.findall(r"<(?:\w+)(?: class=\"[^\"]*\")?", page.replace(" is-now", ""))


def test_what_waits_is_as_high_as_what_comes(game: Game) -> None:
    view = replace(game.start_free(game.new_player(), "toy"), notice="Not <real>")
    waiting = waiting_html(view.benchmark_name, view.notice, view.n_in_play, view.n_clips)
    assert shape(waiting) == shape(status_html(view))
    assert "Not &lt;real&gt;" in waiting
    assert "is-now" not in waiting


def test_a_challenge_shows_whom_to_beat(game: Game) -> None:
    ann, friend = game.new_player(), game.new_player()
    view = game.start_free(ann, "toy")
    while view.phase != "finished":
        view = game.next_clip(game.guess(view.token, ann, 10, 20, Details("<Ann>")).token, ann)
    code = summary_of(view).code
    page = status_html(game.start_challenge(friend, code))
    assert (
        f'<bdi>&lt;Ann&gt;</bdi> reached <strong class="agl-numbers">{view.total:,}</strong>'
        in page
    )
    assert f"of {view.max_total:,} points" in page
    assert "reached" not in status_html(game.start_challenge(ann, code))
    nameless = replace(game.start_challenge(friend, code), challenger=Challenger("", 1234, 25000))
    assert "Your challenger reached" in status_html(nameless)


def test_steps_show_number_and_points_and_a_broken_clip_has_none(game: Game) -> None:
    player = game.new_player()
    view = game.report_broken(game.start_free(player, "toy").token, player)
    page = status_html(view)
    assert "Clip 1: – points" in page
    assert page.count("agl-step-number") == 5
    assert view.reveal is not None
    page = reveal_html(view.reveal)
    assert "does not count" in page
    assert "> of 0<" not in page


@pytest.mark.parametrize(
    ("days", "played", "words"),
    [
        (0, False, "No streak yet. Play today's five to begin one."),
        (1, True, "Streak: 1 day."),
        (3, False, "Streak: 3 days. Play today's five to keep it."),
    ],
)
def test_streaks_in_words(days: int, played: bool, words: str) -> None:
    streak = Streak(days, played, "Rules.")
    assert streak_in_words(streak) == words
    assert "Rules." in streak_html(streak)


def test_the_summary_of_a_daily_shows_the_streak(game: Game, clock: Clock) -> None:
    player = game.new_player()
    done = play(game, player, game.start_daily(player, "toy"))
    assert "Streak: 1 day." in summary_html(summary_of(done))


def test_help_explains_keyboard_and_touch() -> None:
    assert "tap" in help_html()
    assert "Enter" in help_html()

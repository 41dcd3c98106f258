from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from agl1k_core.benchmarks import Benchmark, Clip
from agl1k_core.errors import Agl1kError
from agl1k_core.places import geodesic_km
from game.guessing import GRACE_S, Details, max_points_of, new_guess, points_at, points_of
from store.guesses import Action, Guess, Round
from ui.worldmap import Point

NOW = datetime(2026, 3, 14, 12, 0, tzinfo=UTC)
CLIP = Clip("k", 31.5125, -9.77)
TOY = Benchmark("toy", "Toy", "1", (CLIP,))

DETAILS = Details("  Ada ", "loop,slow")


def round_(timer_s: int | None = None, started_s_ago: float | None = None) -> Round:
    started = None if started_s_ago is None else NOW - timedelta(seconds=started_s_ago)
    return Round(
        "r", "p", "toy", "h", "free", "", ("k",), {}, timer_s, 0, started, NOW - timedelta(hours=1)
    )


def answer(action: Action, pin: Point | None = None, **of_round: object) -> Guess:
    asked = round_(**of_round)  # type: ignore[arg-type]
    return new_guess(asked, 0, TOY, action, pin, DETAILS, now=NOW)


def test_a_pin_is_measured() -> None:
    guess = answer("guess", (31.0, -10.0), started_s_ago=12.5)
    assert (guess.latitude, guess.longitude) == (31.0, -10.0)
    assert guess.distance_km == pytest.approx(float(geodesic_km(31.0, -10.0, CLIP.lat, CLIP.lon)))
    assert guess.distance_km is not None
    assert guess.score == pytest.approx(5000 * math.exp(-guess.distance_km / 1492.7))
    assert guess.seconds == 12.5
    assert points_of(guess) == round(guess.score or 0) == points_at(guess.distance_km)


def test_a_perfect_pin_has_all_points() -> None:
    guess = answer("guess", (CLIP.lat, CLIP.lon))
    assert guess.distance_km == pytest.approx(0.0, abs=1e-9)
    assert (points_of(guess), max_points_of(guess)) == (5000, 5000)


@pytest.mark.parametrize(("action", "score", "most"), [("skip", 0.0, 5000), ("broken", None, 0)])
def test_a_skip_and_a_report_have_neither_pin_nor_points(
    action: Action, score: float | None, most: int
) -> None:
    guess = answer(action, (1.0, 2.0), started_s_ago=3)
    assert (guess.latitude, guess.longitude, guess.distance_km) == (None, None, None)
    assert (guess.score, points_of(guess), max_points_of(guess)) == (score, 0, most)


def test_an_answer_carries_the_benchmark_it_was_measured_with() -> None:
    assert round_().benchmark_hash != TOY.content_hash
    assert answer("skip").benchmark_hash == TOY.content_hash
    with pytest.raises(Agl1kError, match="Toy has changed since this round"):
        new_guess(round_(), 0, replace(TOY, clips=()), "skip", None, now=NOW)


def test_what_the_player_says_is_stored_with_the_answer() -> None:
    assert (answer("skip").nickname, answer("skip").tools) == ("Ada", "loop,slow")
    unsaid = new_guess(round_(), 0, TOY, "skip", None, now=NOW)
    assert (unsaid.nickname, unsaid.tools) == ("", None)


def test_the_same_step_always_has_the_same_guess_id() -> None:
    assert answer("skip").guess_id == answer("guess", (1, 2)).guess_id


@pytest.mark.parametrize(
    ("seconds", "action"),
    [
        (0.0, "guess"),
        (29.999, "guess"),
        (30.0, "guess"),
        (30.0 + GRACE_S, "guess"),
        (30.0 + GRACE_S + 0.001, "timeout"),
        (86_400.0, "timeout"),
    ],
)
def test_a_pin_is_in_time_up_to_the_grace(seconds: float, action: str) -> None:
    guess = answer("guess", (CLIP.lat, CLIP.lon), timer_s=30, started_s_ago=seconds)
    assert guess.action == action
    assert guess.seconds == seconds
    if action == "timeout":
        assert (guess.latitude, guess.score, points_of(guess)) == (None, 0.0, 0)
        assert max_points_of(guess) == 5000


def test_no_timer_runs_before_the_clip_sounds() -> None:
    assert answer("guess", (1, 2), timer_s=30).action == "guess"
    with pytest.raises(Agl1kError, match="time is not up"):
        answer("timeout", timer_s=30)


@pytest.mark.parametrize(("seconds", "ok"), [(10, False), (26.9, False), (27, True), (40, True)])
def test_a_timeout_needs_the_time_to_be_up(seconds: float, ok: bool) -> None:
    if ok:
        assert answer("timeout", timer_s=30, started_s_ago=seconds).action == "timeout"
    else:
        with pytest.raises(Agl1kError, match="time is not up"):
            answer("timeout", timer_s=30, started_s_ago=seconds)


def test_a_round_without_a_timer_has_no_timeout() -> None:
    with pytest.raises(Agl1kError, match="time is not up"):
        answer("timeout", started_s_ago=1e6)


def test_a_clock_that_was_set_back_gives_no_negative_time() -> None:
    assert answer("skip", started_s_ago=-5).seconds == 0.0

from __future__ import annotations

import json
from dataclasses import asdict, replace
from datetime import UTC, datetime

import pytest

from agl1k_core.benchmarks import Benchmark, Clip
from agl1k_core.errors import Agl1kError
from game.guessing import new_guess
from game.reveal import build_reveals, distance_in_words, outcome_in_words, place_label, share_text
from game.views import Challenger, Reveal, Summary
from store.guesses import Action, Round
from ui.model_guess import ModelGuess

NOW = datetime(2026, 3, 14, 12, 0, tzinfo=UTC)
ALASKA = Clip("alaska", 61.2181, -149.9003, "Anchorage", "United States", "North America")
NOWHERE = Clip("sea", -12.3456, 7.8912)
SOUTH = Clip("south", -33.4, 151.2, "", "Australia", "Oceania")
BENCHMARK = Benchmark("b", "Benchmark", "1", (ALASKA, NOWHERE, SOUTH))
KEYS = ("alaska", "sea", "south")


def reveals(*answers: tuple[Action, tuple[float, float] | None]) -> tuple[Reveal, ...]:
    round_ = Round("r", "p", "b", "h", "free", "", KEYS, {}, 30, 0, NOW.replace(hour=11), NOW)
    guesses = []
    for position, (action, pin) in enumerate(answers):
        asked = replace(round_, timer_s=30 if action == "timeout" else None)
        guesses.append(new_guess(asked, position, BENCHMARK, action, pin, now=NOW))
    models = {"alaska": [ModelGuess("A model", 0.0, 0.0, 12_345.0)]}
    return build_reveals(BENCHMARK, guesses, ["t0", "t1", "t2"], models)


def test_a_pin_in_fiji_for_a_clip_in_alaska() -> None:
    (reveal,) = reveals(("guess", (-18.1416, 178.4419)))
    assert reveal.label == "Anchorage, United States"
    assert reveal.line[0] == pytest.approx((-18.1416, 178.4419))
    assert reveal.line[-1] == pytest.approx((61.2181, 360 - 149.9003))
    steps = [abs(b[1] - a[1]) for a, b in zip(reveal.line, reveal.line[1:], strict=False)]
    assert max(steps) < 5
    assert reveal.direction == "north"
    assert outcome_in_words(reveal) == (
        "The sound was recorded in Anchorage, United States. That is 9,238 km north of your pin: "
        "10 of 5,000 points. Total so far: 10 of 5,000."
    )


def test_each_clip_has_its_own_models() -> None:
    first, second = reveals(("skip", None), ("skip", None))
    assert first.models == (ModelGuess("A model", 0.0, 0.0, 12_345.0),)
    assert second.models == ()


@pytest.mark.parametrize(
    ("action", "said", "most"),
    [
        ("skip", "You skipped it: 0 points. Total so far: 0 of 5,000.", 5000),
        ("timeout", "The time ran out: 0 points. Total so far: 0 of 5,000.", 5000),
        ("broken", "its place is not shown. Total so far: 0 of 0.", 0),
    ],
)
def test_other_answers_in_words(action: Action, said: str, most: int) -> None:
    (reveal,) = reveals((action, None))
    assert outcome_in_words(reveal).endswith(said)
    assert (reveal.line, reveal.direction, reveal.max_total) == ((), "", most)


def test_totals_run_on_and_pass_over_broken_clips() -> None:
    found = reveals(("guess", (61.2181, -149.9003)), ("broken", None), ("guess", (-33.4, 151.2)))
    assert [(r.total, r.max_total) for r in found] == [(5000, 5000), (5000, 5000), (10000, 10000)]
    assert "<1 km from your pin" in outcome_in_words(found[0])


def test_a_clip_that_left_the_benchmark_is_an_error() -> None:
    round_ = Round("r", "p", "b", "h", "free", "", ("gone",), {}, None, 0, None, NOW)
    before = Benchmark("b", "Benchmark", "0", (Clip("gone", 1, 1),))
    guess = new_guess(round_, 0, before, "skip", None, now=NOW)
    with pytest.raises(Agl1kError, match="Benchmark has changed since this round"):
        build_reveals(BENCHMARK, [guess], ["t"], {})


@pytest.mark.parametrize(
    ("clip", "label"),
    [
        (ALASKA, "Anchorage, United States"),
        (NOWHERE, "12.35° S, 7.89° E"),
        (SOUTH, "Australia"),
        (replace(SOUTH, country=""), "33.40° S, 151.20° E"),
    ],
)
def test_places_are_named_as_well_as_known(clip: Clip, label: str) -> None:
    assert place_label(clip) == label


@pytest.mark.parametrize(
    ("km", "words"),
    [(0, "<1 km"), (0.99, "<1 km"), (1, "1 km"), (12.4, "12 km"), (1234.5, "1,234 km")],
)
def test_distances_in_words(km: float, words: str) -> None:
    assert distance_in_words(km) == words


@pytest.mark.parametrize(
    ("km", "squares"),
    [
        (0, "🟩🟩🟩🟩🟩"),
        (300, "🟩🟩🟩🟩⬜"),
        (1000, "🟨🟨🟨⬜⬜"),
        (2500, "🟥⬜⬜⬜⬜"),
        (9000, "⬜⬜⬜⬜⬜"),
    ],
)
def test_squares_are_filled_and_coloured_by_points(km: float, squares: str) -> None:
    (found,) = reveals(("guess", (ALASKA.lat - km / 111.3, ALASKA.lon)))
    summary = Summary("free", "", "b", "B", "", (found,), 0, 5000, "A")
    assert share_text(summary).splitlines()[1].split(" ")[0] == squares


def test_the_shared_text_gives_nothing_away() -> None:
    found = reveals(("guess", (61.0, -150.0)), ("skip", None), ("broken", None))
    summary = Summary(
        "daily", "2026-03-14", "b", "Benchmark", "", found, 4900, 10000, "ABCDEFG-HIJKLMN"
    )
    text = share_text(summary, "https://example.org/play?daily=1#x")
    assert text.splitlines() == [
        "AGL1K – Benchmark, daily five of 2026-03-14",
        f"🟩🟩🟩🟩🟩 {found[0].points:,}",
        "⬜⬜⬜⬜⬜ skipped",
        "⬜⬜⬜⬜⬜ broken clip",
        "4,900 of 10,000 points",
        "https://example.org/play?challenge=ABCDEFG-HIJKLMN",
    ]
    assert "Anchorage" not in text
    rival = replace(summary, challenger=Challenger("Ann", 4950, 10000))
    assert share_text(rival).splitlines()[4:6] == [
        "4,900 of 10,000 points", "Ann: 4,950 points"
    ]  # fmt: skip
    nameless = replace(summary, challenger=Challenger("", 4950, 10000))
    assert "\nMy challenger: 4,950 points\n" in share_text(nameless)
    demo = replace(summary, benchmark_name="AGL1K demo pack")
    assert share_text(demo).startswith("AGL1K demo pack, daily five of")
    assert share_text(summary).endswith("\nChallenge code: ABCDEFG-HIJKLMN")
    assert json.loads(json.dumps(summary.history_entry()))["points"] == [found[0].points, 0, 0]
    assert json.dumps(asdict(summary), allow_nan=False)

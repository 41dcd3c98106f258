"""An open round agrees with the store, whatever it wrote and whichever tab was faster."""

from __future__ import annotations

import uuid
from dataclasses import replace
from itertools import count

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agl1k_core.benchmarks import Benchmark
from game.guessing import new_guess
from game.open_round import OpenRound
from store.guesses import GuessStore, Round
from tests.support.toy_game import Clock

KEYS = tuple(f"secretkey{number:03d}" for number in range(5))
ACTS = st.sampled_from(["start", "answer", "advance", "replace"])


def begin(store: GuessStore, toy: Benchmark, clock: Clock) -> OpenRound:
    new = Round(
        uuid.uuid4().hex, "p", "toy", toy.content_hash, "free", "", KEYS, {}, None, 0, None, clock()
    )
    return OpenRound.begin(store, toy, new)


def act(opened: OpenRound, name: str, clock: Clock, spare: str) -> None:
    """One write, if the game could make it in this state."""
    position = opened.row.position
    clock.forward(seconds=1)
    if opened.is_over:
        return
    if name == "start":
        opened.start_clip(clock())
    elif name == "answer" and position not in opened.answers:
        opened.record(new_guess(opened.row, position, opened.benchmark, "skip", None, now=clock()))
    elif name == "advance" and position in opened.answers:
        opened.advance()
    elif name == "replace":
        opened.replace_clip(0, spare)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(names=st.lists(ACTS, max_size=20))
def test_what_is_in_memory_is_what_is_stored(
    guess_store: GuessStore, toy: Benchmark, clock: Clock, names: list[str]
) -> None:
    opened, spares = begin(guess_store, toy, clock), count(5)
    for name in names:
        act(opened, name, clock, f"secretkey{next(spares):03d}")
        assert opened.row == guess_store.round(opened.row.round_id)
        assert [*opened.answers.values()] == guess_store.of_round(opened.row.round_id)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(names=st.lists(ACTS, max_size=12))
def test_going_on_ends_where_a_faster_tab_has_gone(
    guess_store: GuessStore, toy: Benchmark, clock: Clock, names: list[str]
) -> None:
    faster = begin(guess_store, toy, clock)
    act(faster, "answer", clock, "")
    slower = OpenRound(guess_store, toy, faster.row)
    for name in ("advance", *names):
        act(faster, name, clock, KEYS[-1])
    slower.advance()
    assert slower.row == guess_store.round(faster.row.round_id)
    assert slower.answers == faster.answers


def test_a_round_that_is_begun_twice_is_the_first_one(
    guess_store: GuessStore, toy: Benchmark, clock: Clock
) -> None:
    first = begin(guess_store, toy, clock)
    act(first, "answer", clock, "")
    again = OpenRound.begin(guess_store, toy, replace(first.row, created_utc=clock()))
    assert (again.row, again.answers) == (first.row, first.answers)

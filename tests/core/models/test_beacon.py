"""The hearing check: who counts passes, who guesses does not."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import pytest

from agl1k_core.models import Message, Reply, Usage
from agl1k_core.models.beacon import COUNTS, Hearing, HearingCheck, beacon, counts_to_ask, number_in
from tests.support.fake_endpoint import Heard


def heard(messages: Sequence[Message]) -> int:
    """The beeps in a question's sound, 0 without any."""
    sounds = messages[-1].sounds
    return Heard(sounds[0].data, sounds[0].format, "object").beeps() if sounds else 0


def checked(
    answer: Callable[[int], str], *, tokens: bool = True, seed: int = 1
) -> tuple[Hearing, int]:
    """The result of the check on a model that answers a number of beeps, and the questions."""
    asked: list[int] = []

    def ask(messages: Sequence[Message]) -> Reply:
        beeps = heard(messages)
        asked.append(beeps)
        return Reply(answer(beeps), usage=Usage(prompt_tokens=10 + 25 * beeps * tokens))

    check = HearingCheck(ask, counts=counts_to_ask(random.Random(seed)))
    return check.run(), len(asked)


def test_a_beacon_has_as_many_beeps_as_it_should() -> None:
    for beeps in COUNTS:
        assert Heard(beacon(beeps).data, "wav", "object").beeps() == beeps


def test_who_counts_passes() -> None:
    hearing, n_asked = checked(str)
    assert (hearing.outcome, n_asked) == ("passed", 3)
    assert hearing.tokens_with is not None
    assert hearing.tokens_without == 10


def test_without_more_tokens_it_takes_one_more_right_answer() -> None:
    hearing, n_asked = checked(str, tokens=False)
    assert (hearing.outcome, n_asked) == ("passed", 4)


@pytest.mark.parametrize(
    "answer",
    [
        lambda beeps: "4",
        lambda beeps: "0",
        lambda beeps: '{"latitude": 48.9, "longitude": 2.4}',
        lambda beeps: "I hear birds.",
        lambda beeps: str(beeps + 1),
    ],
)
@pytest.mark.parametrize("seed", range(5))
def test_who_does_not_hear_fails(answer: Callable[[int], str], seed: int) -> None:
    for tokens in (True, False):
        assert checked(answer, tokens=tokens, seed=seed)[0].outcome == "failed"


def test_one_slip_is_forgiven() -> None:
    slips = iter([False, True] + [False] * 9)
    hearing, _ = checked(lambda beeps: str(beeps + next(slips)) if beeps else "0")
    assert hearing.outcome == "passed"
    assert [count.is_right for count in hearing.counts].count(False) == 1


def test_who_guesses_at_random_rarely_passes() -> None:
    """Ruin of a gambler with p = 1/7: (6² - 1) / (6⁴ - 1) = 2.7 %."""
    passed = 0
    for seed in range(1000):
        rng = random.Random(seed)
        standing = 0
        for beeps in counts_to_ask(rng):
            standing += 1 if rng.choice(COUNTS) == beeps else -1
            if standing in (2, -2):
                break
        passed += standing == 2
    assert passed < 50


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("5", 5), ("Five.", 5), ("There are 3 beeps.", 3), ('{"count": 7}', 7), ("", None),
        ("3 or 4", None), ("<think>2? 3? 4?</think>\n6", 6), ("48.9", None), ("none", None),
        ("[THINK]2? 3?[/THINK]6", 6), ("◁think▷2? 3?◁/think▷6", 6),
        ("I hear 4 beeps: 4.", 4), ("**8**", 8), ("x3", None),
    ],
)  # fmt: skip
def test_the_number_in_an_answer(text: str, number: int | None) -> None:
    assert number_in(text) == number

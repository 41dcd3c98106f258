"""The hearing check: a model must count beeps that it can only know from the sound.

Endpoints that drop audio silently answer fluently all the same, so a run without this proof is
worthless. A beacon is 2 to 8 beeps of 880 Hz, 0.35 s each with 0.45 s of silence between them. No
count is asked twice. Counting right is a step up, wrong a step down (a sequential test as in Wald
1945, "Sequential Tests of Statistical Hypotheses"): two steps up pass if the endpoint counts more
prompt tokens with sound than without, three if it does not or reports no tokens; two steps down
fail. A model that names the same number each time never passes; one that guesses any of the seven
passes in less than 3 % of runs.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from agl1k_core.answers import without_reasoning
from agl1k_core.models.failures import EndpointError
from agl1k_core.models.messages import Message, Samples, Sound, question
from agl1k_core.models.replies import Reply, Usage
from agl1k_core.models.sounds import RATE_HZ, encoded

COUNTS = range(2, 9)
QUESTION = (
    "How many beeps are in this recording? Count them and answer with the number alone, in "
    "digits. If there is no recording, or you cannot hear it, answer 0."
)
_BEEP_S, _PAUSE_S, _EDGE_S = 0.35, 0.45, 0.5
_PITCH_HZ = 880
_PASSES_AT, _PASSES_WITHOUT_TOKENS_AT, _FAILS_AT = 2, 3, -2
_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NUMBER = re.compile(rf"(?<![\w.])(\d{{1,4}}|{'|'.join(_WORDS)})(?!\w|\.\d)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Count:
    """One question of the check: the beeps in the sound, and the model's words."""

    beeps: int
    answer: str

    @property
    def is_right(self) -> bool:
        """Whether the model counted right."""
        return number_in(self.answer) == self.beeps


@dataclass(frozen=True, slots=True)
class Hearing:
    """The result of a hearing check.

    Attributes
    ----------
    outcome
        ``"passed"``, ``"failed"``, ``"skipped"``, or ``"not needed"`` if no sound is sent.
    counts
        The questions and answers.
    tokens_without, tokens_with
        Prompt tokens of the question without and with the first beacon; None if not reported.
    """

    outcome: str
    counts: tuple[Count, ...] = ()
    tokens_without: int | None = None
    tokens_with: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """For the journal and the provenance."""
        return {
            "outcome": self.outcome,
            "counts": [{"beeps": count.beeps, "answer": count.answer} for count in self.counts],
            "prompt_tokens_without_sound": self.tokens_without,
            "prompt_tokens_with_sound": self.tokens_with,
        }

    @property
    def why_failed(self) -> str:
        """What speaks against hearing, in a sentence."""
        told = "; ".join(f"to {count.beeps} beeps it said {count.answer[:40]!r}"
                         for count in self.counts)  # fmt: skip
        return f"Asked to count beeps, {told}. {self._tokens}"

    @property
    def _tokens(self) -> str:
        if self.tokens_with is None or self.tokens_without is None:
            return "It reports no prompt tokens."
        return (
            f"Its prompt had {self.tokens_with} tokens with the sound and "
            f"{self.tokens_without} without."
        )


@cache
def beacon(beeps: int, name: str = "wav") -> Sound:
    """A recording of that many beeps, in a format of ``sounds.encoded``."""
    edge = np.zeros(round(_EDGE_S * RATE_HZ), dtype=np.float32)
    pause = np.zeros(round(_PAUSE_S * RATE_HZ), dtype=np.float32)
    parts = [part for _ in range(beeps) for part in (_beep(), pause)]
    return encoded(np.concatenate([edge, *parts[:-1], edge]), name)


def _beep() -> Samples:
    time_s = np.arange(round(_BEEP_S * RATE_HZ)) / RATE_HZ
    fade = np.minimum(1.0, np.minimum(time_s, time_s[::-1]) / 0.01)
    return (0.6 * fade * np.sin(2 * np.pi * _PITCH_HZ * time_s)).astype(np.float32)


def counts_to_ask(rng: random.Random | None = None) -> list[int]:
    """The counts in random order."""
    rng = rng or random.Random()
    return rng.sample(COUNTS, len(COUNTS))


def number_in(text: str) -> int | None:
    """The number that an answer gives, in digits or words; None if it gives none or several.

    Examples
    --------
    >>> number_in("I can hear five beeps."), number_in("<think>3? 4?</think> 4"), number_in("?")
    (5, 4, None)
    """
    said = [_value(match[1]) for match in _NUMBER.finditer(without_reasoning(text))]
    return said[0] if len(set(said)) == 1 else None


def _value(word: str) -> int:
    return int(word) if word.isdecimal() else _WORDS.index(word.lower())


@dataclass
class HearingCheck:
    """Asks a model to count beeps until it is clear whether it hears.

    ``ask`` sends a conversation and returns the reply; errors of the endpoint pass through.
    """

    ask: Callable[[Sequence[Message]], Reply]
    sound_format: str = "wav"
    counts: Sequence[int] = field(default_factory=counts_to_ask)

    def run(self) -> Hearing:
        """Ask, and judge the answers."""
        without = self._without_sound()
        asked: list[Count] = []
        standing, first = 0, None
        for beeps, reply in self._replies():
            first = first or reply
            count = Count(beeps, reply.text)
            asked.append(count)
            standing += 1 if count.is_right else -1
            if standing in (_FAILS_AT, self._passes_at(without, first)):
                break
        passed = first is not None and standing == self._passes_at(without, first)
        return Hearing(
            "passed" if passed else "failed",
            tuple(asked),
            without.prompt_tokens,
            first.usage.prompt_tokens if first else None,
        )

    def _replies(self) -> Iterator[tuple[int, Reply]]:
        for beeps in self.counts:
            yield beeps, self.ask(question(QUESTION, beacon(beeps, self.sound_format)))

    def _without_sound(self) -> Usage:
        """What the question alone takes; some models refuse questions without sound."""
        try:
            return self.ask(question(QUESTION)).usage
        except EndpointError:
            return Usage()

    @staticmethod
    def _passes_at(without: Usage, with_sound: Reply) -> int:
        both = with_sound.usage.prompt_tokens, without.prompt_tokens
        more = with_sound.usage.counts_sound or (None not in both and both[0] > both[1])  # type: ignore[operator]
        return _PASSES_AT if more else _PASSES_WITHOUT_TOKENS_AT

"""What a run may spend: requests a minute, and money."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from agl1k_core.errors import Agl1kError
from agl1k_core.models.messages import Message, pictures_of, sounds_of
from agl1k_core.models.replies import Usage


class StoppedError(Agl1kError):
    """The run ends before its last clip; the message says why and how to go on."""


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million prompt tokens, and per million completion tokens."""

    prompt: float
    completion: float

    def cost(self, usage: Usage) -> float | None:
        """What tokens cost; None if the endpoint does not report them."""
        if usage.prompt_tokens is None and usage.completion_tokens is None:
            return None
        prompt, completion = usage.prompt_tokens or 0, usage.completion_tokens or 0
        return (self.prompt * prompt + self.completion * completion) / 1e6


def cost_of(usage: Usage, price: Price | None) -> tuple[float | None, str]:
    """The cost of an answer, and where the number comes from: the endpoint, or a price."""
    if usage.cost is not None:
        return usage.cost, "reported by the endpoint"
    cost = price.cost(usage) if price else None
    return cost, "from the price given" if cost is not None else ""


#: About so many tokens as this many seconds of sound, for what is expected before it is known.
_PICTURE_S, _CHARACTER_S = 30.0, 0.01


def size_s(messages: Sequence[Message]) -> float:
    """The size of a question in seconds of sound; pictures and words count as so many seconds."""
    characters = sum(len(message.text) for message in messages)
    seconds = math.fsum(sound.duration_s for sound in sounds_of(messages))
    return seconds + _PICTURE_S * len(pictures_of(messages)) + _CHARACTER_S * characters


@dataclass
class Pace:
    """Spreads requests evenly over a minute; ``per_minute`` is None for no limit."""

    per_minute: float | None
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _next_s: float = 0.0

    def wait(self, stop: threading.Event) -> None:
        """Wait for this request's turn, or until ``stop`` is set."""
        if self.per_minute is None:
            return
        with self._lock:
            turn_s = max(self._next_s, time.monotonic())
            self._next_s = turn_s + 60 / self.per_minute
        stop.wait(max(0.0, turn_s - time.monotonic()))


class Budget:
    """Counts money, and holds back requests that might exceed a cap.

    Costs are expected to grow with the size of a question (``size_s``): along the least-squares
    line through the costs so far, raised until none of them is above it. Until the first answer
    about a clip, one request is made at a time.

    Parameters
    ----------
    cap
        What all answers together may cost; None for no limit.
    """

    def __init__(self, cap: float | None = None) -> None:
        self.cap = cap
        self._costs: list[float] = []
        self._seconds: list[float] = []
        self._line = (0.0, 0.0)
        self._under_way: dict[int, float] = {}
        self._known = False
        self._changed = threading.Condition()

    @property
    def spent(self) -> float:
        """The sum of all costs so far."""
        return math.fsum(self._costs)

    def add(self, cost: float | None, seconds: float) -> None:
        """Count a cost that no request was held back for: of a beacon, or of an earlier run."""
        if cost is not None:
            with self._changed:
                self._learn(cost, seconds)

    @contextmanager
    def request(self, seconds: float, stop: threading.Event) -> Iterator[Receipt]:
        """Make a request once it fits the cap; put its cost on the receipt.

        Raises ``StoppedError`` if it does not fit, or the cost is not known.
        """
        receipt = Receipt()
        if self.cap is not None:
            self._reserve(receipt, seconds, stop)
        try:
            yield receipt
        finally:
            self._settle(receipt, seconds)

    def _reserve(self, receipt: Receipt, seconds: float, stop: threading.Event) -> None:
        with self._changed:
            while not stop.is_set() and not self._fits(seconds):
                if not self._under_way:
                    raise StoppedError(self._no_room(seconds))
                self._changed.wait(0.2)
            expected = self._expected(seconds)
            self._under_way[id(receipt)] = expected

    def _expected(self, seconds: float) -> float:
        slope, base = self._line
        return slope * seconds + base

    def _fits(self, seconds: float) -> bool:
        if self._under_way and not self._known:
            return False
        held = math.fsum(self._under_way.values())
        cap = math.inf if self.cap is None else self.cap
        return self.spent + held + self._expected(seconds) <= cap * (1 + 1e-9)

    def _no_room(self, seconds: float) -> str:
        return (
            f"The next answer could exceed --max-cost {self.cap:g}: {self.spent:.4f} is spent, and "
            f"an answer costs up to {self._expected(seconds):.4f}. To go on, run the same command "
            "with a higher limit."
        )

    def _settle(self, receipt: Receipt, seconds: float) -> None:
        with self._changed:
            self._under_way.pop(id(receipt), None)
            if receipt.cost is not None:
                self._known = True
                self._learn(receipt.cost, seconds)
            self._changed.notify_all()
        if self.cap is not None and receipt.answered and receipt.cost is None:
            raise StoppedError(
                "The endpoint does not report what an answer costs, so --max-cost cannot be kept. "
                "Give --price with US dollars per million tokens, or leave out --max-cost."
            )

    def _learn(self, cost: float, seconds: float) -> None:
        self._costs.append(cost)
        self._seconds.append(seconds)
        if self.cap is not None:
            self._line = _line_above(self._seconds, self._costs)


def _line_above(seconds: list[float], costs: list[float]) -> tuple[float, float]:
    """Slope and base of the line that no cost is above."""
    x, y = np.array(seconds), np.array(costs)
    spread = x - x.mean()
    slope = max(0.0, float(spread @ y) / float(spread @ spread)) if spread.any() else 0.0
    return slope, float((y - slope * x).max())


@dataclass
class Receipt:
    """What one request cost; ``answered`` if there was a response at all."""

    cost: float | None = None
    answered: bool = False

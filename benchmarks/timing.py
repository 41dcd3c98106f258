"""Processor time of functions, compared fairly."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence


def best_of(functions: Sequence[Callable[[], object]], rounds: int = 5) -> list[float]:
    """The least processor time in seconds of each, called in turn."""
    best = [float("inf")] * len(functions)
    for _ in range(rounds):
        for place, function in enumerate(functions):
            start = time.process_time()
            function()
            best[place] = min(best[place], time.process_time() - start)
    return best

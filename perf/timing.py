"""Times of functions, compared fairly."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence


def best_of(
    functions: Sequence[Callable[[], object]],
    rounds: int = 5,
    *,
    turn_s: float = 0.0,
    clock: Callable[[], float] = time.process_time,
) -> list[float]:
    """The shortest time of each function in seconds, called in turn; processor time, or ``clock``.

    A turn takes at least ``turn_s``, so that a quick function does not pay for the caches that
    another's turn has emptied.
    """
    best = [float("inf")] * len(functions)
    for _ in range(rounds):
        for place, function in enumerate(functions):
            turn_ends = time.perf_counter() + turn_s
            while True:
                start = clock()
                function()
                best[place] = min(best[place], clock() - start)
                if time.perf_counter() >= turn_ends:
                    break
    return best

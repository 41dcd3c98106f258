"""Waiting in tests: for a condition, with a limit that only a hang can reach."""

from __future__ import annotations

import time
from collections.abc import Callable

#: The limit of every wait in the tests, in seconds: a busy machine is slow, not broken.
PATIENCE_S = 300


def eventually(condition: Callable[[], object]) -> None:
    """Wait until ``condition()`` is true; fail if it still is not after ``PATIENCE_S``."""
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end, f"not true after {PATIENCE_S} s"
        time.sleep(0.02)

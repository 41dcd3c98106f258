"""A gate in front of the database: callers wait for a few seconds at most, and not in numbers."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

#: How long a caller waits for the one who tries whether the database works again.
TURN_S = 0.25


class StalledError(Exception):
    """The database is not available, so this caller was turned away without trying."""


class Gate:
    """Lets ``n_at_once`` callers through at a time.

    Once the database has kept one waiting in vain, callers try it one at a time, and the others are
    turned away at once, until one succeeds. So a stalled database holds one thread, not all.
    """

    def __init__(self, n_at_once: int) -> None:
        self._permits = threading.BoundedSemaphore(n_at_once)
        self._trying = threading.Lock()
        self._is_stalled = False

    @property
    def is_stalled(self) -> bool:
        """Whether the last caller waited in vain."""
        return self._is_stalled

    def stalled(self) -> None:
        """A caller who was let through has waited in vain."""
        self._is_stalled = True

    @contextmanager
    def passed(self, wait_s: float) -> Iterator[float]:
        """Be let through within ``wait_s``, or raise ``StalledError``; yields the seconds left."""
        end = time.monotonic() + wait_s
        tries = self._is_stalled
        if tries and not self._trying.acquire(timeout=min(TURN_S, wait_s)):
            raise StalledError
        try:
            with self._permit(end):
                yield max(0.0, end - time.monotonic())
                self._is_stalled = False
        finally:
            if tries:
                self._trying.release()

    @contextmanager
    def _permit(self, end: float) -> Iterator[None]:
        if not self._permits.acquire(timeout=max(0.0, end - time.monotonic())):
            self._is_stalled = True
            raise StalledError
        try:
            yield
        finally:
            self._permits.release()

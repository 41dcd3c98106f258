"""A value that is slow to build: one thread rebuilds it while the others use the previous one."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Generic, TypeVar

from agl1k_core.errors import Agl1kError

Value = TypeVar("Value")
_NEVER = object()

#: How long a refresher rests.
PAUSE_S = 1.0


class StaleWhileRefreshing(Generic[Value]):
    """A value and the state for which it was made.

    If the state has changed, the first thread that asks rebuilds the value. Threads that ask
    meanwhile get the previous value at once; they wait only if there is none yet.
    """

    def __init__(self, value: Value) -> None:
        self.value = value
        self._at: object = _NEVER
        self._making = threading.Lock()

    def at(self, state: object, make: Callable[[Value], Value]) -> Value:
        """The value for a state; ``make`` gets the previous value."""
        if state == self._at:
            return self.value
        if not self._making.acquire(blocking=self._at is _NEVER):
            return self.value
        try:
            if state != self._at:
                self.value = make(self.value)
                self._at = state
            return self.value
        finally:
            self._making.release()


class Refresher:
    """Calls ``refresh`` in the background, at most once a second."""

    def __init__(self, refresh: Callable[[], object], clock: Callable[[], float]) -> None:
        self._refresh, self._clock = refresh, clock
        self._lock = threading.Lock()
        self._next = float("-inf")

    @property
    def rests(self) -> bool:
        """Whether nothing is being refreshed."""
        return self._next != float("inf")

    def begin(self) -> None:
        """Refresh in a thread, unless that was done a moment ago or is being done; never waits."""
        with self._lock:
            if self._clock() < self._next:
                return
            self._next = float("inf")
        threading.Thread(target=self._run, name="refresh", daemon=True).start()

    def _run(self) -> None:
        try:
            with suppress(Agl1kError):  # tried again a second later
                self._refresh()
        finally:
            self._next = self._clock() + PAUSE_S

"""A value that is slow to build: one thread rebuilds it while the others use the previous one."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

Value = TypeVar("Value")
_NEVER = object()


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

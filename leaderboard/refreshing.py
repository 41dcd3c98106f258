"""A value that takes long to make: kept, and made anew by one thread while the others go on."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

Value = TypeVar("Value")
_NEVER = object()


class StaleWhileRefreshing(Generic[Value]):
    """A value and the state it was made at.

    When the state has changed, the first thread that asks makes the value anew. Those that ask
    meanwhile get the one before at once; only where there is none yet do they wait.
    """

    def __init__(self, value: Value) -> None:
        self.value = value
        self._at: object = _NEVER
        self._making = threading.Lock()

    def at(self, state: object, make: Callable[[Value], Value]) -> Value:
        """The value at a state; ``make`` gets the one before."""
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

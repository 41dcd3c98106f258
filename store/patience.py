"""How long the database may keep its callers waiting."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass
class Waits:
    """How long to wait for locks, for a server that says nothing, and for one statement.

    In seconds; ``statement_s`` is kept by PostgreSQL, and 0 is no limit.
    """

    lock_s: float = 20
    silence_s: float = 60
    statement_s: float = 0

    def shorten(self) -> None:
        """From now on, people wait for the answers."""
        self.lock_s, self.silence_s, self.statement_s = 3, 4, 30


@dataclass
class Patience:
    """What a block may still wait: ``lock_s`` for a lock, until ``until`` for a sign of life.

    Each sign of life allows another ``silence_s``. ``until`` is in ``time.monotonic`` seconds.
    """

    lock_s: float
    silence_s: float
    until: float

    def is_over(self) -> bool:
        """Whether the server has been silent for too long."""
        return time.monotonic() >= self.until

    def heard(self) -> None:
        """The server has sent something."""
        self.until = time.monotonic() + self.silence_s


_current: ContextVar[Patience | None] = ContextVar("_current", default=None)


def patience() -> Patience | None:
    """That of the block that runs now, or None."""
    return _current.get()


@contextmanager
def within(lock_s: float, first_s: float, silence_s: float) -> Iterator[None]:
    """Run a block that waits ``lock_s`` for locks, and ``first_s`` for the first sign of life."""
    token = _current.set(Patience(lock_s, silence_s, time.monotonic() + first_s))
    try:
        yield
    finally:
        _current.reset(token)

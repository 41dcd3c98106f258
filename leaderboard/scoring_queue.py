"""A queue for scoring: a few files at a time, without holding up other work."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any, TypeVar

from anyio import CapacityLimiter, to_thread

from agl1k_core.errors import Agl1kError, UnavailableError

#: Scoring a file takes memory and a processor.
FILES_AT_ONCE = 2
MOST_WAITING = 40
BUSY = "Many files are being scored at the moment. Try again in a minute."

Result = TypeVar("Result")


class ScoringQueue:
    """Runs at most ``at_once`` calls at a time, in threads of their own.

    The server's other work, such as the game's, does not use these threads. Waiting
    calls hold no thread. If more than ``most_waiting`` calls wait, further ones are refused.
    """

    def __init__(self, at_once: int = FILES_AT_ONCE, most_waiting: int = MOST_WAITING) -> None:
        self._limiter = CapacityLimiter(at_once)
        self._most = at_once + most_waiting
        self._taken = 0

    async def run(self, function: Callable[..., Result], *args: Any) -> Result:
        """The result of a call, once it is its turn; raises ``Agl1kError`` if too many wait."""
        if self._taken >= self._most:
            raise Agl1kError(BUSY)
        self._taken += 1
        try:
            return await to_thread.run_sync(function, *args, limiter=self._limiter)
        finally:
            self._taken -= 1

    def queued(
        self, function: Callable[..., Result], busy: Callable[[Agl1kError], Result]
    ) -> Callable[..., Awaitable[Result]]:
        """The function as one that waits for its turn; ``busy`` answers if too many wait."""

        @wraps(function)
        async def waiting(*args: Any) -> Result:
            try:
                return await self.run(function, *args)
            except UnavailableError:
                raise
            except Agl1kError as error:
                return busy(error)

        return waiting

"""Threads apart: what waits for the database must not hold up what does not."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial, wraps
from typing import Any, TypeVar

from anyio import CapacityLimiter, to_thread

Result = TypeVar("Result")


class Threads:
    """At most ``n`` threads for functions that may wait; further calls wait without a thread."""

    def __init__(self, n: int) -> None:
        self._limiter = CapacityLimiter(n)

    def __call__(self, function: Callable[..., Result]) -> Callable[..., Awaitable[Result]]:
        """The function as one that runs in these threads; it keeps its signature."""

        @wraps(function)
        async def apart(*args: Any, **kwargs: Any) -> Result:
            return await to_thread.run_sync(
                partial(function, *args, **kwargs), limiter=self._limiter
            )

        return apart


#: Calls that read from the database, and calls that also write to it.
reading, writing = Threads(20), Threads(20)

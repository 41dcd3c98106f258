"""Connections to PostgreSQL that give up when the server says nothing for too long.

A server that is stopped or cut off enforces none of its own time limits, and its machine may keep
acknowledging packets, so the limit has to be kept on this side.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from typing import Any, TypeVar, cast

import psycopg

from store.patience import Patience, patience

Result = TypeVar("Result")
_CONNECT_S = 10.0


class SilentError(psycopg.OperationalError):
    """The server has not sent anything for too long; the connection is closed."""

    sqlstate = "57014"  # a canceled statement, as after the server's own time limits


class BoundedConnection(psycopg.Connection[Any]):
    """A connection whose every wait for the server ends within the limit of the block."""

    def wait(self, gen: Any, interval: float = 0.1, timeout: float | None = None) -> Any:
        """Run psycopg's generator; raises ``SilentError`` if the server says nothing."""
        allowed = patience()
        if allowed is None:
            return super().wait(gen, interval, timeout)
        try:
            return super().wait(_watched(gen, allowed), interval, timeout)
        except SilentError:
            self.close()  # in the middle of a statement; the server rolls it back
            raise


def _watched(gen: Generator[Any, Any, Result], allowed: Patience) -> Generator[Any, Any, Result]:
    """``gen``, ended by ``SilentError`` once the server has said nothing for too long."""
    try:
        wanted = next(gen)
        while True:
            ready = yield wanted
            if ready:
                allowed.heard()
            elif allowed.is_over():
                gen.close()
                raise SilentError("the server does not respond")
            wanted = gen.send(ready)
    except StopIteration as ended:
        return cast(Result, ended.value)


def connected(*arguments: Any, **options: Any) -> BoundedConnection:
    """A new connection, made within the patience of the block."""
    allowed, given = patience(), options.get("connect_timeout")
    left_s = allowed.until - time.monotonic() if allowed else _CONNECT_S
    if left_s <= 0:
        raise SilentError("the server does not respond")
    most_s = min(left_s, float(given or _CONNECT_S))
    options["connect_timeout"] = max(2, int(most_s))  # psycopg waits for 2 s or more
    made = BoundedConnection.connect(*arguments, **options)
    if allowed:
        allowed.heard()
    return made


def set_timeouts(connection: BoundedConnection, lock_s: float, statement_s: float) -> None:
    """Have the server end statements as well, which would otherwise wait on after we give up."""
    if statement_s:
        with connection.cursor() as cursor:
            cursor.execute(f"SET lock_timeout = {round(lock_s * 1000)}".encode())
            cursor.execute(f"SET statement_timeout = {round(statement_s * 1000)}".encode())
        connection.commit()

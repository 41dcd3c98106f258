"""A lock: only one process at a time calls the Hub on behalf of a database."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from filelock import FileLock, Timeout
from sqlalchemy import text

from store.database import Database

_KEY = 4710972  # next to the one that guards migrations
_POLL_S = 0.2


@contextmanager
def hub_lock(database: Database, wait_s: float = 0) -> Iterator[bool]:
    """Hold the lock during the block; yields False if others keep it for longer than ``wait_s``.

    It is released when its process dies.
    """
    if database.url.get_backend_name() != "sqlite":
        with _advisory(database, wait_s) as mine:
            yield mine
    elif database.url.database in (None, "", ":memory:"):
        yield True
    else:
        with _file(str(database.url.database).removeprefix("file:"), wait_s) as mine:
            yield mine


@contextmanager
def _file(path: str, wait_s: float) -> Iterator[bool]:
    lock = FileLock(f"{path}.hub-lock", thread_local=False)
    try:
        lock.acquire(timeout=wait_s, poll_interval=_POLL_S)
    except Timeout:
        yield False
        return
    try:
        yield True
    finally:
        lock.release()


@contextmanager
def _advisory(database: Database, wait_s: float) -> Iterator[bool]:
    engine = database.engine.execution_options(isolation_level="AUTOCOMMIT")
    end = time.monotonic() + wait_s
    with engine.connect() as connection:
        taken = text("SELECT pg_try_advisory_lock(:key)")
        while not (mine := bool(connection.scalar(taken, {"key": _KEY}))):
            if time.monotonic() >= end:
                break
            time.sleep(_POLL_S)
        try:
            yield mine
        finally:
            if mine:
                connection.execute(text("SELECT pg_advisory_unlock(:key)"), {"key": _KEY})

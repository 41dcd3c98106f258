"""SQLAlchemy engines for SQLite and PostgreSQL, set to lose nothing and to wait within limits."""

from __future__ import annotations

import sqlite3
from typing import Any

import msgspec
import numpy as np
from sqlalchemy import URL, Connection, Engine, StaticPool, create_engine, event
from tenacity import Retrying, retry_if_exception, stop_after_delay, wait_random

from store.patience import Waits, patience

#: Blocks that may write to PostgreSQL, and that may read, at a time. The pool has room for both,
#: so that neither waits for the other.
WRITERS, READERS = 16, 20
_POOL = {"pool_size": READERS, "max_overflow": WRITERS + 8}


def sqlite_engine(url: URL, in_memory: bool, waits: Waits) -> Engine:
    """An engine for an SQLite file; transactions with the option ``writing`` lock it at once."""
    options: dict[str, Any] = {"poolclass": StaticPool} if in_memory else _POOL
    engine = _engine(url, waits, connect_args={"check_same_thread": False}, **options)

    @event.listens_for(engine, "connect")
    def prepare(connection: sqlite3.Connection, _record: object) -> None:
        connection.isolation_level = None  # the driver itself would begin the transaction too late
        _wait_for_locks(connection, waits.lock_s)
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA secure_delete = ON")  # what is deleted is overwritten
        if not in_memory:
            _write_ahead(connection, waits.lock_s)

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        allowed = patience()
        lock_s = round(allowed.lock_s if allowed else waits.lock_s, 1)
        driver: Any = connection.connection.driver_connection
        if connection.info.get("lock_s") != lock_s:
            _wait_for_locks(driver, lock_s)
            connection.info["lock_s"] = lock_s
        if connection.get_execution_options().get("writing"):
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        else:
            driver.execute("BEGIN")  # waits for nothing, so there is no error to explain

    return engine


def _wait_for_locks(connection: sqlite3.Connection, wait_s: float) -> None:
    connection.execute(f"PRAGMA busy_timeout = {round(wait_s * 1000)}")


def _write_ahead(connection: sqlite3.Connection, wait_s: float) -> None:
    """Turn on the write-ahead log permanently; SQLite itself does not wait for its lock here."""
    for attempt in Retrying(
        stop=stop_after_delay(wait_s),
        wait=wait_random(0.005, 0.05),
        retry=retry_if_exception(_is_busy),
        reraise=True,
    ):
        with attempt:
            if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
                connection.execute("PRAGMA journal_mode = WAL")


def _is_busy(error: BaseException) -> bool:
    return getattr(error, "sqlite_errorname", "").startswith("SQLITE_BUSY")


def postgres_engine(url: URL, waits: Waits) -> Engine:
    """An engine for PostgreSQL whose connections give up on a server that does not respond."""
    from store.patient_postgres import BoundedConnection, connected, set_timeouts

    engine = _engine(url, waits, pool_pre_ping=True, **_POOL)

    @event.listens_for(engine, "do_connect")
    def connect(
        _dialect: object, _record: object, arguments: Any, options: Any
    ) -> BoundedConnection:
        return connected(*arguments, **options)

    @event.listens_for(engine, "connect")
    def prepare(connection: BoundedConnection, _record: object) -> None:
        set_timeouts(connection, waits.lock_s, waits.statement_s)

    return engine


def _plain(value: Any) -> Any:
    """Convert NumPy's numbers and arrays to Python's."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


def _engine(url: URL, waits: Waits, **options: Any) -> Engine:
    """Parameters are hidden, so that no error and no log quotes what a person wrote."""
    if "poolclass" not in options:
        options["pool_timeout"] = waits.lock_s
    return create_engine(
        url,
        hide_parameters=True,
        json_serializer=lambda value: msgspec.json.encode(value, enc_hook=_plain).decode(),
        json_deserializer=msgspec.json.decode,
        **options,
    )

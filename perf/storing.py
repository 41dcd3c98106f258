"""Acknowledged guesses a second from eight threads, beside raw inserts on one connection.

Both commit each row to the disk: SQLite with ``synchronous=FULL``, PostgreSQL with ``fsync``.
"""

from __future__ import annotations

import sqlite3
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import psycopg

from perf.table import Measured
from store.database import Database
from store.guesses import Guess, GuessStore
from tests.support.postgres import PostgresServer, server_binaries

N_THREADS, N_ROWS = 8, 2000
_COLUMNS = 17


def run() -> Iterator[Measured]:
    """SQLite, and PostgreSQL if a server is installed."""
    with tempfile.TemporaryDirectory(prefix="agl1k-bench-") as folder:
        yield from _compared("SQLite", f"sqlite:///{folder}/own.db", _raw_sqlite(Path(folder)))
    binaries = server_binaries()
    if binaries is not None:
        server = PostgresServer(binaries)
        try:
            yield from _compared("PostgreSQL", server.url(), _raw_postgres(server))
        finally:
            server.remove()


def _compared(name: str, url: str, insert_raw: Callable[[], None]) -> Iterator[Measured]:
    with Database(url) as database:
        ours = max(_rate(lambda: _ours(database)) for _ in range(3))
    raw = max(_rate(insert_raw) for _ in range(3))
    yield Measured("storing", f"{name}: acknowledged, {N_THREADS} threads", ours, "guesses/s")
    yield Measured("storing", f"{name}: raw, one connection", raw, "rows/s")
    yield Measured("storing", f"{name}: ours to raw", ours / raw, "×")


def _rate(act: Callable[[], None]) -> float:
    start = time.perf_counter()
    act()
    return N_ROWS / (time.perf_counter() - start)


def _ours(database: Database) -> None:
    store = GuessStore(database)

    def write(_: int) -> None:
        round_id = uuid.uuid4().hex
        for position in range(N_ROWS // N_THREADS):
            store.record(_guess(round_id, position))

    with ThreadPoolExecutor(N_THREADS) as threads:
        list(threads.map(write, range(N_THREADS)))


def _guess(round_id: str, position: int) -> Guess:
    return Guess(
        uuid.uuid4().hex, round_id, position, "player", "", "demo", "hash", "clip", "guess",
        1.0, 2.0, 3.0, 4.0, 5.0, "free", "0", datetime.now(UTC),
    )  # fmt: skip


def _row() -> list[object]:
    return [uuid.uuid4().hex, *["text"] * 9, *[1.0] * 5, "0", str(datetime.now(UTC))]


def _raw_sqlite(folder: Path) -> Callable[[], None]:
    connection = sqlite3.connect(folder / "raw.db", isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    names = [f"c{number}" for number in range(_COLUMNS)]
    connection.execute(f"CREATE TABLE raw ({', '.join(names)}, UNIQUE (c0))")
    insert = f"INSERT INTO raw VALUES ({', '.join('?' * _COLUMNS)})"

    def run() -> None:
        for _ in range(N_ROWS):
            connection.execute(insert, _row())

    return run


def _raw_postgres(server: PostgresServer) -> Callable[[], None]:
    columns = ", ".join(f"c{number} text" for number in range(_COLUMNS))
    server.execute(f"CREATE TABLE raw ({columns}, UNIQUE (c0))")
    insert = f"INSERT INTO raw VALUES ({', '.join(['%s'] * _COLUMNS)})".encode()

    def run() -> None:
        where = f"host={server.folder} user=postgres dbname=postgres"
        with psycopg.connect(where, autocommit=True) as connection:
            for _ in range(N_ROWS):
                connection.execute(insert, [str(value) for value in _row()])

    return run

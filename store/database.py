"""The database, opened by URL: SQLite in one file, or PostgreSQL for several servers."""

from __future__ import annotations

import logging
import secrets
import sqlite3
import threading
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from sqlalchemy import (
    URL,
    Connection,
    Engine,
    StaticPool,
    Table,
    create_engine,
    event,
    make_url,
    select,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError
from tenacity import Retrying, retry_if_exception, stop_after_delay, wait_random

from agl1k_core.errors import Agl1kError
from store.migrations import upgrade
from store.schema import meta

log = logging.getLogger("agl1k.store")

CHECKED_UP_TO_BYTES = 64 * 2**20
_TOUCHED = "touched_utc"


class Database:
    """One open database, its tables up to date; safe to share between threads.

    ``url``: ``sqlite:///relative.db``, ``sqlite:////absolute.db``, ``sqlite://`` (in memory, for
    tests) or ``postgresql://user:password@host/name``. Raises ``Agl1kError`` if it cannot be opened
    or written, or belongs to a newer AGL1K. ``busy_s`` is how long to wait if another process
    is writing to the same SQLite file.
    """

    def __init__(self, url: str, *, busy_s: float = 20) -> None:
        self.url = _parse(url)
        self._on_sqlite = self.url.get_backend_name() == "sqlite"
        self._is_served = False
        self._in_memory = self._on_sqlite and self.url.database in (None, "", ":memory:")
        self._one_writer: AbstractContextManager[Any] = (
            threading.Lock() if self._on_sqlite else nullcontext()
        )
        if self._on_sqlite and not self._in_memory:
            _make_folder(self.url)
        self.engine = (
            _sqlite(self.url, self._in_memory, busy_s) if self._on_sqlite else _postgres(self.url)
        )
        self._writing = self.engine.execution_options(writing=True)
        try:
            self._open()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close all connections; the object cannot be used afterwards."""
        self.engine.dispose()

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A connection for reading; must not be nested."""
        alone = self._one_writer if self._in_memory else nullcontext()
        with self._explained(), alone, self.engine.connect() as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A connection in a transaction that is committed when the block ends; must not be nested.

        On SQLite, only one thread has it at a time: otherwise threads would poll for the file's
        lock, and the unlucky ones would wait for more than a second.
        """
        with self._explained(), self._one_writer, self._writing.begin() as connection:
            yield connection

    def insert_new(
        self, connection: Connection, table: Table, values: Mapping[str, object]
    ) -> bool:
        """Insert a row unless it would violate uniqueness; returns whether it was inserted."""
        insert = sqlite.insert if self._on_sqlite else postgresql.insert
        statement = insert(table).on_conflict_do_nothing()
        # without this option, psycopg's count is lost with its cursor
        counted = statement.execution_options(preserve_rowcount=True)
        return connection.execute(counted, values).rowcount == 1

    def insert_new_rows(
        self, connection: Connection, table: Table, rows: Sequence[Mapping[str, object]]
    ) -> None:
        """Insert many rows, each unless it would violate uniqueness."""
        insert = sqlite.insert if self._on_sqlite else postgresql.insert
        if rows:
            connection.execute(insert(table).on_conflict_do_nothing(), rows)

    def serve(self) -> None:
        """From now on, errors are shown to visitors, so only the log names the database."""
        self._is_served = True

    def check_writable(self) -> None:
        """Raise ``Agl1kError`` if nothing can be written."""
        with self.write() as connection:
            self._touch(connection)

    def _touch(self, connection: Connection) -> None:
        """Write something new, since a full disk still accepts statements that only free space."""
        value = datetime.now(UTC).isoformat().encode()
        known = update(meta).where(meta.c.name == _TOUCHED).values(value=value)
        if not connection.execute(known).rowcount:
            self.insert_new(connection, meta, {"name": _TOUCHED, "value": value})

    def scrub(self, *, rewrite: bool = False) -> bool:
        """Erase deleted rows from the files, too; False if other connections prevent it.

        With ``rewrite``, PostgreSQL rewrites the tables about players, who wait meanwhile. Without
        it, PostgreSQL only frees the space of deleted submissions, to be overwritten later.
        """
        if self._in_memory:
            return True
        alone = self.engine.execution_options(isolation_level="AUTOCOMMIT")
        with self._explained(), self._one_writer, alone.connect() as connection:
            if not self._on_sqlite:
                wanted = "FULL guesses, rounds, shards" if rewrite else "submission_files, shards"
                connection.exec_driver_sql(f"VACUUM {wanted}")
                return True
            # deleted rows are overwritten in the file, but stay in the log until it is emptied
            row = connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").one()
            return bool(row[0] == 0)

    def secret(self, name: str) -> bytes:
        """32 random bytes stored under ``name``, the same for all processes on this database."""
        return self._kept(f"secret:{name}", secrets.token_bytes(32))

    @property
    def replica_id(self) -> str:
        """A random id of this database, created once."""
        return self._kept("replica_id", uuid.uuid4().hex.encode()).decode()

    def _kept(self, name: str, fresh: bytes) -> bytes:
        query = select(meta.c.value).where(meta.c.name == name)
        with self.read() as connection:
            value = connection.scalar(query)
        if value is not None:
            return value
        with self.write() as connection:
            self.insert_new(connection, meta, {"name": name, "value": fresh})
            return connection.execute(query).scalar_one()

    def _open(self) -> None:
        if self._on_sqlite and not self._in_memory:
            self._check_file()
        with self.write() as connection:
            if not self._on_sqlite:  # released with the transaction
                connection.exec_driver_sql("SELECT pg_advisory_xact_lock(4710971)")
            upgrade(connection)
            self._touch(connection)  # fails now, not at the first guess

    def _check_file(self) -> None:
        file = _file(self.url)
        if not file.exists() or file.stat().st_size > CHECKED_UP_TO_BYTES:
            return
        with self.read() as connection:
            found = connection.exec_driver_sql("PRAGMA quick_check(1)").scalar_one()
        if found != "ok":
            raise Agl1kError(_DAMAGED.format(where=self._where))

    @property
    def _where(self) -> str:
        if self._on_sqlite:
            return f"The database {self.url.database or 'in memory'}"
        return f"The database {self.url.set(query={}).render_as_string(hide_password=True)}"

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (
            IntegrityError
        ) as error:  # the caller's mistake; PostgreSQL would quote the whole row
            diagnosis = getattr(error.orig, "diag", None)
            rule = diagnosis.constraint_name if diagnosis else error.orig
            raise ValueError(f"the row violates a rule of its table: {rule}") from None
        except DBAPIError as error:
            sentence = _sentence(error.orig).format(where=self._where)
            if not self._is_served:
                raise Agl1kError(sentence) from error
            log.warning("event=database_failed: %s", sentence)
            raise Agl1kError(_FOR_EVERYBODY) from error


_FOR_EVERYBODY = (
    "This server cannot read or store anything at the moment; nothing was stored. Please try again "
    "later. The server's log says why."
)
_DAMAGED = (
    "{where} is damaged, or is not an SQLite database. Nothing was changed. Move the file away "
    "(with its -wal and -shm files) and start again, or restore a backup."
)
_FULL = (
    "{where} could not grow: the disk is full. Nothing was stored. Free some space and try again."
)
_READ_ONLY = (
    "{where} cannot be written. Give this user the right to write the file and its folder, or set "
    "AGL1K_DATABASE to another place."
)
_BUSY = "{where} is locked by another program. Close that program, or try again in a moment."
_NOT_OPENED = (
    "{where} cannot be opened. Make sure that its folder exists and can be written, or set "
    "AGL1K_DATABASE to another place."
)
_UNREACHABLE = (
    "{where} refuses the connection. Make sure that the server runs, and that host, port, name, "
    "user and password in AGL1K_DATABASE are correct."
)
_SENTENCES = {
    "SQLITE_FULL": _FULL,
    "53100": _FULL,
    "SQLITE_READONLY": _READ_ONLY,
    "25006": _READ_ONLY,
    "42501": _READ_ONLY,
    "SQLITE_NOTADB": _DAMAGED,
    "SQLITE_CORRUPT": _DAMAGED,
    "SQLITE_BUSY": _BUSY,
    "SQLITE_LOCKED": _BUSY,
    "55P03": _BUSY,
    "SQLITE_CANTOPEN": _NOT_OPENED,
}


def _sentence(error: BaseException | None) -> str:
    code = getattr(error, "sqlite_errorname", None) or getattr(error, "sqlstate", None) or ""
    for known, sentence in _SENTENCES.items():
        if code.startswith(known):
            return sentence
    if code[:2] in ("", "08", "28", "3D", "57") and not isinstance(error, sqlite3.Error):
        return _UNREACHABLE
    message = str(error).partition("\n")[0].replace("{", "{{").replace("}", "}}")
    return f"{{where}} reported an error: {message} ({code or 'no code'}). Please report this."


def _parse(text: str) -> URL:
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        url = None
    names = {
        "sqlite": "sqlite",
        "postgres": "postgresql+psycopg",
        "postgresql": "postgresql+psycopg",
        "postgresql+psycopg": "postgresql+psycopg",
    }
    if url is None or url.drivername not in names:
        shown = "its value" if url is None else repr(url.render_as_string(hide_password=True))
        raise Agl1kError(
            f"AGL1K_DATABASE: {shown} is not a database that AGL1K can use. Set it to "
            "sqlite:///file.db or postgresql://user:password@host/name, or unset it."
        )
    return url.set(drivername=names[url.drivername])


def _file(url: URL) -> Path:
    return Path((url.database or "").removeprefix("file:"))


def _make_folder(url: URL) -> None:
    folder = _file(url).absolute().parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Agl1kError(
            f"The folder {folder} for the database cannot be created: {error.strerror}. "
            "Create it yourself, or set AGL1K_DATABASE to another place."
        ) from error


def _sqlite(url: URL, in_memory: bool, busy_s: float) -> Engine:
    options: dict[str, Any] = {"poolclass": StaticPool} if in_memory else {"pool_size": 20}
    engine = _engine(url, connect_args={"check_same_thread": False}, **options)

    @event.listens_for(engine, "connect")
    def prepare(connection: sqlite3.Connection, _record: object) -> None:
        connection.isolation_level = None  # the driver itself would begin the transaction too late
        connection.execute(f"PRAGMA busy_timeout = {round(busy_s * 1000)}")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA secure_delete = ON")  # what is deleted is overwritten
        if not in_memory:
            _write_ahead(connection, busy_s)

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        writing = connection.get_execution_options().get("writing")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")

    return engine


def _write_ahead(connection: sqlite3.Connection, busy_s: float) -> None:
    """Turn on the write-ahead log permanently; SQLite itself does not wait for its lock here."""
    for attempt in Retrying(
        stop=stop_after_delay(busy_s),
        wait=wait_random(0.005, 0.05),
        retry=retry_if_exception(_is_busy),
        reraise=True,
    ):
        with attempt:
            if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
                connection.execute("PRAGMA journal_mode = WAL")


def _is_busy(error: BaseException) -> bool:
    return getattr(error, "sqlite_errorname", "").startswith("SQLITE_BUSY")


def _postgres(url: URL) -> Engine:
    if "connect_timeout" not in url.query:
        url = url.update_query_dict({"connect_timeout": "10"})
    return _engine(url, pool_size=20, pool_pre_ping=True)


def _plain(value: Any) -> Any:
    """Convert NumPy's numbers and arrays to Python's."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


def _engine(url: URL, **options: Any) -> Engine:
    """Parameters are hidden, so that no error and no log quotes what a person wrote."""
    return create_engine(
        url,
        hide_parameters=True,
        json_serializer=lambda value: msgspec.json.encode(value, enc_hook=_plain).decode(),
        json_deserializer=msgspec.json.decode,
        **options,
    )

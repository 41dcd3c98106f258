"""The database, opened by URL: SQLite in one file, or PostgreSQL for several servers."""

from __future__ import annotations

import logging
import os
import secrets
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from sqlalchemy import URL, Connection, Engine, Insert, QueuePool, Table, make_url, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from agl1k_core.errors import Agl1kError, UnavailableError
from store import failures
from store.database_file import DatabaseFile, database_file
from store.engines import READERS, WRITERS, postgres_engine, sqlite_engine
from store.gate import Gate, StalledError
from store.migrations import upgrade
from store.patience import Waits, within
from store.schema import meta
from store.together import SharedCommits

log = logging.getLogger("agl1k.store")
Result = TypeVar("Result")

CHECKED_UP_TO_BYTES = 64 * 2**20
_TOUCHED = "touched_utc"
_PROBE = "probe"
#: More than the pages that storing a guess changes, so that no guess fails where this succeeds.
_PROBE_BYTES = {"sqlite": 96 * 2**10, "postgresql": 16 * 2**10}
#: Longest time in which PostgreSQL vacuums a table.
_SCRUB_S = 600.0


class Database:
    """One open database, its tables up to date; safe to share between threads.

    ``url``: ``sqlite:///relative.db``, ``sqlite:////absolute.db``, ``sqlite://`` (in memory, for
    tests) or ``postgresql://user:password@host/name``. Raises ``Agl1kError`` if it cannot be opened
    or written, or belongs to a newer AGL1K. ``busy_s`` is how long to wait if another process
    is writing to the same SQLite file, until ``serve`` is called.
    """

    def __init__(self, url: str, *, busy_s: float = 20) -> None:
        self.url = parse_url(url)
        self._on_sqlite = self.url.get_backend_name() == "sqlite"
        self._waits = Waits(lock_s=busy_s)
        self._is_served = False
        in_memory = self._on_sqlite and self.url.database in (None, "", ":memory:")
        self._file = None if in_memory or not self._on_sqlite else self._prepared_file()
        self._identity: object = None
        # SQLite has one writer at a time; in memory, all share one connection
        self._writers = Gate(1 if self._on_sqlite else WRITERS)
        self._readers = self._writers if in_memory else Gate(READERS)
        self.engine = self._new_engine(in_memory)
        self._writing = self.engine.execution_options(writing=True)
        self._shared_commits = SharedCommits(self.write, _broken_rule)
        try:
            self._open()
        except BaseException:
            self.close()
            raise

    def _prepared_file(self) -> DatabaseFile:
        file = database_file(self.url)
        _make_folder(file.path)
        file.prepare()
        return file

    def _new_engine(self, in_memory: bool) -> Engine:
        if self._on_sqlite:
            return sqlite_engine(self.url, in_memory, self._waits)
        return postgres_engine(self.url, self._waits)

    def close(self) -> None:
        """Close all connections; the object cannot be used afterwards."""
        self.engine.dispose()

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A connection for reading; must not be nested. It does not wait for writers."""
        with self._passed(self._readers, self._waits.lock_s), self.engine.connect() as connection:
            yield connection

    @contextmanager
    def write(self, wait_s: float | None = None) -> Iterator[Connection]:
        """A connection in a transaction that is committed when the block ends; must not be nested.

        It is available within ``wait_s``, by default a few seconds, or ``UnavailableError`` is
        raised. On SQLite, only one thread has it at a time: otherwise threads would poll for the
        file's lock, and the unlucky ones would wait for more than a second.
        """
        wait_s = self._waits.lock_s if wait_s is None else wait_s
        with self._passed(self._writers, wait_s), self._writing.begin() as connection:
            self._check_place()
            yield connection

    def write_together(self, act: Callable[[Connection], Result]) -> Result:
        """What ``act`` returns, once what it wrote is committed, perhaps with other threads'.

        An error of ``act`` undoes its own writes only. PostgreSQL joins commits by itself.
        """
        if self._on_sqlite and not self._writers.is_stalled:
            return self._shared_commits(act)
        with self.write() as connection:
            return act(connection)

    @contextmanager
    def _passed(self, gate: Gate, wait_s: float) -> Iterator[None]:
        """Be let through a gate; a database that keeps us waiting closes it for others."""
        silence_s = self._waits.silence_s
        first_s = min(silence_s, wait_s + 1)
        with (
            self._explained(gate),
            gate.passed(wait_s) as left_s,
            within(left_s, first_s, silence_s),
        ):
            yield

    @property
    def is_shared(self) -> bool:
        """Whether servers on several machines may use this database."""
        return not self._on_sqlite

    def insert_new(
        self, connection: Connection, table: Table, values: Mapping[str, object]
    ) -> bool:
        """Insert a row unless it would violate uniqueness; returns whether it was inserted."""
        return connection.execute(self.new_row(table), values).rowcount == 1

    def new_row(self, table: Table, **expressions: object) -> Insert:
        """A statement that inserts a row unless it would violate uniqueness.

        Its parameters are the row's values, except for columns that are SQL ``expressions``.
        """
        insert = sqlite.insert if self._on_sqlite else postgresql.insert
        statement = insert(table).values(expressions) if expressions else insert(table)
        # without this option, psycopg's count is lost with its cursor
        return statement.on_conflict_do_nothing().execution_options(preserve_rowcount=True)

    def insert_new_rows(
        self, connection: Connection, table: Table, rows: Sequence[Mapping[str, object]]
    ) -> None:
        """Insert many rows, each unless it would violate uniqueness."""
        insert = sqlite.insert if self._on_sqlite else postgresql.insert
        if rows:
            connection.execute(insert(table).on_conflict_do_nothing(), rows)

    def serve(self) -> None:
        """From now on, people wait for answers, so nothing waits for long.

        Errors are shown to visitors, so only the log names the database.
        """
        self._is_served = True
        self._waits.shorten()
        if not self._on_sqlite:
            self.engine.dispose()  # new connections have the server's time limits

    @property
    def connections_in_use(self) -> int:
        """How many connections are in use at the moment."""
        pool = self.engine.pool
        return pool.checkedout() if isinstance(pool, QueuePool) else 0

    @property
    def is_stalled(self) -> bool:
        """Whether the last caller waited for the database in vain."""
        return self._writers.is_stalled or self._readers.is_stalled

    def check_writable(self, wait_s: float | None = None) -> None:
        """Raise ``UnavailableError`` if an answer could not be stored within ``wait_s``."""
        with self.write(wait_s) as connection:
            size = _PROBE_BYTES[self.url.get_backend_name()]
            self._keep(connection, _PROBE, os.urandom(size))

    def _touch(self, connection: Connection) -> None:
        self._keep(connection, _TOUCHED, datetime.now(UTC).isoformat().encode())

    def _keep(self, connection: Connection, name: str, value: bytes) -> None:
        """Write something new, since a full disk still accepts statements that only free space."""
        known = update(meta).where(meta.c.name == name).values(value=value)
        if not connection.execute(known).rowcount:
            self.insert_new(connection, meta, {"name": name, "value": value})

    def _check_place(self) -> None:
        """Refuse to write into a file that is no longer the one at its path."""
        file = self._file
        if file is None or self._identity is None:
            return
        if file.identity() != self._identity or not file.beside("-wal").exists():
            raise self._failure(failures.MOVED)

    def scrub(self, *, rewrite: bool = False) -> bool:
        """Erase deleted rows from the files, too; False if other connections prevent it.

        With ``rewrite``, PostgreSQL rewrites the tables about players, who wait meanwhile. Without
        it, PostgreSQL only frees the space of deleted submissions, to be overwritten later.
        """
        if self._on_sqlite and self._file is None:
            return True
        alone = self.engine.execution_options(isolation_level="AUTOCOMMIT")
        with self._passed(self._writers, self._waits.lock_s), alone.connect() as connection:
            if not self._on_sqlite:
                wanted = "FULL guesses, rounds, shards" if rewrite else "submission_files, shards"
                with within(0, _SCRUB_S, _SCRUB_S):
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
        self._check_pages()
        with self.write() as connection:
            if not self._on_sqlite:  # released with the transaction
                connection.exec_driver_sql("SELECT pg_advisory_xact_lock(4710971)")
            upgrade(connection)
            self._touch(connection)  # fails now, not at the first guess
        self._identity = self._file and self._file.identity()

    def _check_pages(self) -> None:
        if self._file is None or self._file.path.stat().st_size > CHECKED_UP_TO_BYTES:
            return
        with self.read() as connection:
            found = connection.exec_driver_sql("PRAGMA quick_check(1)").scalar_one()
        if found != "ok":
            raise Agl1kError(failures.DAMAGED.format(where=self._where))

    @property
    def _where(self) -> str:
        if self._on_sqlite:
            return f"The database {self.url.database or 'in memory'}"
        return f"The database {self.url.set(query={}).render_as_string(hide_password=True)}"

    @contextmanager
    def _explained(self, gate: Gate) -> Iterator[None]:
        try:
            yield
        except IntegrityError as error:
            raise _broken_rule(error) from None
        except (StalledError, PoolTimeoutError) as error:
            stalled = failures.BUSY if self._on_sqlite else failures.SILENT
            raise self._failure(stalled) from error
        except DBAPIError as error:
            sentence = failures.sentence_of(error.orig)
            if failures.is_stall(sentence):
                gate.stalled()
            raise self._failure(sentence) from error

    def _failure(self, sentence: str) -> UnavailableError:
        """The error to raise; once people are served, the log has the sentence instead."""
        told = sentence.format(where=self._where)
        if not self._is_served:
            return UnavailableError(told)
        log.warning("event=database_failed: %s", told)
        return UnavailableError(failures.FOR_EVERYBODY)


def _broken_rule(error: IntegrityError) -> ValueError:
    """The caller's mistake, without the values: PostgreSQL would quote the whole row."""
    diagnosis = getattr(error.orig, "diag", None)
    rule = diagnosis.constraint_name if diagnosis else error.orig
    return ValueError(f"the row violates a rule of its table: {rule}")


def parse_url(text: str) -> URL:
    """The URL of a database that AGL1K can use; raises ``Agl1kError`` for any other text."""
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


def _make_folder(file: Path) -> None:
    folder = file.absolute().parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Agl1kError(
            f"The folder {folder} for the database cannot be created: {error.strerror}. "
            "Create it yourself, or set AGL1K_DATABASE to another place."
        ) from error

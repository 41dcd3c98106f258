from __future__ import annotations

import os
import re
import socket
import sqlite3
import threading
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event, inspect, text

from agl1k_core.errors import Agl1kError
from store.database import Database
from store.guesses import Guess, GuessStore
from store.schema import metadata


def pragma(database: Database, name: str) -> object:
    with database.read() as connection:
        return connection.exec_driver_sql(f"PRAGMA {name}").scalar_one()


def test_sqlite_is_set_to_lose_nothing(tmp_path: Path) -> None:
    with Database(f"sqlite:///{tmp_path / 'a.db'}", busy_s=3) as database:
        assert pragma(database, "journal_mode") == "wal"
        assert pragma(database, "synchronous") == 2  # FULL
        assert pragma(database, "foreign_keys") == 1
        assert pragma(database, "busy_timeout") == 3000
        with database.write() as connection:
            assert connection.exec_driver_sql("PRAGMA synchronous").scalar_one() == 2


@pytest.mark.postgres
def test_postgresql_is_set_to_lose_nothing(postgres_server: Any) -> None:
    with Database(postgres_server.url()) as database, database.read() as connection:
        for setting in ("fsync", "synchronous_commit"):
            assert connection.exec_driver_sql(f"SHOW {setting}").scalar_one() == "on"


def test_folders_are_created(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Database(f"sqlite:///{tmp_path}/new/er/absolute.db").close()
    Database("sqlite:///some where/relative.db").close()
    assert (tmp_path / "new" / "er" / "absolute.db").is_file()
    assert (tmp_path / "some where" / "relative.db").is_file()


def test_a_database_in_memory_is_shared_by_threads(make_guess: Callable[..., Guess]) -> None:
    with Database("sqlite://") as database:
        store = GuessStore(database)
        guesses = [make_guess(position=position) for position in range(60)]

        def record_and_read(guess: Guess) -> int:
            store.record(guess)
            return store.counts("demo").guesses

        with ThreadPoolExecutor(8) as pool:
            counts = list(pool.map(record_and_read, guesses))
        assert max(counts) == 60
        assert store.of_round("round-1") == guesses


def test_a_block_that_fails_stores_nothing(
    database: Database, make_guess: Callable[..., Guess]
) -> None:
    def fail_in_the_middle() -> None:
        with database.write() as connection:
            connection.execute(text("INSERT INTO meta (name, value) VALUES ('half', 'done')"))
            raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError, match="in the middle"):
        fail_in_the_middle()
    with database.read() as connection:
        found = connection.execute(text("SELECT value FROM meta WHERE name = 'half'"))
        assert found.first() is None
    GuessStore(database).record(make_guess())


def test_readers_see_nothing_half_done_and_do_not_wait(
    database: Database, make_guess: Callable[..., Guess]
) -> None:
    store = GuessStore(database)
    store.record(make_guess(position=0))
    with database.write() as connection:
        connection.execute(text("DELETE FROM guesses"))
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(store.counts, "demo").result(10).guesses == 1
    assert store.counts("demo").guesses == 0


def test_secrets_are_created_once(database: Database, database_url: str) -> None:
    gate = threading.Barrier(6)
    replicas = [Database(database_url) for _ in range(6)]

    def ask(replica: Database) -> tuple[bytes, str]:
        gate.wait()
        return replica.secret("cookie"), replica.replica_id

    with ThreadPoolExecutor(6) as pool:
        told = set(pool.map(ask, replicas))
    for replica in replicas:
        replica.close()
    assert told == {(database.secret("cookie"), database.replica_id)}
    assert len(database.secret("cookie")) == 32
    assert database.secret("other") != database.secret("cookie")


def test_two_databases_have_different_secrets(tmp_path: Path) -> None:
    with Database("sqlite://") as one, Database("sqlite://") as two:
        assert one.secret("cookie") != two.secret("cookie")
        assert one.replica_id != two.replica_id


def test_nothing_stored_identifies_a_person(database: Database) -> None:
    personal = {"ip", "address", "agent", "browser", "mail", "email", "cookie", "session", "token"}
    personal |= {"referer", "host", "phone", "location", "fingerprint"}
    found = inspect(database.engine)
    for table in found.get_table_names():
        for column in found.get_columns(table):
            assert not personal & set(column["name"].split("_")), (table, column["name"])
    assert {column.name for column in metadata.tables["guesses"].columns} == {
        *("sequence", "guess_id", "round_id", "position", "player_id", "nickname"),
        *("benchmark", "benchmark_hash", "clip_key", "action", "latitude", "longitude"),
        *("distance_km", "score", "seconds", "mode", "app_version", "created_utc", "shard"),
        "tools",
    }


@pytest.mark.parametrize(
    "url",
    ["", "agl1k.db", "mysql://me:hush@db/x", "postgresql+asyncpg://me:hush@db/x", "http://x:y/z"],
)
def test_an_unusable_url_is_refused_with_what_to_set(url: str) -> None:
    with pytest.raises(
        Agl1kError, match=r"AGL1K_DATABASE: .* is not a database that AGL1K can use"
    ) as refused:
        Database(url)
    assert "hush" not in str(refused.value)


def test_a_folder_that_cannot_be_created(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(
        Agl1kError, match=r"folder .*file/deeper.* cannot be created: Not a directory"
    ):
        Database(f"sqlite:///{tmp_path / 'file' / 'deeper' / 'a.db'}")


def test_a_folder_in_place_of_the_file(tmp_path: Path) -> None:
    with pytest.raises(Agl1kError, match=r"cannot be opened. Make sure that its folder exists"):
        Database(f"sqlite:///{tmp_path}")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    with pytest.raises(Agl1kError, match=r"cannot be opened. Make sure that its folder exists"):
        Database(f"sqlite:///{tmp_path / 'a.db'}")


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    Database(f"sqlite:///{file}").close()
    with pytest.raises(Agl1kError, match=r"a\.db.* cannot be written. Give this user the right"):
        Database(f"sqlite:///file:{file}?mode=ro&uri=true")


@pytest.mark.postgres
def test_a_server_that_only_reads(postgres_server: Any) -> None:
    Database(postgres_server.url()).close()
    with pytest.raises(Agl1kError, match="cannot be written"):
        Database(postgres_server.url() + "%20-cdefault_transaction_read_only%3Don")


@pytest.mark.parametrize("content", [b"no database", os.urandom(9000), b"SQLite format 3\0" * 400])
def test_a_file_that_is_not_a_database(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "a.db"
    file.write_bytes(content)
    with pytest.raises(Agl1kError, match=r"a\.db is damaged, or is not an SQLite database"):
        Database(f"sqlite:///{file}")
    assert file.read_bytes() == content


def test_a_damaged_page_is_found_on_opening(
    tmp_path: Path, make_guess: Callable[..., Guess]
) -> None:
    file = tmp_path / "a.db"
    with Database(f"sqlite:///{file}") as database:
        store = GuessStore(database)
        for position in range(200):
            store.record(make_guess(position=position))
    content = bytearray(file.read_bytes())
    middle = len(content) // 2 // 4096 * 4096
    content[middle : middle + 4096] = b"\xa5" * 4096
    file.write_bytes(content)
    with pytest.raises(Agl1kError, match=r"a\.db is damaged"):
        Database(f"sqlite:///{file}")
    assert file.read_bytes() == content


def test_a_full_disk_stores_nothing_and_heals(
    tmp_path: Path, make_guess: Callable[..., Guess]
) -> None:
    with Database(f"sqlite:///{tmp_path / 'a.db'}") as database:
        store = GuessStore(database)
        first = store.record(make_guess(position=0))
        full = {"pages": int(str(pragma(database, "page_count")))}

        @event.listens_for(database.engine, "begin")
        def limit(connection: Any) -> None:
            connection.exec_driver_sql(f"PRAGMA max_page_count = {full['pages']}")

        with pytest.raises(Agl1kError, match=r"a\.db could not grow: the disk is full"):
            store.record(make_guess(position=1, nickname="x" * 100_000))
        assert store.of_round("round-1") == [first]
        full["pages"] = 10_000
        second = store.record(make_guess(position=1, nickname="x" * 100_000))
        assert store.of_round("round-1") == [first, second]


def test_a_file_locked_by_another_program(tmp_path: Path, make_guess: Callable[..., Guess]) -> None:
    file = tmp_path / "a.db"
    with Database(f"sqlite:///{file}", busy_s=0.05) as database:
        other = sqlite3.connect(file, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(Agl1kError, match=r"locked by another program. Close that program"):
            GuessStore(database).record(make_guess())
        other.execute("ROLLBACK")
        other.close()
        GuessStore(database).record(make_guess())


def test_a_new_file_is_opened_once_another_program_unlocks_it(tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "a.db", isolation_level=None, check_same_thread=False)
    other.execute("PRAGMA user_version = 1")
    other.execute("BEGIN IMMEDIATE")
    release = threading.Timer(0.3, other.execute, ["ROLLBACK"])
    release.start()
    with Database(f"sqlite:///{tmp_path / 'a.db'}") as database:
        assert pragma(database, "journal_mode") == "wal"
    release.join()
    other.close()


@pytest.mark.server
def test_an_unreachable_server_is_reported_without_the_password() -> None:
    password = "hush".upper()  # unlike in this source, which tracebacks show
    with socket.socket() as taken:  # bound, but not listening
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        with pytest.raises(
            Agl1kError, match=f"127.0.0.1:{port}.* refuses the connection"
        ) as refused:
            Database(f"postgres://me:{password}@127.0.0.1:{port}/arena")
    told = "".join(traceback.format_exception(refused.value))
    assert password not in told
    assert re.search(r"host, port, name, user and\s+password in AGL1K_DATABASE", str(refused.value))


@pytest.mark.postgres
def test_an_unknown_database(postgres_server: Any) -> None:
    with pytest.raises(Agl1kError, match=r"nonesuch.* refuses the connection"):
        Database(postgres_server.url(database="nonesuch"))


def test_pages_show_no_path_but_the_log_does(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with Database(f"sqlite:///{tmp_path / 'a.db'}") as database:
        database.serve()
        event.listen(database.engine, "begin", lambda found: found.exec_driver_sql(_READ_ONLY))
        with pytest.raises(Agl1kError, match="cannot read or store anything at") as refused:
            database.check_writable()
    assert "a.db" not in str(refused.value)
    assert "a.db cannot be written. Give this user the right" in caplog.text


_READ_ONLY = "PRAGMA query_only = ON"


def test_errors_do_not_quote_what_people_wrote(database: Database) -> None:
    written = {"a": "a private name".upper()}  # unlike in this source, which tracebacks show
    with pytest.raises(Agl1kError) as refused, database.read() as connection:
        connection.execute(text("SELECT * FROM nonesuch WHERE a = :a"), written)
    told = "".join(traceback.format_exception(refused.value))
    assert "nonesuch" in told
    assert written["a"] not in told

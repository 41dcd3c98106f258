"""A database that keeps its callers waiting: each request ends soon, and nothing is lost."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from agl1k_core.errors import UnavailableError
from store.database import Database
from store.gate import Gate, StalledError
from store.guesses import Guess, GuessStore
from tests.support.waiting import PATIENCE_S, eventually

MakeGuess = Callable[..., Guess]


def refused(act: Callable[..., object], *given: object) -> bool:
    """Whether a call was refused with the sentence for everybody."""
    try:
        act(*given)
    except UnavailableError as error:
        return str(error).startswith("This server cannot read or store anything at the moment.")
    return False


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "agl1k.db"


@pytest.fixture
def store(file: Path) -> Iterator[GuessStore]:
    with Database(f"sqlite:///{file}") as database:
        database.serve()
        yield GuessStore(database)


def test_a_locked_file_refuses_writers_and_serves_readers(
    store: GuessStore, file: Path, make_guess: MakeGuess
) -> None:
    kept = store.record(make_guess(position=0))
    answers = [make_guess(position=position) for position in range(1, 61)]
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with ThreadPoolExecutor(60) as pool:
            results = [pool.submit(refused, store.record, answer) for answer in answers]
            assert store.of_round("round-1") == [kept]
            assert all(result.result(PATIENCE_S) for result in results)
        assert refused(store.record, answers[0])
        assert store.of_round("round-1") == [kept]
        other.execute("ROLLBACK")
    assert [store.record(answer) for answer in answers] == answers
    assert store.of_round("round-1") == [kept, *answers]


@pytest.fixture
def frozen(own_postgres_server: Any) -> Iterator[Any]:
    """A server that can be stopped with all its processes, as a machine that hangs."""
    yield own_postgres_server
    own_postgres_server.thaw()


@pytest.mark.postgres
def test_a_frozen_server_refuses_everyone_until_it_goes_on(
    frozen: Any, make_guess: MakeGuess
) -> None:
    with Database(frozen.url()) as database:
        database.serve()
        store = GuessStore(database)
        kept = store.record(make_guess(position=0))
        answers = [make_guess(position=position) for position in range(1, 41)]
        frozen.freeze()
        with ThreadPoolExecutor(80) as pool:
            writing = [pool.submit(refused, store.record, answer) for answer in answers]
            reading = [pool.submit(refused, store.counts, "demo") for _ in answers]
            assert all(result.result(PATIENCE_S) for result in writing + reading)
        assert refused(database.check_writable, 1)
        frozen.thaw()
        eventually(lambda: not refused(store.record, answers[0]))
        assert [store.record(answer) for answer in answers] == answers
        assert store.of_round("round-1") == [kept, *answers]


@pytest.mark.postgres
def test_a_server_that_accepts_but_never_answers(frozen: Any, make_guess: MakeGuess) -> None:
    url = frozen.url()
    Database(url).close()
    frozen.freeze()
    with pytest.raises(UnavailableError, match="does not respond"):
        Database(url, busy_s=0.1)
    frozen.thaw()
    Database(url).close()


@pytest.mark.postgres
def test_a_locked_table_refuses_writers_and_serves_readers(
    postgres_server: Any, make_guess: MakeGuess
) -> None:
    postgres_server.execute("CREATE SCHEMA locked_table")
    with Database(postgres_server.url("locked_table")) as database:
        database.serve()
        store = GuessStore(database)
        kept = store.record(make_guess(position=0))
        with postgres_server.connected() as other:
            other.execute("LOCK TABLE locked_table.guesses IN SHARE MODE")
            assert refused(store.record, make_guess(position=1))
            assert store.of_round("round-1") == [kept]
        store.record(make_guess(position=1))
        assert store.counts("demo").guesses == 2


def test_a_gate_lets_one_try_at_a_time_once_somebody_waited_in_vain() -> None:
    gate = Gate(8)
    with gate.passed(1):
        gate.stalled()
        assert gate.is_stalled
    assert not gate.is_stalled
    gate.stalled()
    inside, leave = threading.Event(), threading.Event()

    def tries() -> None:
        with gate.passed(PATIENCE_S):
            inside.set()
            leave.wait(PATIENCE_S)

    with ThreadPoolExecutor(1) as pool:
        trying = pool.submit(tries)
        assert inside.wait(PATIENCE_S)
        with pytest.raises(StalledError), gate.passed(PATIENCE_S):
            pass
        leave.set()
        trying.result(PATIENCE_S)
    with gate.passed(0):
        pass


def test_a_gate_stays_closed_after_an_error_and_gives_its_permit_back() -> None:
    gate = Gate(1)
    for _ in range(3):
        with suppress(ValueError), gate.passed(0):
            gate.stalled()
            raise ValueError
        assert gate.is_stalled
    with gate.passed(0) as left_s:
        assert left_s == 0

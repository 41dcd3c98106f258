"""Writes of several threads share a commit: all of them, each with its own outcome."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Connection, event

from agl1k_core.errors import Agl1kError, UnavailableError
from store.database import Database
from store.guesses import Guess, GuessStore
from tests.support.waiting import PATIENCE_S, eventually

MakeGuess = Callable[..., Guess]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "agl1k.db"


@pytest.fixture
def database(file: Path) -> Iterator[Database]:
    with Database(f"sqlite:///{file}") as opened:
        yield opened


class Crowd:
    """Threads whose writes gather behind a first one, which is held open until ``go``."""

    def __init__(self, database: Database, n_threads: int) -> None:
        self.database = database
        self._begun, self._go_on = threading.Event(), threading.Event()
        self._pool = ThreadPoolExecutor(n_threads + 1)
        self._n_writing = 0
        self.n_commits = 0
        event.listen(database.engine, "commit", self._count)
        self.first = self._pool.submit(database.write_together, self._wait)
        assert self._begun.wait(PATIENCE_S)

    def _count(self, _: object) -> None:
        self.n_commits += 1

    def _wait(self, _: Connection) -> None:
        self._begun.set()
        assert self._go_on.wait(PATIENCE_S)

    def begin(self, act: Callable[..., object], *given: object) -> Future[object]:
        started = threading.Event()

        def write() -> object:
            started.set()
            return act(*given)

        future = self._pool.submit(write)
        assert started.wait(PATIENCE_S)
        return future

    def go(self) -> None:
        self._go_on.set()
        self.first.result(PATIENCE_S)


def stored(file: Path) -> set[str]:
    """The guesses that another process would find."""
    with closing(sqlite3.connect(file)) as other:
        return {row[0] for row in other.execute("SELECT guess_id FROM guesses")}


def test_what_was_returned_is_committed(
    database: Database, file: Path, make_guess: MakeGuess
) -> None:
    store, missing = GuessStore(database), list[str]()

    def write(number: int) -> None:
        for position in range(20):
            kept = store.record(make_guess(round_id=f"r{number}", position=position))
            if kept.guess_id not in stored(file):
                missing.append(kept.guess_id)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(8)))
    assert missing == []
    assert len(stored(file)) == 160


def test_an_error_of_one_does_not_undo_the_others(
    database: Database, file: Path, make_guess: MakeGuess
) -> None:
    store, crowd = GuessStore(database), Crowd(database, 8)
    good = [make_guess(position=position) for position in range(4)]
    answers = [crowd.begin(store.record, answer) for answer in good]
    again = crowd.begin(store.record, replace(good[0], guess_id="other"))
    broken = crowd.begin(store.record, make_guess(position=5, action="shrug"))
    lost = crowd.begin(store.start_clip, "no such round", 0, good[0].created_utc)

    def half(connection: Connection) -> None:
        connection.exec_driver_sql("DELETE FROM guesses")
        raise Agl1kError("changed my mind")

    undone = crowd.begin(database.write_together, half)
    crowd.go()
    kept = [answer.result(PATIENCE_S) for answer in answers]
    assert kept[1:] == good[1:]
    assert again.result(PATIENCE_S) == kept[0]  # whichever came first counts
    with pytest.raises(ValueError, match="violates a rule"):
        broken.result(PATIENCE_S)
    with pytest.raises(Agl1kError, match="unknown here"):
        lost.result(PATIENCE_S)
    with pytest.raises(Agl1kError, match="changed my mind"):
        undone.result(PATIENCE_S)
    assert len(stored(file)) == 4


def test_those_who_wait_share_one_commit(
    database: Database, file: Path, make_guess: MakeGuess
) -> None:
    store, crowd = GuessStore(database), Crowd(database, 30)
    answers = [crowd.begin(store.record, make_guess(position=n)) for n in range(30)]
    crowd.go()
    assert len({str(answer.result(PATIENCE_S)) for answer in answers}) == 30
    assert len(stored(file)) == 30
    assert crowd.n_commits < 15, "each had its own"


def test_a_commit_that_fails_fails_for_all_and_is_not_acknowledged(
    database: Database, file: Path, make_guess: MakeGuess
) -> None:
    database.serve()
    store = GuessStore(database)
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with ThreadPoolExecutor(10) as pool:
            answers = [pool.submit(store.record, make_guess(position=n)) for n in range(10)]
            for answer in answers:
                with pytest.raises(UnavailableError):
                    answer.result(PATIENCE_S)
        other.execute("ROLLBACK")
    assert stored(file) == set()
    eventually(lambda: store.record(make_guess(position=0)))

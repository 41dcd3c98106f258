from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import delete

from agl1k_core.benchmarks import Benchmark
from agl1k_core.errors import Agl1kError
from leaderboard.board import Board
from store.database import Database
from store.schema import guesses, rounds, submission_files, submissions
from tests.support.toy_board import SHARED, make_benchmark, make_board

NO_TABLE = "The published AGL1K table is not here yet. 'agl1k fetch' downloads it."


@pytest.fixture(scope="session")
def migrated() -> Iterator[Database]:
    """One database in memory for all tests: its migrations take longer than a test."""
    with Database("sqlite://") as database:
        yield database


@pytest.fixture
def database(migrated: Database) -> Database:
    with migrated.write() as connection:
        for table in (guesses, rounds, submission_files, submissions):
            connection.execute(delete(table))
    return migrated


@pytest.fixture(scope="session")
def toy() -> Benchmark:
    return make_benchmark()


@pytest.fixture
def board(database: Database, toy: Benchmark) -> Board:
    return make_board(database, lambda: toy)


def _no_table() -> Benchmark:
    raise Agl1kError(NO_TABLE)


@pytest.fixture
def absent(database: Database) -> Board:
    """The AGL1K board without its table."""
    return make_board(database, _no_table, slug="agl1k")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    if not SHARED.is_dir():
        pytest.skip("the real AGL1K data is not beside this checkout")
    return SHARED

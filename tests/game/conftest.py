from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import count

import pytest
from sqlalchemy import delete

from agl1k_core.benchmarks import Benchmark
from game.rounds import Game
from store.database import Database
from store.guesses import GuessStore
from store.schema import guesses, rounds
from tests.support.toy_game import Clock, make_benchmark


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def benchmark_of() -> Callable[..., Benchmark]:
    return make_benchmark


@pytest.fixture
def toy() -> Benchmark:
    return make_benchmark()


@pytest.fixture(scope="session")
def migrated() -> Iterator[Database]:
    """One database in memory for all tests: its migrations take longer than a test."""
    with Database("sqlite://") as database:
        yield database


@pytest.fixture
def guess_store(migrated: Database) -> GuessStore:
    with migrated.write() as connection:
        for table in (guesses, rounds):
            connection.execute(delete(table))
    return GuessStore(migrated)


@pytest.fixture
def new_game(toy: Benchmark, guess_store: GuessStore, clock: Clock) -> Callable[..., Game]:
    """Makes games that share one store and one secret, as a restarted server does."""

    seeds = count(7)

    def make(**options: object) -> Game:
        settings = {"clock": clock, "rng": random.Random(next(seeds)), **options}
        store = settings.pop("store", guess_store)
        benchmarks = settings.pop("benchmarks", {toy.slug: toy})
        return Game(benchmarks, store, b"a secret for tests", **settings)  # type: ignore[arg-type]

    return make


@pytest.fixture
def game(new_game: Callable[..., Game]) -> Game:
    return new_game()

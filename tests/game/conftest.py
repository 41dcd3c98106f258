from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import pytest
from sqlalchemy import delete

from agl1k_core.benchmarks import Benchmark
from game.dependencies import Content, Surroundings
from game.rounds import Game
from store.database import Database
from store.guesses import GuessStore
from store.rooms import RoomStore
from store.schema import carries, guesses, room_seats, rooms, rounds
from tests.support.toy_game import SECRET, Clock, ToyClips, make_benchmark


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
        for table in (guesses, rounds, rooms, room_seats, carries):
            connection.execute(delete(table))
    return GuessStore(migrated)


@pytest.fixture
def room_store(migrated: Database, guess_store: GuessStore) -> RoomStore:
    return RoomStore(migrated)


@pytest.fixture
def new_game(
    toy: Benchmark, guess_store: GuessStore, room_store: RoomStore, clock: Clock
) -> Callable[..., Game]:
    """Makes games that share one store and one secret, as a restarted server does."""

    seeds = count(7)

    def make(**options: Any) -> Game:
        store = options.pop("store", guess_store)
        admit = {
            name: options.pop(name)
            for name in ("admit", "give_back", "heard", "admit_code")
            if name in options
        }
        content = Content(**{"benchmarks": {toy.slug: toy}, "clips": ToyClips(), **options})
        surroundings = Surroundings(clock, random.Random(next(seeds)), **admit)
        return Game(content, store, room_store, SECRET, surroundings)

    return make


@pytest.fixture
def game(new_game: Callable[..., Game]) -> Game:
    return new_game()

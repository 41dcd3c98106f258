"""What was acknowledged survives when the process or the server is killed."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any

import pytest

from agl1k_core.errors import Agl1kError
from store.database import Database
from store.guesses import Guess, GuessStore
from tests.support.processes import GuessWriter


def stored_ids(url: str) -> list[str]:
    with Database(url) as database:
        return [guess.guess_id for guess in GuessStore(database).of_benchmark("demo")]


@pytest.mark.server
def test_every_acknowledged_guess_survives_kill_9(database_url: str) -> None:
    acknowledged: list[str] = []
    for n_before_kill in (1, 150, 400):
        writer = GuessWriter(database_url)
        acknowledged += writer.read(n_before_kill) + writer.kill()
        assert writer.process.returncode == -signal.SIGKILL
        stored = stored_ids(database_url)
        assert set(acknowledged) <= set(stored)
        assert len(stored) == len(set(stored))
        # at most one guess of each of the four threads was stored but not acknowledged
        assert len(stored) <= len(acknowledged) + 4 * 3


@pytest.mark.postgres
def test_every_acknowledged_guess_survives_a_crash_of_the_server(own_postgres_server: Any) -> None:
    url = own_postgres_server.url()
    acknowledged: list[str] = []
    for _ in range(2):
        writer = GuessWriter(url)
        acknowledged += writer.read(200)
        own_postgres_server.stop(signal.SIGQUIT)
        acknowledged += writer.rest()
        own_postgres_server.start()
        assert set(acknowledged) <= set(stored_ids(url))


@pytest.mark.postgres
def test_an_open_database_outlives_a_crash_of_the_server(
    own_postgres_server: Any, make_guess: Callable[..., Guess]
) -> None:
    first, lost, second, third = (make_guess(position=position) for position in range(4))
    with Database(own_postgres_server.url()) as database:
        store = GuessStore(database)
        store.record(first)
        own_postgres_server.stop(signal.SIGQUIT)
        with pytest.raises(Agl1kError, match="refuses the connection"):
            store.record(lost)
        own_postgres_server.start()
        store.record(second)
        own_postgres_server.stop()
        own_postgres_server.start()
        store.record(third)  # a restart between two guesses is not noticed
        assert store.of_round("round-1") == [first, second, third]

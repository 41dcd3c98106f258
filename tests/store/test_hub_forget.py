"""A player is deleted: here, in waiting files, on the Hub and in its history."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from store.database import Database
from store.guesses import Guess, GuessStore, Round
from store.hub.forget import forget
from store.hub.outbox import Outbox
from store.hub.publisher import Publisher
from store.hub.remote import Remote
from tests.support.fake_hub import WRITE, FakeHub
from tests.support.hub_help import ids_on, remote_to, rows_on

MakeGuess = Callable[..., Guess]
GONE = "0123456789abcdef-gone"


def traces(hub: FakeHub) -> list[str]:
    """Where the player is still found, in any revision or in stored bytes."""
    repo = hub.repo()
    blobs = {name: blob.data for made in repo.commits for name, blob in made.files.items()}
    blobs |= {f"stored {oid}": data for oid, (_, data) in repo.stored.items()}
    blobs |= {f"upload {oid}": data for oid, data in hub.uploads.items()}
    return [name for name, data in blobs.items() if GONE in _text(data)]


def _text(data: bytes) -> str:
    if data[:4] == b"PAR1":
        return str(pq.read_table(io.BytesIO(data)).to_pylist())
    return data.decode("utf-8", "replace")


def record_two(store: GuessStore, make_guess: MakeGuess) -> None:
    """A guess of the player to delete, and one of another."""
    store.record(make_guess(round_id="a", player_id=GONE))
    store.record(make_guess(round_id="b", player_id="stays"))


def test_no_trace_is_left(
    hub: FakeHub, database: Database, make_guess: MakeGuess, make_round: Callable[..., Round],
    tmp_path: Path,
) -> None:  # fmt: skip
    store = GuessStore(database)
    publisher = Publisher(database, remote_to(hub))
    store.add_round(make_round(player_id=GONE))
    for number in range(3):
        store.record(make_guess(round_id=f"a{number}", player_id=GONE))
        store.record(make_guess(round_id=f"s{number}", player_id=GONE, action="skip"))
        store.record(make_guess(round_id=f"b{number}", player_id="stays"))
        publisher.turn()
    store.record(make_guess(round_id="alone", player_id=GONE))
    publisher.turn()  # a file with rows of this player only
    store.record(make_guess(round_id="waits", player_id=GONE))
    store.record(make_guess(round_id="waits-2", player_id="stays"))
    Outbox(database).seal()
    assert traces(hub)
    done = forget(database, remote_to(hub), GONE)
    assert done.is_done
    assert (done.rows_here, done.rounds_here, done.rows_waiting, done.rows_published) == (
        8,
        1,
        1,
        7,
    )
    assert traces(hub) == []
    assert len(rows_on(hub, "guesses")) == 3
    publisher.turn()
    assert len(ids_on(hub)) == 4
    assert traces(hub) == []
    assert {guess.player_id for guess in store.of_benchmark("demo")} == {"stays"}
    for file in tmp_path.glob("agl1k.db*"):
        assert GONE.encode() not in file.read_bytes(), file
    told = "\n".join(done.missed)
    assert "Copies that others have made" in told
    assert "Databases of other servers" in told


@pytest.mark.postgres
def test_no_trace_is_left_in_the_tables_of_postgresql(
    own_postgres_server: Any, make_guess: MakeGuess
) -> None:
    with Database(own_postgres_server.url()) as database:
        store = GuessStore(database)
        for number in range(600):
            player_id = "stays" if number % 3 else GONE
            store.record(make_guess(round_id=f"r{number}", player_id=player_id))
        Outbox(database).seal()
        assert holding(own_postgres_server)
        assert forget(database, None, GONE).rows_here == 200
        assert holding(own_postgres_server) == []
        assert len(store.of_benchmark("demo")) == 400


def holding(server: Any) -> list[Path]:
    """Files of tables and indexes that contain the player."""
    server.execute("CHECKPOINT")
    files = [path for path in (server.folder / "data" / "base").rglob("*") if path.is_file()]
    return [path for path in files if GONE.encode() in path.read_bytes()]


def test_a_push_that_was_applied_without_a_response_is_found_too(
    hub: FakeHub, database: Database, make_guess: MakeGuess
) -> None:
    """The Hub has a file that is not marked as pushed here."""
    record_two(GuessStore(database), make_guess)
    publisher = Publisher(database, remote_to(hub))
    hub.fail(status=500, after=True)
    publisher.turn()
    assert traces(hub)
    forget(database, remote_to(hub), GONE)
    publisher.turn()
    assert traces(hub) == []
    assert len(rows_on(hub, "guesses")) == 1


def test_an_unreachable_hub_is_reported_and_can_be_retried(
    hub: FakeHub, database: Database, make_guess: MakeGuess
) -> None:
    GuessStore(database).record(make_guess(player_id=GONE))
    Publisher(database, remote_to(hub)).turn()
    away = Remote("tester/plays", WRITE, "http://127.0.0.1:9")
    done = forget(database, away, GONE)
    assert not done.is_done
    assert "run this command again" in "\n".join(done.missed)
    assert done.rows_here == 1
    hub.repo().branches.append("other")
    done = forget(database, remote_to(hub), GONE)
    assert done.is_done
    assert (done.rows_here, done.rows_published) == (0, 1)
    assert "refs/heads/other of the dataset keeps its own history" in "\n".join(done.missed)
    assert traces(hub) == []


def test_without_a_hub_it_is_forgotten_here(database: Database, make_guess: MakeGuess) -> None:
    GuessStore(database).record(make_guess(player_id=GONE))
    done = forget(database, None, GONE)
    assert (done.is_done, done.rows_here) == (True, 1)
    assert GuessStore(database).of_benchmark("demo") == []


def test_a_rewrite_that_was_applied_without_a_response_is_done_once(
    hub: FakeHub, database: Database, make_guess: MakeGuess
) -> None:
    record_two(GuessStore(database), make_guess)
    Publisher(database, remote_to(hub)).turn()
    hub.fail(status=500, after=True)
    hub.fail(status=412)
    done = forget(database, remote_to(hub), GONE)
    assert (done.is_done, done.rows_published) == (True, 1)
    assert traces(hub) == []
    assert len(rows_on(hub, "guesses")) == 1

"""Rows are sealed once, and pushed until the Hub has them, however it behaves."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, event
from sqlalchemy.exc import OperationalError

from agl1k_core.errors import Agl1kError
from store.database import Database
from store.guesses import Guess, GuessStore
from store.hub import publisher as publisher_module
from store.hub.connect import unready
from store.hub.outbox import Outbox
from store.hub.publisher import FULL, READING_BACK, Limits, Publisher
from store.hub.remote import HubError, Remote
from store.schema import guesses
from store.submissions import SubmissionStore
from tests.support.fake_hub import READ, WRITE, FakeHub
from tests.support.hub_help import ids_on, remote_to, rows_on, submission
from tests.support.waiting import eventually

MakeGuess = Callable[..., Guess]


@pytest.fixture
def store(database: Database) -> GuessStore:
    return GuessStore(database)


@pytest.fixture
def play(store: GuessStore, make_guess: MakeGuess) -> Callable[..., list[str]]:
    """Record some answers; returns their ids, sorted."""

    def play(n: int, action: str = "guess", **changed: Any) -> list[str]:
        made = [
            make_guess(action=action, round_id=f"r-{action}-{changed}-{number}", **changed)
            for number in range(n)
        ]
        return sorted(store.record(guess).guess_id for guess in made)

    return play


def test_exactly_what_was_stored_is_published(
    hub: FakeHub, database: Database, store: GuessStore, make_guess: MakeGuess
) -> None:
    guess = store.record(make_guess(nickname="Secret Name"))
    store.record(make_guess(position=1, action="broken", score=None, seconds=None))
    SubmissionStore(database).publish(submission(), b"foo")
    assert Publisher(database, remote_to(hub)).turn() == Limits().interval_s
    [row] = rows_on(hub, "guesses")
    assert set(row) == {
        "guess_id", "round_id", "position", "player_id", "benchmark", "benchmark_hash", "clip_key",
        "latitude", "longitude", "distance_km", "score", "seconds", "mode", "app_version",
        "created_utc", "tools",
    }  # fmt: skip
    assert row == {name: getattr(guess, name) for name in row}
    [skip] = rows_on(hub, "skips")
    assert (skip["action"], skip["score"], skip["seconds"]) == ("broken", None, None)
    [published] = rows_on(hub, "submissions")
    assert (published["file"], published["geoscore"]) == (b"foo", 4321.5)
    assert published["distance_km"] is None
    assert not any(b"Secret Name" in blob.data for blob in hub.repo().head.files.values())
    assert not Outbox(database).backlog()


def test_each_row_is_sealed_once_by_many_at_a_time(
    hub: FakeHub, database: Database, play: Callable[..., list[str]]
) -> None:
    ids = play(30) + play(20, "skip", score=0.0)
    sealed: list[int] = []
    threads = [
        threading.Thread(target=lambda: sealed.append(Outbox(database).seal())) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(sealed) == 50
    Publisher(database, remote_to(hub)).turn()
    assert ids_on(hub) == sorted(ids)


@pytest.mark.postgres
def test_a_row_that_is_committed_late_is_published(
    hub: FakeHub, postgres_server: Any, make_guess: MakeGuess
) -> None:
    """On PostgreSQL a lower ``sequence`` may become visible after a higher one was pushed."""
    postgres_server.execute("CREATE SCHEMA late_row")
    with Database(postgres_server.url("late_row")) as database:
        late, early = make_guess(position=0), make_guess(position=1)
        publisher = Publisher(database, remote_to(hub))
        with database.engine.begin() as open_transaction:
            open_transaction.execute(guesses.insert().values(asdict(late)))
            GuessStore(database).record(early)
            publisher.turn()
            assert ids_on(hub) == [early.guess_id]
        publisher.turn()
        assert ids_on(hub) == sorted([early.guess_id, late.guess_id])


@pytest.mark.parametrize(
    "fault",
    [
        {"status": 412}, {"status": 429, "headers": {"Retry-After": "7"}}, {"status": 500},
        {"status": 500, "after": True}, {"status": 503, "after": True},
        {"status": 0, "delay_s": 30}, {"status": 200, "drip_s": 0.05},
        {"status": 0, "after": True, "delay_s": 30},
    ],
)  # fmt: skip
def test_a_fault_of_the_hub_neither_loses_nor_duplicates_rows(
    hub: FakeHub,
    database: Database,
    play: Callable[..., list[str]],
    fault: dict[str, Any],
) -> None:
    # on a busy machine any answer may come too late for limits as short as these
    publisher = Publisher(database, remote_to(hub, timeout_s=1, deadline_s=2))
    ids = play(3)
    hub.fail(**fault)
    first_wait_s = publisher.turn()
    assert Outbox(database).backlog().rows == 3
    assert first_wait_s >= (7 if fault["status"] == 429 else 0)
    more = play(2, "skip", score=0.0)
    eventually(lambda: publisher.turn() == Limits().interval_s)
    assert ids_on(hub) == sorted(ids + more)
    assert not Outbox(database).backlog()


def test_an_unreachable_hub_is_waited_for_and_blocks_nothing(
    database: Database, store: GuessStore, play: Callable[..., list[str]]
) -> None:
    publisher = Publisher(database, Remote("tester/plays", WRITE, "http://127.0.0.1:9"))
    play(2)
    waits = [publisher.turn() for _ in range(12)]
    assert all(0 <= wait <= Limits().max_wait_s for wait in waits)
    assert len(set(waits)) == len(waits), "no jitter"
    publisher.admit()
    assert Outbox(database).backlog().rows == 2


def test_every_attempt_sends_the_same_bytes_under_the_same_name(
    hub: FakeHub, database: Database, play: Callable[..., list[str]]
) -> None:
    play(2)
    outbox = Outbox(database)
    outbox.seal()
    [first] = outbox.pending()
    hub.fail(status=500, after=True)
    publisher = Publisher(database, remote_to(hub))
    publisher.turn()
    assert hub.repo().head.files[first.name].data == first.content
    [again] = outbox.pending()
    assert again == first
    n_commits = len(hub.repo().commits)
    publisher.turn()
    assert len(hub.repo().commits) == n_commits, "the retry of the same bytes makes no commit"


def test_a_commit_has_fifty_files_at_most(
    hub: FakeHub, database: Database, play: Callable[..., list[str]]
) -> None:
    outbox = Outbox(database)
    for number in range(53):
        play(1, mode="free", benchmark=f"b{number}")
        outbox.seal()
    Publisher(database, remote_to(hub)).turn()
    sizes = [len(made.files) for made in hub.repo().commits]
    assert sizes == [1, 52, 55]  # .gitattributes; 50 and the page; 3 more
    assert len(ids_on(hub)) == 53


def test_the_hourly_quota_is_kept(
    hub: FakeHub,
    database: Database,
    play: Callable[..., list[str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(publisher_module, "COMMITS_PER_HOUR", 2)
    publisher = Publisher(database, remote_to(hub))
    for number in range(3):
        play(1, benchmark=f"b{number}")
        wait_s = publisher.turn()
    assert hub.commits() == 2
    assert 3000 < wait_s <= 3600
    assert Outbox(database).backlog().rows == 1


def test_xet_is_not_used_although_the_hub_offers_it(
    hub: FakeHub,
    database: Database,
    play: Callable[..., list[str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_XET", False)  # its default
    ids = play(3)
    Publisher(database, remote_to(hub)).push()
    with Database(f"sqlite:///{tmp_path / 'blank.db'}") as blank:
        Publisher(blank, remote_to(hub)).push()
        assert sorted(guess.guess_id for guess in GuessStore(blank).of_benchmark("demo")) == ids
    assert ids_on(hub) == ids
    assert not [path for path in hub.begun if "xet" in path]


@pytest.mark.parametrize("path", ["/stored/", "/commit/", "/resolve/", "/tree/"])
def test_a_failure_names_the_host_and_the_status(
    hub: FakeHub, database: Database, play: Callable[..., list[str]], path: str
) -> None:
    host = (hub.storage if path == "/stored/" else hub.endpoint).removeprefix("http://")
    play(1)
    Publisher(database, remote_to(hub)).push()
    play(1, benchmark="other")
    hub.fail(path=path, status=507, times=99)
    with pytest.raises(HubError, match=f"status 507 at {host}") as told:
        Publisher(database, remote_to(hub)).push()
    assert told.value.status == 507


def test_a_storage_that_is_gone_is_named(
    hub: FakeHub,
    database: Database,
    play: Callable[..., list[str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(FakeHub, "storage", "http://127.0.0.1:9")
    play(1)
    with pytest.raises(HubError, match=r"cannot be reached at 127\.0\.0\.1:9 \(ConnectError\)"):
        Publisher(database, remote_to(hub)).push()


def test_a_refusing_storage_is_not_mistaken_for_the_token(
    hub: FakeHub, database: Database, play: Callable[..., list[str]]
) -> None:
    play(1)
    hub.fail(path="/stored/", status=403)
    with pytest.raises(HubError, match=r"status 403 at localhost:\d+\."):
        Publisher(database, remote_to(hub)).push()


@pytest.mark.parametrize(("asked_s", "least_s", "most_s"), [(600, 590, 601), (10**8, 3600, 3600)])
def test_the_hub_may_ask_to_wait_until_a_date(
    hub: FakeHub,
    database: Database,
    play: Callable[..., list[str]],
    asked_s: int,
    least_s: int,
    most_s: int,
) -> None:
    when = format_datetime(datetime.now(UTC) + timedelta(seconds=asked_s), usegmt=True)
    play(1)
    hub.fail(status=429, headers={"Retry-After": when})
    assert least_s <= Publisher(database, remote_to(hub)).turn() <= most_s


@pytest.mark.parametrize(
    ("token", "message"),
    [("", r"does not accept the token \(401\)"), (READ, r"may not write .* \(403\)")],
)
def test_a_token_without_write_access_is_reported(
    hub: FakeHub,
    database: Database,
    play: Callable[..., list[str]],
    token: str,
    message: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    hub.create()
    play(1)
    Publisher(database, remote_to(hub, token)).turn()
    assert Outbox(database).backlog().rows == 1
    with pytest.raises(HubError, match=message):
        remote_to(hub, token).commit("x", {"a.txt": b"a"})
    assert "AGL1K_HUB_TOKEN" in caplog.text
    assert READ not in caplog.text


def test_too_many_waiting_rows_stop_new_answers_and_drop_none(
    hub: FakeHub,
    database: Database,
    play: Callable[..., list[str]],
    caplog: pytest.LogCaptureFixture,
) -> None:
    publisher = Publisher(database, remote_to(hub), Limits(max_rows=4))
    hub.fail(status=503, times=1)
    play(1)
    publisher.turn()
    assert (publisher.notice(), publisher.problems()) == ("", [])
    assert "event=behind" not in caplog.text
    publisher.admit()
    assert "late" in publisher.notice()
    ids = play(4, benchmark="other")
    hub.fail(status=503)
    publisher.turn()
    with pytest.raises(Agl1kError, match=FULL):
        publisher.admit()
    assert publisher.notice() == FULL
    assert "event=full pending_rows=5 bound=4" in caplog.text
    assert publisher.problems() == ["5 rows wait for the Hub, which is the limit"]
    publisher.turn()
    publisher.admit()
    assert publisher.notice() == ""
    assert set(ids) < set(ids_on(hub))


def test_the_log_warns_once_at_half_of_the_limit(
    hub: FakeHub,
    database: Database,
    play: Callable[..., list[str]],
    caplog: pytest.LogCaptureFixture,
) -> None:
    publisher = Publisher(database, remote_to(hub), Limits(max_rows=4))
    hub.fail(status=503, times=2)
    play(2)
    publisher.turn()
    publisher.turn()
    assert caplog.text.count("event=behind pending_rows=2 bound=4: Answers are stored") == 1


def test_the_limit_includes_answers_since_the_last_count(database: Database) -> None:
    publisher = Publisher(database, Remote("a/b", WRITE, "http://127.0.0.1:9"), Limits(max_rows=3))
    for _ in range(3):
        publisher.admit()
    with pytest.raises(Agl1kError, match="come back later"):
        publisher.admit()


def test_stopping_pushes_what_is_left(
    hub: FakeHub, database: Database, play: Callable[..., list[str]]
) -> None:
    publisher = Publisher(database, remote_to(hub), Limits(interval_s=3600))
    play(1)
    publisher.start()
    ids = play(5, benchmark="other")
    hub.fail(status=500, after=True)
    assert not publisher.stop(flush_s=60)
    assert set(ids) <= set(ids_on(hub))


def test_stopping_ends_even_if_the_hub_hangs_and_reports_what_is_left(
    hub: FakeHub,
    database: Database,
    play: Callable[..., list[str]],
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO")
    publisher = Publisher(database, remote_to(hub))
    hub.fail(path="/api/", status=0, delay_s=60, times=99)
    play(3)
    publisher.start()
    assert publisher.stop(flush_s=0.5).rows == 3
    assert "pending_rows=3" in caplog.text
    assert "pushed after the next start" in caplog.text


def test_an_empty_server_accepts_no_answer_until_it_is_restored(
    hub: FakeHub, database: Database
) -> None:
    hub.create()
    hub.fail(path="/api/datasets", status=0, delay_s=1)
    publisher = Publisher(database, remote_to(hub))
    publisher.start()
    with pytest.raises(Agl1kError, match=READING_BACK):
        publisher.admit()
    assert publisher.problems() == ["the public dataset is being restored"]
    publisher.stop(flush_s=60)
    publisher.admit()
    assert publisher.problems() == []


def test_an_empty_server_waits_for_a_slow_hub_but_not_for_one_that_hangs(
    hub: FakeHub,
    database: Database,
    tmp_path: Path,
    play: Callable[..., list[str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    play(3)
    Publisher(database, remote_to(hub)).turn()
    limits = Limits(answer_s=1)
    with Database(f"sqlite:///{tmp_path / 'blank.db'}") as blank:
        remote, seen = remote_to(hub), list[bool]()
        tree, read = remote.tree(), remote.read
        publisher = Publisher(blank, remote, limits)

        def read_slowly(revision: str, names: Sequence[str]) -> dict[str, bytes]:
            time.sleep(1.5)
            seen.append(publisher.is_reading_back)
            return read(revision, names)

        monkeypatch.setattr(remote, "tree", lambda: tree)
        monkeypatch.setattr(remote, "read", read_slowly)
        publisher.start()
        publisher.stop(flush_s=60)
        assert seen[0]
        assert len(GuessStore(blank).of_benchmark("demo")) == 3
    with Database(f"sqlite:///{tmp_path / 'blank2.db'}") as blank:
        hub.fail(path="/api/", status=0, delay_s=60, times=99)
        publisher = Publisher(blank, remote_to(hub), limits)
        publisher.start()
        assert publisher.is_reading_back
        eventually(lambda: not publisher.is_reading_back)
        publisher.admit()
        publisher.stop(flush_s=0)


def test_an_empty_server_without_a_hub_accepts_answers(database: Database) -> None:
    publisher = Publisher(database, Remote("tester/plays", WRITE, "http://127.0.0.1:9"))
    publisher.start()
    publisher.stop(flush_s=5)
    publisher.admit()


def test_a_withdrawn_submission_vanishes_from_the_dataset(hub: FakeHub, database: Database) -> None:
    submissions = SubmissionStore(database)
    key = submissions.publish(submission(), b"foo")
    submissions.publish(submission(submission_id="sub-2", model="Ear 2"), b"foo")
    publisher = Publisher(database, remote_to(hub))
    publisher.turn()
    assert len(rows_on(hub, "submissions")) == 2
    assert submissions.withdraw("sub-1", key)
    assert Outbox(database).backlog()
    publisher.turn()
    assert [row["submission_id"] for row in rows_on(hub, "submissions")] == ["sub-2"]
    assert len(hub.repo().commits) == 1, "no older revision holds it"
    assert not any(b"Ear 1" in data for _, data in hub.repo().stored.values())
    assert not Outbox(database).backlog()


def test_a_submission_withdrawn_before_it_was_pushed_never_is(
    hub: FakeHub, database: Database
) -> None:
    submissions = SubmissionStore(database)
    key = submissions.publish(submission(), b"foo")
    Outbox(database).seal()
    submissions.withdraw("sub-1", key)
    other = submissions.publish(submission(submission_id="sub-2", model="Ear 2"), b"foo")
    submissions.withdraw("sub-2", other)
    publisher = Publisher(database, remote_to(hub))
    publisher.turn()
    assert not rows_on(hub, "submissions")
    assert not Outbox(database).backlog()


def test_a_foreign_page_is_not_changed(
    hub: FakeHub,
    database: Database,
    play: Callable[..., list[str]],
    caplog: pytest.LogCaptureFixture,
) -> None:
    hub.create().put("README.md", b"# Mine")
    ids = play(2)
    Publisher(database, remote_to(hub)).turn()
    assert hub.repo().head.files["README.md"].data == b"# Mine"
    assert "was not written by AGL1K and is left" in caplog.text
    assert ids_on(hub) == ids


def test_a_database_that_cannot_be_written_is_not_ready(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with Database(f"sqlite:///{tmp_path / 'a.db'}") as database:
        database.serve()  # from then on the reasons are for the log only
        assert unready(database, None) == []
        event.listen(database.engine, "begin", lambda found: found.exec_driver_sql(_READ_ONLY))
        told = unready(database, None)
    assert told == ["the database cannot be written; the server's log says why"]
    assert "Give this user the right to write the file" in caplog.text


_READ_ONLY = "PRAGMA query_only = ON"


def test_a_failing_database_does_not_stop_the_publisher(
    hub: FakeHub, tmp_path: Path, make_guess: MakeGuess, caplog: pytest.LogCaptureFixture
) -> None:
    with Database(f"sqlite:///{tmp_path / 'a.db'}") as database:
        guess = GuessStore(database).record(make_guess())
        publisher = Publisher(database, remote_to(hub))
        event.listen(database.engine, "begin", _full)
        publisher.turn()
        assert "the disk is full" in caplog.text
        event.remove(database.engine, "begin", _full)
        publisher.turn()
    assert ids_on(hub) == [guess.guess_id]


def _full(connection: Connection) -> None:
    if connection.get_execution_options().get("writing"):
        error = sqlite3.OperationalError("database or disk is full")
        error.sqlite_errorname = "SQLITE_FULL"
        raise OperationalError("INSERT", {}, error)

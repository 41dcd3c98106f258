"""After an empty disk or a backup, and between servers: rows are restored, each once."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from agl1k_core.errors import Agl1kError
from store.database import Database
from store.guesses import Guess, GuessStore
from store.hub.layout import GUESSES, KINDS, shard_name, to_parquet
from store.hub.outbox import Outbox
from store.hub.publisher import Publisher
from store.hub.reading import read_back
from store.hub.remote import HubError, Remote
from store.hub.rewriting import join_days
from store.submissions import SubmissionStore
from tests.support.fake_hub import WRITE, FakeHub
from tests.support.hub_help import NOW, ids_on, remote_to, rows_on, submission

MakeGuess = Callable[..., Guess]


@pytest.fixture
def blank(tmp_path: Path) -> Callable[..., Database]:
    """Databases of other servers, or of this one after its disk was lost."""
    return lambda name="blank": Database(f"sqlite:///{tmp_path / name}.db")


def fill(database: Database, make_guess: MakeGuess, n: int = 6, player: str = "player-1") -> None:
    store = GuessStore(database)
    for number in range(n):
        store.record(
            make_guess(
                round_id=f"{player}-{number // 5}",
                position=number % 5,
                player_id=player,
                nickname="",
                action=["guess", "skip", "broken"][number % 3],
                tools=[None, "", "loop,spectrogram"][number // 3 % 3],
                created_utc=NOW + timedelta(seconds=number),
            )
        )


def by_age(database: Database) -> list[Guess]:
    return sorted(GuessStore(database).of_benchmark("demo"), key=lambda guess: guess.created_utc)


def test_an_empty_disk_is_restored_from_what_was_published(
    hub: FakeHub, database: Database, make_guess: MakeGuess, blank: Callable[..., Database]
) -> None:
    fill(database, make_guess)
    submissions = SubmissionStore(database)
    key = submissions.publish(submission(), b"foo")
    Publisher(database, remote_to(hub)).turn()
    new = blank()
    publisher = Publisher(new, remote_to(hub))
    publisher.turn()
    assert GuessStore(new).of_benchmark("demo") == by_age(database)
    assert GuessStore(new).counts("demo") == GuessStore(database).counts("demo")
    restored = SubmissionStore(new)
    assert restored.list("demo") == submissions.list("demo")
    assert restored.file("sub-1") == b"foo"
    n_commits = len(hub.repo().commits)
    publisher.turn()
    assert len(hub.repo().commits) == n_commits, "what came back is not published again"
    assert restored.withdraw("sub-1", key)


def test_a_file_that_is_not_shared_stays_here(
    hub: FakeHub, database: Database, blank: Callable[..., Database]
) -> None:
    here = SubmissionStore(database)
    key = here.publish(submission(), b"foo")
    kept = submission(
        submission_id="sub-2", series="sub-1", relation="run", is_shared=False,
        file_sha256="0" * 64, created_utc=NOW + timedelta(seconds=1),
    )  # fmt: skip
    assert here.publish(kept, b"bar", key=key) == ""
    Publisher(database, remote_to(hub)).turn()
    assert [row["file"] for row in rows_on(hub, "submissions")] == [b"foo", b""]
    new = blank()
    Publisher(new, remote_to(hub)).turn()
    there = SubmissionStore(new)
    assert there.list("demo") == here.list("demo")
    with pytest.raises(Agl1kError, match="restored without it"):
        there.file("sub-2")
    assert here.file("sub-2") == b"bar"
    assert there.withdraw("sub-2", key)
    assert there.list("demo") == []


def test_reading_twice_changes_nothing(
    hub: FakeHub, database: Database, make_guess: MakeGuess, blank: Callable[..., Database]
) -> None:
    fill(database, make_guess)
    Publisher(database, remote_to(hub)).turn()
    new = blank()
    first = read_back(new, remote_to(hub))
    assert (first.files, first.rows, first.problems) == (2, 6, [])
    before = GuessStore(new).of_benchmark("demo")
    again = read_back(new, remote_to(hub))
    assert (again.files, again.rows) == (0, 0)
    assert GuessStore(new).of_benchmark("demo") == before


def test_a_restored_backup_neither_duplicates_nor_overwrites(
    hub: FakeHub, make_guess: MakeGuess, tmp_path: Path
) -> None:
    """The copy has rows that were published after it was made, and gives out numbers twice."""
    database = Database(f"sqlite:///{tmp_path / 'first.db'}")
    store = GuessStore(database)
    rows = [make_guess(round_id=f"r{number}") for number in range(4)]
    store.record(rows[0])
    replica_id = database.replica_id
    database.close()
    shutil.copy(tmp_path / "first.db", tmp_path / "backup.db")
    database = Database(f"sqlite:///{tmp_path / 'first.db'}")
    GuessStore(database).record(rows[1])
    Publisher(database, remote_to(hub)).turn()
    put_back = Database(f"sqlite:///{tmp_path / 'backup.db'}")
    assert put_back.replica_id == database.replica_id == replica_id
    for row in rows[2:]:
        GuessStore(put_back).record(row)
    Publisher(put_back, remote_to(hub)).turn()
    assert ids_on(hub) == sorted(row.guess_id for row in rows)
    assert len(GuessStore(put_back).of_benchmark("demo")) == 4


def test_two_servers_on_one_dataset_keep_and_share_their_rows(
    hub: FakeHub, make_guess: MakeGuess, blank: Callable[..., Database]
) -> None:
    first, second = blank("first"), blank("second")
    publishers = [Publisher(first, remote_to(hub)), Publisher(second, remote_to(hub))]
    for round_number in range(3):
        for database, publisher in zip((first, second), publishers, strict=True):
            player = f"{database.replica_id}-{round_number}"
            fill(database, make_guess, player=player)
            publisher.turn()
    ids = ids_on(hub)
    assert len(ids) == len(set(ids)) == 36
    for database in (first, second):
        Publisher(database, remote_to(hub)).turn()
        assert len(GuessStore(database).of_benchmark("demo")) == 36
    assert ids_on(hub) == ids


@pytest.mark.postgres
def test_two_processes_on_one_database_keep_their_rows(
    hub: FakeHub, postgres_server: Any, make_guess: MakeGuess
) -> None:
    postgres_server.execute("CREATE SCHEMA two_replicas")
    url = postgres_server.url("two_replicas")
    with Database(url) as first, Database(url) as second:
        assert first.replica_id == second.replica_id
        publishers = [Publisher(first, remote_to(hub)), Publisher(second, remote_to(hub))]
        for number in range(4):
            fill(first, make_guess, player=f"a{number}")
            fill(second, make_guess, player=f"b{number}")
            publishers[number % 2].turn()
        ids = ids_on(hub)
        assert len(ids) == len(set(ids)) == 48
        assert not Outbox(second).backlog()


def test_files_of_past_days_become_one_and_rows_are_kept_once(
    hub: FakeHub, database: Database, make_guess: MakeGuess, blank: Callable[..., Database]
) -> None:
    publisher = Publisher(database, remote_to(hub))
    for number in range(4):
        fill(database, make_guess, player=f"p{number}")
        publisher.turn()
    ids = ids_on(hub)
    name, blob = next(
        (name, blob) for name, blob in hub.repo().head.files.items() if "/guesses/" in name
    )
    doubled = name.replace(".parquet", "0.parquet")
    hub.repo().put(doubled, blob.data)  # as if a push had been applied twice
    assert len(ids_on(hub)) > len(ids)
    assert join_days(remote_to(hub), "2000-01-01").made == {}
    n_commits = len(hub.repo().commits)
    done = join_days(remote_to(hub), "9999-01-01")
    assert len(hub.repo().commits) == n_commits + 1
    assert sorted(done.made.values()) == [8, 16]
    assert done.n_deleted == 9
    assert ids_on(hub) == ids
    assert join_days(remote_to(hub), "9999-01-01").made == {}
    new = blank()
    assert read_back(new, remote_to(hub)).rows == 24


def test_joining_gives_up_if_someone_else_commits(
    hub: FakeHub, database: Database, make_guess: MakeGuess, monkeypatch: pytest.MonkeyPatch
) -> None:
    publisher = Publisher(database, remote_to(hub))
    for number in range(2):
        fill(database, make_guess, player=f"p{number}")
        publisher.turn()
    ids, remote = ids_on(hub), remote_to(hub)
    read = remote.read

    def read_while_another_commits(revision: str, names: Any) -> dict[str, bytes]:
        hub.repo().put("notes.txt", b"x")
        return read(revision, names)

    monkeypatch.setattr(remote, "read", read_while_another_commits)
    with pytest.raises(HubError, match=r"Someone else changed .* at the same time \(412\)"):
        join_days(remote, "9999-01-01")
    assert ids_on(hub) == ids


def test_foreign_and_broken_files_are_reported_and_left_alone(
    hub: FakeHub, database: Database, make_guess: MakeGuess, blank: Callable[..., Database]
) -> None:
    fill(database, make_guess)
    Publisher(database, remote_to(hub)).turn()
    mine = [name for name in hub.repo().head.files if "/guesses/" in name]
    day = mine[0].rsplit("/", 1)[0]
    foreign = pa.table({"text": ["a"]})
    impossible = {"guess_id": "x", "latitude": 400.0, "tools": "loop,telepathy"}
    bad = GUESSES.table([rows_on(hub, "guesses")[0] | impossible])
    others = {
        f"{day}/broken-1.parquet": b"PAR1 cut off",
        f"{day}/foreign-1.parquet": to_parquet(foreign),
        f"{day}/impossible-1.parquet": to_parquet(bad),
        "data/guesses/mine.csv": b"a,b",
        "notes.txt": b"hello",
    }
    for name, content in others.items():
        hub.repo().put(name, content)
    new = blank()
    found = read_back(new, remote_to(hub))
    assert found.rows == 6
    told = "\n".join(found.problems)
    assert len(found.problems) == 4
    assert "broken-1.parquet is broken: it cannot be read as Parquet" in told
    assert "foreign-1.parquet was not written by AGL1K" in told
    assert "impossible-1.parquet has values of latitude, tools that AGL1K cannot" in told
    assert "mine.csv in the dataset does not belong to AGL1K" in told
    join_days(remote_to(hub), "9999-01-01")
    assert {name: hub.repo().head.files[name].data for name in others} == others


def test_a_file_of_an_older_version_lacks_a_column_and_is_read(
    hub: FakeHub, database: Database, make_guess: MakeGuess
) -> None:
    row = {name: getattr(make_guess(), name) for name in GUESSES.schema.names}
    older = GUESSES.table([row]).drop_columns(["seconds", "tools"])
    content = to_parquet(older)
    hub.create().put(shard_name(GUESSES, "2026-01-01", "old-1-1", content), content)
    assert read_back(database, remote_to(hub)).problems == []
    [guess] = GuessStore(database).of_benchmark("demo")
    assert (guess.seconds, guess.tools, guess.score) == (None, None, row["score"])


def test_without_a_dataset_there_is_nothing_to_read(hub: FakeHub, database: Database) -> None:
    assert read_back(database, remote_to(hub)).rows == 0
    with pytest.raises(HubError, match="cannot be reached"):
        read_back(database, Remote("tester/plays", WRITE, "http://127.0.0.1:9"))


@pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))
def test_the_same_rows_give_the_same_bytes(kind: Any) -> None:
    empty: dict[str, object] = dict.fromkeys(kind.schema.names)
    assert to_parquet(kind.table([empty])) == to_parquet(kind.table([empty]))
    assert len({field.name for field in kind.fields}) == len(kind.fields)
    assert all(field.about for field in kind.fields)

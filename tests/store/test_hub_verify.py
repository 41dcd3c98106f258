"""The database follows what happens to the dataset: deleted, renamed, made again, edited."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from store.database import Database
from store.guesses import Guess, GuessStore
from store.hub import card
from store.hub.comparing import compare, count_there, mend
from store.hub.forget import forget
from store.hub.layout import GUESSES, KINDS, kind_of, shard_name, to_parquet
from store.hub.outbox import Outbox
from store.hub.publisher import Limits, Publisher
from store.hub.remote import HubError, Remote
from store.hub.rewriting import join_days
from store.moderation import ModerationLog
from store.submissions import SubmissionStore
from tests.support.fake_hub import WRITE, FakeHub
from tests.support.hub_help import ids_on, remote_to, rows_on, submission

MakeGuess = Callable[..., Guess]
Fill = Callable[..., list[str]]


@pytest.fixture
def fill(make_guess: MakeGuess) -> Fill:
    """Record answers in a database; returns their ids, sorted."""

    def fill(database: Database, n: int, player: str = "player-1") -> list[str]:
        store = GuessStore(database)
        return sorted(
            store.record(
                make_guess(
                    round_id=f"{player}-{number}",
                    player_id=player,
                    action=["guess", "skip", "broken"][number % 3],
                )
            ).guess_id
            for number in range(n)
        )

    return fill


@pytest.fixture
def new_database(tmp_path: Path) -> Callable[[str], Database]:
    return lambda name: Database(f"sqlite:///{tmp_path / name}.db")


def claims(database: Database, remote: Remote) -> int:
    """How many answers are said to be published: on the page, and by ``admin status``."""
    rows = card.count(database).rows
    there = count_there(database, remote.tree())
    assert rows == there
    return rows["guesses"] + rows["skips"]


def agree(database: Database, hub: FakeHub) -> bool:
    """Whether nothing is lost, doubled or claimed falsely."""
    remote = remote_to(hub)
    assert not compare(database, remote), compare(database, remote).by_name()
    ids = ids_on(hub)
    return ids == sorted(set(ids)) and claims(database, remote) == len(ids)


@pytest.mark.parametrize("how", ["deleted", "deleted and made again", "emptied"])
def test_a_dataset_that_lost_its_files_gets_them_again(
    hub: FakeHub, database: Database, fill: Fill, new_database: Callable[[str], Database], how: str
) -> None:
    ids = fill(database, 6)
    SubmissionStore(database).publish(submission(), b"foo")
    publisher = Publisher(database, remote_to(hub))
    publisher.push()
    if how == "emptied":
        files = hub.repo().head.files
        hub.repo().add("clean", {".gitattributes": files[".gitattributes"]})
    else:
        del hub.repos["tester/plays"]
        if how != "deleted":
            hub.create()
    publisher.push()
    assert ids_on(hub) == ids
    assert rows_on(hub, "submissions")[0]["file"] == b"foo"
    assert agree(database, hub)
    blank = new_database("blank")
    Publisher(blank, remote_to(hub)).push()
    assert sorted(guess.guess_id for guess in GuessStore(blank).of_benchmark("demo")) == ids
    assert SubmissionStore(blank).file("sub-1") == b"foo"


def test_one_lost_file_is_published_again_and_the_rest_is_not(
    hub: FakeHub, database: Database, fill: Fill
) -> None:
    ids = fill(database, 6)
    publisher = Publisher(database, remote_to(hub))
    publisher.push()
    files = hub.repo().head.files
    lost = next(name for name in files if "/skips/" in name)
    hub.repo().add("oops", {name: blob for name, blob in files.items() if name != lost})
    assert claims_after_looking(database, hub) == 2
    publisher.push()
    assert ids_on(hub) == ids
    assert agree(database, hub)


def claims_after_looking(database: Database, hub: FakeHub) -> int:
    there = count_there(database, remote_to(hub).tree())
    return there["guesses"] + there["skips"]


def test_a_renamed_dataset_is_followed_and_nothing_is_published_twice(
    hub: FakeHub, database: Database, fill: Fill
) -> None:
    ids = fill(database, 3)
    publisher = Publisher(database, remote_to(hub))
    publisher.push()
    hub.rename("tester/plays", "tester/renamed")
    ids += fill(database, 2, "later")
    publisher.push()
    assert list(hub.repos) == ["tester/renamed"]
    assert ids_on(hub) == sorted(ids)
    Publisher(database, Remote("tester/renamed", WRITE, hub.endpoint)).push()
    assert ids_on(hub) == sorted(ids)
    assert agree(database, hub)


def test_going_back_to_the_first_dataset_publishes_nothing_twice(
    hub: FakeHub, database: Database, fill: Fill
) -> None:
    ids = fill(database, 4)
    first, second = remote_to(hub), Remote("tester/second", WRITE, hub.endpoint)
    for remote in (first, second, first):
        ids = sorted({*ids, *fill(database, 2, remote.repo + str(len(ids)))})
        Publisher(database, remote).push()
    assert ids_on(hub) == ids
    assert agree(database, hub)


def test_two_servers_whose_dataset_is_deleted_publish_each_row_once(
    hub: FakeHub, fill: Fill, new_database: Callable[[str], Database]
) -> None:
    databases = [new_database("a"), new_database("b")]
    publishers = [Publisher(database, remote_to(hub)) for database in databases]
    ids = fill(databases[0], 4, "a") + fill(databases[1], 4, "b")
    for publisher in publishers * 2:
        publisher.push()
    del hub.repos["tester/plays"]
    push_while_the_other_pushes(publishers)
    for publisher in publishers * 2:
        publisher.push()
    assert ids_on(hub) == sorted(ids)
    for database in databases:
        assert agree(database, hub)


def push_while_the_other_pushes(publishers: list[Publisher]) -> None:
    """Both read the same empty dataset; the second commit is refused, and repeated later."""
    first, second = publishers
    remote: Any = second.remote
    commit = remote.commit

    def commit_after_the_other(*given: Any, **options: Any) -> str:
        remote.commit = commit
        first.push()
        return str(commit(*given, **options))

    remote.commit = commit_after_the_other
    with pytest.raises(HubError, match=r"at the same time \(412\)"):
        second.push()


def test_a_withdrawal_on_one_server_reaches_the_others(
    hub: FakeHub, new_database: Callable[[str], Database]
) -> None:
    here, there = new_database("here"), new_database("there")
    key = SubmissionStore(here).publish(submission(), b"foo")
    SubmissionStore(here).publish(submission(submission_id="sub-2", model="Ear 2"), b"foo")
    publishers = [Publisher(database, remote_to(hub)) for database in (here, there)]
    for publisher in publishers:
        publisher.push()
    boards = [SubmissionStore(database) for database in (here, there)]
    before = boards[1].revision()
    assert boards[0].withdraw("sub-1", key)
    for publisher in publishers:
        publisher.push()
    for board in boards:
        assert [found.submission_id for found in board.list("demo")] == ["sub-2"]
    assert boards[1].revision() != before, "the board is rebuilt"
    del hub.repos["tester/plays"]
    for publisher in publishers[::-1]:
        publisher.push()
    assert [row["submission_id"] for row in rows_on(hub, "submissions")] == ["sub-2"]
    for database in (here, there):
        assert agree(database, hub)


def test_a_player_deleted_on_one_server_is_deleted_on_the_others(
    hub: FakeHub, fill: Fill, new_database: Callable[[str], Database]
) -> None:
    here, there = new_database("here"), new_database("there")
    fill(here, 5, "gone")
    stays = fill(here, 2, "stays")
    publishers = [Publisher(database, remote_to(hub)) for database in (here, there)]
    for publisher in publishers:
        publisher.push()
    assert forget(here, remote_to(hub), "gone").is_done
    for publisher in publishers[::-1]:
        publisher.push()
    assert ids_on(hub) == stays
    assert {guess.player_id for guess in GuessStore(there).of_benchmark("demo")} == {"stays"}
    assert "gone" not in str([rows_on(hub, kind) for kind in KINDS])
    for database in (here, there):
        assert agree(database, hub)


def test_a_token_that_may_not_read_releases_nothing(
    hub: FakeHub, database: Database, fill: Fill
) -> None:
    ids = fill(database, 3)
    Publisher(database, remote_to(hub)).push()
    hub.fail(path="/api/datasets", status=404, headers={"X-Error-Code": "RepoNotFound"}, times=9)
    with pytest.raises(HubError):
        Publisher(database, remote_to(hub)).push()
    hub.faults.clear()
    assert Outbox(database).backlog().rows == 0
    Publisher(database, remote_to(hub)).push()
    assert ids_on(hub) == ids


def test_an_unreadable_file_is_downloaded_and_reported_once(
    hub: FakeHub, database: Database, fill: Fill, caplog: pytest.LogCaptureFixture
) -> None:
    fill(database, 3)
    publisher = Publisher(database, remote_to(hub))
    publisher.push()
    hub.repo().put("data/guesses/2026-01-01/broken-1.parquet", b"PAR1 cut off")
    for number in range(3):
        fill(database, 1, f"later-{number}")
        hub.repo().put("notes.txt", b"x" * number)
        publisher.push()
    assert caplog.text.count("broken-1.parquet is broken") == 1
    assert sum("broken-1" in path for path in hub.begun if "/resolve/" in path) <= 2


def edited(hub: FakeHub, row: dict[str, Any]) -> None:
    """Put a file with one guess into the dataset, by hand."""
    content = to_parquet(GUESSES.table([row]))
    hub.repo().put(shard_name(GUESSES, "2026-01-01", "hand", content), content)


def damage(hub: FakeHub, how: str) -> None:
    files = dict(hub.repo().head.files)
    guesses = next(name for name in files if "/guesses/" in name)
    rows = rows_on(hub, "guesses")
    if how == "doubled":
        edited(hub, rows[0])
    elif how == "missing_here":
        edited(hub, {**rows[0], "guess_id": "new", "round_id": "new"})
    elif how == "missing_there":
        del files[guesses]
        hub.repo().add("oops", files)
    elif how == "changed":
        rows[0]["latitude"] = 1.5
        content = to_parquet(GUESSES.table(rows))
        hub.repo().put(guesses, content)


@pytest.mark.parametrize("how", ["doubled", "missing_here", "missing_there", "changed"])
def test_a_difference_is_named_and_mended(
    hub: FakeHub, database: Database, fill: Fill, how: str
) -> None:
    fill(database, 7)
    Publisher(database, remote_to(hub)).push()
    before = {row["guess_id"]: row for row in rows_on(hub, "guesses")}
    damage(hub, how)
    found = compare(database, remote_to(hub))
    assert list(found.by_name()) == [how]
    assert list(found.by_name()[how]) == ["guesses"]
    expected = {"doubled": 1, "missing_here": 1, "missing_there": len(before), "changed": 1}
    assert len(found.by_name()[how]["guesses"]) == expected[how]
    mend(database, remote_to(hub), found)
    Publisher(database, remote_to(hub)).push()
    assert agree(database, hub)
    after = {row["guess_id"]: row for row in rows_on(hub, "guesses")}
    assert {row_id: after[row_id] for row_id in before} == before
    assert after.keys() - before.keys() == ({"new"} if how == "missing_here" else set())


def test_a_row_twice_in_one_file_is_mended(hub: FakeHub, database: Database, fill: Fill) -> None:
    ids = fill(database, 4)
    Publisher(database, remote_to(hub)).push()
    rows = rows_on(hub, "guesses")
    name = next(name for name in hub.repo().head.files if "/guesses/" in name)
    hub.repo().put(name, to_parquet(GUESSES.table([*rows, rows[0]])))
    found = compare(database, remote_to(hub))
    assert found.doubled["guesses"] == [rows[0]["guess_id"]]
    mend(database, remote_to(hub), found)
    Publisher(database, remote_to(hub)).push()
    assert ids_on(hub) == ids
    assert agree(database, hub)


def test_a_removed_row_that_someone_put_back_is_taken_out(
    hub: FakeHub, database: Database, fill: Fill
) -> None:
    fill(database, 3, "gone")
    stays = fill(database, 3, "stays")
    Publisher(database, remote_to(hub)).push()
    row = next(row for row in rows_on(hub, "guesses") if row["player_id"] == "gone")
    forget(database, remote_to(hub), "gone")
    edited(hub, row)
    Publisher(database, remote_to(hub)).push()
    assert "gone" not in {guess.player_id for guess in GuessStore(database).of_benchmark("demo")}
    found = compare(database, remote_to(hub))
    assert found.by_name() == {"still_there": {"guesses": [row["guess_id"]]}}
    mend(database, remote_to(hub), found)
    Publisher(database, remote_to(hub)).push()
    assert ids_on(hub) == stays
    assert agree(database, hub)


def test_joined_files_are_no_difference(hub: FakeHub, database: Database, fill: Fill) -> None:
    publisher = Publisher(database, remote_to(hub))
    for number in range(3):
        fill(database, 3, f"p{number}")
        publisher.push()
    ids = ids_on(hub)
    join_days(remote_to(hub), "9999-01-01")
    assert not compare(database, remote_to(hub))
    publisher.push()
    assert ids_on(hub) == ids
    assert agree(database, hub)
    assert sum(kind_of(name) is not None for name in hub.repo().head.files) == 2


@pytest.mark.parametrize("page_is_left", [True, False])
def test_the_page_claims_only_what_is_there(
    hub: FakeHub, database: Database, fill: Fill, page_is_left: bool
) -> None:
    fill(database, 6)
    publisher = Publisher(database, remote_to(hub))
    publisher.push()
    if page_is_left:
        files = hub.repo().head.files
        kept = {name: blob for name, blob in files.items() if kind_of(name) is None}
        hub.repo().add("clean", kept)
    else:
        del hub.repos["tester/plays"]
    fill(database, 3, "later")
    publisher.push()
    page = hub.repo().head.files["README.md"].data.decode()
    assert f"{len(rows_on(hub, 'guesses'))} rows." in page
    assert f"{len(rows_on(hub, 'skips'))} rows." in page


def test_a_dataset_that_lost_its_rows_does_not_stop_players(
    hub: FakeHub, database: Database, fill: Fill
) -> None:
    fill(database, 8)
    publisher = Publisher(database, remote_to(hub), Limits(max_rows=4))
    publisher.turn()
    del hub.repos["tester/plays"]
    hub.fail(path="/commit/", status=507)
    publisher.turn()
    assert Outbox(database).backlog().rows == 8
    publisher.admit()
    assert publisher.problems() == []
    publisher.turn()
    assert agree(database, hub)


def test_what_operators_decided_reaches_other_servers_and_a_new_disk(
    hub: FakeHub, new_database: Callable[[str], Database]
) -> None:
    here, there = new_database("here"), new_database("there")
    board = SubmissionStore(here)
    board.publish(submission(), b"foo", hold="It is too good.")
    board.publish(submission(submission_id="sub-2", model="Ear 2"), b"foo")
    ModerationLog(here).decide("nickname", "Rude Name", "hide", "It is rude.")
    publishers = [Publisher(database, remote_to(hub)) for database in (here, there)]
    for publisher in publishers:
        publisher.push()
    other = SubmissionStore(there)
    before = other.revision()
    assert not other.moderation.standings("submission")["sub-1"].is_shown
    other.moderation.decide("submission", "sub-1", "restore", "It was checked.")
    board.moderation.decide("submission", "sub-2", "hide", "It is a copy.")
    for publisher in publishers * 2:
        publisher.push()
    assert other.revision() != before
    blank = new_database("blank")
    Publisher(blank, remote_to(hub)).push()
    for database in (here, there, blank):
        standings = ModerationLog(database).standings("submission")
        assert {name: one.is_shown for name, one in standings.items()} == {
            "sub-1": True, "sub-2": False,
        }  # fmt: skip
        assert agree(database, hub)
    assert "Rude" not in str([rows_on(hub, kind) for kind in KINDS])
    assert ModerationLog(blank).log("submission") == ModerationLog(there).log("submission")

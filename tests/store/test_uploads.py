"""Copies of uploads that servers share in a database."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from store import uploads
from store.database import Database
from store.uploads import SharedUploads


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    with Database(database_url) as opened:
        yield opened


def test_what_one_server_keeps_another_finds(database: Database, database_url: str) -> None:
    here = SharedUploads(database, 10_000)
    assert here.keep("token/a.json", b"mine" * 5_000)
    with Database(database_url) as other:
        assert SharedUploads(other, 10_000).find("token/a.json") == b"mine" * 5_000
    assert here.find("token/b.json") is None


def test_the_oldest_make_room(database: Database) -> None:
    shared = SharedUploads(database, 3_500)
    for number in range(6):
        assert shared.keep(f"{number}", os.urandom(1_000))
    assert [shared.find(f"{number}") is not None for number in range(6)] == [False] * 3 + [True] * 3
    assert not shared.keep("large", os.urandom(5_000))


def test_they_are_deleted_after_an_hour(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = SharedUploads(database, 10_000)
    shared.keep("old", b"x")
    shared.sweep()
    assert shared.find("old") == b"x"
    monkeypatch.setattr(uploads, "KEEP_S", -1.0)
    shared.sweep()
    assert shared.find("old") is None


def test_no_more_is_written_within_an_hour_than_the_limit(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "MOST_BYTES_PER_HOUR", 2_500)
    shared = SharedUploads(database, 10_000)
    assert [shared.keep(f"{number}", os.urandom(1_000)) for number in range(4)] == [
        True, True, False, False,
    ]  # fmt: skip

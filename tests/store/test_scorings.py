"""Counts of the files that were scored on sealed benchmarks."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select

from agl1k_core.errors import Agl1kError
from store.database import Database
from store.schema import scored_files
from store.scorings import Scorings

START = datetime(2026, 3, 1, 12, tzinfo=UTC)


class Clock:
    now = START

    def __call__(self) -> datetime:
        return self.now


def test_a_file_counts_once_and_the_limit_is_per_day(database: Database) -> None:
    clock = Clock()
    scorings = Scorings(database, each=2, in_all=10, clock=clock)
    for file in ("f1", "f1", "f2", "f1"):
        scorings.count("x", file, "ann")
    with pytest.raises(Agl1kError, match="2 new files within 24 hours, by one submitter"):
        scorings.count("x", "f3", "ann")
    scorings.count("x", "f2", "ann")  # known, and so free
    scorings.count("other", "f3", "ann")
    scorings.count("x", "f3", "bob")
    clock.now += timedelta(hours=25)
    scorings.count("x", "f3", "ann")
    found = scorings.of("x")
    assert (found.in_all, sorted(found.by_submitter.values())) == (4, [1, 3])
    assert found.of_files(["f1"]) == 3
    assert found.of_files(["f3"]) == 1  # bob's came first
    assert found.of_files(["f1", "f3"]) == 4
    assert found.of_files(["elsewhere"]) is None


def test_many_submitters_have_a_limit_together(database: Database) -> None:
    scorings = Scorings(database, each=2, in_all=3)
    for number in range(3):
        scorings.count("x", "f", f"visitor {number}")
    with pytest.raises(Agl1kError, match="3 new files within 24 hours, by everybody together"):
        scorings.count("x", "f", "one more")
    assert scorings.of("x").in_all == 3


def test_nobody_gets_more_by_asking_at_the_same_time(database: Database) -> None:
    scorings = Scorings(database, each=3, in_all=100)
    refused: list[int] = []

    def ask(number: int) -> None:
        try:
            scorings.count("x", f"f{number}", "ann")
        except Agl1kError:
            refused.append(number)

    threads = [threading.Thread(target=ask, args=[number]) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(refused), scorings.of("x").in_all) == (9, 3)


def test_no_name_is_stored(database: Database) -> None:
    Scorings(database, each=2, in_all=3).count("x", "f", "ann")
    with database.read() as connection:
        (row,) = connection.execute(select(scored_files)).all()
    assert "ann" not in "".join(map(str, row))

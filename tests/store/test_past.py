"""Looking back, on both engines."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from store.database import Database
from store.guesses import Guess, GuessStore, Round
from store.hub.forget import forget
from store.past import PastStore, Total

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
ROUND = Round("r", "p", "demo", "h", "free", "", ("a", "b"), {}, None, 0, None, NOW)


@pytest.fixture
def past(database: Database) -> PastStore:
    return PastStore(database)


def play(database: Database, player: str, *pins: float, name: str = "", **more: object) -> Round:
    """A round of a player, each clip answered with a latitude."""
    store = GuessStore(database)
    row = replace(ROUND, round_id=f"{player}{name}", player_id=player, **more)  # type: ignore[arg-type]
    store.add_round(row)
    for at, (key, pin) in enumerate(zip(row.clip_keys, pins, strict=False)):
        store.record(
            Guess(
                f"{row.round_id}{at}",
                row.round_id,
                at,
                player,
                "",
                "demo",
                "h",
                key,
                "guess",
                pin,
                20.0,
                1.0,
                10 * pin,
                3.0,
                row.mode,
                "1",
                row.created_utc,
            )
        )
    return row


def test_rounds_come_latest_first_with_their_answers(database: Database, past: PastStore) -> None:
    play(database, "p", 1, 2, name="1")
    play(database, "p", 3, name="2")
    play(database, "other", 3)
    found = past.rounds("p")
    assert [row.round_id for row, _ in found] == ["p2", "p1"]
    assert [len(answers) for _, answers in found] == [1, 2]
    past.take_up("p1", "other")
    assert past.rounds("p") == found
    past.take_up("p1", "p")
    assert [row.round_id for row, _ in past.rounds("p")] == ["p1", "p2"]
    latest = GuessStore(database).latest_round("p")
    assert latest is not None
    assert latest.round_id == "p1"


def test_pins_of_others_are_one_a_player(database: Database, past: PastStore) -> None:
    play(database, "p", 1, 2)
    play(database, "q", 3, 4, name="1")
    play(database, "q", 5, name="2")
    assert past.pins("demo", "a", "p") == [(3.0, 20.0)]
    assert past.pins("demo", "b", "p") == [(4.0, 20.0)]
    assert past.pins("other", "b", "p") == []


def test_totals_are_of_whole_rounds(database: Database, past: PastStore) -> None:
    play(database, "p", 1, 2)
    play(database, "q", 3, 4, name="1")
    play(database, "q", 9, 9, name="2", created_utc=NOW + timedelta(hours=1))
    play(database, "half", 3)
    play(database, "knew the continent", 3, 4, filters={"continent": "Asia"})
    play(database, "yesterday", 3, 4, created_utc=NOW - timedelta(days=1))
    midnight = NOW.replace(hour=0)
    assert past.totals_since("demo", midnight, "p") == [Total(70, 2)]
    assert past.totals_of_day("demo", "h", "2026-03-01", "p") == []
    play(database, "d", 5, 6, mode="daily", label="2026-03-01")
    assert past.totals_of_day("demo", "h", "2026-03-01", "p") == [Total(110, 2)]


def test_answers_are_the_players_own(database: Database, past: PastStore) -> None:
    play(database, "p", 1, 2)
    play(database, "q", 3)
    assert [row.latitude for row in past.answers("p")] == [1.0, 2.0]


def test_a_code_works_once_however_many_try(database: Database, past: PastStore) -> None:
    past.offer("hash", "p", NOW, NOW + timedelta(minutes=10))
    with ThreadPoolExecutor(8) as threads:
        found = [*threads.map(lambda _: past.redeem("hash", NOW), range(8))]
    assert sorted(filter(None, found)) == ["p"]


def test_codes_expire_and_are_forgotten_with_their_player(
    database: Database, past: PastStore
) -> None:
    end = NOW + timedelta(minutes=10)
    past.offer("hash", "p", NOW, end)
    assert past.redeem("hash", end) is None
    assert past.redeem("other", NOW) is None
    forget(database, None, "p")
    assert past.redeem("hash", NOW) is None


def test_no_table_is_read_whole(database: Database, past: PastStore) -> None:
    if database.is_shared:
        pytest.skip("PostgreSQL plans by the size of tables")
    with database.read() as connection:
        for query in (
            "SELECT 1 FROM guesses WHERE benchmark = 'b' AND clip_key = 'c' ORDER BY sequence DESC",
            "SELECT 1 FROM guesses WHERE benchmark = 'b' AND created_utc >= 'x'",
            "SELECT 1 FROM rounds WHERE mode = 'daily' AND benchmark = 'b' "
            "AND benchmark_hash = 'h' AND label = 'l'",
            "SELECT 1 FROM carries WHERE player_id = 'p' OR expires_utc <= 'x'",
        ):
            plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {query}").all()
            assert not any(step[-1].startswith("SCAN") for step in plan), plan

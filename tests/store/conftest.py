from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from store.database import Database
from store.guesses import Guess, Round

NOW = datetime(2026, 3, 1, 12, 30, 15, 123456, tzinfo=UTC)


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    with Database(database_url) as opened:
        yield opened


@pytest.fixture
def make_guess() -> Callable[..., Guess]:
    """A valid guess with any field replaced."""

    def make(**changed: Any) -> Guess:
        values: dict[str, Any] = {
            "guess_id": uuid.uuid4().hex,
            "round_id": "round-1",
            "position": 0,
            "player_id": "player-1",
            "nickname": "Ada Ł. 🌍",
            "benchmark": "demo",
            "benchmark_hash": "hash-1",
            "clip_key": "clip-1",
            "action": "guess",
            "latitude": -17.7134,
            "longitude": 178.065,
            "distance_km": 9312.4567,
            "score": 9.75,
            "seconds": 12.25,
            "mode": "free",
            "app_version": "0.1.0",
            "created_utc": NOW,
            "tools": "loop,band",
        }
        return Guess(**values | changed)

    return make


@pytest.fixture
def make_round() -> Callable[..., Round]:
    """A valid round with any field replaced."""

    def make(**changed: Any) -> Round:
        values: dict[str, Any] = {
            "round_id": uuid.uuid4().hex,
            "player_id": "player-1",
            "benchmark": "demo",
            "benchmark_hash": "hash-1",
            "mode": "free",
            "label": "",
            "clip_keys": ("a", "b", "c", "d", "e"),
            "filters": {"speech": True, "continent": "Africa"},
            "timer_s": 60,
            "position": 0,
            "clip_started_utc": None,
            "created_utc": NOW,
        }
        return Round(**values | changed)

    return make

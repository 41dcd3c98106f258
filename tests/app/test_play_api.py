"""The play API of the whole app, as a process."""

from __future__ import annotations

import signal
import sqlite3
import threading
from collections import Counter
from contextlib import closing, suppress
from pathlib import Path

import httpx
import pytest

from tests.support.app_help import app_process
from tests.support.play_api import Api
from tests.support.waiting import PATIENCE_S, eventually

N_PLAYERS = 6


def database_of(folder: Path) -> Path:
    [file] = (folder / "data").glob("*.db")
    return file


def played(url: str, acknowledged: list[tuple[str, int]]) -> None:
    """Play until the server is gone; notes the round and the clip of every acknowledged guess."""
    with httpx.Client(base_url=url, timeout=PATIENCE_S) as http, suppress(httpx.TransportError):
        api = Api(http)
        state = api.do("open")
        while True:
            reveal = api.do("guess", latitude=1, longitude=2)["reveal"]
            round_id = reveal["clip_url"].removeprefix("clip/").partition("-")[0]
            acknowledged.append((round_id, reveal["position"]))
            state = api.do("next")
            if state["phase"] == "finished":
                api.do("again")


@pytest.mark.parametrize("n_before_kill", [1, 60])
def test_kill_9_loses_no_acknowledged_guess(tmp_path: Path, n_before_kill: int) -> None:
    acknowledged: list[tuple[str, int]] = []
    with app_process(tmp_path, {}) as app:
        players = [
            threading.Thread(target=played, args=(app.url, acknowledged)) for _ in range(N_PLAYERS)
        ]
        for player in players:
            player.start()
        eventually(lambda: len(acknowledged) >= n_before_kill)
        app.process.send_signal(signal.SIGKILL)
        for player in players:
            player.join(PATIENCE_S)
    with closing(sqlite3.connect(database_of(tmp_path))) as database:
        found = database.execute("SELECT round_id, position FROM guesses").fetchall()
    stored = Counter(found)
    assert set(acknowledged) <= stored.keys()
    assert set(stored.values()) == {1}
    assert len(stored) <= len(acknowledged) + N_PLAYERS


def test_a_locked_database_is_503_and_the_round_goes_on_later(tmp_path: Path) -> None:
    with (
        app_process(tmp_path, {}) as app,
        httpx.Client(base_url=app.url, timeout=PATIENCE_S) as http,
    ):
        api = Api(http)
        before = api.do("open")
        with closing(sqlite3.connect(database_of(tmp_path), isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            refused = api.ask("guess", latitude=1, longitude=2)
            assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")
            assert refused.json()["error"].startswith("This server cannot read or store anything")
            assert Api(http).ask("open").status_code == 503
            assert api.look_up("state").json() == before
            assert http.get("/api/play/benchmarks").status_code == 200
            other.execute("ROLLBACK")
        eventually(lambda: api.ask("guess", latitude=1, longitude=2).status_code == 200)
        assert api.look_up("state").json()["phase"] == "revealed"
        assert "Traceback" not in app.said()

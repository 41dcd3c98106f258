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
    [file] = (tmp_path / "data").glob("*.db")
    with closing(sqlite3.connect(file)) as database:
        found = database.execute("SELECT round_id, position FROM guesses").fetchall()
    stored = Counter(found)
    assert set(acknowledged) <= stored.keys()
    assert set(stored.values()) == {1}
    assert len(stored) <= len(acknowledged) + N_PLAYERS

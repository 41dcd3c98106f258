"""Another program keeps the database: pages and probes are served, and nobody waits for long."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from store.database import Database
from store.guesses import GuessStore
from tests.support.app_help import AppProcess, Player, app_process, free_port
from tests.support.waiting import PATIENCE_S, eventually

REFUSED = "This server cannot read or store anything at the moment."
#: More than the server has threads for them.
N_PLAYERS = 50


@contextmanager
def locked(file: Path) -> Iterator[None]:
    """Hold the write lock in this process, which is not the server's."""
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


def opened(url: str) -> Player:
    player = Player(url)
    player.open()
    return player


def status(app: AppProcess, path: str) -> int:
    return httpx.get(f"{app.url}{path}", timeout=PATIENCE_S).status_code


def test_a_locked_file_keeps_nobody_waiting_but_writers(tmp_path: Path) -> None:
    file = tmp_path / "agl1k.db"
    with app_process(tmp_path / "app", {"AGL1K_DATABASE": f"sqlite:///{file}"}) as app:
        playing = [opened(app.url) for _ in range(3)]
        with locked(file), ThreadPoolExecutor(N_PLAYERS) as pool:
            opening = [pool.submit(opened, app.url) for _ in range(N_PLAYERS)]
            for path in ("/", "/config", "/healthz", "/api/leaderboard"):
                assert status(app, path) == 200, path
            ready = httpx.get(f"{app.url}/readyz", timeout=PATIENCE_S)
            assert (ready.status_code, "cannot be written" in ready.text) == (503, True)
            for player in playing:
                player.guess(1, 2)
                assert player.message.startswith(REFUSED)
                assert player.buttons == {"submit", "skip", "broken"}
            refused = [waiting.result(PATIENCE_S) for waiting in opening]
            assert all(player.message.startswith(REFUSED) for player in refused)
        eventually(lambda: app.answers("/readyz"))
        for player in playing + refused[:3]:
            if not player.round:
                player.open()
            player.guess(1, 2)
            assert (player.message, player.buttons) == ("", {"next"})
        assert "Traceback" not in app.said()
        assert "locked by another program" in app.said()
    with Database(f"sqlite:///{file}") as database:
        assert GuessStore(database).counts("demo").guesses == 6


@pytest.mark.postgres
def test_a_frozen_server(tmp_path: Path, own_postgres_server: Any) -> None:
    env = {"AGL1K_DATABASE": own_postgres_server.url()}
    with app_process(tmp_path / "app", env) as app:
        playing = [opened(app.url) for _ in range(3)]
        own_postgres_server.freeze()
        try:
            with ThreadPoolExecutor(N_PLAYERS) as pool:
                opening = [pool.submit(opened, app.url) for _ in range(N_PLAYERS)]
                for path in ("/", "/config", "/healthz"):
                    assert status(app, path) == 200, path
                board = httpx.get(f"{app.url}/api/leaderboard", timeout=PATIENCE_S)
                assert (board.status_code, board.headers["Retry-After"]) == (503, "5")
                assert board.json()["detail"].startswith(REFUSED)
                assert status(app, "/readyz") == 503
                for player in playing:
                    player.guess(1, 2)
                    assert player.message.startswith(REFUSED)
                for waiting in opening:
                    assert waiting.result(PATIENCE_S).message.startswith(REFUSED)
        finally:
            own_postgres_server.thaw()
        eventually(lambda: app.answers("/readyz"))
        for player in playing:
            player.guess(1, 2)
            assert (player.message, player.buttons) == ("", {"next"})
        assert status(app, "/api/leaderboard") == 200
        assert "Traceback" not in app.said()
    with Database(own_postgres_server.url()) as database:
        assert GuessStore(database).counts("demo").guesses == 3


def test_a_server_whose_file_is_gone_is_not_ready(tmp_path: Path) -> None:
    file, port = tmp_path / "agl1k.db", free_port()
    env = {"AGL1K_METRICS_ADDRESS": f"127.0.0.1:{port}"}
    with app_process(tmp_path / "app", env | {"AGL1K_DATABASE": f"sqlite:///{file}"}) as app:
        player = opened(app.url)
        metrics = httpx.get(f"http://127.0.0.1:{port}/metrics").text
        assert "agl1k_rounds_started_total 1.0" in metrics
        assert 'agl1k_requests_total{address="/api/play",method="POST",status="200"}' in metrics
        assert 'agl1k_quota_left{quota="rounds"} 11999.0' in metrics
        assert status(app, "/metrics") == 404
        file.unlink()
        assert (status(app, "/readyz"), status(app, "/healthz")) == (503, 200)
        player.guess(1, 2)
        assert player.message.startswith(REFUSED)
        assert "was deleted, moved or replaced while the server was running" in app.said()


def test_a_server_without_rounds_left_is_not_ready(tmp_path: Path) -> None:
    with app_process(tmp_path / "app", {"AGL1K_ROUNDS_PER_HOUR": "1"}) as app:
        opened(app.url)
        ready = httpx.get(f"{app.url}/readyz")
        assert ready.json()["problems"] == ["this hour's limit of rounds started is used up"]
        assert (ready.status_code, status(app, "/healthz")) == (503, 200)

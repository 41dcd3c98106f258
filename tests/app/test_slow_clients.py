"""Clients that send and read very slowly do not block others."""

from __future__ import annotations

import socket
import time
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from tests.support.app_help import AppProcess, Player, app_process
from tests.support.waiting import PATIENCE_S

#: More of each than the server has threads.
N_SLOW = 60


def test_others_are_served_while_many_are_slow(tmp_path: Path) -> None:
    with app_process(tmp_path / "app", {}) as app, ExitStack() as slow:
        player = Player(app.url)
        player.open()
        clip = player.clip
        requests = [
            f"GET {clip} HTTP/1.1\r\nHost: x\r\n\r\n",
            f"GET {clip} HTTP/1.1\r\nHost: x\r\nRange: bytes=1-\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ",
            "POST /gradio_api/run/predict HTTP/1.1\r\nHost: x\r\n"
            "Content-Type: application/json\r\nContent-Length: 9999\r\n\r\n{",
            "POST /gradio_api/upload HTTP/1.1\r\nHost: x\r\nContent-Length: 99999\r\n"
            "Content-Type: multipart/form-data; boundary=b\r\n\r\n--b\r\n"
            'Content-Disposition: form-data; name="files"; filename="a.json"\r\n\r\n[',
        ]
        for request in requests:
            for _ in range(N_SLOW):
                connection = slow.enter_context(_connected(app))
                connection.sendall(request.encode())
        assert httpx.get(f"{app.url}/healthz", timeout=PATIENCE_S).json()["status"] == "ok"
        assert httpx.get(f"{app.url}{clip}", timeout=PATIENCE_S).status_code == 200
        assert httpx.get(f"{app.url}/api/leaderboard", timeout=PATIENCE_S).status_code == 200
        player.guess(1.5, 2.5)
        assert player.buttons == {"next"}
        slow.close()
        assert app.answers("/healthz")
        assert "Traceback" not in _settled(app)


def _connected(app: AppProcess) -> socket.socket:
    """A connection with a buffer so small that the server cannot send all of a clip into it."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.connect(("127.0.0.1", urlsplit(app.url).port))
    return connection


def _settled(app: AppProcess) -> str:
    """The app's log once it has noticed that the slow clients are gone."""
    before = ""
    while before != (before := app.said()):
        time.sleep(0.5)
    return before

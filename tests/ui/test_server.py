"""A server that stops while somebody still looks at a page."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

ROOT = Path(__file__).parents[2]


def test_sigterm_ends_it_with_a_page_open_and_without_a_traceback(tmp_path: Path) -> None:
    port = _free_port()
    env = {**os.environ, "AGL1K_DATA": str(tmp_path), "PORT": str(port)}
    process = subprocess.Popen(
        [sys.executable, "app.py"], cwd=ROOT, env=env, stderr=subprocess.PIPE, text=True
    )
    url = f"http://127.0.0.1:{port}"
    _wait_until_healthy(url)
    with httpx.stream("GET", f"{url}/gradio_api/heartbeat/abc", timeout=30) as page:
        next(page.iter_raw())
        process.send_signal(signal.SIGTERM)
        _, told = process.communicate(timeout=60)
    assert process.returncode in (0, -signal.SIGTERM)
    assert "Traceback" not in told
    assert f"http://127.0.0.1:{port}" in told


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _wait_until_healthy(url: str) -> None:
    for _ in range(1200):
        try:
            if httpx.get(f"{url}/healthz").status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.1)
    pytest.fail("the app did not start")

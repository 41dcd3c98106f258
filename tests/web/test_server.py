"""A server that is stopped while a page is open, and one that cannot start."""

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

import app
from agl1k_core.errors import Agl1kError
from web.server import listening

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


def test_an_address_in_use_is_reported() -> None:
    with listening("127.0.0.1", 0) as first:
        first.listen()
        port = first.getsockname()[1]
        with pytest.raises(Agl1kError, match=f"port {port}: Address already in use. Stop the"):
            listening("127.0.0.1", port)
    with pytest.raises(Agl1kError, match=r"Cannot listen at 192\.0\.2\.1, port 0"):
        listening("192.0.2.1", 0)
    for nonsense in ("no such host", "é.。", "a" * 300, "\0"):
        with pytest.raises(Agl1kError, match=r"^Cannot listen at .*, port 0: .*Stop the"):
            listening(nonsense, 0)


@pytest.mark.parametrize("name", ["AGL1K_DATA", "AGL1K_BENCHMARK"])
def test_the_app_ends_with_a_sentence_if_a_path_is_invalid(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("AGL1K_DATA", str(tmp_path / "data"))
    monkeypatch.setenv(name, "x" * 5000)
    assert app.main(["--host", "127.0.0.1", "--port", "0"]) == 1
    told = capsys.readouterr().err
    assert "Cannot start: File name too long" in told
    assert len(told) < 600


def test_the_app_ends_with_a_sentence_if_its_port_is_in_use(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGL1K_DATA", str(tmp_path / "data"))
    with listening("127.0.0.1", 0) as first:
        first.listen()
        assert app.main(["--host", "127.0.0.1", "--port", str(first.getsockname()[1])]) == 1
    assert "Address already in use" in capsys.readouterr().err
    assert not (tmp_path / "data").exists(), "nothing was touched"


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

"""A server that is stopped while a page is open, and one that cannot start."""

from __future__ import annotations

import signal
import socket
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

import app
from agl1k_core.errors import Agl1kError
from tests.support.app_help import app_process
from tests.support.waiting import PATIENCE_S
from web.server import listening

pytestmark = pytest.mark.server


def test_sigterm_ends_it_with_a_page_open_and_without_a_traceback(tmp_path: Path) -> None:
    with app_process(tmp_path, {}) as running, socket.socket() as half:
        half.connect(("127.0.0.1", urlsplit(running.url).port))
        half.sendall(b"POST /gradio_api/run/a HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{")
        with httpx.Client(base_url=running.url, timeout=PATIENCE_S) as page:
            assert page.get("/").status_code == 200
            assert running.terminate() in (0, -signal.SIGTERM)
        assert "Traceback" not in running.said()
        assert running.url in running.said()


def test_an_address_in_use_is_reported() -> None:
    with listening("127.0.0.1", 0) as first:
        first.listen()
        port = first.getsockname()[1]
        with pytest.raises(Agl1kError, match=f"port {port}: Address already in use. Stop the"):
            listening("127.0.0.1", port)
    with pytest.raises(Agl1kError, match=r"Cannot listen on 192\.0\.2\.1, port 0"):
        listening("192.0.2.1", 0)
    for nonsense in ("no such host", "é.。", "a" * 300, "\0"):
        with pytest.raises(Agl1kError, match=r"^Cannot listen on .*, port 0: .*Stop the"):
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

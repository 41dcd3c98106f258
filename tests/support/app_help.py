"""The app as a process, and visitors who use it over HTTP as a browser does."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from tests.support.processes import ROOT
from tests.support.waiting import PATIENCE_S, eventually


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@dataclass
class AppProcess:
    """``python app.py``, its address, and its output."""

    process: subprocess.Popen[bytes]
    url: str
    log: Path

    def said(self) -> str:
        return self.log.read_text()

    def answers(self, path: str) -> bool:
        try:
            return httpx.get(f"{self.url}{path}", timeout=PATIENCE_S).status_code == 200
        except httpx.TransportError:
            return False

    def terminate(self) -> int:
        """Send SIGTERM, as ``docker stop`` does; returns the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE_S)


@contextmanager
def app_process(
    folder: Path, env: Mapping[str, str], command: Sequence[str] = (sys.executable, "app.py")
) -> Iterator[AppProcess]:
    """Run the app with its data in ``folder`` until the block ends, once it is ready."""
    port, log = free_port(), folder / "log"
    own = {"AGL1K_DATA": str(folder / "data"), "AGL1K_HOST": "127.0.0.1", "PORT": str(port)}
    folder.mkdir(exist_ok=True)
    with log.open("wb") as out:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, **own, **env},
            stdout=out,
            stderr=out,
        )
    running = AppProcess(process, f"http://127.0.0.1:{port}", log)
    try:
        eventually(lambda: process.poll() is not None or running.answers("/readyz"))
        assert process.poll() is None, running.said()
        yield running
    finally:
        process.kill()
        process.wait(PATIENCE_S)


class _AsIfSecure(httpx.HTTPTransport):
    """Keeps https-only cookies, as browsers do for this machine."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        answer = super().handle_request(request)
        told = answer.headers.multi_items()
        answer.headers = httpx.Headers(
            [(name, text.replace("; secure", "")) for name, text in told]
        )
        return answer


class Visitor:
    """A browser's requests to the page, without the browser."""

    def __init__(self, url: str, *, source: str | None = None, **headers: str) -> None:
        transport = _AsIfSecure(local_address=source)
        self.http = httpx.Client(
            base_url=url, timeout=PATIENCE_S, headers=headers, transport=transport
        )
        self.config = self.http.get("/config").json()

    def find(self, **props: object) -> int:
        """The id of the one component with these properties."""
        [found] = [
            component["id"]
            for component in self.config["components"]
            if props.items() <= component["props"].items()
        ]
        return int(found)

    def event(self, component: int, name: str) -> dict[str, Any]:
        """The first function that runs on an event of a component."""
        return next(
            dependency
            for dependency in self.config["dependencies"]
            if [component, name] in dependency["targets"]
        )

    def call(self, event: Mapping[str, Any], *data: object, **headers: str) -> httpx.Response:
        body = {"fn_index": event["id"], "session_hash": "telltale-session", "data": data}
        return self.http.post("/gradio_api/run/predict", json=body, headers=headers)

    def upload(self, name: str, content: bytes) -> dict[str, object]:
        """Upload a file; returns it as an input of an event."""
        [path] = self.http.post("/gradio_api/upload", files={"files": (name, content)}).json()
        return {"path": path, "orig_name": name, "meta": {"_type": "gradio.FileData"}}


_BUTTONS = {"playing": {"submit", "skip", "broken"}, "revealed": {"next"}, "finished": {"again"}}


class Player(Visitor):
    """A visitor who plays: tokens and texts as the page sends them."""

    def __init__(self, url: str, nickname: str = "", **given: str) -> None:
        super().__init__(url, **given)
        self.nickname = nickname
        self.player = self.round = self.message = self.clip = self._heard = ""
        self.is_refused = False
        self.buttons: set[str] = set()

    def open(self, query: str = "") -> None:
        """Load the page: a round starts or continues, or the one that a link names."""
        self._send("open", player=self.player, href=f"{self.http.base_url}{query}")

    def guess(self, latitude: float, longitude: float) -> None:
        self._answer("guess", latitude=latitude, longitude=longitude)

    def skip(self) -> None:
        self._answer("skip")

    def go_on(self) -> None:
        self._step("next", href=f"{self.http.base_url}")

    def play_again(self) -> None:
        """A new round after the last clip."""
        self._step("again")

    def hear(self) -> None:
        """Load the clip's sound, as the page does: other answers do not count."""
        if self.clip and self.clip != self._heard and self.http.get(self.clip).is_success:
            self._heard = self.clip

    def _answer(self, action: str, **pin: float) -> None:
        self.hear()
        self._step(action, nickname=self.nickname, **pin)

    def _step(self, action: str, **more: object) -> None:
        self._send(action, player=self.player, round=self.round, **more)

    def _send(self, action: str, **content: object) -> None:
        answer = self.http.post(f"/api/play/{action}?fragments=1", json=content)
        shown, self.is_refused = answer.json(), answer.is_error
        if self.is_refused:  # the page shows the sentence and stays as it is
            assert answer.status_code not in (429, 503) or int(answer.headers["Retry-After"]) > 0
            self.message = shown["error"]
            return
        self.player, self.round = shown["player"], shown["round"]
        self.clip = f"/{shown['clip']['url']}" if shown["clip"] else ""
        self.message, self.buttons = "\n".join(shown["notes"]), _BUTTONS[shown["phase"]]

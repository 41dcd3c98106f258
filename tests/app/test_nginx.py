"""The documented nginx block, run by nginx: a path, streams, uploads, several servers."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urljoin

import httpx
import pytest
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from tests.support.app_help import AppProcess, Player, Visitor, app_process, free_port
from tests.support.processes import ROOT
from tests.support.served import served
from tests.support.waiting import PATIENCE_S, eventually

NGINX = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
pytestmark = pytest.mark.skipif(
    NGINX is None, reason="no nginx is installed; scripts/system_packages.sh installs it"
)


def documented() -> str:
    [block] = re.findall(
        r"^```nginx\n(.*?)^```", (ROOT / "docs/deploy.md").read_text("utf-8"), re.DOTALL | re.M
    )
    return str(block)


@contextmanager
def nginx(folder: Path, servers: Sequence[str], *, sticky: bool = True) -> Iterator[str]:
    """Run the documented block in front of some servers; yields the arena's address."""
    port = free_port()
    upstream = "".join(f"server {url.removeprefix('http://')};" for url in servers)
    block = documented().replace("server 127.0.0.1:7860;", upstream)
    told = "add_header X-Served-By $upstream_addr always;"
    block = block.replace("listen 80;", f"listen 127.0.0.1:{port}; {told}")
    if not sticky:
        block = re.sub(r"^ *hash .*\n", "", block, flags=re.MULTILINE)
    config = folder / "nginx.conf"
    user = "user root;" if os.geteuid() == 0 else ""
    temporary = "".join(
        f"{kind}_temp_path {folder / kind};"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    config.write_text(
        f"{user} daemon off; pid {folder}/pid; error_log stderr; worker_processes 1;\n"
        f"events {{}}\nhttp {{ {temporary}\n{block} }}\n"
    )
    log = (folder / "nginx.log").open("wb")
    assert NGINX is not None
    with log, subprocess.Popen([NGINX, "-p", folder, "-c", config], stderr=log) as process:
        try:
            eventually(lambda: process.poll() is not None or _answers(port))
            assert process.poll() is None, (folder / "nginx.log").read_text()
            yield f"http://127.0.0.1:{port}/arena"
        finally:
            process.terminate()


def _answers(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/", timeout=PATIENCE_S).status_code == 404
    except httpx.TransportError:
        return False


@contextmanager
def behind(
    folder: Path, n_servers: int = 1, *, sticky: bool = True
) -> Iterator[tuple[str, list[AppProcess]]]:
    """Some servers on one database behind nginx."""
    env = {
        "AGL1K_ROOT_PATH": "/arena",
        "AGL1K_DATABASE": f"sqlite:///{folder / 'shared.db'}",
        "AGL1K_SECRET": "one secret for all servers",
    }
    with ExitStack() as running:
        servers = [
            running.enter_context(app_process(folder / f"server-{number}", env))
            for number in range(n_servers)
        ]
        yield (
            running.enter_context(nginx(folder, [server.url for server in servers], sticky=sticky)),
            servers,
        )


def test_the_page_is_played_under_a_path(tmp_path: Path) -> None:
    with behind(tmp_path) as (url, _):
        _is_redirected(url)
        _is_played(url)
        _is_queued(url)
        _takes_files_up_to_the_limit(url)


def _is_redirected(url: str) -> None:
    answer = httpx.get(f"{url}?board=demo")
    assert (answer.status_code, answer.headers["location"]) == (308, "/arena/?board=demo")
    page = httpx.get(f"{url}/")
    assert page.status_code == 200
    found = re.findall(r'(?:src|href)="((?:\.?/)?[\w-][^":]*)"', page.text)
    linked = {urljoin(f"{url}/", path) for path in found}
    linked.discard(urljoin(url, "/manifest.json"))  # Gradio's, for home screens
    assert linked
    with httpx.Client(timeout=PATIENCE_S) as client:
        assert [path for path in linked if client.get(path).status_code != 200] == []


def _is_played(url: str) -> None:
    player = Player(url)
    assert player.config["root"].endswith("/arena")
    player.open()
    player.guess(1.0, 2.0)
    assert player.buttons == {"next"}
    assert httpx.get(f"{url}/api/leaderboard?board=demo").status_code == 200


def _is_queued(url: str) -> None:
    """A call by way of Gradio's queue, as its client makes it: the answer is a stream of events."""
    visitor = Visitor(url)
    call = next(
        found for found in visitor.config["dependencies"] if found["api_name"] == "leaderboard"
    )
    body = {"data": ["demo", ""], "fn_index": call["id"], "session_hash": "telltale"}
    assert visitor.http.post("/gradio_api/queue/join", json=body).status_code == 200
    events = visitor.http.get("/gradio_api/queue/data", params={"session_hash": "telltale"})
    assert events.headers["content-type"].startswith("text/event-stream")
    assert "process_completed" in events.text


def _takes_files_up_to_the_limit(url: str) -> None:
    visitor = Visitor(url)
    assert visitor.upload("answers.json", b"x" * 15 * 2**20)["path"]
    too_large = {"files": ("answers.json", b"x" * 18 * 2**20)}
    assert visitor.http.post("/gradio_api/upload", files=too_large).status_code == 413


def test_events_pass_before_their_stream_ends(tmp_path: Path) -> None:
    arrived, is_over = threading.Event(), threading.Event()

    def events() -> Iterator[bytes]:
        yield b"data: first\n\n"  # nginx sends this with the headers in any case
        arrived.wait(PATIENCE_S)
        yield b"data: second\n\n"
        is_over.wait(PATIENCE_S)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await StreamingResponse(events(), media_type="text/event-stream")(scope, receive, send)

    with (
        served(app) as server,
        nginx(tmp_path, [server]) as url,
        httpx.stream("GET", f"{url}/events", timeout=PATIENCE_S) as answer,
    ):
        pieces = answer.iter_raw()
        assert next(pieces) == b"data: first\n\n"
        arrived.set()
        assert next(pieces) == b"data: second\n\n"
        is_over.set()


@pytest.mark.parametrize("sticky", [True, False])
def test_two_servers_share_what_is_played(tmp_path: Path, sticky: bool) -> None:
    with behind(tmp_path, 2, sticky=sticky) as (url, servers):
        players = [Player(url, source=f"127.0.0.{number}") for number in range(2, 8)]
        for player in players:
            player.open()
            player.guess(1.0, 2.0)
            assert player.buttons == {"next"}
            player.go_on()
            player.skip()
            assert player.buttons == {"next"}
        met = [_servers_met(url, f"127.0.0.{number}") for number in range(2, 32)]
        assert {len(found) for found in met} == ({1} if sticky else {2})
        assert len(set.union(*met)) == 2
        answers = [_dry_run(players[0]) for _ in range(4)]
        refused = [answer for answer in answers if answer.status_code != 200]
        assert refused == [] or not sticky
        assert all("visitor to the same one" in answer.json()["error"] for answer in refused)
        for server in servers:
            assert "Traceback" not in server.said()


def _servers_met(url: str, source: str) -> set[str]:
    """The servers that answer one address."""
    with httpx.Client(transport=httpx.HTTPTransport(local_address=source)) as client:
        return {client.get(f"{url}/healthz").headers["x-served-by"] for _ in range(4)}


def _dry_run(visitor: Visitor) -> httpx.Response:
    """Upload a file, and have it scored."""
    scored = visitor.event(visitor.find(elem_id="agl-file"), "change")
    return visitor.call(scored, "demo", visitor.upload("answers.json", b"[]"))

"""Clients that send slowly, or nothing, and more of them than there are descriptors."""

from __future__ import annotations

import contextlib
import resource
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import anyio
import httpx
import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from tests.support.served import served
from tests.support.waiting import PATIENCE_S, eventually
from web import connections
from web.connections import check_all, limited_to, most_connections
from web.server import listening

pytestmark = pytest.mark.server

MOST = 30
HALF_HEAD = b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: "
HALF_BODY = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9999\r\n\r\n{"
WHOLE = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}"


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers with the body that it was sent; ``/much`` with more than fits into buffers."""
    request = Request(scope, receive)
    body = await request.body()
    text = "x" * 20_000_000 if request.url.path == "/much" else body.decode()
    await PlainTextResponse(text)(scope, receive, send)


@contextmanager
def patient_server(most: int = MOST) -> Iterator[str]:
    with served(app, http=limited_to(most), on_tick=check_all) as url:
        yield url


@pytest.fixture
def connect() -> Iterator[Callable[[str, bytes], socket.socket]]:
    with ExitStack() as opened:

        def to(url: str, sends: bytes = b"") -> socket.socket:
            port = int(url.rpartition(":")[2])
            one = opened.enter_context(socket.create_connection(("127.0.0.1", port)))
            one.settimeout(PATIENCE_S)
            one.sendall(sends)
            return one

        yield to


def all_of(connection: socket.socket) -> str:
    """Everything that the server sends until it closes the connection."""
    parts = []
    with contextlib.suppress(ConnectionResetError):
        while part := connection.recv(65536):
            parts.append(part)
    return b"".join(parts).decode()


@pytest.mark.parametrize(
    ("sends", "answer"),
    [(b"", False), (b"GET", True), (HALF_HEAD, True), (HALF_BODY, True), (WHOLE + HALF_HEAD, True),
     (WHOLE + HALF_BODY, True)],
)  # fmt: skip
def test_what_does_not_arrive_in_time_is_closed(
    connect: Callable[..., socket.socket],
    monkeypatch: pytest.MonkeyPatch,
    sends: bytes,
    answer: bool,
) -> None:
    monkeypatch.setattr(connections, "GRACE_S", 0.3)
    with patient_server() as url:
        said = all_of(connect(url, sends))
        assert said.count("HTTP/1.1 200") == sends.count(WHOLE)
        assert ("HTTP/1.1 408" in said) is answer
        assert ("did not arrive in time" in said) is answer


def test_a_request_that_trickles_is_closed(
    connect: Callable[..., socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "GRACE_S", 0.5)
    with patient_server() as url:
        slow, said = connect(url, HALF_BODY), list[str]()
        reading = threading.Thread(target=lambda: said.append(all_of(slow)))
        reading.start()
        with contextlib.suppress(OSError):
            while reading.is_alive():
                slow.send(b" ")
                reading.join(0.05)
        reading.join(PATIENCE_S)
        assert "408 Request Timeout" in "".join(said) or said == [""]


def test_a_long_request_may_take_longer(
    connect: Callable[..., socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "GRACE_S", 0.2)
    monkeypatch.setattr(connections, "LEAST_BYTES_PER_S", 1)
    with patient_server() as url:
        head = b"POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 3000\r\n\r\n"
        slow = connect(url, head + b"x" * 2999)
        silent = connect(url)
        assert all_of(silent) == "", "the limit has passed"
        slow.sendall(b"x")
        assert "200 OK" in all_of(slow)


def test_idling_after_a_response_is_no_slow_request(
    connect: Callable[..., socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "GRACE_S", 0.2)
    with patient_server() as url:
        kept = connect(url, WHOLE)
        assert _read_one(kept).startswith(b"HTTP/1.1 200 OK")
        assert all_of(connect(url)) == "", "the limit has passed"
        kept.sendall(WHOLE)
        assert _read_one(kept).startswith(b"HTTP/1.1 200 OK")


def _read_one(connection: socket.socket) -> bytes:
    read = b""
    while not read.endswith(b"\r\n\r\n{}"):
        part = connection.recv(65536)
        assert part
        read += part
    return read


def test_a_response_that_is_not_read_is_given_up(
    connect: Callable[..., socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "UNREAD_S", 0.2)
    n_open = list[int]()

    def tick(open_now: set[Any]) -> None:
        check_all(open_now)
        n_open.append(len(open_now))

    with served(app, http=limited_to(MOST), on_tick=tick) as url:
        connect(url, WHOLE.replace(b"POST /", b"POST /much"))
        eventually(lambda: 1 in n_open)
        eventually(lambda: n_open[-1] == 0)


@pytest.mark.parametrize("sends", [b"", HALF_HEAD, HALF_BODY, WHOLE])
def test_clients_that_send_nothing_give_way(
    connect: Callable[..., socket.socket], caplog: pytest.LogCaptureFixture, sends: bytes
) -> None:
    with patient_server() as url:
        slow = [connect(url, sends) for _ in range(3 * MOST)]
        with httpx.Client(base_url=url, timeout=PATIENCE_S) as player:
            for _ in range(3):
                assert player.post("/", content=b"{}").text == "{}"
        assert sum(map(_is_closed, slow)) >= 2 * MOST
    assert "event=connections_full" in caplog.text


def _is_closed(connection: socket.socket) -> bool:
    connection.setblocking(False)
    try:
        while part := connection.recv(65536):
            assert part
    except BlockingIOError:
        return False
    except ConnectionResetError:
        return True
    return True


def test_those_who_are_served_do_not_give_way_and_others_are_told(
    connect: Callable[..., socket.socket],
) -> None:
    inside, release = list[int](), threading.Event()

    async def busy(scope: Scope, receive: Receive, send: Send) -> None:
        assert scope["type"] == "http"
        inside.append(1)
        await anyio.to_thread.run_sync(release.wait, PATIENCE_S)
        await PlainTextResponse("done")(scope, receive, send)

    with served(busy, http=limited_to(2), on_tick=check_all) as url:
        request = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        players = [connect(url, request) for _ in range(2)]
        eventually(lambda: len(inside) == 2)
        refused = all_of(connect(url))
        release.set()
        assert all(all_of(player).endswith("done") for player in players)
    assert "HTTP/1.1 503 Service Unavailable" in refused
    assert "Retry-After: 60" in refused
    assert "too many open connections" in refused


def test_the_soft_limit_of_descriptors_is_raised() -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(400, before[1]), before[1]))
        wanted = connections.MOST_CONNECTIONS if before[1] > 5000 else 16
        assert most_connections() >= wanted
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] > 400
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_small_responses_are_sent_at_once() -> None:
    """Without TCP_NODELAY, a response on a kept connection waits for an acknowledgement, 40 ms."""
    found = list[int]()

    class Watched(limited_to(MOST)):  # type: ignore[misc]
        def connection_made(self, transport: object) -> None:
            accepted = transport.get_extra_info("socket")  # type: ignore[attr-defined]
            found.append(accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            super().connection_made(transport)

    listener = listening("127.0.0.1", 0)
    with served(app, http=Watched, listener=listener) as url:
        assert httpx.get(url, timeout=PATIENCE_S).status_code == 200
    assert found
    assert all(found)

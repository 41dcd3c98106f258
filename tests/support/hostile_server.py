"""A web server on 127.0.0.1 that misbehaves as planned: stalls, truncates, refuses, lies."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Literal

from agl1k_core.http import Patience

#: For tests, which should not wait.
HASTY = Patience(
    connect_s=10, read_s=2, attempt_s=30, attempts=4, first_wait_s=0.001, longest_wait_s=2
)


@dataclass(frozen=True)
class Fault:
    """How one answer goes wrong; ``then`` happens after ``after_bytes`` of the body."""

    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    after_bytes: int = 0
    then: Literal["", "close", "stall", "drip"] = ""
    content_length: int | None = None
    body: bytes | None = None
    ignore_range: bool = False
    content_range: str = ""


@dataclass
class Page:
    body: bytes
    faults: list[Fault]
    headers: Mapping[str, str]
    ranges: bool


@dataclass(frozen=True)
class Request:
    path: str
    headers: Mapping[str, str]


class HostileServer:
    """Serves the pages of ``put``; each request uses up one of its page's faults."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.requests: list[Request] = []
        self.pages: dict[str, Page] = {}
        self.released = threading.Event()
        self.lock = threading.Lock()

    def put(
        self,
        path: str,
        body: bytes,
        *faults: Fault,
        headers: Mapping[str, str] | None = None,
        ranges: bool = True,
    ) -> str:
        """Serve ``body`` at ``path`` (quoted, as in a request); returns the address."""
        sent = {"ETag": f'"{len(body)}"'} if headers is None else headers
        self.pages[path] = Page(body, [*faults], sent, ranges)
        return self.url + path

    def paths(self) -> list[str]:
        return [request.path for request in self.requests]

    def ranges(self) -> list[str | None]:
        return [request.headers.get("range") for request in self.requests]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hostile: HostileServer

    def do_GET(self) -> None:
        server = self.hostile
        headers = {name.lower(): value for name, value in self.headers.items()}
        with server.lock:
            server.requests.append(Request(self.path, headers))
            page = server.pages.get(self.path)
            fault = page.faults.pop(0) if page and page.faults else Fault()
        if page is None:
            page = Page(b"not here", [], {}, ranges=False)
            fault = Fault(status=404)
        with suppress(BrokenPipeError, ConnectionResetError):
            self._answer(page, fault, headers)

    def _answer(self, page: Page, fault: Fault, asked: Mapping[str, str]) -> None:
        body = page.body if fault.body is None else fault.body
        start = 0 if fault.ignore_range or not page.ranges else self._start(page, asked)
        status = fault.status or (206 if start else 200)
        if start >= len(body) and start:
            status = 416
        rest = body[start:] if status in (200, 206) else body if fault.body else b""
        self.send_response(status)
        for name, value in {**page.headers, **fault.headers}.items():
            self.send_header(name, value)
        if status == 206:
            content_range = fault.content_range or f"bytes {start}-{len(body) - 1}/{len(body)}"
            self.send_header("Content-Range", content_range)
        length = len(rest) if fault.content_length is None else fault.content_length
        if length >= 0:
            self.send_header("Content-Length", str(length))
        else:
            self.close_connection = True
        self.end_headers()
        self._send(rest, fault)

    @staticmethod
    def _start(page: Page, asked: Mapping[str, str]) -> int:
        found = re.fullmatch(r"bytes=(\d+)-", asked.get("range", ""))
        current = page.headers.get("ETag") or page.headers.get("Last-Modified")
        if not found or asked.get("if-range", current) != current:
            return 0
        return int(found[1])

    def _send(self, rest: bytes, fault: Fault) -> None:
        if not fault.then:
            self.wfile.write(rest)
            if fault.content_length is not None:
                self.close_connection = True
            return
        self.wfile.write(rest[: fault.after_bytes])
        self.wfile.flush()
        self.close_connection = True
        if fault.then == "stall":
            self.hostile.released.wait(30)
        for place in range(fault.after_bytes, len(rest) if fault.then == "drip" else 0):
            self.wfile.write(rest[place : place + 1])
            if self.hostile.released.wait(0.02):
                return

    def log_message(self, *_: object) -> None:
        pass


class _QuietServer(ThreadingHTTPServer):
    def handle_error(self, *_: object) -> None:
        """Log nothing: in these tests, clients hang up."""


@contextmanager
def hostile_server() -> Iterator[HostileServer]:
    """Run the server until the block ends."""

    class Handler(_Handler):
        pass

    server = _QuietServer(("127.0.0.1", 0), Handler)
    Handler.hostile = HostileServer(server.server_port)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield Handler.hostile
    finally:
        Handler.hostile.released.set()
        server.shutdown()
        thread.join()
        server.server_close()

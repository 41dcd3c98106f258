"""A reverse proxy on 127.0.0.1, between a client and a server, that fails or is slow as planned.

    with faulty_proxy("http://127.0.0.1:8000") as proxy:
        proxy.fail("/api/play/guess", bad_gateway(), times=1)
        page.goto(proxy.url)

It forwards bytes; only requests are read, because faults are chosen by their path.
"""

from __future__ import annotations

import asyncio
import math
import re
import socket
import struct
import threading
import time
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Literal
from urllib.parse import urlsplit

_END_OF_HEAD = b"\r\n\r\n"
_PACKET = 1460
#: A late process may catch up by so much.
_BURST_S = 0.05
_LENGTH = re.compile(rb"(?im)^content-length:\s*(\d+)")


@dataclass(frozen=True)
class Fault:
    """What happens to a request.

    ``answer``: the proxy answers by itself, and the server never sees the request. ``refuse``:
    the connection is reset instead. ``upload``: half of the request's body reaches the server.
    ``lose``: the server has answered, but the client gets nothing. ``cut``: the client gets half of
    the first part of the answer's body. ``hang``: nothing is forwarded or answered. ``mute``: the
    request is forwarded, but the answer is kept.
    """

    kind: Literal["answer", "refuse", "upload", "lose", "cut", "hang", "mute"]
    status: int = 502
    headers: Mapping[str, str] = field(default_factory=dict)

    def response(self) -> bytes:
        """The answer of a proxy, with a page of its own."""
        phrase = HTTPStatus(self.status).phrase
        body = f"<html><head><title>{phrase}</title></head><h1>{self.status} {phrase}</h1></html>"
        given = {"Content-Type": "text/html", "Content-Length": str(len(body)), **self.headers}
        lines = [f"HTTP/1.1 {self.status} {phrase}", *map(": ".join, given.items()), "", body]
        return "\r\n".join(lines).encode()


def answer(status: int, **headers: str) -> Fault:
    """The proxy's own answer; ``Retry_After="3"`` is sent as ``Retry-After``."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Fault("answer", status, named)


@dataclass
class _Plan:
    path: str
    fault: Fault
    times: float


@dataclass(frozen=True)
class Asked:
    """A request that reached the proxy."""

    method: str
    path: str
    fault: Fault | None


@dataclass(frozen=True)
class Delivered:
    """Bytes that a client got: at which time of day, of which request's answer."""

    at_s: float
    path: str
    size: int


class Link:
    """A line to the server that all connections share; each way takes ``way_s`` seconds.

    As on a real one, a new connection is of use after a way there and back.
    """

    def __init__(self, down_bytes_s: float = math.inf, way_s: float = 0) -> None:
        self.down_bytes_s = down_bytes_s
        self.way_s = way_s
        self._free_at = 0.0

    async def carry_down(self, size: int) -> None:
        """Wait until ``size`` bytes have passed the narrow part of the line."""
        now = asyncio.get_running_loop().time()
        self._free_at = max(self._free_at, now - _BURST_S) + size / self.down_bytes_s
        if self._free_at > now:
            await asyncio.sleep(self._free_at - now)


class FaultyProxy:
    """Forwards to a server what clients send to ``url``, unless a fault is planned for it."""

    def __init__(self, target: str, link: Link) -> None:
        self.url = ""
        self.link = link
        self.asked: list[Asked] = []
        self.delivered: list[Delivered] = []
        parts = urlsplit(target)
        self._target = (parts.hostname, parts.port)
        self._plans: list[_Plan] = []

    def fail(self, path: str, fault: Fault, times: float = math.inf) -> None:
        """Apply ``fault`` to the next requests whose path and query contain ``path``."""
        self._plans.append(_Plan(path, fault, times))

    def heal(self) -> None:
        """Forward everything from now on."""
        self._plans.clear()

    def failed(self, path: str = "") -> list[Asked]:
        """The requests to ``path`` that a fault has met so far."""
        return [asked for asked in self.asked if asked.fault and path in asked.path]

    def fault_of(self, method: str, path: str) -> Fault | None:
        """The fault that a request meets, which is used up by that."""
        plan = next((plan for plan in self._plans if plan.path in path and plan.times > 0), None)
        if plan:
            plan.times -= 1
        self.asked.append(Asked(method, path, plan.fault if plan else None))
        return plan.fault if plan else None

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve a connection of a client until either side closes it."""
        try:
            server = await asyncio.open_connection(*self._target)
        except OSError:
            _reset(writer)
            return
        except asyncio.CancelledError:
            writer.transport.abort()
            raise
        try:
            with suppress(OSError, asyncio.IncompleteReadError):
                await _Connection(self, (reader, writer), server).run()
            for each in (writer, server[1]):
                each.close()
                with suppress(OSError):
                    await each.wait_closed()
        except asyncio.CancelledError:
            for each in (writer, server[1]):
                each.transport.abort()
            raise


class _Later:
    """Writes data ``delay_s`` after it was put in, in that order."""

    def __init__(self, writer: asyncio.StreamWriter, delay_s: float) -> None:
        self._writer, self._delay_s = writer, delay_s
        self._queue: asyncio.Queue[tuple[float, bytes, asyncio.Event]] = asyncio.Queue()

    def put(self, data: bytes, not_before: float = 0) -> asyncio.Event:
        """Returns an event that is set once the data is written."""
        at, written = max(not_before, _now()) + self._delay_s, asyncio.Event()
        self._queue.put_nowait((at, data, written))
        return written

    async def run(self) -> None:
        while True:
            at, data, written = await self._queue.get()
            await asyncio.sleep(max(0, at - _now()))
            self._writer.write(data)
            await self._writer.drain()
            written.set()


class _Connection:
    def __init__(self, proxy: FaultyProxy, client: _Streams, server: _Streams) -> None:
        self.proxy = proxy
        self.reader, self.writer = client
        self.answers, server_writer = server
        way_s = proxy.link.way_s
        self.up, self.down = _Later(server_writer, way_s), _Later(self.writer, way_s)
        self.usable_at = _now() + 2 * way_s
        self.path = ""
        self.fault: Fault | None = None

    async def run(self) -> None:
        await _first_of(self.requests(), self.responses(), self.up.run(), self.down.run())

    async def requests(self) -> None:
        while True:
            head = await self.reader.readuntil(_END_OF_HEAD)
            method, self.path, _ = head.split(b"\r\n", 1)[0].decode("latin-1").split(" ", 2)
            self.fault = self.proxy.fault_of(method, self.path)
            length = int(found[1]) if (found := _LENGTH.search(head)) else 0
            if not await self.meets_fault(head, length):
                self.forward(head + await self.reader.readexactly(length))

    def forward(self, data: bytes) -> asyncio.Event:
        return self.up.put(data, self.usable_at)

    async def meets_fault(self, head: bytes, length: int) -> bool:
        """Whether the request goes no further; some faults concern the answer."""
        match self.fault:
            case Fault("answer") as fault:
                await self.reader.readexactly(length)
                self.down.put(fault.response(), self.usable_at + self.proxy.link.way_s)
            case Fault("hang"):
                await self.reader.read()  # until the client has had enough
            case Fault("refuse"):
                _reset(self.writer)
                raise ConnectionResetError
            case Fault("upload"):
                await self.forward(head + await self.reader.readexactly(length // 2)).wait()
                _reset(self.writer)
                raise ConnectionResetError
            case _:
                return False
        return True

    async def responses(self) -> None:
        while data := await self.answers.read(_PACKET):
            match self.fault:
                case Fault("mute"):
                    continue
                case Fault("lose"):
                    _reset(self.writer)
                    return
                case Fault("cut"):
                    await self.cut(data)
                    return
            await self.proxy.link.carry_down(len(data))
            self.down.put(data)
            self.proxy.delivered.append(
                Delivered(time.time() + self.proxy.link.way_s, self.path, len(data))
            )
        if self.fault and self.fault.kind in ("hang", "mute"):
            await asyncio.Event().wait()  # the server has closed an idle connection
        await self.down.put(b"").wait()  # the rest is on its way

    async def cut(self, data: bytes) -> None:
        while _END_OF_HEAD not in data or data.endswith(_END_OF_HEAD):
            more = await self.answers.read(_PACKET)
            if not more:  # an answer without a body, and the server has closed
                break
            data += more
        head, _, body = data.partition(_END_OF_HEAD)
        await self.down.put(head + _END_OF_HEAD + body[: (len(body) + 1) // 2]).wait()


_Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


def _now() -> float:
    return asyncio.get_running_loop().time()


def _reset(writer: asyncio.StreamWriter) -> None:
    """Close with a reset, as a proxy that crashes does."""
    connection: socket.socket = writer.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def _first_of(*works: Coroutine[Any, Any, None]) -> None:
    """Wait for one of the works, and stop the others."""
    tasks = [asyncio.create_task(work) for work in works]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@contextmanager
def faulty_proxy(target: str, link: Link | None = None) -> Iterator[FaultyProxy]:
    """Run a proxy in front of ``target`` on a free port until the block ends."""
    proxy = FaultyProxy(target, link or Link())
    loop, ended, listening = asyncio.new_event_loop(), asyncio.Event(), threading.Event()

    connections: set[asyncio.Task[None]] = set()

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # asyncio complains on stderr of tasks of its own that are cancelled
        connection = loop.create_task(proxy.serve(reader, writer))
        connections.add(connection)
        connection.add_done_callback(connections.discard)

    async def run() -> None:
        server = await asyncio.start_server(connected, "127.0.0.1", 0)
        proxy.url = "http://{}:{}".format(*server.sockets[0].getsockname())
        listening.set()
        await ended.wait()
        server.close()
        while tasks := asyncio.all_tasks() - {asyncio.current_task()}:  # some are being accepted
            for connection in connections:
                connection.cancel()
            await asyncio.wait(tasks)
        await asyncio.sleep(0)  # transports that were aborted close in the loop's next turn

    thread = threading.Thread(target=loop.run_until_complete, args=(run(),), daemon=True)
    thread.start()
    listening.wait()
    try:
        yield proxy
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join()
        loop.close()

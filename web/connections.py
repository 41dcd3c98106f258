"""Connections that wait for their clients: how long, and how many.

Uvicorn closes a connection only if it is idle after a response. Here, a request must arrive in
time, a response must be read, and clients that send nothing give way to those that do.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sys
from collections.abc import Collection
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

log = logging.getLogger("agl1k")

#: A request may take this long to arrive, head and body, …
GRACE_S = 20.0
#: … and longer if it is long, as long as it arrives at this rate.
LEAST_BYTES_PER_S = 4096
#: A response of which nothing is read for this long is given up.
UNREAD_S = 120.0
#: Each connection may need a second descriptor, for a file that it sends.
DESCRIPTORS_EACH = 2
#: Descriptors for the database, the benchmark and the libraries.
DESCRIPTORS_KEPT = 128
MOST_CONNECTIONS = 2048
#: How many connections are wanted at most from the operating system.
_WANTED_DESCRIPTORS = MOST_CONNECTIONS * DESCRIPTORS_EACH + DESCRIPTORS_KEPT

_LATE = "The request did not arrive in time. Send it again."
_FULL = "This server has too many open connections. Try again in a minute."


class PatientConnection(H11Protocol):
    """Uvicorn's protocol with limits on slow clients and on the number of connections.

    ``most_connections`` is set by a subclass; see ``limited_to``.
    """

    most_connections = MOST_CONNECTIONS

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._began = self.loop.time()  # when the request that is arriving began
        self._n_bytes = 0
        self._unread_since: float | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > self.most_connections and not self._make_room():
            self._end(503, _FULL)

    def data_received(self, data: bytes) -> None:
        if self.is_idle:
            self._begin()
        self._n_bytes += len(data)
        super().data_received(data)

    def pause_writing(self) -> None:
        self._unread_since = self.loop.time()
        super().pause_writing()

    def resume_writing(self) -> None:
        self._unread_since = None
        super().resume_writing()

    @property
    def is_idle(self) -> bool:
        """Whether no part of a request is here, and none is being answered."""
        return self.conn.their_state is h11.IDLE and not self.conn.trailing_data[0]

    @property
    def is_waiting(self) -> bool:
        """Whether the client should send something; it may idle only after a response."""
        if self.conn.their_state is h11.SEND_BODY:
            return not self.flow.read_paused
        return self.conn.their_state is h11.IDLE and not (self.is_idle and self.cycle)

    @property
    def is_unread(self) -> bool:
        """Whether the client reads nothing of its response."""
        return self._unread_since is not None

    def check(self) -> None:
        """Close the connection if its client is too slow."""
        now = self.loop.time()
        if self._unread_since is not None and now - self._unread_since > UNREAD_S:
            self.transport.abort()
        elif self.flow.read_paused:  # the app reads slowly, not the client
            self._begin()
        elif self.is_waiting and now - self._began > GRACE_S + self._n_bytes / LEAST_BYTES_PER_S:
            self.give_up()

    def give_up(self) -> None:
        """Close a connection whose client is too slow; half a request is answered 408."""
        if self.is_unread:
            self.transport.abort()
        elif self.is_idle:
            self.transport.close()
        else:
            self._end(408, _LATE)

    def patience(self) -> tuple[int, float]:
        """Sorts connections that may give way: silent, idle, half-sent, unread; oldest first."""
        if self.is_unread:
            return 3, self._began
        return 2 if not self.is_idle else 1 if self.cycle else 0, self._began

    def on_response_complete(self) -> None:
        self._begin()
        super().on_response_complete()

    def _begin(self) -> None:
        self._began, self._n_bytes = self.loop.time(), 0

    def _make_room(self) -> bool:
        """Close a tenth of the connections, of those that wait; whether there is room now."""
        n_open = sum(not each.transport.is_closing() for each in _patient(self.connections))
        if n_open <= self.most_connections:
            return True
        n_ended = give_way(self.connections, 1 + self.most_connections // 10, but=self)
        log.warning("event=connections_full: closed %d whose clients were slow or idle", n_ended)
        return n_ended > 0

    def _end(self, status: int, message: str) -> None:
        is_answered = self.conn.their_state is not h11.IDLE and self.cycle.response_started
        if not is_answered:
            self.transport.write(_response(status, message))
        self.transport.close()


def limited_to(most_connections: int) -> type[PatientConnection]:
    """The protocol with a limit on the number of connections."""
    return type("Connection", (PatientConnection,), {"most_connections": most_connections})


def check_all(connections: Collection[object]) -> None:
    """Close the connections whose clients are too slow."""
    for connection in _patient(connections):
        connection.check()


def give_up_all(connections: Collection[object]) -> None:
    """Close the connections that wait for their clients, because the server stops."""
    for connection in _patient(connections):
        if connection.is_waiting:
            connection.give_up()


def give_way(connections: Collection[object], n_most: int, *, but: PatientConnection) -> int:
    """Close up to ``n_most`` connections that wait for their clients; returns how many."""
    waiting = [
        each
        for each in _patient(connections)
        if each is not but
        and not each.transport.is_closing()
        and (each.is_waiting or each.is_idle or each.is_unread)
    ]
    waiting.sort(key=PatientConnection.patience)
    for connection in waiting[:n_most]:
        connection.give_up()
    return len(waiting[:n_most])


def _patient(connections: Collection[object]) -> list[PatientConnection]:
    return [each for each in connections if isinstance(each, PatientConnection)]


def most_connections() -> int:
    """How many connections the limit of descriptors allows, after raising it if possible."""
    descriptors = _raised_limit()
    return max(16, min(MOST_CONNECTIONS, (descriptors - DESCRIPTORS_KEPT) // DESCRIPTORS_EACH))


def _raised_limit() -> int:
    if sys.platform == "win32":
        return _WANTED_DESCRIPTORS
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    unlimited = resource.RLIM_INFINITY
    wanted = _WANTED_DESCRIPTORS if hard == unlimited else min(hard, _WANTED_DESCRIPTORS)
    if soft != unlimited and soft < wanted:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            soft = wanted
    return _WANTED_DESCRIPTORS if soft == unlimited else soft


def _response(status: int, message: str) -> bytes:
    phrase = {408: "Request Timeout", 503: "Service Unavailable"}[status]
    head = (
        f"HTTP/1.1 {status} {phrase}\r\nContent-Type: text/plain; charset=utf-8\r\n"
        f"Content-Length: {len(message)}\r\nRetry-After: 60\r\nConnection: close\r\n\r\n"
    )
    return (head + message).encode()

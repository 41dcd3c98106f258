"""Serve an ASGI app on this machine."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

from tests.support.waiting import PATIENCE_S


class _Server(uvicorn.Server):
    """Calls a function with all connections several times a second."""

    call: Callable[[set[Any]], object] = staticmethod(lambda _: None)

    async def on_tick(self, counter: int) -> bool:
        self.call(self.server_state.connections)
        return await super().on_tick(counter)


@contextmanager
def served(
    app: Any,
    port: int = 0,
    *,
    shutdown_s: int = 0,
    http: Any = "auto",
    on_tick: Callable[[set[Any]], object] | None = None,
    listener: socket.socket | None = None,
) -> Iterator[str]:
    """Serve on ``port`` of 127.0.0.1, by default a free one; yields the address without a slash.

    ``http`` is the class of its connections, which ``on_tick`` gets several times a second.
    """
    config = uvicorn.Config(app, port=port, log_level="error", access_log=False, http=http)
    config.timeout_graceful_shutdown = shutdown_s
    server = _Server(config)
    server.call = on_tick or server.call
    bound = listener or config.bind_socket()
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
    thread.start()
    while not server.started and thread.is_alive():  # until then connections are refused
        time.sleep(0.005)
    assert server.started, "the app did not start"
    try:
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(PATIENCE_S)
        bound.close()

"""Serve an ASGI app on this machine."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

from tests.support.waiting import PATIENCE_S


@contextmanager
def served(app: Any, port: int = 0, *, shutdown_s: int = 0) -> Iterator[str]:
    """Serve on ``port`` of 127.0.0.1, by default a free one; yields the address without a slash."""
    config = uvicorn.Config(app, port=port, log_level="error", access_log=False)
    config.timeout_graceful_shutdown = shutdown_s
    server = uvicorn.Server(config)
    socket = config.bind_socket()
    thread = threading.Thread(target=server.run, kwargs={"sockets": [socket]}, daemon=True)
    thread.start()
    while not server.started and thread.is_alive():  # until then connections are refused
        time.sleep(0.005)
    assert server.started, "the app did not start"
    try:
        yield f"http://127.0.0.1:{socket.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(PATIENCE_S)
        socket.close()

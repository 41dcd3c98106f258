"""The server: uvicorn, without an access log, that stops soon even with pages open."""

from __future__ import annotations

import os
import socket

import uvicorn
from fastapi import FastAPI

from agl1k_core.errors import Agl1kError


class _PatientServer(uvicorn.Server):
    """Ends the event streams of open pages first: a server waits for every request to end."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for route in self.config.loaded_app.app.routes:
            stop = getattr(getattr(route, "app", None), "stop_event", None)
            if stop is not None:
                stop.set()
        await super().shutdown(sockets)


def listening(host: str, port: int) -> socket.socket:
    """The address to serve at, taken; raises ``Agl1kError`` when it cannot be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    taken = socket.socket(family)
    try:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind((host, port))
    except (OSError, TypeError, UnicodeError) as error:  # the latter: no name of a host at all
        taken.close()
        why = (error.strerror if isinstance(error, OSError) else "") or "no such address"
        raise Agl1kError(
            f"Cannot listen at {host[:80]}, port {port}: {why}. Stop the program that is "
            "there, or set PORT and AGL1K_HOST (--port, --host) to others."
        ) from None
    return taken


def serve(app: FastAPI, listener: socket.socket) -> None:
    """Serve until SIGTERM or SIGINT. The access log is off: it would hold addresses of people."""
    # Gradio asks matplotlib, where it is installed, for its backend: left to choose one, it loads
    # pyplot in the middle of the first request
    os.environ.setdefault("MPLBACKEND", "agg")
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        timeout_keep_alive=75,  # a player listens and thinks for longer than 5 s
        timeout_graceful_shutdown=3,
    )
    with listener:
        _PatientServer(config).run(sockets=[listener])

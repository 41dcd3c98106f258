"""The server: uvicorn without an access log, which stops soon even if pages are open."""

from __future__ import annotations

import os
import socket

import uvicorn
from fastapi import FastAPI

from agl1k_core.errors import Agl1kError
from web.gradio_adapter import end_streams


class _PatientServer(uvicorn.Server):
    """Ends the event streams of open pages before it waits for requests to end."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        end_streams(self.config.loaded_app.app)
        await super().shutdown(sockets)


def listening(host: str, port: int) -> socket.socket:
    """A socket bound to the server's address; raises ``Agl1kError`` if it cannot be bound."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    taken = socket.socket(family)
    try:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind((host, port))
    except (OSError, TypeError, UnicodeError) as error:  # the latter two: not a host name
        taken.close()
        why = (error.strerror if isinstance(error, OSError) else "") or "no such address"
        raise Agl1kError(
            f"Cannot listen on {host[:80]}, port {port}: {why}. Stop the program that uses "
            "it, or choose others with PORT and AGL1K_HOST (--port, --host)."
        ) from None
    return taken


def serve(app: FastAPI, listener: socket.socket) -> None:
    """Serve until SIGTERM or SIGINT. The access log is off: it would contain people's addresses."""
    # Gradio asks matplotlib, if it is installed, for its backend; without this, matplotlib would
    # load pyplot during the first request
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

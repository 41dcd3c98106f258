"""The server: uvicorn, without an access log, that stops soon even with pages open."""

from __future__ import annotations

import os
import socket

import uvicorn
from fastapi import FastAPI


class _PatientServer(uvicorn.Server):
    """Ends the event streams of open pages first: a server waits for every request to end."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for route in self.config.loaded_app.app.routes:
            stop = getattr(getattr(route, "app", None), "stop_event", None)
            if stop is not None:
                stop.set()
        await super().shutdown(sockets)


def serve(app: FastAPI, host: str, port: int) -> None:
    """Serve until SIGTERM or SIGINT. The access log is off: it would hold addresses of people."""
    # Gradio asks matplotlib, where it is installed, for its backend: left to choose one, it loads
    # pyplot in the middle of the first request
    os.environ.setdefault("MPLBACKEND", "agg")
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        log_level="warning",
        access_log=False,
        timeout_keep_alive=75,  # a player listens and thinks for longer than 5 s
        timeout_graceful_shutdown=3,
    )
    _PatientServer(config).run()

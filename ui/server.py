"""The server: uvicorn, without an access log, that stops soon even with pages open."""

from __future__ import annotations

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
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=3,
    )
    _PatientServer(config).run()

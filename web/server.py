"""The server: uvicorn without an access log, patient with slow clients but not forever."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from typing import Any, cast

import uvicorn
from fastapi import FastAPI
from starlette.types import ASGIApp
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from agl1k_core.errors import Agl1kError
from web.connections import check_all, give_up_all, limited_to, most_connections
from web.forwarded import FromProxies
from web.gradio_adapter import end_streams

#: How many connections the operating system keeps until they are accepted. If descriptors run out,
#: asyncio tries as many times in a row.
BACKLOG = 128
_TICKS_PER_S = 10


class _PatientServer(uvicorn.Server):
    """Ends event streams and half-sent requests before it waits for requests to end."""

    def __init__(self, config: uvicorn.Config, app: FastAPI) -> None:
        super().__init__(config)
        self._app = app

    async def on_tick(self, counter: int) -> bool:
        if counter % _TICKS_PER_S == 0:
            check_all(self.server_state.connections)
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        end_streams(self._app)
        give_up_all(self.server_state.connections)
        await super().shutdown(sockets)


def listening(host: str, port: int) -> socket.socket:
    """A socket bound to the server's address; raises ``Agl1kError`` if it cannot be bound."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sends small responses at once only if it knows that this is TCP
    taken = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
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


def behind_proxies(app: ASGIApp, trusted: Sequence[str]) -> FromProxies:
    """The app, told by ``trusted`` proxies, and by nobody else, where a request comes from."""
    return FromProxies(
        cast(Any, ProxyHeadersMiddleware(cast(Any, app), [*trusted])),
        trusted,
    )


def serve(app: FastAPI, listener: socket.socket, *, trusted_proxies: Sequence[str] = ()) -> None:
    """Serve until SIGTERM or SIGINT. The access log is off: it would contain people's addresses.

    Only ``trusted_proxies``, addresses and networks, are believed where a request comes from, and
    under which address the site was asked for.
    """
    # Gradio asks matplotlib, if it is installed, for its backend; without this, matplotlib would
    # load pyplot during the first request
    os.environ.setdefault("MPLBACKEND", "agg")
    config = uvicorn.Config(
        behind_proxies(app, trusted_proxies),
        http=limited_to(most_connections()),
        ws="none",
        backlog=BACKLOG,
        log_config=None,  # as the rest of the app logs
        access_log=False,
        proxy_headers=False,  # uvicorn would read them before FromProxies does
        timeout_keep_alive=75,  # a player listens and thinks for longer than 5 s
        timeout_graceful_shutdown=3,
    )
    with listener:
        _PatientServer(config, app).run(sockets=[listener])

"""Health checks: ``/healthz`` and ``/readyz``."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from fastapi import APIRouter
from fastapi.responses import JSONResponse

from agl1k_core import __version__
from web.threads import Threads


class _Shared:
    """A check that many may ask for at once; it runs once, in a thread of its own."""

    def __init__(self, check: Callable[[], Sequence[str]]) -> None:
        self._check = Threads(1)(check)
        self._running: asyncio.Task[Sequence[str]] | None = None

    async def result(self) -> Sequence[str]:
        if self._running is None or self._running.done():
            self._running = asyncio.ensure_future(self._check())
        return await asyncio.shield(self._running)  # others wait for it even if this one leaves


def health_router(problems: Callable[[], Sequence[str]]) -> APIRouter:
    """Report whether the server runs, and whether it is ready for players.

    ``problems`` returns what is wrong, in words for everybody; nothing if the server is ready.
    """
    router = APIRouter(include_in_schema=False)
    shared = _Shared(problems)

    @router.get("/healthz")
    async def healthz() -> dict[str, str]:
        return {"status": "ok", "version": __version__}

    @router.get("/readyz")
    async def readyz() -> JSONResponse:
        found = list(await shared.result())
        content = {"status": "not ready" if found else "ready", "problems": found}
        return JSONResponse(content, 503 if found else 200)

    return router

"""Health checks: ``/healthz`` and ``/readyz``."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fastapi import APIRouter
from fastapi.responses import JSONResponse

from agl1k_core import __version__


def health_router(problems: Callable[[], Sequence[str]]) -> APIRouter:
    """Report whether the server runs, and whether it is ready for players.

    ``problems`` returns what is wrong, in words for everybody; nothing if the server is ready.
    """
    router = APIRouter(include_in_schema=False)

    @router.get("/healthz")
    async def healthz() -> dict[str, str]:
        return {"status": "ok", "version": __version__}

    @router.get("/readyz")
    def readyz() -> JSONResponse:
        found = list(problems())
        content = {"status": "not ready" if found else "ready", "problems": found}
        return JSONResponse(content, 503 if found else 200)

    return router

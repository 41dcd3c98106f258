"""The unchanged app, with a clock in ``Play.submit`` and two routes for ``players``.

``python -m perf.measured_app``, configured as ``app.py`` is.
"""

from __future__ import annotations

import time
from typing import Any

from fastapi import FastAPI, Request
from fastapi.routing import APIRoute

from app import create_app
from game.handlers import Play
from game.screens import Screen
from web.server import listening, serve
from web.settings import Settings

_own_seconds: list[float] = []
_submit = Play.submit


def _timed_submit(self: Play, *arguments: Any) -> Screen:
    began = time.perf_counter()
    try:
        return _submit(self, *arguments)
    finally:
        _own_seconds.append(time.perf_counter() - began)


async def own_seconds() -> list[float]:
    """How long each call of our own code took, storing the guess included."""
    return _own_seconds


async def plain(request: Request) -> dict[str, int]:
    """A route that only answers."""
    return {"size": len(await request.body())}


def measured_app() -> FastAPI:
    """The routes go before Gradio's, which matches everything."""
    Play.submit = _timed_submit  # type: ignore[method-assign,assignment]
    settings = Settings.from_env()
    app = create_app(settings)
    app.router.routes.insert(0, APIRoute("/benchmark/own", own_seconds))
    app.router.routes.insert(0, APIRoute("/benchmark/plain", plain, methods=["POST"]))
    return app


if __name__ == "__main__":
    serve(measured_app(), listening("127.0.0.1", Settings.from_env().port))

"""Refusals because the server lacks something it needs: 503, one sentence, and ``Retry-After``.

Gradio answers 500 to every event that fails, so the status is corrected on its way out.
"""

from __future__ import annotations

from contextvars import ContextVar

from fastapi import FastAPI, Request
from fastapi.responses import Response
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agl1k_core.errors import UnavailableError
from web.refusals import refusal

#: What was unavailable while this request was answered.
_noted: ContextVar[list[UnavailableError] | None] = ContextVar("_noted", default=None)


def note(error: UnavailableError) -> None:
    """Have the request that is answered now end with 503 instead of 500."""
    found = _noted.get()
    if found is not None:
        found.append(error)


def explain_unavailable(app: FastAPI) -> None:
    """Have ``app`` answer 503 whenever a route or an event raises ``UnavailableError``."""
    app.add_exception_handler(UnavailableError, _answer)
    app.add_middleware(_Correct)


async def _answer(_: Request, error: Exception) -> Response:
    assert isinstance(error, UnavailableError)
    return refusal(str(error), 503, _headers(error))


def _headers(error: UnavailableError) -> dict[str, str]:
    return {"Retry-After": str(error.retry_after_s), "Cache-Control": "no-store"}


class _Correct:
    """ASGI middleware that turns 500 into 503 if ``note`` was called for the request."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        noted: list[UnavailableError] = []
        token = _noted.set(noted)

        async def send_corrected(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] == 500 and noted:
                message["status"] = 503
                MutableHeaders(scope=message).update(_headers(noted[0]))
            await send(message)

        try:
            await self.app(scope, receive, send_corrected)
        finally:
            _noted.reset(token)

"""A limit on the size of every request, so that no upload fills the memory or the disk."""

from __future__ import annotations

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class _TooLargeError(Exception):
    """The body went past the limit while it was read."""


class BodyLimit:
    """ASGI middleware that answers 413 to a request body over ``max_bytes``.

    A length that is told is refused at once; one that is not is counted as it comes.
    """

    def __init__(self, app: ASGIApp, max_bytes: int) -> None:
        self.app = app
        self.max_bytes = max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        if self._told_too_large(scope):
            await self._refuse(scope, receive, send)
            return
        started = False

        async def noting_start(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self.app(scope, self._counting(receive), noting_start)
        except _TooLargeError:
            if not started:
                await self._refuse(scope, receive, send)

    def _told_too_large(self, scope: Scope) -> bool:
        told = dict(scope["headers"]).get(b"content-length", b"0")
        return not told.isdigit() or int(told) > self.max_bytes

    def _counting(self, receive: Receive) -> Receive:
        n_bytes = 0

        async def counted() -> Message:
            nonlocal n_bytes
            message = await receive()
            n_bytes += len(message.get("body", b""))
            if n_bytes > self.max_bytes:
                raise _TooLargeError
            return message

        return counted

    async def _refuse(self, scope: Scope, receive: Receive, send: Send) -> None:
        limit_mb = self.max_bytes / 2**20
        answer = PlainTextResponse(
            f"The request is too large: the limit is {limit_mb:.0f} MB.",
            413,
            headers={"Connection": "close"},
        )
        await answer(scope, receive, send)

"""Limits for every request: the size of its body, and JSON whose texts can be stored."""

from __future__ import annotations

import json
import re
from contextlib import suppress

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from web.refusals import refusal

#: Only files are larger; JSON is read whole, and parsed while nobody else is served.
MOST_JSON_BYTES = 2**20
UPLOAD = "/gradio_api/upload"


class _TooLargeError(Exception):
    """The body exceeded the limit while it was read."""


class BodyLimit:
    """ASGI middleware that answers 413 to a request body over ``max_bytes``, or 1 MB if no upload.

    A declared length is checked at once; a body without one is counted as it arrives.
    """

    def __init__(self, app: ASGIApp, max_bytes: int) -> None:
        self.app = app
        self.max_upload_bytes = max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        most = self._most_bytes(scope)
        if _is_declared_too_large(scope, most):
            await _refuse(most, scope, receive, send)
            return
        body = _Counted(receive, most)
        started = False

        async def send_unless_refused(message: Message) -> None:
            nonlocal started
            # the app's response to the truncated body is dropped
            if not body.is_too_large or started:
                started = True
                await send(message)

        with suppress(_TooLargeError):
            await self.app(scope, body.receive, send_unless_refused)
        if body.is_too_large and not started:
            await _refuse(most, scope, receive, send)

    def _most_bytes(self, scope: Scope) -> int:
        is_upload = scope["path"].endswith(UPLOAD)
        return self.max_upload_bytes if is_upload else min(self.max_upload_bytes, MOST_JSON_BYTES)


def _is_declared_too_large(scope: Scope, most_bytes: int) -> bool:
    length = dict(scope["headers"]).get(b"content-length", b"0")
    return not length.isdigit() or int(length) > most_bytes


async def _refuse(most_bytes: int, scope: Scope, receive: Receive, send: Send) -> None:
    sentence = f"The request is too large: the limit is {most_bytes / 2**20:.0f} MB."
    await refusal(sentence, 413, {"Connection": "close"})(scope, receive, send)


class WholeTexts:
    """ASGI middleware that answers 422 to JSON with half a character in it, ``"\\ud800"``.

    Python accepts such a text, and fails later, when it is written to the database, a log or the
    response. The body is read whole: put a ``BodyLimit`` around it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] not in ("POST", "PUT", "PATCH"):
            await self.app(scope, receive, send)
            return
        if dict(scope["headers"]).get(b"content-type", b"").startswith(b"multipart/"):
            await self.app(scope, receive, send)
            return
        messages = [await receive()]
        while messages[-1].get("more_body"):
            messages.append(await receive())
        if is_half_text(b"".join(message.get("body", b"") for message in messages)):
            await refusal(_HALF, 422)(scope, receive, send)
            return
        messages.reverse()

        async def receive_again() -> Message:
            return messages.pop() if messages else await receive()

        await self.app(scope, receive_again, send)


_HALF = "A text contains half of a character (a lone surrogate), or is not UTF-8. Send valid text."


def is_half_text(body: bytes) -> bool:
    """Whether JSON contains a lone surrogate, or is not in UTF-8."""
    if b"\x00" in body or re.search(rb"\xed[\xa0-\xbf]", body):
        return True
    if not re.search(rb"\\u[dD][89a-fA-F]", body):
        return False
    try:
        json.dumps(json.loads(body), ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    except (ValueError, RecursionError):  # not JSON: the app reports that
        return False
    return False


class _Counted:
    """A request's body, read until it exceeds the limit."""

    def __init__(self, receive: Receive, max_bytes: int) -> None:
        self._receive = receive
        self._left = max_bytes

    @property
    def is_too_large(self) -> bool:
        return self._left < 0

    async def receive(self) -> Message:
        message = await self._receive()
        self._left -= len(message.get("body", b""))
        if self.is_too_large:
            raise _TooLargeError
        return message

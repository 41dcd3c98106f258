"""The page and its configuration, rendered once instead of for every visitor.

They are rendered for nobody: for a request without cookies, from a host that does not exist. So
nothing about a visitor can be in them. Only the address under which a visitor knows the site is
filled in afterwards.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from starlette.datastructures import Headers, QueryParams
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from web.addresses import path_of
from web.packed import ASK_AGAIN, KEEP_FOREVER, Packed

#: For so many addresses of the site, answers are kept ready.
MOST_ADDRESSES = 32
_NOBODY = (b"host", b"rendered-for-nobody.invalid")
#: What decides the address of the site, besides the connection itself.
_NAMING = (b"host", b"x-forwarded-host", b"x-forwarded-proto", b"x-gradio-server")

#: Stands in the HTML for the tags that depend on the query.
TAGS = b"<!--tags-->"
#: The tags for a query, if the site has this address.
Tags = Callable[[bytes, str], Awaitable[bytes]]

_INFO = "/gradio_api/info"
#: What is rendered: the path, and with which queries. Others would change nothing.
_PATHS: Mapping[str, str] = {
    "/": "/", "/config": "/config", "/config/": "/config", _INFO: _INFO, f"{_INFO}/": _INFO,
    "/theme.css": "/theme.css", "/gradio_api/theme.css": "/theme.css",
}  # fmt: skip


@dataclass(frozen=True)
class _Rendering:
    """An answer that names the site by ``root``, the address that nobody asked for."""

    body: bytes
    media_type: str
    root: str


class RenderedOnce:
    """ASGI middleware that lets a page answer once, and then answers everybody itself.

    Put it directly around Gradio's routes. ``root_of`` returns the address of the site as a request
    names it; ``finish`` may change the HTML, in which ``tags`` of the query and that address then
    replace ``TAGS``.
    """

    def __init__(
        self,
        app: ASGIApp,
        root_of: Callable[[Scope], str],
        finish: Callable[[bytes], bytes] = bytes,
        tags: Tags | None = None,
    ) -> None:
        self.app, self._root_of, self._finish, self._tags = app, root_of, finish, tags
        self._renderings: dict[tuple[str, bytes], _Rendering] = {}
        self._rendering = asyncio.Lock()
        self._root = lru_cache(MOST_ADDRESSES)(lambda key: root_of(_asked_like(*key)))
        self._packed = lru_cache(4 * MOST_ADDRESSES)(_filled_in)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        wanted = _wanted(scope)
        rendering = None if wanted is None else await self._rendered(wanted, scope)
        if rendering is None:
            await self.app(scope, receive, send)
            return
        root, tags = self._root(_key(scope)), b""
        if self._tags is not None and TAGS in rendering.body:
            tags = await self._tags(scope["query_string"], root)
        packed = self._packed(rendering, root, tags)
        is_fixed = rendering.media_type.startswith("text/css") and scope["query_string"]
        answer = packed.answer(Headers(scope=scope), KEEP_FOREVER if is_fixed else ASK_AGAIN)
        await answer(scope, receive, send)

    async def _rendered(self, wanted: tuple[str, bytes], scope: Scope) -> _Rendering | None:
        """What nobody gets; None if it cannot be rendered, so that the visitor learns why."""
        async with self._rendering:
            if wanted not in self._renderings:
                asked = _for_nobody(scope, *wanted)
                status, media_type, body = await _asked(self.app, asked)
                if status != 200:
                    return None
                body = self._finish(body) if media_type.startswith("text/html") else body
                self._renderings[wanted] = _Rendering(body, media_type, self._root_of(asked))
        return self._renderings[wanted]


def _wanted(scope: Scope) -> tuple[str, bytes] | None:
    """The path and the query to render for a request; None if it is answered each time."""
    if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD"):
        return None
    path = _PATHS.get(path_of(scope))
    if path is None:
        return None
    query = QueryParams(scope["query_string"])
    if path == _INFO and query.get("all_endpoints"):
        return path, b"all_endpoints=True"
    # without a page, Gradio keeps the address of the first who asks
    return path, b"page=" if path == _INFO or "page" in query else b""


def _key(scope: Scope) -> tuple[Any, ...]:
    named = tuple(tuple(each) for each in scope["headers"] if each[0] in _NAMING)
    server = scope.get("server")
    return scope["scheme"], server and tuple(server), scope.get("root_path", ""), named


def _asked_like(scheme: str, server: object, root_path: str, headers: object) -> Scope:
    return {
        "type": "http", "http_version": "1.1", "method": "GET", "scheme": scheme,
        "server": server, "client": None, "root_path": root_path, "headers": headers,
        "path": f"{root_path}/", "raw_path": f"{root_path}/".encode(), "query_string": b"",
    }  # fmt: skip


def _for_nobody(scope: Scope, path: str, query: bytes) -> Scope:
    root_path = scope.get("root_path", "")
    kept = {name: scope[name] for name in ("app", "asgi", "state", "router") if name in scope}
    path = root_path + path
    asked = {"path": path, "raw_path": path.encode(), "query_string": query, "session": {}}
    return {**kept, **_asked_like("http", None, root_path, [_NOBODY]), **asked}


async def _asked(app: ASGIApp, scope: Scope) -> tuple[int, str, bytes]:
    """The status, the media type and the body with which an app answers a request."""
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    await app(scope, receive, send)
    body = b"".join(message.get("body", b"") for message in sent)
    return sent[0]["status"], Headers(raw=sent[0]["headers"]).get("content-type", ""), body


def _filled_in(rendering: _Rendering, root: str, tags: bytes) -> Packed:
    """An answer that names the site by the address that a visitor uses."""
    body = rendering.body.replace(_in_script(rendering.root), _in_script(root))
    body = body.replace(TAGS, tags, 1)
    return Packed(body, rendering.media_type)


def _in_script(address: str) -> bytes:
    """An address as it stands inside a JSON string, also in a script of a page."""
    text = json.dumps(address)[1:-1]
    for sign in "<>&'":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text.encode()

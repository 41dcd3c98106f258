"""The address of the page: its parameters, and the path under which a proxy serves it."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import parse_qs, urlsplit

from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

_LONGEST = 2000

#: First in the page's head, so that nothing is loaded from a wrong address.
_END_WITH_SLASH = (
    b'<script>if (!location.pathname.endsWith("/")) '
    b'location.replace(location.pathname + "/" + location.search + location.hash)</script>'
)


def query_of(address: object) -> dict[str, list[str]]:
    """The query of an address, by name; empty if there is none, or it is not an address."""
    try:
        return parse_qs(urlsplit(str(address)[:_LONGEST]).query)
    except ValueError:  # "http://["
        return {}


def named_tab(address: object, tabs: Sequence[str]) -> str:
    """The tab that an address names with ``?tab=``, or ""."""
    wanted = query_of(address).get("tab", [""])[0]
    return wanted if wanted in tabs else ""


def path_of(scope: Scope) -> str:
    """The path that a request asks for, inside of what is mounted or served under another path."""
    return str(scope["path"]).removeprefix(scope.get("root_path", ""))


class UnderPath:
    """ASGI middleware for a proxy that passes on the path under which it serves the app.

    ``/arena`` is redirected to ``/arena/``, from which the page's addresses lead somewhere, and
    ``/arena/x`` is answered like ``/x``. A proxy may also remove the path itself.
    """

    def __init__(self, app: ASGIApp, path: str) -> None:
        self.app, self.path = app, path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        asked = str(scope.get("path", ""))
        if self.path and asked == self.path and scope["type"] == "http":
            query = scope["query_string"].decode("latin-1")
            address = f"{self.path}/" + (f"?{query}" if query else "")
            await RedirectResponse(address)(scope, receive, send)
        elif self.path and asked.startswith(f"{self.path}/"):
            rest = asked.removeprefix(self.path)
            # an app or server around this one may count the path as its own
            root = str(scope.get("root_path", "")).removeprefix(self.path)
            inside = {**scope, "path": rest, "raw_path": rest.encode(), "root_path": root}
            await self.app(inside, receive, send)
        else:
            await self.app(scope, receive, send)


def ending_with_slash(page: bytes) -> bytes:
    """HTML that goes on from ``/arena`` to ``/arena/`` in the browser.

    A proxy that removes a path asks for ``/`` in both cases, so only the browser knows. From
    ``/arena``, the page's relative addresses lead nowhere.
    """
    return page.replace(b"<head>", b"<head>" + _END_WITH_SLASH, 1)

"""What proxies say about a request is believed from configured ones only."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import ip_address, ip_network

from starlette.types import ASGIApp, Receive, Scope, Send

#: Where the request comes from, and under which address the site was asked for.
_PREFIXES = (b"x-forwarded-", b"x-gradio-server")


class FromProxies:
    """ASGI middleware that removes such headers if no trusted proxy sent them.

    Put it around all that reads them: Gradio, for one, believes everybody. ``trusted`` are
    addresses and networks.
    """

    def __init__(self, app: ASGIApp, trusted: Sequence[str]) -> None:
        self.app = app
        self._networks = [ip_network(text) for text in trusted]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not self._is_trusted(scope.get("client")):
            headers = [each for each in scope["headers"] if not each[0].startswith(_PREFIXES)]
            scope = {**scope, "headers": headers}
        await self.app(scope, receive, send)

    def _is_trusted(self, client: tuple[str, int] | None) -> bool:
        try:
            address = ip_address(client[0] if client else "")
        except ValueError:  # such as the path of a socket
            return False
        return any(address in network for network in self._networks)

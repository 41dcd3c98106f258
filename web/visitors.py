"""Where requests come from, for limits per address; no address is stored or logged.

An address becomes a number under a salt that lives in memory and is thrown away every day, so that
nobody can tell later who came, or that the same person came on two days.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable
from contextvars import ContextVar
from datetime import UTC, date, datetime
from ipaddress import IPv6Address, ip_address, ip_network

from starlette.types import ASGIApp, Receive, Scope, Send

#: A household or a company usually has a whole network of this size.
IPV6_PREFIX = 64
#: Such as "unknown". Counted apart, junk that a proxy passes on would be as good as many addresses.
NOT_AN_ADDRESS = "not an address"

_host: ContextVar[str] = ContextVar("host", default="")


def _today() -> date:
    return datetime.now(UTC).date()


class Visitors:
    """Names the address of the request that is being answered, by a number of the day."""

    def __init__(self, today: Callable[[], date] = _today) -> None:
        self._today = today
        self._salted: tuple[date | None, bytes] = (None, b"")

    def current(self) -> str:
        """The number of the current request's address; "" outside of requests over a network."""
        host = _host.get()
        if not host:
            return ""
        network = network_of(host).encode()
        return hashlib.blake2b(network, key=self._salt(), digest_size=16).hexdigest()

    def _salt(self) -> bytes:
        day, today = self._salted[0], self._today()
        if day != today:
            self._salted = today, secrets.token_bytes(32)
        return self._salted[1]


def network_of(host: str) -> str:
    """What counts as one address: an IPv4 address, or an IPv6 network of ``IPV6_PREFIX`` bits.

    All that a proxy may say instead of an address counts as one: ``NOT_AN_ADDRESS``.

    Examples
    --------
    >>> network_of("2001:db8:1:2:3:4:5:6")
    '2001:db8:1:2::/64'
    >>> network_of("::ffff:192.0.2.1")
    '192.0.2.1'
    """
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return NOT_AN_ADDRESS
    if not isinstance(address, IPv6Address):
        return str(address)
    if address.ipv4_mapped:
        return str(address.ipv4_mapped)
    return str(ip_network((address, IPV6_PREFIX), strict=False))


class NoteAddress:
    """ASGI middleware that notes where a request comes from, until it is answered."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            _host.set((scope.get("client") or ("",))[0])
        await self.app(scope, receive, send)

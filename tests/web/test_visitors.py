"""Addresses become numbers of the day, the same for one address or network."""

from __future__ import annotations

import asyncio
from datetime import date
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from tests.support.served import served
from web.server import behind_proxies
from web.settings import Settings
from web.visitors import NOT_AN_ADDRESS, NoteAddress, Visitors, network_of

pytestmark = pytest.mark.server


@pytest.mark.parametrize(
    ("host", "network"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:0:7::1", "2001:db8:0:7::/64"),
        ("2001:DB8:0:7:ffff:ffff:ffff:ffff", "2001:db8:0:7::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::1", "::/64"),
        ("a proxy's word", NOT_AN_ADDRESS),
        ("192.0.2.007", NOT_AN_ADDRESS),
        ("192.0.2.7.8", NOT_AN_ADDRESS),
        ("2001:db8::g", NOT_AN_ADDRESS),
        ("[2001:db8::1]", NOT_AN_ADDRESS),
        ("%", NOT_AN_ADDRESS),
    ],
)
def test_what_counts_as_one_address(host: str, network: str) -> None:
    assert network_of(host) == network


class Site:
    """A site that answers what it calls its visitors, on a day that can be set."""

    def __init__(self) -> None:
        self.day = date(2026, 3, 14)
        self.visitors = Visitors(today=lambda: self.day)
        self.app = Starlette(routes=[Route("/", self.answer)])
        self.app.add_middleware(NoteAddress)

    async def answer(self, _: Request) -> PlainTextResponse:
        return PlainTextResponse(await run_in_threadpool(self.visitors.current))


def test_an_address_is_a_number_for_a_day_and_then_another() -> None:
    site = Site()
    with served(site.app) as url:

        def name(source: str) -> str:
            with httpx.Client(transport=httpx.HTTPTransport(local_address=source)) as client:
                return client.get(url).text

        first, other = name("127.0.0.21"), name("127.0.0.22")
        assert len({first, other, ""}) == 3
        assert name("127.0.0.21") == first
        assert "127" not in (first[:3], other[:3])
        site.day = date(2026, 3, 15)
        assert name("127.0.0.21") not in (first, other)
        site.day = date(2026, 3, 14)
        assert name("127.0.0.21") != first, "the salt of a day that is over is gone"


PROXY = "10.1.2.3"
TRUSTED = Settings.from_env({"AGL1K_TRUSTED_PROXIES": "10.0.0.0/8, fd00::/8"}).trusted_proxies


class Behind:
    """What a server calls the visitors whom proxies, or others who say so, send to it."""

    def __init__(self) -> None:
        self.visitors = Visitors()
        self.names: list[str] = []
        self.app = behind_proxies(NoteAddress(self.note), TRUSTED)

    async def note(self, *_: Any) -> None:
        self.names.append(self.visitors.current())

    def name(self, peer: str, *forwarded: bytes) -> str:
        """The name of a request from this peer, with these lines of ``X-Forwarded-For``."""
        headers = [(b"x-forwarded-for", line) for line in forwarded]
        scope = {"type": "http", "client": (peer, 4711), "headers": headers}
        asyncio.run(self.app(scope, None, None))  # type: ignore[arg-type]
        return self.names[-1]


@pytest.mark.parametrize("peer", [PROXY, f"::ffff:{PROXY}", "fd00::7"])
@pytest.mark.parametrize(
    ("forwarded", "address"),
    [
        ([b"203.0.113.9"], "203.0.113.9"),
        ([b"203.0.113.9:4711"], "203.0.113.9"),
        ([b"203.0.113.9:" + b"9" * 5000], NOT_AN_ADDRESS),
        ([b"::ffff:203.0.113.9"], "203.0.113.9"),
        ([b"2001:db8:0:7::1"], "2001:db8:0:7::2"),
        ([b"[2001:db8:0:7::1]"], "2001:db8:0:7::2"),
        ([b"[2001:db8:0:7::1]:443"], "2001:db8:0:7::2"),
        ([b"198.51.100.1, 203.0.113.9"], "203.0.113.9"),
        ([b"198.51.100.1", b"203.0.113.9"], "203.0.113.9"),
        ([b"203.0.113.9, 10.3.2.1"], "203.0.113.9"),
        ([b"junk,,\xff, 203.0.113.9,10.3.2.1:80,  [fd00::9]:80"], "203.0.113.9"),
        ([b", ".join([b"198.51.100.1"] * 4000), b"203.0.113.9"], "203.0.113.9"),
        ([b"203.0.113.9, " + b", ".join([b"10.3.2.1"] * 4000)], "203.0.113.9"),
    ],
)
def test_a_trusted_proxy_tells_addresses_in_any_form(
    peer: str, forwarded: list[bytes], address: str
) -> None:
    """The last one counts that is no proxy's: those before it are what the visitor claimed."""
    behind = Behind()
    assert behind.name(peer, *forwarded) == behind.name(address)


@pytest.mark.parametrize(
    "junk",
    [
        b"unknown", b"_hidden", b"for=203.0.113.9", b"203.0.113.9, evil", b"1.2.3.4.5", b"127.1",
        b"999.1.1.1", b"0x7f000001", b"1.2.3.4:http", b"::g", b"[2001:db8::1", b"]",
        b"[[::1]]", b":", b"::1:2:3:4:5:6:7:8:9", b"%00", b"\xff\xfe", b"\x00", b"x" * 60_000,
        b",".join(b"junk %d" % number for number in range(5000)),
    ],
)  # fmt: skip
def test_all_that_is_no_address_counts_as_one(junk: bytes) -> None:
    behind = Behind()
    name = behind.name(PROXY, junk)
    assert name == behind.name(PROXY, b"other junk")
    assert name not in (behind.name(PROXY), behind.name("203.0.113.9"), "")


@pytest.mark.parametrize(
    "nothing", [[], [b""], [b" "], [b","], [b"203.0.113.9,"], [b"", b""], [b"[]:80"]]
)
def test_a_proxy_that_tells_nothing_stands_for_its_visitors(nothing: list[bytes]) -> None:
    behind = Behind()
    assert behind.name(PROXY, *nothing) == behind.name(PROXY)


@pytest.mark.parametrize("peer", ["192.0.2.1", "::ffff:192.0.2.1", "2001:db8::1", "11.0.0.1"])
def test_nobody_else_can_choose_an_address(peer: str) -> None:
    behind = Behind()
    own = behind.name(peer)
    for claimed in (
        b"203.0.113.9",
        b"junk",
        b"10.3.2.1",
        b"",
        PROXY.encode(),
        b"203.0.113.9, 10.3.2.1",
    ):
        assert behind.name(peer, claimed) == own
        assert behind.name(peer, claimed, claimed) == own


def test_outside_of_requests_nobody_is_named() -> None:
    assert Visitors().current() == ""


def test_two_servers_name_an_address_differently() -> None:
    sites = Site(), Site()
    names = set()
    for site in sites:
        with served(site.app) as url:
            names.add(httpx.get(url).text)
    assert len(names) == 2

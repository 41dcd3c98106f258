"""Addresses become numbers of the day, the same for one address or network."""

from __future__ import annotations

from datetime import date

import httpx
import pytest
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from tests.support.served import served
from web.visitors import NoteAddress, Visitors, network_of

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
        ("a proxy's word", "a proxy's word"),
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


def test_outside_of_requests_nobody_is_named() -> None:
    assert Visitors().current() == ""


def test_two_servers_name_an_address_differently() -> None:
    sites = Site(), Site()
    names = set()
    for site in sites:
        with served(site.app) as url:
            names.add(httpx.get(url).text)
    assert len(names) == 2

"""Visits: pages a second, memory of 2,000 visitors, and players beside a client that loops."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Iterator
from functools import partial
from typing import Any

import httpx
import numpy as np

from perf.players import Browser, Tally, crowd, play
from perf.servers import OUR_APP, serving
from perf.table import Measured

N_VISITS = 2000
PAGES_S = 5.0
PLAY_S = 20.0
N_PLAYERS = 20
_THINK_S = (0.5, 1.5)
_AT_ONCE = 8


def run() -> Iterator[Measured]:
    """All with one server, one after the other."""
    with serving(OUR_APP, "/healthz") as server:
        before, began = server.cpu_s(), time.perf_counter()
        n_pages = asyncio.run(loop_pages(server.url, PAGES_S))
        took_s = time.perf_counter() - began
        yield Measured("visits", f"GET / with {_AT_ONCE} connections", n_pages / took_s, "a second",
                       150, "at least")  # fmt: skip
        cpu_ms = (server.cpu_s() - before) / n_pages * 1000
        yield Measured("visits", "processor time of a page", cpu_ms, "ms")
        yield from _flooded(server.url)
        asyncio.run(visit_often(server.url, N_VISITS // 10))  # what is loaded once
        memory = server.memory_mb()
        asyncio.run(visit_often(server.url, N_VISITS))
        grown = server.memory_mb() - memory
        yield Measured("visits", f"memory of {N_VISITS:,} visits", grown, "MB", 60)


async def loop_pages(url: str, duration_s: float, n_connections: int = _AT_ONCE) -> int:
    """How many pages were served to connections that ask again and again."""
    until = time.monotonic() + duration_s

    async def one() -> int:
        browser, n = Browser(url, Tally()), 0
        while time.monotonic() < until:
            (await browser.http.get("/")).raise_for_status()
            n += 1
        await browser.http.aclose()
        return n

    return sum(await asyncio.gather(*(one() for _ in range(n_connections))))


def _flooded(url: str) -> Iterator[Measured]:
    """Players alone, then beside one client that asks for the page in a loop."""
    alone = asyncio.run(_players(url))
    flooded = asyncio.run(_players_beside_a_loop(url))
    for name, tally in (("alone", alone), ("beside a loop of GET /", flooded)):
        yield Measured("visits", f"guess, {name}, median", _median_ms(tally), "ms")
        yield Measured("visits", f"errors, {name}", len(tally.errors), "", 0)
    ratio = _median_ms(flooded) / _median_ms(alone)
    yield Measured("visits", "guess beside a loop of GET / / alone", ratio, "×", 2)


async def _players(url: str) -> Tally:
    return await crowd(url, N_PLAYERS, partial(play, think_s=_THINK_S), PLAY_S)


async def _players_beside_a_loop(url: str) -> Tally:
    tally, _ = await asyncio.gather(_players(url), loop_pages(url, PLAY_S, 1))
    return tally


def _median_ms(tally: Tally) -> float:
    return float(np.median(tally.seconds["guess"]) * 1000)


async def visit_often(url: str, n_visits: int) -> None:
    """So many visits, some at once: page, events that run when it is loaded, round and clip."""
    config = (await _asked(url, "GET", "/config")).json()
    events = loaded_events(config)
    waiting = asyncio.Semaphore(_AT_ONCE)

    async def one() -> None:
        async with waiting:
            await visit(url, events)

    await asyncio.gather(*(one() for _ in range(n_visits)))


def loaded_events(config: dict[str, Any]) -> list[tuple[int, int]]:
    """The events of a page's load that ask the server: their numbers, and of their inputs."""
    return [
        (event["id"], len(event["inputs"]))
        for event in config["dependencies"]
        if event["backend_fn"] and any(name == "load" for _, name in event["targets"])
    ]


async def visit(url: str, events: list[tuple[int, int]]) -> None:
    """What one browser asks for, without the files that it may have already."""
    browser, session = Browser(url, Tally()), uuid.uuid4().hex
    (await browser.http.get("/")).raise_for_status()
    await browser.http.get("/gradio_api/startup-events")
    for number, n_inputs in events:
        body = {"data": [None] * n_inputs, "fn_index": number, "session_hash": session}
        (await browser.http.post("/gradio_api/run/predict", json=body)).raise_for_status()
    await browser.hear(await browser.move("open"))
    await browser.http.aclose()


async def _asked(url: str, method: str, path: str) -> httpx.Response:
    async with httpx.AsyncClient(base_url=url) as client:
        return (await client.request(method, path)).raise_for_status()

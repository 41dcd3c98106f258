"""Fifty players at once, whose requests are those of their browsers, on 127.0.0.1 only."""

from __future__ import annotations

import asyncio
import json
import math
import random
import re
import time
import uuid
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx
import numpy as np

from perf.servers import serving
from perf.table import Measured

N_PLAYERS = 50
THINK_S = (3.0, 7.0)
PLAY_S = 60.0
PLAIN_S = 20.0
_MEASURED_APP = ("-m", "perf.measured_app")
_LIMITS = httpx.Limits(max_connections=None)


def run() -> Iterator[Measured]:
    """First they play, then the same players ask a plain route of the same server."""
    with serving(_MEASURED_APP, "/healthz") as (url, _):
        played, plain, own = asyncio.run(_both(url))
    for error in played.errors[:5]:
        print(error)
    if not played.submits or not plain.submits:
        raise RuntimeError("nobody could play")
    submits, bare = np.array(played.submits) * 1000, np.array(plain.submits) * 1000
    yield Measured("players", "submits, 3 to 7 s of thought", len(submits), "")
    yield Measured("players", "errors", len(played.errors), "", 0)
    yield Measured("players", "submit → reveal, median", np.median(submits), "ms")
    yield Measured("players", "submit → reveal, p95", np.quantile(submits, 0.95), "ms")
    yield Measured("players", "plain FastAPI route, median", np.median(bare), "ms")
    yield Measured("players", "plain FastAPI route, p95", np.quantile(bare, 0.95), "ms")
    yield Measured("players", "median / plain", np.median(submits) / np.median(bare), "×")
    yield Measured("players", "our own code, median", np.median(own) * 1000, "ms")
    outside = 1 - sum(own) / sum(played.submits)
    yield Measured("players", "time spent outside our own code", outside * 100, "%")


@dataclass
class Tally:
    """Seconds from each submit to its answer, and errors."""

    submits: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


async def _both(url: str) -> tuple[Tally, Tally, list[float]]:
    async with httpx.AsyncClient(base_url=url, limits=_LIMITS, timeout=60) as client:
        handlers = find_handlers((await client.get("/config")).json())
        played, plain = Tally(), Tally()
        await _crowd(
            lambda until: play_clips(client, handlers, played, until=until), played, PLAY_S
        )
        await _crowd(lambda until: ask_plainly(client, plain, until), plain, PLAIN_S)
        own: list[float] = (await client.get("/benchmark/own")).json()
    return played, plain, own


async def _crowd(
    player: Callable[[float], Awaitable[None]], tally: Tally, duration_s: float
) -> None:
    """Players that come one by one in the first seconds and stop after ``duration_s``."""
    until = time.monotonic() + duration_s

    async def one() -> None:
        await asyncio.sleep(random.uniform(0, THINK_S[1]))
        try:
            await player(until)
        except (httpx.HTTPError, LookupError, ValueError) as error:
            tally.errors.append(repr(error))

    await asyncio.gather(*(one() for _ in range(N_PLAYERS)))


@dataclass(frozen=True)
class Handler:
    """A handler of the page: its number, and which of its outputs are the two tokens."""

    number: int
    player_at: int
    round_at: int


def find_handlers(config: dict[str, Any]) -> dict[str, Handler]:
    """Of those that answer with both tokens: ``load``, and the buttons by their element id."""
    ids = {c["id"]: str(c["props"].get("elem_id")) for c in config["components"]}
    named = [
        ("load" if event == "load" else ids.get(component, ""), dependency)
        for dependency in config["dependencies"]
        for component, event in dependency["targets"]
        if event in ("load", "click") and dependency["backend_fn"]
    ]
    player, token = dict(named)["agl-submit"]["inputs"][:2]
    return {
        name: Handler(found["id"], found["outputs"].index(player), found["outputs"].index(token))
        for name, found in named
        if {player, token} <= set(found["outputs"])
    }


@dataclass
class Browser:
    """What one browser keeps: its session and its two tokens."""

    client: httpx.AsyncClient
    session: str = field(default_factory=lambda: uuid.uuid4().hex)
    player: str = ""
    round: str = ""

    async def call(self, handler: Handler, *more: object) -> str:
        """Run a handler of the page and keep the tokens; returns all that it answered."""
        body = {
            "data": [self.player, self.round, *more],
            "fn_index": handler.number,
            "session_hash": self.session,
        }
        answer = await self.client.post("/gradio_api/run/predict", json=body)
        answer.raise_for_status()
        outputs = answer.json()["data"]
        player, token = outputs[handler.player_at], outputs[handler.round_at]
        # an unchanged token comes as an empty update
        self.player = player if isinstance(player, str) else self.player
        self.round = token if isinstance(token, str) else self.round
        return answer.text

    async def hear(self, answer: str) -> None:
        """Fetch the clip that an answer names, as the page's player does."""
        found = re.search(r"clip/[\w.-]+", answer)
        if found is None:
            raise ValueError(f"no clip in {answer[:500]}")
        (await self.client.get(f"/{found[0]}")).raise_for_status()


async def play_clips(
    client: httpx.AsyncClient,
    handlers: dict[str, Handler],
    tally: Tally,
    *,
    until: float = math.inf,
    n_clips: float = math.inf,
    think_s: tuple[float, float] = THINK_S,
) -> None:
    """Open the page, then think, submit and continue, for some time or for some clips."""
    browser, address = Browser(client), str(client.base_url)
    await browser.hear(await browser.call(handlers["load"], [], address))
    while time.monotonic() < until and n_clips > 0:
        n_clips -= 1
        await asyncio.sleep(random.uniform(*think_s))
        pin = {"latitude": random.uniform(-60, 70), "longitude": random.uniform(-180, 180)}
        began = time.perf_counter()
        revealed = await browser.call(handlers["agl-submit"], json.dumps(pin), "")
        tally.submits.append(time.perf_counter() - began)
        if '"reveal"' not in revealed:
            tally.errors.append(f"no reveal: {revealed[:500]}")
        shown = await browser.call(handlers["agl-next"], [], address)
        if '"summary"' in shown:
            shown = await browser.call(handlers["agl-again"])
        await browser.hear(shown)


async def ask_plainly(client: httpx.AsyncClient, tally: Tally, until: float) -> None:
    """The same rhythm against a route that does nothing."""
    while time.monotonic() < until:
        await asyncio.sleep(random.uniform(*THINK_S))
        began = time.perf_counter()
        (await client.post("/benchmark/plain", json={"data": ["x" * 300]})).raise_for_status()
        tally.submits.append(time.perf_counter() - began)

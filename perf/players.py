"""Many players at once over the play API, on 127.0.0.1 only, beside a plain route and a Gradio app.

The same crowd asks three servers one after the other, each in a process of its own.
"""

from __future__ import annotations

import asyncio
import random
import ssl
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import httpx
import numpy as np

from perf.servers import ONE_BUTTON, OUR_APP, PLAIN_ROUTE, Serving, serving
from perf.table import Measured

COUNTS = (10, 50, 200)
THINK_S = (3.0, 7.0)
#: All counts together take about this long; each is played for the larger part of its share.
IN_ALL_S = 150.0
LEAST_PLAY_S = 15.0
#: Clips of one player who does not think, for the processor time of a call.
N_CLIPS_ALONE = 100
_IDLE_S = 5.0

#: Highest median and 95 % quantile in milliseconds, by the number of players.
_Limits = tuple[float | None, float | None]
_LIMITS: Mapping[int, _Limits] = {
    50: (15, 60),
    200: (None, 200),
    500: (None, 1000),
}
_NO_CERTIFICATES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # loading them takes long
_PATIENCE_S = 60


def run(counts: Sequence[int] = COUNTS) -> Iterator[Measured]:
    """For each number of players: our app, then a plain route, then one button of Gradio's."""
    share_s = IN_ALL_S / len(counts)
    play_s, other_s = max(LEAST_PLAY_S, 0.6 * share_s), max(8.0, 0.2 * share_s)
    with ExitStack() as servers:
        ours = servers.enter_context(serving(OUR_APP, "/healthz"))
        plain = servers.enter_context(serving(PLAIN_ROUTE))
        button = servers.enter_context(serving(ONE_BUTTON))
        yield from _alone(ours)
        for n in counts:
            yield from _ours(n, asyncio.run(crowd(ours.url, n, play, play_s)))
            called = asyncio.run(crowd(plain.url, n, ask_plainly, other_s)).seconds["call"]
            yield from _times(n, "a plain FastAPI route", called)
            called = asyncio.run(crowd(button.url, n, press, other_s)).seconds["call"]
            yield from _times(n, "a Gradio app with one button", called)


@dataclass
class Tally:
    """Seconds from each call to its whole answer, by its name; errors; rounds told to wait."""

    seconds: dict[str, list[float]] = field(
        default_factory=lambda: {
            name: [] for name in ("open", "guess", "next", "again", "clip", "call")
        }
    )
    errors: list[str] = field(default_factory=list)
    n_told_to_wait: int = 0


Part = Callable[["Browser", float], Awaitable[None]]


class Browser:
    """One player's connection, kept open as browsers do."""

    def __init__(self, url: str, tally: Tally) -> None:
        transport = httpx.AsyncHTTPTransport(verify=_NO_CERTIFICATES)
        self.http = httpx.AsyncClient(base_url=url, transport=transport, timeout=_PATIENCE_S)
        self.tally, self.player, self.round = tally, "", ""

    async def timed(self, name: str, method: str, path: str, **sent: Any) -> httpx.Response:
        """Send a request and note how long it took, unless it is told to wait."""
        while True:
            began = time.perf_counter()
            answer = await self.http.request(method, path, **sent)
            if answer.status_code != 503 or "Retry-After" not in answer.headers:
                self.tally.seconds[name].append(time.perf_counter() - began)
                return answer.raise_for_status()
            self.tally.n_told_to_wait += 1
            await asyncio.sleep(float(answer.headers["Retry-After"]))

    async def move(self, name: str, **fields: object) -> dict[str, Any]:
        """Make a move in the player's round, and keep the tokens."""
        tokens = {"player": self.player, "round": self.round} if self.player else {}
        path = f"/api/play/{name}?fragments=1"  # as the page does
        state: dict[str, Any] = (
            await self.timed(name, "POST", path, json={**tokens, **fields})
        ).json()
        self.player, self.round = state["player"], state["round"]
        return state

    async def hear(self, state: dict[str, Any]) -> None:
        """Fetch the sound of a state's clip."""
        await self.timed("clip", "GET", f"/{state['clip']['url']}")


async def play(browser: Browser, until: float, think_s: tuple[float, float] = THINK_S) -> None:
    """Open a round; then think, guess and go on until the time is up."""
    await browser.hear(await browser.move("open"))
    while time.monotonic() < until:
        await clip(browser, think_s)


async def clip(browser: Browser, think_s: tuple[float, float] = THINK_S) -> None:
    """Think, guess where the clip is from, and hear the next one, of the next round if need be."""
    await asyncio.sleep(random.uniform(*think_s))
    pin = {"latitude": random.uniform(-60, 70), "longitude": random.uniform(-180, 180)}
    revealed = await browser.move("guess", **pin)
    if revealed["phase"] != "revealed":
        browser.tally.errors.append(f"not revealed: {revealed['phase']}")
    shown = await browser.move("next")
    if shown["phase"] == "finished":
        shown = await browser.move("again")
    await browser.hear(shown)


async def ask_plainly(browser: Browser, until: float) -> None:
    """The same rhythm against a route that does nothing."""
    while time.monotonic() < until:
        await asyncio.sleep(random.uniform(*THINK_S))
        await browser.timed("call", "POST", "/plain", json={"data": ["x" * 300]})


async def press(browser: Browser, until: float) -> None:
    """The same rhythm against a Gradio page that does nothing."""
    while time.monotonic() < until:
        await asyncio.sleep(random.uniform(*THINK_S))
        await browser.timed("call", "POST", "/gradio_api/run/press", json={"data": ["x" * 300]})


async def crowd(url: str, n: int, part: Part, duration_s: float) -> Tally:
    """``n`` players that come one by one in the first seconds and stop after ``duration_s``."""
    tally, until = Tally(), time.monotonic() + duration_s

    async def one() -> None:
        browser = Browser(url, tally)
        await asyncio.sleep(random.uniform(0, THINK_S[1]))
        try:
            await part(browser, until)
        except (httpx.HTTPError, ValueError, KeyError) as error:
            tally.errors.append(f"{type(error).__name__}: {error}"[:500])
        finally:
            await browser.http.aclose()

    await asyncio.gather(*(one() for _ in range(n)))
    return tally


def _ours(n: int, tally: Tally) -> Iterator[Measured]:
    for error in tally.errors[:5]:
        print(error)
    if not tally.seconds["guess"]:
        raise RuntimeError("nobody could play")
    yield from _times(n, "guess", tally.seconds["guess"], _LIMITS.get(n, (None, None)))
    yield from _times(n, "next", tally.seconds["next"], _LIMITS.get(n, (None, None)))
    yield from _times(n, "the clip's sound", tally.seconds["clip"])
    yield Measured("players", f"{n}: errors in {len(tally.seconds['guess'])} guesses",
                   len(tally.errors), "", 0)  # fmt: skip
    if tally.n_told_to_wait:
        yield Measured("players", f"{n}: new rounds told to wait", tally.n_told_to_wait, "")


def _times(
    n: int, name: str, seconds: Sequence[float], limits: _Limits = (None, None)
) -> Iterator[Measured]:
    found = np.quantile(np.array(seconds) * 1000, (0.5, 0.95))
    for part, value, limit in zip(("median", "p95"), found, limits, strict=True):
        yield Measured("players", f"{n}: {name}, {part}", float(value), "ms", limit)


def _alone(server: Serving) -> Iterator[Measured]:
    """Processor time of the server while nobody plays, and for each call of a hasty player."""
    before = server.cpu_s()
    time.sleep(_IDLE_S)
    idle_ms = (server.cpu_s() - before) / _IDLE_S * 1000
    yield Measured("players", "processor time of a second in which nobody plays", idle_ms,
                   "ms", 20)  # fmt: skip
    for name, seconds in asyncio.run(cpu_of_calls(server, N_CLIPS_ALONE)).items():
        limit = 4.0 if name in ("guess", "next") else None
        yield Measured("players", f"processor time of {name}, median", np.median(seconds) * 1000,
                       "ms", limit)  # fmt: skip


async def cpu_of_calls(server: Serving, n_clips: int) -> dict[str, list[float]]:
    """Seconds of the server's processor time by call; what it does in the background counts."""
    browser = Browser(server.url, Tally())
    spent: dict[str, list[float]] = {"guess": [], "next": []}

    async def measured(name: str, **fields: object) -> dict[str, Any]:
        before = server.cpu_s()
        state = await browser.move(name, **fields)
        await asyncio.sleep(0.01)  # what it does after its answer
        spent[name].append(server.cpu_s() - before)
        return state

    await browser.hear(await browser.move("open"))
    for number in range(n_clips):
        await measured("guess", latitude=number % 60, longitude=number)
        shown = await measured("next")
        shown = await browser.move("again") if shown["phase"] == "finished" else shown
        await browser.hear(shown)
    await browser.http.aclose()
    return spent

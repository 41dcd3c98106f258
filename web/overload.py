"""If more people come than the server can serve: those who play go on, others are told to wait.

Whether that is so is seen from players' moves, the requests of the play API. Visits give way to
them: pages are answered one at a time, and not while a move is.
"""

from __future__ import annotations

import asyncio
import random
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress

from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agl1k_core.errors import UnavailableError
from web.addresses import path_of

#: The server is overloaded if of so many moves, …
LEAST_MOVES = 20
#: … within so many seconds, …
WINDOW_S = 6.0
#: … at most this share was answered in time. Waves of players that pass sooner do not count.
QUICK_SHARE = 0.05
#: A visit gives way to moves for this long, …
GIVE_WAY_S = 0.05
#: … and is refused if so many others are waiting.
MOST_WAITING = 200
#: Those who are refused come back after this time and up to twice as much, not all at once.
AGAIN_S = 10

_MOVES = "/api/play/"
#: All that a visit costs besides files; the answers are the same for everybody.
_VISITS = ("", "/config", "/gradio_api/info")


class BusyError(UnavailableError):
    """More people play than the server can serve."""

    def __init__(self) -> None:
        self.retry_after_s = AGAIN_S + random.randrange(AGAIN_S)
        super().__init__(
            "Too many people are playing at the moment. Rounds under way go on. New ones can be "
            f"started soon: try again in {self.retry_after_s} seconds."
        )


class Load:
    """How long players wait for their moves; ``busy_s``: longer than this is too long.

    New rounds are started in threads, hence the lock.
    """

    def __init__(self, busy_s: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._busy_s, self._clock = busy_s, clock
        self._lock = threading.Lock()
        self._answered: deque[tuple[float, bool]] = deque()  # when, and whether in time
        self._under_way: dict[object, float] = {}  # since when
        self._refused: Counter[str] = Counter({"visits": 0, "rounds": 0})

    @contextmanager
    def move(self) -> Iterator[Callable[[], None]]:
        """Measure a move; the function that is yielded notes that it was answered."""
        ticket, began = object(), self._clock()
        self._under_way[ticket] = began

        def answered() -> None:
            now = self._clock()
            with self._lock:
                self._forget(now)
                self._answered.append((now, now - began <= self._busy_s))

        try:
            yield answered
        finally:
            del self._under_way[ticket]

    @property
    def n_under_way(self) -> int:
        """How many moves are being answered."""
        return len(self._under_way)

    @property
    def is_busy(self) -> bool:
        """Whether hardly any move was answered in time lately."""
        now = self._clock()
        with self._lock:
            self._forget(now)
            n_answered, n_quick = len(self._answered), sum(quick for _, quick in self._answered)
        if n_answered:
            return n_answered >= LEAST_MOVES and n_quick <= QUICK_SHARE * n_answered
        return self._n_waiting_since(now - self._busy_s) >= LEAST_MOVES

    def _n_waiting_since(self, before: float) -> int:
        return sum(since < before for since in list(self._under_way.values()))

    @property
    def refused(self) -> Mapping[str, int]:
        """How many visits and rounds were refused since the start."""
        return dict(self._refused)

    def admit_round(self) -> None:
        """Raise ``BusyError`` if no more rounds should be started at the moment."""
        if self.is_busy:
            self._refused["rounds"] += 1
            raise BusyError

    def refuse_visit(self) -> BusyError:
        """Count a visit that is refused; the error says when to come again."""
        self._refused["visits"] += 1
        return BusyError()

    def _forget(self, now: float) -> None:
        while self._answered and self._answered[0][0] < now - WINDOW_S:
            self._answered.popleft()


class Admission:
    """ASGI middleware that measures moves, and lets visits wait or refuses them.

    A browser that has the page already may load it again: a round may be under way in it.
    """

    def __init__(self, app: ASGIApp, load: Load) -> None:
        self.app, self.load = app, load
        self._turn, self._n_waiting = asyncio.Lock(), 0
        self._nobody_moves = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = path_of(scope) if scope["type"] == "http" else None
        if path is not None and path.startswith(_MOVES) and scope["method"] == "POST":
            await self._move(scope, receive, send)
        elif (
            path is not None and path.rstrip("/") in _VISITS and scope["method"] in ("GET", "HEAD")
        ):
            await self._visit(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    async def _move(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            with self.load.move() as answered:

                async def send_measured(message: Message) -> None:
                    # what is refused at once says nothing
                    if message["type"] == "http.response.start" and message["status"] == 200:
                        answered()
                    await send(message)

                await self.app(scope, receive, send_measured)
        finally:
            if not self.load.n_under_way:
                self._nobody_moves.set()

    async def _visit(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_new = path_of(scope).rstrip("/") == "" and "if-none-match" not in Headers(scope=scope)
        if self._n_waiting >= MOST_WAITING or (is_new and self.load.is_busy):
            await _come_again(self.load.refuse_visit())(scope, receive, send)
            return
        await self._wait_for_turn()
        await self.app(scope, receive, send)

    async def _wait_for_turn(self) -> None:
        """One turn at a time; a turn ends before the answer, which a client may read slowly."""
        self._n_waiting += 1
        try:
            async with self._turn:
                if self.load.n_under_way:
                    self._nobody_moves.clear()
                    with suppress(TimeoutError):
                        await asyncio.wait_for(self._nobody_moves.wait(), GIVE_WAY_S)
        finally:
            self._n_waiting -= 1


def _come_again(error: BusyError) -> Response:
    """A page that says so, and loads itself again; it needs nothing else from the server."""
    again_s = str(error.retry_after_s)
    headers = {"Retry-After": again_s, "Cache-Control": "no-store"}
    return HTMLResponse(_PAGE.format(again_s=again_s, sentence=error), 503, headers)


_PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>AGL1K is full</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><meta http-equiv="refresh" content="{again_s}">
</head><body style="font-family: system-ui, sans-serif; line-height: 1.5; max-width: 34rem;
margin: 15vh auto; padding: 0 1rem"><h1 style="font-size: 1.5rem">AGL1K is full</h1>
<p role="status">{sentence}</p><p>This page tries again by itself.</p></body></html>
"""

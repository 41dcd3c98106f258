"""Too many people: who is refused, who goes on, and visits that give way to moves."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack

import httpx
import pytest
from fastapi import FastAPI, Response
from fastapi.testclient import TestClient

from tests.support.served import served
from tests.support.waiting import PATIENCE_S
from web import overload
from web.overload import LEAST_MOVES, WINDOW_S, Admission, BusyError, Load


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def load(clock: Clock) -> Load:
    return Load(0.5, clock=clock)


def make_moves(load: Load, clock: Clock, n: int, wait_s: float) -> None:
    """So many moves at the same time, all answered after ``wait_s``."""
    with ExitStack() as under_way:
        answers = [under_way.enter_context(load.move()) for _ in range(n)]
        clock.now += wait_s
        for answered in answers:
            answered()


@pytest.mark.parametrize(
    ("n_slow", "n_quick", "expected"),
    [
        (LEAST_MOVES, 0, True), (LEAST_MOVES - 1, 0, False), (0, LEAST_MOVES, False),
        (95, 5, True), (94, 6, False), (0, 0, False),
    ],
)  # fmt: skip
def test_it_is_busy_if_hardly_any_move_was_answered_in_time(
    load: Load, clock: Clock, n_slow: int, n_quick: int, expected: bool
) -> None:
    make_moves(load, clock, n_quick, 0.5)
    make_moves(load, clock, n_slow, 0.6)
    assert load.is_busy is expected


def test_a_wave_that_passes_refuses_nobody(load: Load, clock: Clock) -> None:
    """Five hundred players at once, a hundred served in each second."""
    with ExitStack() as under_way:
        answers = [under_way.enter_context(load.move()) for _ in range(500)]
        for answered in answers:
            clock.now += 0.01
            answered()
            load.admit_round()
    assert load.refused == {"visits": 0, "rounds": 0}


def test_moves_that_nobody_answers_count_as_well(load: Load, clock: Clock) -> None:
    with ExitStack() as under_way:
        for _ in range(LEAST_MOVES):
            under_way.enter_context(load.move())
        assert not load.is_busy
        clock.now += 0.6
        assert load.is_busy
        assert load.n_under_way == LEAST_MOVES
    assert load.n_under_way == 0


def test_a_busy_server_starts_no_rounds_until_that_is_over(load: Load, clock: Clock) -> None:
    load.admit_round()
    make_moves(load, clock, 50, 2.0)
    with pytest.raises(BusyError, match=r"Rounds under way go on\. .* in 1\d seconds") as caught:
        load.admit_round()
    assert str(caught.value.retry_after_s) in str(caught.value)
    assert load.refused["rounds"] == 1
    clock.now += WINDOW_S + 0.1
    load.admit_round()


def app_with(load: Load) -> FastAPI:
    app = FastAPI()
    app.add_api_route("/api/play/{name}", lambda name: name, methods=["POST"])
    app.add_api_route("/{path:path}", lambda path: path, methods=["GET", "HEAD"])
    app.add_middleware(Admission, load=load)
    return app


@pytest.fixture
def client(load: Load) -> TestClient:
    return TestClient(app_with(load))


def test_a_busy_server_refuses_visits_with_a_page_that_says_so(
    client: TestClient, load: Load, clock: Clock
) -> None:
    assert client.get("/").status_code == 200
    make_moves(load, clock, 50, 2.0)
    refused = client.get("/?tab=play")
    assert (refused.status_code, refused.headers["Cache-Control"]) == (503, "no-store")
    again_s = refused.headers["Retry-After"]
    assert 10 <= int(again_s) < 20
    assert f'http-equiv="refresh" content="{again_s}"' in refused.text
    assert f"try again in {again_s} seconds" in refused.text
    assert client.head("/").status_code == 503
    assert load.refused["visits"] == 2


@pytest.mark.parametrize("path", ["/config", "/static/a.js", "/clip/a", "/healthz", "/api/x"])
def test_a_busy_server_serves_those_who_are_there(
    client: TestClient, load: Load, clock: Clock, path: str
) -> None:
    make_moves(load, clock, 50, 2.0)
    assert client.get(path).status_code == 200
    assert client.post("/api/play/guess").status_code == 200
    assert client.get("/", headers={"If-None-Match": 'W/"page"'}).status_code == 200


def test_refused_moves_do_not_say_that_the_server_is_quick(clock: Clock) -> None:
    load = Load(0.5, clock=clock)
    app = FastAPI()
    app.add_api_route("/api/play/x", lambda: Response(status_code=422), methods=["POST"])
    app.add_middleware(Admission, load=load)
    make_moves(load, clock, LEAST_MOVES, 2.0)
    for _ in range(50):
        TestClient(app).post("/api/play/x")
    assert load.is_busy


class Traffic:
    """A page and a move; the move ends when it is told to."""

    def __init__(self, load: Load) -> None:
        self.order: list[str] = []
        self.may_end = asyncio.Event()
        self.app = FastAPI()
        self.app.add_api_route("/", self.page)
        self.app.add_api_route("/api/play/guess", self.move, methods=["POST"])
        self.app.add_middleware(Admission, load=load)
        transport = httpx.ASGITransport(self.app)
        self.http = httpx.AsyncClient(transport=transport, base_url="http://x")

    async def page(self) -> None:
        self.order.append("page")

    async def move(self) -> None:
        self.order.append("move begins")
        await self.may_end.wait()
        self.order.append("move ends")

    async def begun(self) -> asyncio.Task[httpx.Response]:
        move = asyncio.create_task(self.http.post("/api/play/guess"))
        while not self.order:
            await asyncio.sleep(0)
        return move


def test_visits_wait_until_moves_are_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overload, "GIVE_WAY_S", PATIENCE_S)

    async def play() -> list[str]:
        traffic = Traffic(Load(PATIENCE_S))
        move = await traffic.begun()
        visits = [asyncio.create_task(traffic.http.get("/")) for _ in range(3)]
        await asyncio.sleep(0.05)
        traffic.may_end.set()
        await asyncio.gather(move, *visits)
        return traffic.order

    assert asyncio.run(play()) == ["move begins", "move ends", *["page"] * 3]


def test_visits_do_not_wait_for_ever() -> None:
    async def play() -> list[str]:
        traffic = Traffic(Load(PATIENCE_S))
        move = await traffic.begun()
        for _ in range(3):
            assert (await traffic.http.get("/")).status_code == 200
        traffic.may_end.set()
        await move
        return traffic.order

    assert asyncio.run(play()) == ["move begins", *["page"] * 3, "move ends"]


def test_too_many_waiting_visits_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overload, "GIVE_WAY_S", PATIENCE_S)
    monkeypatch.setattr(overload, "MOST_WAITING", 3)

    async def play() -> list[int]:
        traffic = Traffic(Load(PATIENCE_S))
        move = await traffic.begun()
        known = {"If-None-Match": "x"}
        visits = [asyncio.create_task(traffic.http.get("/", headers=known)) for _ in range(8)]
        while sum(visit.done() for visit in visits) < 5:
            await asyncio.sleep(0.01)
        traffic.may_end.set()
        await move
        return sorted(answer.status_code for answer in await asyncio.gather(*visits))

    assert asyncio.run(play()) == [200] * 3 + [503] * 5


@pytest.mark.server
def test_a_visitor_who_leaves_while_waiting_holds_up_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(overload, "GIVE_WAY_S", 0.2)
    load = Load(PATIENCE_S)
    with served(app_with(load)) as url, load.move():  # a move that does not end
        with pytest.raises(httpx.ReadTimeout):
            httpx.get(url, timeout=0.05)
        assert httpx.get(url, timeout=PATIENCE_S).status_code == 200

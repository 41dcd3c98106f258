"""An overloaded server: new visits and rounds are refused, rounds under way are played."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from tests.support.app_help import AppProcess, app_process
from tests.support.waiting import PATIENCE_S, eventually
from web.overload import LEAST_MOVES

TOKEN = "a-token-for-these-metrics"
pytestmark = pytest.mark.server


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppProcess]:
    """A server for which every move takes too long."""
    env = {"AGL1K_BUSY_MS": "0.001", "AGL1K_METRICS_TOKEN": TOKEN}
    with app_process(tmp_path_factory.mktemp("busy"), env) as running:
        yield running


class Bot:
    """A player over the play API."""

    def __init__(self, url: str) -> None:
        self.http = httpx.Client(base_url=url, timeout=PATIENCE_S)
        self.state: dict[str, Any] = {}

    def call(self, name: str, **fields: object) -> httpx.Response:
        answer = self.http.post(f"/api/play/{name}", json=fields)
        if answer.is_success:
            self.state = answer.json()
        return answer

    def move(self, name: str, **fields: object) -> httpx.Response:
        return self.call(name, player=self.state["player"], round=self.state["round"], **fields)


def refused_after_moves(bot: Bot, ask: Callable[[], httpx.Response]) -> httpx.Response:
    """What ``ask`` gets once the server has noticed how slow the bot's moves are."""
    answers: list[httpx.Response] = []

    def is_refused() -> bool:
        for _ in range(LEAST_MOVES):
            bot.call("open", player=bot.state["player"])  # the same round
        answers.append(ask())
        return answers[-1].status_code == 503

    eventually(is_refused)
    return answers[-1]


def test_rounds_under_way_go_on_and_new_ones_wait(app: AppProcess) -> None:
    bot = Bot(app.url)
    page = bot.http.get("/")
    assert bot.call("open").status_code == page.status_code == 200

    refused = refused_after_moves(bot, lambda: Bot(app.url).call("open"))
    assert "Rounds under way go on" in refused.json()["error"]
    assert 10 <= int(refused.headers["Retry-After"]) < 20
    visit = refused_after_moves(bot, lambda: httpx.get(app.url, timeout=PATIENCE_S))
    assert "AGL1K is full" in visit.text
    known = {"If-None-Match": page.headers["ETag"]}
    assert bot.http.get("/", headers=known).status_code == 304

    while bot.state["phase"] != "finished":
        assert bot.http.get(bot.state["clip"]["url"]).status_code == 200
        assert bot.move("guess", latitude=1, longitude=2).json()["phase"] == "revealed"
        assert bot.move("next").status_code == 200
    assert len(bot.state["reveals"]) == 5
    numbers = httpx.get(f"{app.url}/metrics", headers={"Authorization": f"Bearer {TOKEN}"}).text
    assert 'agl1k_refused_total{what="visits"} 1.0' in numbers
    assert 'agl1k_refused_total{what="rounds"} 1.0' in numbers
    assert "agl1k_busy " in numbers
    assert "Traceback" not in app.said()

"""A server that lacks what it needs: 503 from routes and events, and health checks."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import gradio as gr
import httpx
import pytest
from fastapi import FastAPI, Request, Response
from fastapi.testclient import TestClient
from starlette.middleware.base import RequestResponseEndpoint

from agl1k_core.errors import Agl1kError, UnavailableError
from tests.support.served import served
from tests.support.waiting import PATIENCE_S, eventually
from web.health import health_router
from web.page import Page, mount
from web.threads import Threads
from web.unavailable import explain_unavailable

SENTENCE = "The database is away. Try again."


def _event(kind: str) -> str:
    if kind == "away":
        raise UnavailableError(SENTENCE)
    if kind == "refused":
        raise Agl1kError("Not like that.")
    if kind == "bug":
        raise RuntimeError("secret detail")
    return "fine"


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    app = FastAPI()
    app.add_api_route("/api/{kind}", Threads(2)(_event))
    explain_unavailable(app)
    with Page() as page:
        text = gr.Textbox()
        text.submit(Threads(2)(_event), text, text, queue=False, api_name="event")
        text.submit(_event, text, text, queue=False, api_name="plain_event")
    with TestClient(mount(app, page), raise_server_exceptions=False) as started:
        yield started


def test_a_route_answers_503_with_a_sentence(client: TestClient) -> None:
    answer = client.get("/api/away")
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
    assert answer.json() == {"error": SENTENCE, "detail": SENTENCE}
    assert client.get("/api/fine").json() == "fine"
    assert client.get("/api/bug").status_code == 500


@pytest.mark.parametrize("event", ["event", "plain_event"])
def test_an_event_answers_503_with_a_sentence(client: TestClient, event: str) -> None:
    def run(kind: str) -> Any:
        return client.post(f"/gradio_api/run/{event}", json={"data": [kind]})

    answer = run("away")
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
    assert answer.json()["error"] == SENTENCE
    refused = run("refused")
    assert (refused.status_code, refused.json()["error"]) == (500, "Not like that.")
    assert "Retry-After" not in refused.headers
    bug = run("bug")
    assert (bug.status_code, bug.json()["error"]) == (500, None)
    assert run("fine").json()["data"] == ["fine"]


@pytest.mark.server
def test_many_probes_share_one_check() -> None:
    leave, begun = threading.Event(), list[int]()

    def problems() -> list[str]:
        begun.append(1)
        leave.wait(PATIENCE_S)
        return ["the database is away"]

    app = FastAPI()
    arrived = list[int]()

    @app.middleware("http")
    async def count(request: Request, respond: RequestResponseEndpoint) -> Response:
        arrived.append(1)
        return await respond(request)

    app.include_router(health_router(problems))
    with served(app) as url, ThreadPoolExecutor(60) as pool:

        def probe() -> httpx.Response:
            return httpx.get(f"{url}/readyz", timeout=PATIENCE_S)

        waiting = [pool.submit(probe) for _ in range(60)]
        eventually(lambda: len(arrived) == 60)
        assert len(begun) == 1
        assert httpx.get(f"{url}/healthz", timeout=PATIENCE_S).json()["status"] == "ok"
        leave.set()
        told = [probe.result(PATIENCE_S) for probe in waiting]
    assert {answer.status_code for answer in told} == {503}
    assert told[0].json() == {"status": "not ready", "problems": ["the database is away"]}

"""What is kept for visitors is bounded: answers that nobody fetches, and sessions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import gradio as gr
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from tests.support.waiting import eventually
from web import gradio_adapter
from web.gradio_adapter import gradio_apps, is_used, queue_of
from web.page import Page, mount

N_BYTES = 300_000


class Visit:
    """A page with a large answer, and a visitor."""

    def __init__(self) -> None:
        with Page() as page:
            text, told = gr.Textbox(), gr.JSON()
            gr.State("")  # for which Gradio has pages hold a stream open
            gr.Button().click(self.board, text, told, queue=False, api_name="board")
            private: dict[str, Any] = {"queue": False, "api_visibility": "private"}
            gr.Button().click(self.board, text, told, **private)
        self.n_calls = 0
        self.app = mount(FastAPI(), page)
        [mounted] = gradio_apps(self.app)
        self.queue = queue_of(mounted)
        self.http = TestClient(self.app)

    def board(self, text: str) -> dict[str, str]:
        self.n_calls += 1
        return {"rows": text + "x" * N_BYTES}

    def join(self, session: str, function: int = 0) -> tuple[int, str]:
        body = {"data": [session], "fn_index": function, "session_hash": session}
        answer = self.http.post("/gradio_api/queue/join", json=body)
        return answer.status_code, answer.text

    def fetch(self, session: str) -> str:
        return self.http.get("/gradio_api/queue/data", params={"session_hash": session}).text


@pytest.fixture
def visit() -> Iterator[Visit]:
    made = Visit()
    with made.http:
        made.http.get("/gradio_api/startup-events")
        yield made


def joined(visit: Visit, n_calls: int) -> None:
    """Call without fetching, in turn: a full queue refuses."""
    for n in range(n_calls):
        before = visit.n_calls
        assert visit.join(f"s{n}")[0] == 200
        eventually(lambda before=before: visit.n_calls > before)  # type: ignore[misc]


def test_an_answer_is_fetched_once_and_then_forgotten(visit: Visit) -> None:
    assert visit.join("mine")[0] == 200
    lines = [line for line in visit.fetch("mine").splitlines() if "process_completed" in line]
    [answer] = [json.loads(line.removeprefix("data: ")) for line in lines]
    assert answer["output"]["data"][0]["rows"].startswith("minex")
    joined(visit, 1)
    eventually(lambda: visit.queue.unread[0] == 1)
    assert visit.queue.unread[1] >= N_BYTES


def test_the_oldest_of_too_many_answers_are_dropped(
    visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gradio_adapter, "MOST_UNREAD", 3)
    joined(visit, 8)
    eventually(lambda: not visit.queue.event_ids_to_events)  # none runs any more
    assert visit.queue.unread[0] == 3
    assert len(visit.queue.pending_messages_per_session) == 3
    assert len(visit.queue.pending_event_ids_session) == 3
    assert "process_completed" in visit.fetch("s7")
    assert "dropped after a minute" in visit.fetch("s0")


def test_the_oldest_of_too_large_answers_are_dropped(
    visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gradio_adapter, "MOST_UNREAD_BYTES", 2.5 * N_BYTES)
    joined(visit, 6)
    eventually(lambda: not visit.queue.event_ids_to_events)
    assert visit.queue.unread[0] == 2
    assert visit.queue.unread[1] < 2.5 * N_BYTES


def test_answers_are_dropped_after_a_while_even_if_nothing_else_happens(
    visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gradio_adapter, "UNREAD_S", 0.2)
    joined(visit, 2)
    eventually(lambda: visit.queue.unread == (0, 0))
    assert not visit.queue.pending_messages_per_session


def test_events_of_the_page_do_not_join_the_queue(visit: Visit) -> None:
    status, said = visit.join("s", function=1)
    assert status == 400
    assert "for the page only" in said
    assert visit.n_calls == 0


def test_sessions_are_bounded_and_keep_no_answers(
    visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    [page] = gradio_apps(visit.app)
    monkeypatch.setattr(page.state_holder, "capacity", 5)
    for n in range(12):
        body = {"data": ["a"], "fn_index": 1, "session_hash": f"s{n}"}
        assert visit.http.post("/gradio_api/run/predict", json=body).status_code == 200
    assert len(page.state_holder.session_data) == 5
    assert not any(each.config_values for each in page.state_holder.session_data.values())


def test_the_page_holds_no_stream_open(visit: Visit) -> None:
    """Otherwise the address of its heartbeat would have to be open."""
    assert visit.http.get("/config").json()["connect_heartbeat"] is False


@pytest.mark.parametrize(
    ("request_line", "expected"),
    [
        ("GET /", True), ("HEAD /", True), ("GET /config", True), ("GET /assets/index.js", True),
        ("GET /gradio_api/info", True), ("POST /gradio_api/run/predict", True),
        ("POST /gradio_api/queue/join", True),
        ("GET /gradio_api/queue/data", True), ("GET /login/huggingface", True),
        ("POST /gradio_api/call/board", False), ("POST /gradio_api/call/v2/board", False),
        ("GET /gradio_api/file=/tmp/a", False), ("GET /gradio_api/file/tmp/a", False),
        ("GET /gradio_api/proxy=http://x", False), ("GET /gradio_api/heartbeat/a", False),
        ("POST /gradio_api/component_server", False), ("GET /gradio_api/vibe-code", False),
        ("POST /gradio_api/vibe-code/", False), ("POST /gradio_api/process_recording", False),
        ("GET /gradio_api/deep_link", False), ("POST /login", False), ("GET /monitoring", False),
        ("POST /gradio_api/api/predict", False), ("GET /gradio_api/stream/a/b/c/x.m3u8", False),
        ("POST /", False), ("GET //", False), ("GET /gradio_api/openapi.json", False),
    ],
)  # fmt: skip
def test_only_what_the_page_needs_is_open(request_line: str, expected: bool) -> None:
    assert is_used(*request_line.split()) is expected


def test_closed_addresses_are_answered_with_a_sentence(visit: Visit) -> None:
    answer = visit.http.post("/gradio_api/call/board", json={"data": ["a"]})
    assert answer.status_code == 404
    assert "is closed here" in answer.json()["error"]
    assert visit.n_calls == 0

"""Numbers for Prometheus: few labels, nobody's data, and not for everybody."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import httpx
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from agl1k_core.errors import Agl1kError
from web.metrics import GROUPS, CountRequests, Metrics, Reading, group_of, metrics_router

TOKEN = "t" * 20
QUOTA = Reading("quota_left", "What is left", lambda: {"rounds": 3.0, "files": 0.0}, "quota")
STARTED = Reading("rounds_started", "Rounds", lambda: 7, only_grows=True)
Sample = tuple[str, tuple[str, ...]]


def samples(text: str) -> dict[Sample, float]:
    return {
        (sample.name, tuple(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


@pytest.fixture
def client() -> Iterator[TestClient]:
    metrics, app = Metrics(QUOTA, STARTED), FastAPI()
    app.include_router(metrics_router(metrics, TOKEN))
    app.add_api_route("/clip/{token}", lambda token: token)
    app.add_middleware(CountRequests, metrics=metrics)
    with TestClient(app) as started:
        yield started


def shown(client: TestClient) -> str:
    answer = client.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    assert answer.headers["Content-Type"].startswith("text/plain; version=")
    return answer.text


def test_requests_and_readings_are_reported(client: TestClient) -> None:
    for _ in range(3):
        client.get("/clip/ABCDEF-0-secret?player=ann")
    client.request("BREW", "/coffee/for/ann@example.org")
    text = shown(client)
    found = samples(text)
    assert found["agl1k_requests_total", ("/clip", "GET", "200")] == 3
    assert found["agl1k_requests_total", ("other", "other", "404")] == 1
    assert found["agl1k_request_seconds_count", ("/clip",)] == 3
    assert found["agl1k_quota_left", ("rounds",)] == 3
    assert found["agl1k_rounds_started_total", ()] == 7
    assert found["process_open_fds", ()] > 0
    assert not any(word in text for word in ("ann", "secret", "ABCDEF", "coffee", "testclient"))


@pytest.mark.parametrize(
    "sent", [None, "", "Bearer", f"Bearer {TOKEN}x", f"Basic {TOKEN}", "Bearer é"]
)
def test_others_learn_nothing(client: TestClient, sent: str | None) -> None:
    headers = {} if sent is None else {b"Authorization": sent.encode("latin-1")}
    answer = client.get("/metrics", headers=headers)
    assert (answer.status_code, "agl1k_" in answer.text) == (401, False)


@given(st.text())
def test_any_address_is_in_one_of_a_few_groups(path: str) -> None:
    assert group_of({"path": f"/{path}"}) in {*GROUPS, "/", "other"}


@pytest.mark.parametrize(
    ("path", "group"),
    [
        ("/", "/"), ("/clip", "/clip"), ("/clip/x", "/clip"), ("/clipping", "other"),
        ("/gradio_api/run/predict", "/gradio_api/run"), ("/gradio_api/info", "/gradio_api"),
        ("/api/leaderboard.csv", "/api/leaderboard"), ("/api/play/guess", "/api/play"),
        ("/metrics", "/metrics"), ("/.env", "other"),
    ],
)  # fmt: skip
def test_groups(path: str, group: str) -> None:
    assert group_of({"path": path}) == group


@pytest.mark.server
def test_an_address_of_its_own() -> None:
    metrics = Metrics(QUOTA)
    with metrics.served("127.0.0.1", 0) as port:
        text = httpx.get(f"http://127.0.0.1:{port}/metrics").text
        assert samples(text)["agl1k_quota_left", ("files",)] == 0
        with pytest.raises(Agl1kError, match=r"port \d+: .*Set AGL1K_METRICS_ADDRESS to another"):
            metrics.served("127.0.0.1", port).__enter__()
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"http://127.0.0.1:{port}/metrics")
    with socket.socket() as again:
        again.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        again.bind(("127.0.0.1", port))

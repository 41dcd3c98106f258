"""The whole app with a sealed benchmark: it has a board, and nothing else tells of its clips."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

import app as app_module
from web.settings import Settings

N_CLIPS = 40


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> FastAPI:
    folder = tmp_path_factory.mktemp("sealed")
    (folder / "benchmark.json").write_text(json.dumps({"slug": "secret", "sealed": True}))
    clips = (f"hidden-{i},{i / 3:.4f},{-i / 2:.4f},h{i}.mp3,Recordist {i}" for i in range(N_CLIPS))
    (folder / "clips.csv").write_text("\n".join(["key,latitude,longitude,file,author", *clips]))
    env = {"AGL1K_DATA": str(folder / "data"), "AGL1K_BENCHMARK": str(folder)}
    return app_module.create_app(Settings.from_env(env))


@pytest.fixture(scope="module")
def client(app: FastAPI) -> Iterator[TestClient]:
    with TestClient(app) as started:
        yield started


def test_it_is_not_played(client: TestClient) -> None:
    played = client.get("/api/play/benchmarks").json()["benchmarks"]
    assert [one["slug"] for one in played] == ["demo"]
    player = client.post("/api/play/open", json={}).json()["player"]
    wish = {"benchmark": "secret", "mode": "free", "player": player}
    asked = client.post("/api/play/start", json=wish)
    assert (asked.status_code, "not played here" in asked.text) == (404, True)
    page = client.get("/").text + client.get("/config").text
    assert "hidden-" not in page
    assert "Recordist" not in page


def test_its_board_is_the_default(client: TestClient) -> None:
    found = client.get("/api/leaderboard").json()
    assert (found["board"], found["sealed"], found["n_scored"]) == ("secret", True, 0)
    assert {row["kind"] for row in found["rows"]} == {"baseline"}


def test_no_answer_tells_a_place(client: TestClient) -> None:
    example = client.get("/api/leaderboard/example.csv").text.splitlines()
    assert len(example) == N_CLIPS + 1
    for address in ("", ".csv", "/page", "/example.json"):
        text = client.get(f"/api/leaderboard{address}").text
        assert not any(f"{i / 3:.4f}" in text for i in range(5, N_CLIPS)), address

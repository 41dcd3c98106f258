"""A farm of fresh identities that plays by script moves nothing that people are counted by."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

import app as app_module
from leaderboard.people import counted_guesses
from tests.support.play_api import Api
from web.settings import Settings

pytestmark = pytest.mark.server


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FastAPI:
    monkeypatch.setattr("leaderboard.people.LEAST_SECONDS", 0.0)  # the farm waits long enough
    return app_module.create_app(Settings.from_env({"AGL1K_DATA": str(tmp_path)}))


def hear(http: TestClient, url: str) -> None:
    assert http.get(f"/{url}").status_code == 200


def ask_for_headers(http: TestClient, url: str) -> None:
    assert http.head(f"/{url}").status_code == 200


def do_nothing(http: TestClient, url: str) -> None:
    pass


@pytest.mark.parametrize(
    ("listen", "n_counted"), [(hear, 10), (ask_for_headers, 0), (do_nothing, 0)]
)
def test_only_clips_whose_sound_was_fetched_count(
    app: FastAPI, listen: Callable[[TestClient, str], None], n_counted: int
) -> None:
    with TestClient(app) as http:
        for _ in range(2):
            api = Api(http)
            state = api.do("open")
            while state["phase"] != "finished":
                listen(http, state["clip"]["url"])
                told = api.do("guess", latitude=48, longitude=11)
                assert bool(told["notes"]) == (listen is not hear)
                state = api.do("next")
        board = app.state.services.boards["demo"]
        table = board.guesses.table("demo")
        assert len(table) == 10
        assert len(counted_guesses(table, board.benchmark)) == n_counted

"""The app with its public dataset: up at once, never stopped by the Hub, flushed at the end."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

import app as app_module
from agl1k_core.settings import Settings
from leaderboard.detail import make_detail
from leaderboard.render import row_detail
from leaderboard.submit import Form, Published, publish
from store.database import Database
from store.guesses import Guess, GuessStore
from store.hub.publisher import FULL
from tests.fake_hub import WRITE, FakeHub, serving
from tests.hub_help import ids_on, rows_on
from tests.toy_board import prediction_file

ROOT = Path(__file__).parents[1]


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_XET", True)
    with serving(FakeHub()) as started:
        yield started


def environment(folder: Path, endpoint: str, **changed: str) -> dict[str, str]:
    return {
        "AGL1K_DATA": str(folder),
        "AGL1K_HUB_DATASET": "tester/plays",
        "AGL1K_HUB_TOKEN": WRITE,
        "AGL1K_HUB_INTERVAL_S": "0.2",
        "AGL1K_HUB_FLUSH_S": "60",
        "HF_ENDPOINT": endpoint,
        **changed,
    }


def client_for(folder: Path, endpoint: str, **changed: str) -> TestClient:
    settings = Settings.from_env(environment(folder, endpoint, **changed))
    return TestClient(app_module.create_app(settings))


def play_one(client: TestClient) -> None:
    """A guess, by the rules of the game."""
    game = client.app.state.services.game  # type: ignore[attr-defined]
    player = game.new_player()
    view = game.start_free(player, "demo")
    game.guess(game.start_clip(view.token, player).token, player, 1.0, 2.0)


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def eventually(is_so: Callable[[], object]) -> None:
    """Wait until it is so; the bound is only there for the test to end."""
    end = time.monotonic() + 120
    while not is_so():
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.05)


def test_without_a_dataset_it_is_ready_and_publishes_nothing(tmp_path: Path) -> None:
    settings = Settings.from_env({"AGL1K_DATA": str(tmp_path)})
    with TestClient(app_module.create_app(settings)) as client:
        assert client.get("/readyz").json() == {"status": "ready", "problems": []}
        assert client.app.state.services.publisher is None  # type: ignore[attr-defined]
        assert client.app.state.services.notice() == ""  # type: ignore[attr-defined]


def test_the_app_is_up_without_the_hub_and_pushes_when_it_returns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_XET", True)
    port, hub = free_port(), FakeHub()
    with client_for(tmp_path, f"http://127.0.0.1:{port}") as client:
        assert client.get("/healthz").status_code == 200
        assert client.get("/").status_code == 200
        until_ready(client)
        play_one(client)
        with serving(hub, port):
            eventually(lambda: "tester/plays" in hub.repos and ids_on(hub))
        assert len(ids_on(hub)) == 1


def until_ready(client: TestClient) -> None:
    eventually(lambda: client.get("/readyz").status_code == 200)


def until_read_back(client: TestClient, n_guesses: int) -> None:
    guesses = client.app.state.services.boards["demo"].guesses  # type: ignore[attr-defined]
    eventually(lambda: guesses.counts("demo").guesses == n_guesses)


def shown(client: TestClient) -> list[object]:
    """What everybody sees of the board, as a page and as data, and what is counted."""
    until_ready(client)
    board = client.app.state.services.boards["demo"]  # type: ignore[attr-defined]
    details = [row_detail(make_detail(board, row), board) for row in board.rows()]
    addresses = ("?board=demo", ".csv?board=demo", "/page?board=demo")
    pages = [client.get(f"/api/leaderboard{address}").text for address in addresses]
    return [board.guesses.counts("demo"), details, pages]


def publish_one(client: TestClient, model: str, owner: str) -> Published:
    board = client.app.state.services.boards["demo"]  # type: ignore[attr-defined]
    data = prediction_file(board.benchmark, 2.0)
    form = Form(model, weights="open", prompt="Where?")
    return publish(data, f"{model}.json", form, board, max_bytes=2**20, owner=owner)


def test_a_server_with_a_new_disk_shows_what_it_showed(tmp_path: Path, hub: FakeHub) -> None:
    with client_for(tmp_path / "old", hub.endpoint) as client:
        until_ready(client)
        for _ in range(12):
            play_one(client)
        owned = publish_one(client, "Owned", "ada").submission
        anonymous = publish_one(client, "Anonymous", "")
        before = shown(client)
    assert len(ids_on(hub)) == 12, "stopping pushes what is left"
    with client_for(tmp_path / "new", hub.endpoint) as client:
        assert shown(client) == before
        store = client.app.state.services.boards["demo"].submissions  # type: ignore[attr-defined]
        assert store.withdraw(owned.submission_id, "", "ada")
        assert store.withdraw(anonymous.submission.submission_id, anonymous.withdraw_key)
    assert len(ids_on(hub)) == 12
    assert rows_on(hub, "submissions") == []


def test_two_servers_on_one_dataset_show_the_same(tmp_path: Path, hub: FakeHub) -> None:
    with (
        client_for(tmp_path / "a", hub.endpoint) as one,
        client_for(tmp_path / "b", hub.endpoint) as other,
    ):
        for client in (one, other):
            until_ready(client)
        for _ in range(6):
            play_one(one)
            play_one(other)
        publish_one(one, "From a", "ada")
        publish_one(other, "From b", "")
    assert len(ids_on(hub)) == 12
    seen = []
    for name in ("a", "b", "blank"):
        with client_for(tmp_path / name, hub.endpoint) as client:
            until_read_back(client, 12)
            seen.append(shown(client))
    assert seen[0] == seen[1] == seen[2]


def test_a_full_backlog_refuses_politely_and_is_not_ready(tmp_path: Path) -> None:
    endpoint = f"http://127.0.0.1:{free_port()}"
    with client_for(tmp_path, endpoint, AGL1K_HUB_MAX_WAITING="1", AGL1K_HUB_FLUSH_S="0") as client:
        until_ready(client)
        play_one(client)
        with pytest.raises(Exception, match=FULL):
            play_one(client)
        assert client.get("/readyz").status_code == 503
        assert "the bound is reached" in client.get("/readyz").json()["problems"][0]
        assert FULL in client.app.state.services.notice()  # type: ignore[attr-defined]
        assert client.get("/healthz").status_code == 200


def guess(number: int) -> Guess:
    return Guess(
        uuid.uuid4().hex, f"r{number}", 0, "player", "", "demo", "hash", "clip", "guess",
        1.0, 2.0, 3.0, 4.0, 5.0, "free", "0", datetime.now(UTC),
    )  # fmt: skip


@pytest.mark.parametrize("is_there", [True, False])
def test_sigterm_pushes_what_is_left_or_tells_it(
    tmp_path: Path, hub: FakeHub, is_there: bool
) -> None:
    port = free_port()
    own = environment(
        tmp_path, hub.endpoint, PORT=str(port), AGL1K_HUB_INTERVAL_S="3600",
        AGL1K_HUB_FLUSH_S="60" if is_there else "2", HF_HUB_DISABLE_XET="1",
    )  # fmt: skip
    (tmp_path / "log").touch()
    with (tmp_path / "log").open("w") as log:
        server = subprocess.Popen(
            [sys.executable, "app.py"], cwd=ROOT, env={**os.environ, **own}, stderr=log
        )
    try:
        eventually(lambda: "event=read_back" in (tmp_path / "log").read_text())
        with Database(f"sqlite:///{tmp_path / 'agl1k.db'}") as database:
            made = [GuessStore(database).record(guess(number)).guess_id for number in range(7)]
        if not is_there:
            hub.fail(path="/api/", status=503, times=10_000)
        server.send_signal(signal.SIGTERM)
        assert server.wait(120) in (0, -signal.SIGTERM)
    finally:
        server.kill()
    told = (tmp_path / "log").read_text()
    if is_there:
        assert ids_on(hub) == sorted(made)
        assert "event=stopped pending_rows=0" in told
    else:
        assert "event=stopped pending_rows=7" in told
    assert WRITE not in told

"""The app with its public dataset: it starts without the Hub, and pushes the rest when it stops."""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest
from fastapi.testclient import TestClient

import app as app_module
from leaderboard.detail import make_detail
from leaderboard.render import row_detail
from leaderboard.submit import Form, Published, publish
from store.database import Database
from store.guesses import GuessStore
from store.hub.publisher import FULL, Limits
from tests.support.app_help import Player, app_process, free_port
from tests.support.fake_hub import WRITE, FakeHub, serving
from tests.support.hub_help import ids_on, rows_on
from tests.support.toy_board import prediction_file
from tests.support.waiting import PATIENCE_S, eventually
from web.settings import Settings


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
    """Answer one clip."""
    game = client.app.state.services.game  # type: ignore[attr-defined]
    player = game.new_player()
    view = game.start_free(player, "demo", begin=True)
    game.guess(view.token, player, 1.0, 2.0)


def test_without_a_dataset_it_is_ready_and_publishes_nothing(tmp_path: Path) -> None:
    settings = Settings.from_env({"AGL1K_DATA": str(tmp_path)})
    with TestClient(app_module.create_app(settings)) as client:
        assert client.get("/readyz").json() == {"status": "ready", "problems": []}
        assert client.app.state.services.publisher is None  # type: ignore[attr-defined]
        assert client.app.state.services.notice() == ""  # type: ignore[attr-defined]


@contextmanager
def nowhere(port: int, how: str) -> Iterator[None]:
    """A port that refuses connections, or accepts them and never answers."""
    with socket.socket() as listener:
        if how == "hangs":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(("127.0.0.1", port))
            listener.listen(128)
        yield


@pytest.mark.parametrize("how", ["refuses", "hangs"])
def test_the_app_runs_without_the_hub_and_pushes_when_it_returns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    limits = Limits(interval_s=0.2, answer_s=1, max_wait_s=1)
    monkeypatch.setattr("store.hub.connect.limits_for", lambda _: limits)
    port, hub = free_port(), FakeHub()
    with ExitStack() as app:
        client = app.enter_context(client_for(tmp_path, f"http://127.0.0.1:{port}"))
        with nowhere(port, how):
            assert client.get("/healthz").status_code == 200
            assert client.get("/").status_code == 200
            until_ready(client)
            play_one(client)
        with serving(hub, port):
            eventually(lambda: "tester/plays" in hub.repos and ids_on(hub))
            app.close()  # while the Hub is up: otherwise its client retries for half a minute
    assert len(ids_on(hub)) == 1


def until_ready(client: TestClient) -> None:
    eventually(lambda: client.get("/readyz").status_code == 200)


def until_read_back(client: TestClient, n_guesses: int, n_submissions: int) -> None:
    board = client.app.state.services.boards["demo"]  # type: ignore[attr-defined]
    eventually(lambda: board.guesses.counts("demo").guesses == n_guesses)
    eventually(lambda: len(board.submissions.list("demo")) == n_submissions)


def shown(client: TestClient) -> list[object]:
    """The board as pages and as data, and the counts."""
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


def test_a_server_with_a_new_disk_shows_the_same_board(tmp_path: Path, hub: FakeHub) -> None:
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
            until_read_back(client, 12, 2)
            seen.append(shown(client))
    assert seen[0] == seen[1] == seen[2]


def test_a_full_backlog_refuses_answers_and_is_not_ready(tmp_path: Path) -> None:
    endpoint = f"http://127.0.0.1:{free_port()}"
    with client_for(tmp_path, endpoint, AGL1K_HUB_MAX_WAITING="1", AGL1K_HUB_FLUSH_S="0") as client:
        until_ready(client)
        play_one(client)
        with pytest.raises(Exception, match=FULL):
            play_one(client)
        assert client.get("/readyz").status_code == 503
        assert "which is the limit" in client.get("/readyz").json()["problems"][0]
        assert FULL in client.app.state.services.notice()  # type: ignore[attr-defined]
        assert client.get("/healthz").status_code == 200


class Crowd:
    """Players in threads, who play until the server is gone."""

    def __init__(self, url: str, n_players: int) -> None:
        self.guesses, self.ended = 0, False
        self._one = threading.Lock()
        players = [Player(url) for _ in range(n_players)]
        self.threads = [threading.Thread(target=self._play, args=(one,)) for one in players]
        for thread in self.threads:
            thread.start()

    def _play(self, player: Player) -> None:
        try:
            player.open()
            while not self.ended:
                player.guess(1.0, 2.0)
                if player.is_refused:
                    return
                with self._one:
                    self.guesses += 1
                player.go_on()
                if "again" in player.buttons:
                    player.play_again()
        except httpx.TransportError:
            return  # the server is gone

    def join(self) -> int:
        """How many guesses were acknowledged."""
        self.ended = True
        for thread in self.threads:
            thread.join(PATIENCE_S)
        return self.guesses


@pytest.mark.parametrize("is_there", [True, False])
def test_sigterm_during_play_pushes_the_rest_or_logs_it(
    tmp_path: Path, hub: FakeHub, is_there: bool
) -> None:
    pushing = {"AGL1K_HUB_INTERVAL_S": "3600", "AGL1K_HUB_FLUSH_S": "60" if is_there else "2"}
    with app_process(tmp_path, environment(tmp_path / "data", hub.endpoint, **pushing)) as running:
        eventually(lambda: "event=read_back" in running.said())
        crowd = Crowd(running.url, 3)
        eventually(lambda: crowd.guesses >= 20)
        if not is_there:
            hub.fail(path="/api/", status=503, times=10_000)
        assert running.terminate() in (0, -signal.SIGTERM)
        acknowledged = crowd.join()
        said = running.said()
    with Database(f"sqlite:///{tmp_path / 'data' / 'agl1k.db'}") as database:
        stored = [guess.guess_id for guess in GuessStore(database).of_benchmark("demo")]
    assert len(stored) >= acknowledged
    published = ids_on(hub) if "tester/plays" in hub.repos else []
    assert len(published) == len(set(published))
    assert set(published) <= set(stored)
    assert f"event=stopped pending_rows={len(stored) - len(published)}" in said
    assert is_there == (len(stored) == len(published))
    assert WRITE not in said
    assert "Traceback" not in said

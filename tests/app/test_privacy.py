"""Visits with everything that a browser reveals about a person, then a search of all that was kept.

One process, one visit, many searches: what is stored, published, logged and exported.
"""

from __future__ import annotations

import io
import json
import re
import socket
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import httpx
import itsdangerous
import pyarrow.parquet as pq
import pytest

from agl1k_core.benchmarks import open_registry
from agl1k_core.config import Config
from store.database import Database
from store.guesses import GuessStore
from tests.support.app_help import AppProcess, Player, app_process
from tests.support.fake_hub import WRITE, FakeHub, serving
from tests.support.hub_help import ids_on, rows_on
from tests.support.processes import run_python
from tests.support.toy_board import prediction_file
from tests.support.waiting import eventually

FROM = "127.0.0.77"  # an address of this machine that nobody else uses
TOLD = {
    "User-Agent": "Telltale-Browser/7.7",
    "X-Forwarded-For": "203.0.113.77, 198.51.100.23",
    "X-Real-IP": "203.0.113.78",
    "Forwarded": "for=203.0.113.79",
    "CF-Connecting-IP": "203.0.113.80",
    "Cookie": "telltale=cookie-of-a-person; access-token=hf_of_a_visitor",
    "Authorization": "Bearer hf_of_a_visitor",
    "X-HF-Authorization": "Bearer hf_of_a_visitor",
    "Referer": "https://telltale.example/where-from",
    "Accept-Language": "tlh-telltale",
    "From": "person@telltale.example",
}
TELLTALES = (
    FROM, "203.0.113.", "198.51.100.", "elltale", "cookie-of-a-person", "hf_of_a_visitor", WRITE,
    "tlh-",
)  # fmt: skip
NICKNAME = "Nick of a person"


@dataclass
class Visited:
    """The app after the visits, the Hub it published to, and the player."""

    app: AppProcess
    hub: FakeHub
    player: Player
    env: dict[str, str]

    @property
    def data(self) -> Path:
        return self.app.log.parent / "data"

    def player_id(self) -> str:
        return str(json.loads(itsdangerous.base64_decode(self.player.player.split(".")[0])))


@pytest.fixture(scope="module")
def visited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visited]:
    folder = tmp_path_factory.mktemp("visited")
    with serving(FakeHub()) as hub:
        env = {
            "AGL1K_HUB_DATASET": "tester/plays", "AGL1K_HUB_TOKEN": WRITE,
            "HF_ENDPOINT": hub.endpoint, "AGL1K_HUB_INTERVAL_S": "0.2",
            "AGL1K_MAX_UPLOAD_MB": "1",
        }  # fmt: skip
        with app_process(folder, env) as running:
            player = play(running.url)
            publish_and_withdraw(player)
            do_all_that_is_refused(player)
            eventually(lambda: "tester/plays" in hub.repos and len(ids_on(hub)) == 6)
            eventually(lambda: len(rows_on(hub, "submissions")) == 1)
            yield Visited(running, hub, player, env)


def play(url: str) -> Player:
    player = Player(url, NICKNAME, source=FROM, **TOLD)
    player.open()
    for number in range(5):
        player.skip() if number == 2 else player.guess(number, -number)
        assert not player.is_refused, player.message
        player.go_on()
    player.play_again()
    player.guess(1, 1)
    return player


def publish_and_withdraw(player: Player) -> None:
    config = Config.from_env({"AGL1K_DATA": "nowhere"})
    file = prediction_file(open_registry(config).benchmarks["demo"], 1.0)
    button = player.event(player.find(elem_id="agl-publish"), "click")
    for model in ("Stays", "Goes"):
        about = [model, "", "", "open", "", "", True, "", "", None]
        upload = player.upload("answers.json", file)
        done = player.call(button, None, "demo", upload, *about)
        key = done.json()["data"][1].partition("data-key>")[2].partition("<")[0]
    rows = player.http.get("/api/leaderboard?board=demo").json()["rows"]
    ids = {row["model"]: row["row_id"] for row in rows}
    event = player.event(player.find(value="Withdraw"), "click")
    assert "does not belong" in player.call(event, ids["Stays"], key).text
    assert "Goes is withdrawn" in player.call(event, ids["Goes"], key).text
    api = player.upload("answers.json", file)
    done = player.http.post("/gradio_api/run/dry_run", json={"data": [api, ""]})
    assert done.status_code == 200


def do_all_that_is_refused(player: Player) -> None:
    """An error could put an address or a header into a log."""
    http = player.http
    for method, path in (
        ("GET", "/nowhere?telltale=1"), ("POST", "/gradio_api/run/predict"),
        ("GET", "/gradio_api/file=/etc/passwd"), ("POST", "/api/leaderboard"),
        ("GET", "/api/leaderboard?board=telltale"), ("GET", "/clip/telltale"),
        ("GET", "/gradio_api/queue/data?session_hash=telltale"),
    ):  # fmt: skip
        # a response to a body that was not read ends the connection, perhaps before it is read
        with suppress(httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError):
            http.request(method, path, content=b'{"telltale": ')
    http.post("/gradio_api/upload", content=b"x" * 3 * 2**20)
    http.post("/gradio_api/upload", files={"files": ("telltale\n.json", b"{")})
    for name in ("publish", "dry_run", "withdraw", "compare", "leaderboard"):
        http.post(f"/gradio_api/run/{name}", json={"data": ["telltale"] * 8})
    port = int(str(http.base_url.port))
    with socket.create_connection(("127.0.0.1", port), source_address=(FROM, 0)) as raw:
        raw.sendall(b"GET / telltale\r\nX-Telltale: 1\r\n\r\n")
        raw.recv(1000)


def everything(folder: Path) -> dict[str, bytes]:
    """All files in a folder; the rows of Parquet files are added as text."""
    found = {}
    for path in folder.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            found[str(path.relative_to(folder))] = content + _in_the_clear(content)
    return found


def _in_the_clear(content: bytes) -> bytes:
    if content[:4] != b"PAR1":
        return b""
    return str(pq.read_table(io.BytesIO(content)).to_pylist()).encode()


def on_the_hub(hub: FakeHub) -> dict[str, bytes]:
    """Every file of every revision, large files, and uploads."""
    repo = hub.repo()
    found = {
        f"{made.title}: {name}": blob.data for made in repo.commits for name, blob in
        made.files.items()
    }  # fmt: skip
    found |= {f"stored {oid}": data for oid, (_, data) in repo.stored.items()}
    found |= {f"upload {oid}": data for oid, data in hub.uploads.items()}
    return {name: data + _in_the_clear(data) for name, data in found.items()}


def holders(found: dict[str, bytes], *words: str) -> list[tuple[str, str]]:
    return [(word, name) for word in words for name, data in found.items() if word.encode() in data]


def admin(visited: Visited, *arguments: str) -> str:
    env = {**visited.env, "AGL1K_DATA": str(visited.data)}
    done = run_python("-m", "agl1k_core", "admin", *arguments, env=env)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def test_the_search_finds_what_is_there(visited: Visited) -> None:
    """Otherwise the tests below would prove nothing."""
    ids = visited.player_id(), "answers.json"
    assert {word for word, _ in holders(everything(visited.data), *ids)} == set(ids)
    assert {word for word, _ in holders(on_the_hub(visited.hub), *ids)} == set(ids)
    assert holders(everything(visited.data), NICKNAME)


def test_nothing_of_a_visitor_is_stored(visited: Visited) -> None:
    assert holders(everything(visited.data), *TELLTALES) == []


def test_nothing_of_a_visitor_is_published(visited: Visited) -> None:
    assert holders(on_the_hub(visited.hub), *TELLTALES, NICKNAME) == []


def test_nothing_of_a_visitor_is_logged(visited: Visited) -> None:
    said = {"log": visited.app.log.read_bytes()}
    assert holders(said, *TELLTALES, NICKNAME, visited.player_id()) == []


def test_nothing_of_a_visitor_is_exported(visited: Visited, tmp_path: Path) -> None:
    admin(visited, "export", str(tmp_path / "out"))
    told = {**everything(tmp_path / "out"), "status": admin(visited, "status").encode()}
    assert holders(told, visited.player_id())
    assert holders(told, *TELLTALES, NICKNAME) == []


def test_published_columns_are_the_documented_ones(visited: Visited) -> None:
    assert set(rows_on(visited.hub, "guesses")[0]) == {
        "guess_id", "round_id", "position", "player_id", "benchmark", "benchmark_hash", "clip_key",
        "latitude", "longitude", "distance_km", "score", "seconds", "mode", "app_version",
        "created_utc", "tools",
    }  # fmt: skip


def test_a_forged_player_is_refused(visited: Visited) -> None:
    """Knowing a player id from the dataset is not enough to play as that player."""
    victim = visited.player_id()
    own = Player(visited.app.url)
    own.open()
    signature = own.player.split(".")[1]
    claimed = itsdangerous.base64_encode(json.dumps(victim).encode()).decode()
    guess = itsdangerous.URLSafeSerializer("guess", salt="agl1k.player").dumps(victim)
    before = visited.player.http.get("/api/leaderboard?board=demo").json()
    for forged in (victim, f"{claimed}.{signature}", f"{claimed}.", str(guess), "", "null"):
        own.player = forged
        own.guess(5, 5)
        assert own.is_refused
        stranger = Player(visited.app.url)
        stranger.player = forged
        stranger.open()  # gets a new identity
        assert stranger.player != forged
        assert victim not in str(itsdangerous.base64_decode(stranger.player.split(".")[0]))
    with Database(f"sqlite:///{visited.data / 'agl1k.db'}") as database:
        rows = GuessStore(database).of_benchmark("demo")
    assert sum(row.player_id == victim for row in rows) == 6
    assert visited.player.http.get("/api/leaderboard?board=demo").json() == before


def test_a_player_is_forgotten_while_the_app_runs(visited: Visited) -> None:
    """Must be the last test of this module: it removes the player."""
    player_id = visited.player_id()
    sealed = [data for name, data in on_the_hub(visited.hub).items() if player_id.encode() in data]
    told = admin(visited, "forget", player_id)
    assert re.search(r"Deleted here: 6 answers and 2 rounds", told)
    assert "Deleted in the dataset: 6 answers" in told
    assert holders(on_the_hub(visited.hub), player_id) == []
    assert holders(everything(visited.data), player_id, NICKNAME) == []
    for name, content in everything(visited.data).items():
        assert not any(data[4:200] in content for data in sealed), name
    assert holders({"log": visited.app.log.read_bytes()}, player_id) == []
    page = httpx.get(f"{visited.app.url}/api/leaderboard?board=demo").json()
    assert "people" not in {row["kind"] for row in page["rows"]}

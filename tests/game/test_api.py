"""The play API: a whole round as JSON, refusals with fitting statuses, nothing before the guess."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI, Response
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agl1k_core.benchmarks import Benchmark
from agl1k_core.errors import UnavailableError
from game.api import play_router
from game.calls import ROUTES
from game.guessing import points_at
from game.moves import NO_PIN, Moves
from game.rounds import Game
from store.database import Database
from store.guesses import Guess, GuessStore
from tests.support.play_api import Api
from tests.support.served import served
from tests.support.toy_game import Clock, ToyClips
from ui.model_guess import ModelGuess, Opponent
from web.quota import Quota

JSON = {"Content-Type": "application/json"}


def app_of(game: Game, *benchmarks: str) -> FastAPI:
    app = FastAPI()
    app.include_router(play_router(Moves(game, benchmarks)))
    return app


@pytest.fixture
def http(game: Game, toy: Benchmark) -> TestClient:
    return TestClient(app_of(game, toy.slug))


@pytest.fixture
def api(http: TestClient) -> Api:
    return Api(http)


def test_a_whole_round(api: Api) -> None:
    state = api.do("open")
    total = 0
    for position in range(5):
        assert (state["phase"], state["position"]) == ("playing", position)
        assert state["clip"]["label"] == f"Clip {position + 1} of 5"
        assert state["clip"]["url"].startswith("clip/")
        assert state["clip"]["peaks"] == [0.1, 0.9]
        assert (state["next_clip_url"] is None) == (position == 4)
        revealed = api.do("guess", latitude=12.5, longitude=-45.25)
        assert revealed["phase"] == "revealed"
        reveal = revealed["reveal"]
        assert reveal["pin"] == {"latitude": 12.5, "longitude": -45.25}
        assert reveal["line"][0] == [12.5, -45.25]
        end_latitude, end_longitude = reveal["line"][-1]
        assert end_latitude == pytest.approx(reveal["latitude"], abs=1e-3)
        turns = (end_longitude - reveal["longitude"]) / 360
        assert turns == pytest.approx(round(turns), abs=1e-5)
        total += reveal["points"]
        assert revealed["total"] == reveal["total"] == total
        assert [one["position"] for one in revealed["reveals"]] == [*range(position + 1)]
        state = api.do("next", href="https://a.example/page?tab=play")
    assert state["phase"] == "finished"
    assert state["summary"]["total"] == sum(state["summary"]["points"]) == total
    assert f"https://a.example/page?challenge={state['summary']['code']}" in state["share"]
    friend = Api(api.http)
    assert friend.do("open", href=state["share"].split()[-1])["challenger"]["total"] == total
    assert api.do("again")["phase"] == "playing"


def test_the_page_gets_fragments_instead_of_the_data(api: Api) -> None:
    state = api.do("open", fragments=True)
    assert "Clips of this round" in state["fragments"]["status"]
    assert state["map"]["op"] == "reset"
    revealed = api.do("guess", latitude=1, longitude=2, fragments=True)
    assert "agl-reveal" in revealed["fragments"]["result"]
    assert revealed["map"]["op"] == "reveal"
    assert not {"reveals", "reveal", "summary"} & revealed.keys()
    for _ in range(4):
        api.do("next")
        api.do("skip")
    finished = api.do("next", fragments=True, href="http://x/")
    assert finished["history_entry"]["max_total"] == 25_000
    assert finished["map"]["op"] == "summary"
    assert "http://x/?challenge=" in finished["share"]


def secrets_of(benchmark: Benchmark) -> list[str]:
    """Words and numbers that only the truth has."""
    return [
        str(part)
        for clip in benchmark.clips
        for part in (clip.key, clip.title, clip.city, clip.country, clip.lat, clip.lon, clip.author)
    ]


def test_no_answer_before_the_guess_has_the_place(
    new_game: Callable[..., Game], toy: Benchmark
) -> None:
    game = new_game(
        models=lambda _, keys: {key: [ModelGuess(f"of {key}", 1, 2, 3)] for key in keys}
    )
    api = Api(TestClient(app_of(game, toy.slug)))
    api.do("open")
    for fragments in (False, True):
        for asked in (
            api.ask("open", fragments=fragments),
            api.ask("start", timer_s=30, fragments=fragments),
            api.look_up(f"state?fragments={int(fragments)}"),
            api.look_up("dailies"),
            api.look_up("benchmarks"),
            api.ask("guess", fragments=fragments),
            api.ask("next", fragments=fragments),
            api.ask("timeup", fragments=fragments),
        ):
            assert not [secret for secret in secrets_of(toy) if secret in asked.text]
    assert api.do("guess", latitude=0, longitude=0)["reveal"]["key"].startswith("secretkey")


def test_the_state_after_a_reload(api: Api) -> None:
    first = api.do("open")
    assert api.look_up("state").json()["round"] == first["round"]
    api.do("skip")
    assert api.look_up("state").json()["phase"] == "revealed"
    response = api.look_up("state?fragments=1")
    assert "You skipped this clip" in response.json()["fragments"]["result"]
    assert response.headers["cache-control"] == "no-store"


def test_dailies_and_benchmarks(api: Api, toy: Benchmark, clock: Clock) -> None:
    api.do("start", player=api.do("open")["player"], mode="daily")
    days = api.look_up("dailies").json()
    today = clock.now.date().isoformat()
    assert days["entries"][0] == {"day": today, "state": "started", "total": None}
    assert days["streak"]["days"] == 0
    assert "fragments" not in days
    shown = api.look_up("dailies?fragments=1").json()["fragments"]
    assert "No streak yet" in shown["streak"]
    assert (days["today"], days["first"]) == (today, "2026-01-01")
    february = api.look_up("dailies?month=2026-02").json()["entries"]
    assert [one["day"] for one in february] == [f"2026-02-{day:02}" for day in range(28, 0, -1)]
    this_month = api.look_up(f"dailies?month={today[:7]}").json()["entries"]
    assert this_month == days["entries"][: int(today[8:])]
    assert api.look_up("dailies?month=2025-12").json()["entries"] == []
    wrong = api.look_up("dailies?month=May")
    assert (wrong.status_code, wrong.json()["error"]) == (
        422, f"'May' is not a month. Write it like {today[:7]}."
    )  # fmt: skip
    played = api.http.get("/api/play/benchmarks").json()
    assert [one["slug"] for one in played["benchmarks"]] == [toy.slug]
    assert played["benchmarks"][0]["n_clips"] == len(toy)
    assert played["benchmarks"][0]["continents"]["Africa"] == 8
    assert played["timers_s"] == [30, 60, 120]


def test_a_round_against_a_row_of_the_board(new_game: Callable[..., Game], toy: Benchmark) -> None:
    rival = Opponent("row-1", "A <b> model", "scored", {clip.key: 812.25 for clip in toy.clips})
    game = new_game(opponents=lambda benchmark, *, fresh: [rival])
    api = Api(TestClient(app_of(game, toy.slug)))
    listed = api.http.get("/api/play/opponents?benchmark=toy").json()["opponents"]
    assert listed == [
        {"id": "row-1", "name": "A <b> model", "kind": "scored", "n_clips": 40, "median_km": 812.2}
    ]
    api.do("open")
    state = api.do("start", mode="model", opponent="row-1")
    assert (state["mode"], state["versus"]["total"]) == ("model", 0)
    assert state["versus"]["points"] == []
    state = api.do("guess", latitude=0, longitude=0)
    assert state["versus"]["points"] == [points_at(812.25)]
    assert api.ask("start", mode="model", opponent="row-9").status_code == 404
    assert api.ask("start", mode="model").status_code == 422
    assert api.http.get("/api/play/opponents?benchmark=nowhere").status_code == 404


def test_standings_of_a_room_are_sent_again_only_if_they_changed(api: Api, clock: Clock) -> None:
    player = api.do("open")["player"]
    state = api.do("start", mode="room", nickname="Anna <b>")
    assert state["mode"] == "room"
    assert state["room"] == {"code": state["label"], "game": 1}
    address = f"/api/play/room?code={state['label']}&game=1"
    headers = {"Authorization": f"Bearer {player}"}
    first = api.http.get(address, headers=headers)
    assert first.json()["players"] == [
        {"name": "Anna <b>", "is_you": True, "is_host": True, "answered": 0, "total": 0,
         "max_total": 0}
    ]  # fmt: skip
    again = {**headers, "If-None-Match": first.headers["etag"]}
    known = api.http.get(address, headers=again)
    assert (known.status_code, known.content) == (304, b"")
    api.do("skip")
    clock.forward(seconds=1)
    changed = api.http.get(address, headers=again)
    assert changed.status_code == 200
    assert changed.json()["players"][0]["max_total"] == 5000
    assert changed.headers["etag"] != first.headers["etag"]


@pytest.mark.parametrize(
    ("query", "status"),
    [("code=ABCDEF", 404), ("code=x", 422), ("", 422), ("code=ABCDEF&game=0", 404),
     ("code=ABCDEF&game=9999999999", 404), ("code=ABCDEF&game=x", 404)],
)  # fmt: skip
def test_standings_that_are_not_there(api: Api, query: str, status: int) -> None:
    api.do("open")
    response = api.look_up(f"room?{query}")
    assert response.status_code == status
    assert response.json()["error"]


def test_standings_are_for_those_in_the_room(api: Api) -> None:
    api.do("open")
    code = api.do("start", mode="room", nickname="Anna")["label"]
    assert api.ask("start", mode="room", nickname="anna", code=code).status_code == 200
    assert api.http.get(f"/api/play/room?code={code}").status_code == 401
    stranger = api.http.post("/api/play/open", json={}).json()["player"]
    headers = {"Authorization": f"Bearer {stranger}"}
    assert api.http.get(f"/api/play/room?code={code}", headers=headers).status_code == 403
    wish = {"player": stranger, "mode": "room", "code": code, "nickname": "ANNA"}
    assert api.http.post("/api/play/start", json=wish).status_code == 409


def test_the_same_answer_again_and_another_one(api: Api) -> None:
    api.do("open")
    one = api.do("guess", latitude=1, longitude=2)
    assert api.do("guess", latitude=1, longitude=2) == one
    other = api.do("guess", latitude=3, longitude=4)
    assert other["reveal"] == one["reveal"]
    assert "first answer counts" in other["notes"][0]


def test_a_bad_link_is_a_note(api: Api) -> None:
    state = api.do("open", href="http://x/?challenge=NONSENSE")
    assert state["phase"] == "playing"
    assert "not a challenge code" in state["notes"][0]


def test_a_timer(api: Api, clock: Clock) -> None:
    api.do("open")
    state = api.do("start", timer_s=30)
    assert (state["timer_s"], state["remaining_s"], state["next_clip_url"]) == (30, 30, None)
    status, sentence = api.refused("timeup")
    assert (status, "not up yet" in sentence) == (409, True)
    clock.forward(seconds=31)
    assert api.do("timeup")["reveal"]["action"] == "timeout"


def test_tools_are_stored_with_the_answer(api: Api, guess_store: GuessStore, clock: Clock) -> None:
    api.do("open")
    pin = {"latitude": 1, "longitude": 2}
    said: list[tuple[str, dict[str, Any]]] = [
        ("guess", {**pin, "tools": ["slow", "loop", "slow"]}),
        ("guess", {**pin, "tools": []}),
        ("skip", {"tools": ["spectrogram", "boost", "band"]}),
        ("guess", pin),
    ]
    for name, fields in said:
        api.do(name, **fields)
        api.do("next")
    stored = guess_store.of_benchmark("toy")
    assert [guess.tools for guess in stored] == ["loop,slow", "", "band,boost,spectrogram", None]
    api.do("start", timer_s=30)
    clock.forward(seconds=31)
    api.do("timeup", tools=["loop"])
    assert guess_store.of_benchmark("toy")[-1].tools == "loop"


def test_the_first_answer_s_tools_stay(api: Api, guess_store: GuessStore) -> None:
    before = api.do("open")["round"]
    api.do("guess", latitude=1, longitude=2, tools=["loop"])
    again = api.do("guess", round=before, latitude=1, longitude=2, tools=[])
    assert again["notes"] == []
    assert [guess.tools for guess in guess_store.of_benchmark("toy")] == ["loop"]


@pytest.mark.parametrize(
    ("name", "fields", "status", "words"),
    [
        ("guess", {}, 422, NO_PIN),
        ("guess", {"latitude": 91, "longitude": 0}, 422, "not on the map"),
        ("guess", {"latitude": 90.0000001, "longitude": 0}, 422, "latitude 90.0000001,"),
        ("guess", {"latitude": 1}, 422, "both"),
        ("guess", {"latitude": True, "longitude": 0}, 422, "latitude"),
        ("guess", {"latitude": "1", "longitude": 0}, 422, "latitude"),
        ("guess", {"latitude": 1, "longitude": 0, "lat": 2}, 422, "lat"),
        ("guess", {"latitude": 1, "longitude": 0, "tools": ["telepathy"]}, 422, "tools"),
        ("skip", {"tools": "loop"}, 422, "tools"),
        ("timeup", {"tools": ["loop"] * 6}, 422, "tools"),
        ("skip", {"player": "forged"}, 401, "lost its player"),
        ("skip", {"player": 7}, 422, "player"),
        ("skip", {"round": "forged"}, 404, "not valid"),
        ("next", {}, 409, "Answer this clip first"),
        ("start", {"mode": "other"}, 422, "mode"),
        ("start", {"speech": "loud"}, 422, "no sound filter"),
        ("start", {"continent": "Atlantis"}, 422, "Atlantis"),
        ("start", {"timer_s": 7}, 422, "timer"),
        ("start", {"timer_s": -(10**30)}, 422, "timer_s"),
        ("start", {"benchmark": "other"}, 404, "not played here"),
        ("start", {"mode": "daily", "day": "2999-01-01"}, 422, "comes out on that day"),
        ("start", {"mode": "challenge", "code": "x"}, 422, "not a challenge code"),
        ("takeup", {"id": "x"}, 422, "not the id of a round"),
        ("takeup", {"id": 7}, 422, "id"),
        ("takeup", {}, 422, "id"),
        ("open", {"player": ["x"]}, 422, "player"),
    ],
)
def test_refusals_leave_the_round_as_it_is(
    api: Api, name: str, fields: dict[str, Any], status: int, words: str
) -> None:
    before = api.do("open")
    found, sentence = api.refused(name, **fields)
    assert (found, words in sentence) == (status, True), sentence
    assert api.look_up("state").json() == before


def test_another_players_round(api: Api) -> None:
    theirs = Api(api.http).do("open")
    api.do("open")
    assert api.refused("skip", round=theirs["round"])[0] == 403


def test_a_step_that_is_over(api: Api) -> None:
    first = api.do("open")
    api.do("skip")
    api.do("next")
    second = api.look_up("state").json()
    assert api.do("skip", round=first["round"])["position"] == 0
    assert api.look_up("state").json() == second


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"[", 422),
        (b"[]", 422),
        (b"null", 422),
        (b'{"player": "x", "latitude": NaN}', 400),
        (b'{"player": "x", "latitude": 1e999, "longitude": 0}', 422),
        (b'{"player": "\\ud800"}', 400),
        (b"\xff\xfe", 400),
        (b'{"player": "x", "timer_s": ' + b"1" * 16_000 + b"}", 422),
        (b"[" * 16_000, 422),
        (b'{"player": ' + b"[" * 16_000, 422),
        (b'{"player": "' + b"x" * 17_000 + b'"}', 413),
    ],
)
def test_bodies_that_make_no_sense(http: TestClient, body: bytes, status: int) -> None:
    response = http.post("/api/play/guess", content=body, headers=JSON)
    assert response.status_code == status
    assert response.json()["error"].endswith(".")


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    name=st.sampled_from([*ROUTES]),
    body=st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(["player", "round", "latitude", "nickname", "href", "mode", "code"])
                | st.text(),
                inner,
            )
        ),
    ),
)
def test_any_json_is_answered_or_refused(http: TestClient, name: str, body: object) -> None:
    content = json.dumps(body).encode()
    response = http.post(f"/api/play/{name}", content=content, headers=JSON)
    assert response.status_code in (200, 400, 401, 404, 422)
    assert response.status_code == 200 or response.json()["error"]


@pytest.mark.parametrize("name", ["guess", "timeup", "skip", "broken", "next"])
def test_a_move_without_a_round_needs_a_player(http: TestClient, name: str) -> None:
    pin = {"latitude": 1, "longitude": 2} if name in ("guess", "timeup") else {}
    response = http.post(f"/api/play/{name}", json={"player": "nobody", **pin})
    assert response.status_code == 401


@pytest.mark.parametrize("media_type", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_forms_of_other_sites_are_refused(http: TestClient, media_type: str) -> None:
    response = http.post("/api/play/open", content=b"{}", headers={"Content-Type": media_type})
    assert (response.status_code, "application/json" in response.text) == (415, True)
    assert "access-control-allow-origin" not in response.headers


@pytest.mark.parametrize(
    "header", [{}, {"Authorization": "Bearer "}, {"Authorization": "Bearer x"}]
)
def test_a_look_up_needs_the_players_token(http: TestClient, header: dict[str, str]) -> None:
    for address in ("state", "dailies"):
        response = http.get(f"/api/play/{address}", headers=header)
        assert response.status_code == 401
        assert response.headers["www-authenticate"] == "Bearer"


def test_a_player_without_a_round(api: Api, game: Game) -> None:
    api.player = game.new_player()
    response = api.look_up("state")
    assert (response.status_code, "No round" in response.text) == (404, True)
    assert api.look_up("dailies?benchmark=other").status_code == 404


def test_addresses_that_are_not_there(http: TestClient) -> None:
    assert http.get("/api/play/guess").status_code == 405
    assert http.delete("/api/play/open").json() == {"error": "Send POST to /api/play/open."}
    assert http.get("/api/play/nothing").status_code == 404


def test_limits_say_when_to_try_again(new_game: Callable[..., Game], toy: Benchmark) -> None:
    quota = Quota("rounds started", 10, 1)
    api = Api(TestClient(app_of(new_game(admit=quota.take, give_back=quota.give_back), toy.slug)))
    before = api.do("open")
    response = api.ask("start")
    assert (response.status_code, "Try again in" in response.text) == (429, True)
    assert 3500 < int(response.headers["retry-after"]) <= 3600
    assert api.look_up("state").json() == before


def test_nothing_to_play(new_game: Callable[..., Game], toy: Benchmark) -> None:
    silent = new_game(clips=ToyClips(lambda benchmark, key: False))
    response = Api(TestClient(app_of(silent, toy.slug))).ask("open")
    assert response.status_code == 503
    assert "cannot be loaded at the moment" in response.json()["error"]
    assert int(response.headers["retry-after"]) > 0


class AwayStore(GuessStore):
    """A store that cannot write answers."""

    def record(self, guess: Guess) -> Guess:
        raise UnavailableError("The database is away.")


def test_a_database_that_is_away(
    new_game: Callable[..., Game], migrated: Database, toy: Benchmark
) -> None:
    api = Api(TestClient(app_of(new_game(store=AwayStore(migrated)), toy.slug)))
    before = api.do("open")
    response = api.ask("skip")
    assert (response.status_code, response.json()) == (503, {"error": "The database is away."})
    assert response.headers["retry-after"] == "5"
    assert api.look_up("state").json() == before


def test_the_description_names_every_route_and_field(http: TestClient) -> None:
    described = http.get("/api/play/openapi.json").json()
    posts = {path for path, methods in described["paths"].items() if "post" in methods}
    assert posts == {f"/api/play/{name}" for name in (*ROUTES, "code", "carry")}
    schemas = described["components"]["schemas"]
    assert {"clip", "reveal", "fragments", "share"} <= schemas["Answer"]["properties"].keys()
    references = set(json.dumps(described).split('"#/components/schemas/')[1:])
    assert {reference.partition('"')[0] for reference in references} <= schemas.keys()
    page = http.get("/api/play", follow_redirects=True)
    assert page.headers["content-type"].startswith("text/html")
    for name in ROUTES:
        assert f"POST /api/play/{name}" in page.text
    assert "//" not in page.text.replace("</", "")


@pytest.mark.server
def test_the_bot_of_the_docs(game: Game, toy: Benchmark, tmp_path: Path) -> None:
    text = (Path(__file__).parents[2] / "docs" / "play-api.md").read_text("utf-8")
    code = text.partition("```python\n")[2].partition("```")[0]
    assert code.count("\n") <= 30
    bot = tmp_path / "bot.py"
    bot.write_text(code)
    app = app_of(game, toy.slug)

    @app.get("/clip/{token}")
    def sound(token: str) -> Response:
        return Response(b"sound", 200 if game.resolve(token) else 404)

    with served(app) as address:
        run = subprocess.run([sys.executable, bot, address], capture_output=True, text=True)
    assert (run.returncode, run.stderr) == (0, "")
    *clips, total = run.stdout.splitlines()
    assert len(clips) == 5
    assert all(line.endswith(" points") for line in clips)
    assert total.endswith(" of 25000 points")


@pytest.mark.server
def test_many_players_at_a_real_server(game: Game, toy: Benchmark) -> None:
    totals: dict[int, int] = {}

    def play(number: int, address: str) -> None:
        with httpx.Client(base_url=address) as http:
            api = Api(http)
            api.do("open")
            for _ in range(5):
                api.do("guess", latitude=number, longitude=-number)
                state = api.do("next")
            totals[number] = state["summary"]["total"]

    with served(app_of(game, toy.slug)) as address:
        players = [threading.Thread(target=play, args=(n, address)) for n in range(4)]
        for player in players:
            player.start()
        for player in players:
            player.join()
    assert totals.keys() == {*range(4)}


def test_a_broken_report_tells_no_place(new_game: Callable[..., Game], toy: Benchmark) -> None:
    """Neither its reveal, nor the summary, nor the page's fragments, nor a reload."""
    game = new_game(
        models=lambda _, keys: {key: [ModelGuess(f"of {key}", 1, 2, 3)] for key in keys}
    )
    api = Api(TestClient(app_of(game, toy.slug)))
    api.do("open")
    for fragments in (False, True, False, True, False):
        for asked in (
            api.ask("broken", fragments=fragments),
            api.ask("guess", latitude=1, longitude=2, fragments=fragments),
            api.look_up("state"),
            api.look_up("state?fragments=1"),
            api.ask("next", fragments=fragments),
        ):
            assert asked.status_code == 200
            assert not [secret for secret in secrets_of(toy) if secret in asked.text]
    finished = api.look_up("state").json()
    assert (finished["phase"], finished["max_total"]) == ("finished", 0)
    assert {(one["latitude"], one["key"]) for one in finished["reveals"]} == {(None, "")}
    assert api.look_up("state?fragments=1").json()["map"]["rounds"] == []


@pytest.mark.parametrize("shows", [False, True])
def test_titles_are_the_keepers_to_show(
    new_game: Callable[..., Game], toy: Benchmark, *, shows: bool
) -> None:
    titled = replace(toy, shows_titles=shows)
    api = Api(TestClient(app_of(new_game(benchmarks={toy.slug: titled}), toy.slug)))
    api.do("open")
    told = [api.ask("skip"), api.look_up("state?fragments=1")]
    for _ in range(4):
        api.do("next")
        api.do("skip")
    told += [api.ask("next"), api.look_up("state?fragments=1")]
    assert [("Titleof" in answer.text) for answer in told] == [shows] * 4
    assert "Recorded by <bdi>Authorof" in told[1].text
    assert "https://sounds.example/recordingof" in told[1].text


def test_a_broken_clip_is_missing_from_the_map_of_the_round(api: Api) -> None:
    api.do("open")
    api.do("broken")
    for _ in range(4):
        api.do("next")
        api.do("guess", latitude=1, longitude=2)
    shown = api.do("next", fragments=True)
    assert [one["number"] for one in shown["map"]["rounds"]] == [2, 3, 4, 5]
    assert "not reported as broken" in shown["map"]["text"]

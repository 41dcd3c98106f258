"""Past rounds, how others did, one's own data, and codes that carry a player elsewhere."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st

from agl1k_core.benchmarks import Benchmark
from game.api import play_router
from game.moves import Moves
from game.past import CELL_DEG, FEWEST_OTHERS, crowd_of, scores_of, spherical_mean
from game.rounds import Game
from store.guesses import GuessStore
from store.past import Total
from tests.support.play_api import Api
from tests.support.toy_game import Clock
from web.quota import Quota

points = st.tuples(st.floats(-90, 90), st.floats(-180, 180))


def http_of(game: Game, *slugs: str) -> TestClient:
    app = FastAPI()
    app.include_router(play_router(Moves(game, slugs)))
    return TestClient(app)


@pytest.fixture
def http(game: Game, toy: Benchmark) -> TestClient:
    return http_of(game, toy.slug)


def finished(http: TestClient, start: dict[str, Any] | None = None, **pin: float) -> Api:
    """A player who has played a round."""
    api = Api(http)
    api.do("open")
    if start:
        api.do("start", **start)
    for _ in range(5):
        api.do("guess", **{"latitude": 10.0, "longitude": 20.0, **pin})
        api.do("next")
    return api


def rounds_of(api: Api) -> Any:
    return api.look_up("rounds").json()


def test_finished_rounds_open_again_and_unfinished_ones_go_on(http: TestClient) -> None:
    api = finished(http)
    api.do("start", mode="daily")
    api.do("skip")
    api.do("start")  # opened only: not listed
    past = rounds_of(api)
    (done,), (left,) = past["finished"], past["unfinished"]
    assert (done["answered"], done["n_clips"], left["answered"]) == (5, 5, 1)
    assert (left["mode"], left["label"], left["finished_utc"]) == ("daily", "2026-03-14", None)
    again = api.look_up(f"rounds/{done['id']}").json()
    assert again["phase"] == "finished"
    assert again["summary"]["code"] == done["id"]
    assert again["total"] == done["total"]
    state = api.do("takeup", id=left["id"])
    assert (state["mode"], state["position"], state["phase"]) == ("daily", 0, "revealed")
    assert api.look_up("state").json()["label"] == "2026-03-14"  # a reload stays with it


def test_an_unfinished_round_tells_nothing_of_clips_without_an_answer(
    http: TestClient, toy: Benchmark
) -> None:
    api = Api(http)
    api.do("open")
    api.do("skip")
    api.do("next")
    (left,) = rounds_of(api)["unfinished"]
    text = api.look_up(f"rounds/{left['id']}").text + api.look_up("export.json").text
    text += api.look_up(f"others?round={left['id']}").text
    assert len(set(re.findall(r"secretkey\d+", text))) == 1


def test_rounds_are_for_their_player_only(http: TestClient) -> None:
    code = rounds_of(finished(http))["finished"][0]["id"]
    other = finished(http)
    for address in (f"rounds/{code}", f"others?round={code}"):
        assert other.look_up(address).status_code == 403
    assert other.ask("takeup", id=code).status_code == 403
    assert http.get("/api/play/rounds").status_code == 401
    for address in ("rounds/nonsense", "others?round=nonsense", "others"):
        answer = other.look_up(address)
        assert answer.status_code == 422
        assert "not the id of a round" in answer.json()["error"]


def challenge_by(http: TestClient, n_others: int, own: dict[str, float]) -> tuple[Api, Any]:
    """A player and ``n_others`` who played the same clips."""
    first = finished(http, latitude=52.0, longitude=13.0)
    code = rounds_of(first)["finished"][0]["id"]
    for number in range(n_others - 1):
        finished(http, {"mode": "challenge", "code": code}, latitude=40.0 + number)
    api = finished(http, {"mode": "challenge", "code": code}, **own)
    mine = rounds_of(api)["finished"][0]["id"]
    return api, api.look_up(f"others?round={mine}").json()


def test_others_are_told_from_five_on(http: TestClient) -> None:
    _, few = challenge_by(http, FEWEST_OTHERS - 1, {})
    assert few["scores"] == {"among": "today", "n_others": 0, "better_than": None, "bars": []}
    assert [one["n_others"] for one in few["clips"]] == [0] * 5
    assert [one["cells"] for one in few["clips"]] == [[]] * 5


def test_others_are_binned(http: TestClient) -> None:
    api, found = challenge_by(http, FEWEST_OTHERS, {"latitude": -60.0})
    scores = found["scores"]
    assert scores["n_others"] == FEWEST_OTHERS
    assert sum(bar["n_others"] for bar in scores["bars"]) == FEWEST_OTHERS
    assert [bar["is_yours"] for bar in scores["bars"]].count(True) == 1
    for crowd in found["clips"]:
        assert sum(cell["n_pins"] for cell in crowd["cells"]) == FEWEST_OTHERS
        assert {cell["south"] % CELL_DEG for cell in crowd["cells"]} == {0}
        assert min(cell["south"] for cell in crowd["cells"]) == 40  # none of the player's own
    text = api.look_up(f"others?round={rounds_of(api)['finished'][0]['id']}").text
    assert not re.search(r"player|nick|secretkey", text)


def test_a_daily_is_compared_with_those_who_played_it(http: TestClient, clock: Clock) -> None:
    for _ in range(FEWEST_OTHERS):
        finished(http, {"mode": "daily"})
    clock.forward(days=1)
    api = finished(http, {"mode": "daily", "day": "2026-03-14"}, latitude=-60.0)
    code = rounds_of(api)["finished"][0]["id"]
    scores = api.look_up(f"others?round={code}").json()["scores"]
    assert (scores["among"], scores["n_others"]) == ("daily", FEWEST_OTHERS)


def test_a_broken_clip_tells_nothing(http: TestClient) -> None:
    api = Api(http)
    api.do("open")
    for _ in range(5):
        api.do("broken", nickname="=1+1")
        api.do("next")
    code = rounds_of(api)["finished"][0]["id"]
    found = api.look_up(f"others?round={code}").json()
    assert found == {
        "scores": {"among": "today", "n_others": 0, "better_than": None, "bars": []},
        "clips": [],
    }
    for row in api.look_up("export.json").json()["answers"]:
        assert (row["clip"], row["true_latitude"], row["distance_km"]) == (None, None, None)


def test_a_round_on_a_chosen_continent_is_beside_no_others(http: TestClient) -> None:
    for _ in range(FEWEST_OTHERS):
        finished(http)
    api = finished(http, {"continent": "Asia"})
    code = rounds_of(api)["finished"][0]["id"]
    assert api.look_up(f"others?round={code}").json()["scores"]["n_others"] == 0


def test_a_sealed_benchmark_tells_nothing(
    new_game: Callable[..., Game], toy: Benchmark, http: TestClient
) -> None:
    api, _ = challenge_by(http, FEWEST_OTHERS, {})
    code = rounds_of(api)["finished"][0]["id"]
    shut = Api(http_of(new_game(benchmarks={toy.slug: replace(toy, sealed=True)}), toy.slug))
    shut.player = api.player
    found = shut.look_up(f"others?round={code}").json()
    assert (found["scores"]["n_others"], found["clips"]) == (0, [])
    assert {row["clip"] for row in shut.look_up("export.json").json()["answers"]} == {None}


def test_own_data_as_csv_and_json(http: TestClient) -> None:
    api = Api(http)
    api.do("open")
    api.do("guess", latitude=-12.5, longitude=20.0, nickname="=1+1")
    answer = api.look_up("export.csv")
    assert "attachment" in answer.headers["content-disposition"]
    (row,) = csv.DictReader(io.StringIO(answer.text))
    assert row["nickname"] == "'=1+1"
    assert (row["pin_latitude"], row["action"], row["position"]) == ("-12.5", "guess", "1")
    (same,) = api.look_up("export.json").json()["answers"]
    assert list(same) == list(row)
    assert same["nickname"] == "=1+1"
    assert float(row["distance_km"]) == same["distance_km"] > 0
    assert api.look_up("export.csv").text.count("\n") == 2


def test_a_code_carries_a_player_once(http: TestClient, clock: Clock) -> None:
    api = finished(http)
    code = http.post("/api/play/code", json={"player": api.player}).json()
    assert code["valid_s"] == 600
    typed = f" {code['code'].lower().replace('-', ' ')} "
    carried = http.post("/api/play/carry", json={"code": typed})
    assert carried.json()["player"] == api.player
    again = http.post("/api/play/carry", json={"code": code["code"]})
    assert again.status_code == 404
    late = http.post("/api/play/code", json={"player": api.player}).json()["code"]
    clock.forward(seconds=601)
    assert http.post("/api/play/carry", json={"code": late}).status_code == 404


def test_a_new_code_replaces_the_one_before(http: TestClient) -> None:
    player = finished(http).player
    first, second = (
        http.post("/api/play/code", json={"player": player}).json()["code"] for _ in range(2)
    )
    assert http.post("/api/play/carry", json={"code": first}).status_code == 404
    assert http.post("/api/play/carry", json={"code": second}).status_code == 200


@pytest.mark.parametrize("code", ["", "ABC", "0" * 12, "U" * 12, "1" * 13])
def test_other_codes_are_refused(http: TestClient, code: str) -> None:
    assert http.post("/api/play/carry", json={"code": code}).status_code in (404, 422)


def test_few_codes_can_be_tried(
    new_game: Callable[..., Game], toy: Benchmark, guess_store: GuessStore
) -> None:
    http = http_of(new_game(admit_code=Quota("codes tried", 3).take), toy.slug)
    tried = [http.post("/api/play/carry", json={"code": "0" * 12}).status_code for _ in range(4)]
    assert tried == [404, 404, 404, 429]


@given(st.lists(points, min_size=FEWEST_OTHERS, max_size=30))
def test_every_pin_is_in_a_cell_on_the_map(pins: list[tuple[float, float]]) -> None:
    crowd = crowd_of(0, pins)
    assert sum(cell.n_pins for cell in crowd.cells) == len(pins)
    for cell in crowd.cells:
        assert -90 <= cell.south <= 90 - CELL_DEG
        assert -180 <= cell.west <= 180 - CELL_DEG


@given(st.floats(-80, 80), st.floats(-179, 179))
def test_the_mean_of_one_place_is_the_place(lat: float, lon: float) -> None:
    assert spherical_mean([(lat, lon)] * 7) == pytest.approx((lat, lon), abs=0.051)


def test_better_than_counts_those_with_fewer_points() -> None:
    others = [Total(points, 5) for points in (0, 100, 5000, 20_000, 25_000)]
    scores = scores_of("today", 5000, others)
    assert (scores.better_than, scores.n_others) == (40, 5)
    assert [bar.n_others for bar in scores.bars] == [2, 0, 1, 0, 0, 0, 0, 0, 1, 1]
    assert [bar.low for bar in scores.bars if bar.is_yours] == [5000]

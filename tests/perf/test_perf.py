"""The speed measurements compare equal results, and their players send what the page sends."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator
from pathlib import Path

import httpx
import numpy as np
import pytest
from fastapi import FastAPI, Response

from agl1k_core.audio import AcousticFilters
from agl1k_core.benchmarks import Benchmark
from agl1k_core.curation import Analyzer
from agl1k_core.predictions import read_predictions
from agl1k_core.scoring import evaluate
from app import create_app
from perf import __main__ as command
from perf import (
    asking,
    boards,
    curating,
    data,
    million,
    near,
    players,
    row_by_row,
    scoring,
    table,
    visits,
)
from perf.servers import Serving
from perf.table import Measured
from tests.support import tagger_models
from tests.support.served import served
from tests.support.waiting import PATIENCE_S
from web.settings import Settings


@pytest.fixture(scope="module")
def made_up() -> Benchmark:
    return data.made_up_benchmark(60)


def test_row_by_row_finds_the_same_numbers(made_up: Benchmark) -> None:
    file = data.published_kind_of_file(made_up)
    scoring.assert_same(scoring.ours(file, made_up), row_by_row.evaluate(file, made_up))
    statuses = evaluate(made_up, read_predictions(file, made_up), intervals=False).statuses
    assert statuses["missing"] == 2
    assert statuses["answered"] > statuses["refused"] > 0


def test_another_number_is_noticed(made_up: Benchmark) -> None:
    file = data.published_kind_of_file(made_up)
    ours = {subset: dict(numbers) for subset, numbers in scoring.ours(file, made_up).items()}
    ours["speech"]["geoscore"] *= 1 + 1e-6
    with pytest.raises(AssertionError, match="geoscore"):
        scoring.assert_same(ours, row_by_row.evaluate(file, made_up))


def test_row_by_row_checks_the_clips_too(made_up: Benchmark) -> None:
    records = json.loads(data.published_kind_of_file(made_up))
    with pytest.raises(ValueError, match="clips twice"):
        row_by_row.evaluate(json.dumps([*records, records[0]]).encode(), made_up)


@pytest.mark.shared
def test_row_by_row_finds_the_same_numbers_in_the_real_file() -> None:
    if not data.SHARED.is_dir():
        pytest.skip("the real AGL1K data is not beside this checkout")
    benchmark, file, _ = data.real_or_made_up()
    scoring.assert_same(scoring.ours(file, benchmark), row_by_row.evaluate(file, benchmark))


def test_flat_lines_hold_what_the_list_holds(made_up: Benchmark) -> None:
    lines = read_predictions(data.json_lines(made_up), made_up)
    listed = read_predictions(data.published_kind_of_file(made_up), made_up)
    assert lines.keys.tolist() == listed.keys.tolist()
    assert np.array_equal(lines.lat, listed.lat, equal_nan=True)


def test_the_million_is_measured_at_any_size() -> None:
    assert million.measure(300).keys() == {"read_s", "score_s", "cpu_s", "before_gb", "peak_gb"}


@pytest.fixture(scope="module")
def app_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("perf")
    app = create_app(Settings.from_env({"AGL1K_DATA": str(folder), "AGL1K_BUSY_MS": "1000000"}))
    with served(app) as url:
        yield url


def test_players_play_as_the_page_does(app_url: str) -> None:
    n_clips = 6  # a round of five and one of the next

    async def part(browser: players.Browser, _: float) -> None:
        await browser.hear(await browser.move("open"))
        for _ in range(n_clips):
            await players.clip(browser, (0, 0))

    tally = asyncio.run(players.crowd(app_url, 3, part, 0))
    assert tally.errors == []
    made = {name: len(seconds) for name, seconds in tally.seconds.items()}
    assert made == {
        "open": 3, "guess": 3 * n_clips, "next": 3 * n_clips, "again": 3,
        "clip": 3 * (n_clips + 1), "call": 0,
    }  # fmt: skip


def test_players_stop_when_their_time_is_up(app_url: str) -> None:
    tally = asyncio.run(players.crowd(app_url, 2, players.play, 0))
    made = {name: len(seconds) for name, seconds in tally.seconds.items()}
    assert (made["open"], made["guess"], tally.errors) == (2, 0, [])


def test_processor_time_is_measured_by_call(app_url: str) -> None:
    server = Serving(app_url, 0, os.getpid())
    spent = asyncio.run(players.cpu_of_calls(server, 6))
    assert {name: len(seconds) for name, seconds in spent.items()} == {"guess": 6, "next": 6}
    assert min(map(max, spent.values())) > 0
    assert server.memory_mb() > 10


def test_players_who_are_told_to_wait_come_again() -> None:
    app, asked = FastAPI(), list[int]()

    @app.post("/plain")
    def full_at_first() -> Response:
        asked.append(1)
        return Response(status_code=503 if len(asked) < 3 else 200, headers={"Retry-After": "0"})

    async def ask() -> players.Tally:
        tally = players.Tally()
        browser = players.Browser(url, tally)
        await browser.timed("call", "POST", "/plain")
        await browser.http.aclose()
        return tally

    with served(app) as url:
        tally = asyncio.run(ask())
    assert (tally.n_told_to_wait, len(tally.seconds["call"]), tally.errors) == (2, 1, [])


def test_visits_are_those_of_the_page(app_url: str) -> None:
    config = httpx.get(f"{app_url}/config", timeout=PATIENCE_S).json()
    assert visits.loaded_events(config)
    asyncio.run(visits.visit_often(app_url, 3))
    assert asyncio.run(visits.loop_pages(app_url, 0.3, 2)) >= 2


def test_limits_decide_the_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kept, missed = (Measured("toy", "speed", 20, "×", limit, "at least") for limit in (20.0, 21.0))
    monkeypatch.setattr(command, "BENCHMARKS", {"good": lambda: [kept], "bad": lambda: [missed]})
    assert command.main(["good"]) == 0
    assert command.main([]) == 1
    assert "MISSED" in capsys.readouterr().out
    assert command.main(["other"]) == 2
    assert table.Measured("toy", "errors", 0, "", 0).passed
    assert not table.Measured("toy", "errors", 1, "", 0).passed


def test_curation_is_measured_at_any_size(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    monkeypatch.setattr(curating, "N_FILES", 2)
    monkeypatch.setattr(curating, "N_CANDIDATES", 50)
    lines = [*curating.run(tagger_models.yamnet_models(pytestconfig))]
    told = [(line.benchmark, line.what) for line in lines]
    assert ("curation", "8 files, each") in told
    assert ("selection", "200 candidates, each") in told
    assert all(line.value > 0 for line in lines)
    curating.write_recordings(tmp_path / "raw", 3)
    assert curating.curated(tmp_path / "raw", Analyzer(AcousticFilters())) == 3


def test_asking_is_measured_at_any_size(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(asking, "N_CLIPS", 5)
    told = {line.what: line.value for line in asking.run()}
    assert told["5 clips"] >= asking.WAIT_S
    assert told["memory at the end"] > 10


def test_boards_of_many_rows_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boards, "N_CLIPS", 60)
    monkeypatch.setattr(boards, "N_ROWS", (2, 4))
    measured = {line.what: line.value for line in boards.run()}
    assert measured["4 rows: the page's HTML"] > measured["2 rows: the page's HTML"] > 10
    assert all(value > 0 for value in measured.values())


def test_copies_that_are_not_found_lower_the_recall(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    seconds = 6 * near.RATE_HZ
    noise = {key: (0.1 * rng.normal(size=seconds)).astype(np.float32) for key in "ab"}
    monkeypatch.setattr(near, "originals", lambda: iter(noise.items()))
    monkeypatch.setattr(near, "N_CLIPS", 4)
    changes: dict[str, near.Change] = {
        "quiet": lambda wave: (0.25 * wave, near.RATE_HZ),
        "backwards": lambda wave: (wave[::-1], near.RATE_HZ),
        "the other": lambda wave: (noise["b" if wave is noise["a"] else "a"], near.RATE_HZ),
    }
    monkeypatch.setattr(near, "CHANGES", changes)
    told = {line.what: line.value for line in near.run()}
    recalls = [told[f"recall: {name}"] for name in changes]
    assert recalls == [1, 0, 0]
    assert told["precision of all"] == 0.5
    assert told["4 clips, each"] > 0

"""A sealed board tells rounded means, whichever way it is asked, and counts who asks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from sqlalchemy import delete

from agl1k_core import predictions, scoring
from agl1k_core.benchmarks import Benchmark
from agl1k_core.errors import Agl1kError
from agl1k_core.scoring import CLIP_METRICS, Evaluation, grid_step
from leaderboard import render, submit
from leaderboard.api import board_page, leaderboard_router
from leaderboard.board import Board
from leaderboard.compare import compare
from leaderboard.detail import make_detail
from leaderboard.reports import Report
from leaderboard.submit import Form, Place, dry_run, publish
from leaderboard.tab import compare_rows, open_row
from store.database import Database
from store.guesses import GuessStore
from store.schema import scored_files
from store.scorings import Scorings
from store.submissions import SubmissionStore
from tests.support.toy_board import (
    MAX_BYTES,
    NOW,
    add_guesses,
    add_model,
    make_benchmark,
    prediction_file,
)

SEALED = replace(make_benchmark(160), sealed=True)


@pytest.fixture
def scorings(database: Database) -> Scorings:
    with database.write() as connection:
        connection.execute(delete(scored_files))
    return Scorings(database, each=5, in_all=8)


def board_of(database: Database, benchmark: Benchmark, scorings: Scorings | None) -> Board:
    stores = SubmissionStore(database), GuessStore(database)
    return Board("toy", "Toy", lambda: benchmark, *stores, scorings=scorings)


@pytest.fixture
def board(database: Database, scorings: Scorings) -> Board:
    return board_of(database, SEALED, scorings)


@pytest.fixture
def client(board: Board) -> Iterator[TestClient]:
    app = FastAPI()
    app.include_router(leaderboard_router({"toy": board}))
    with TestClient(app) as opened:
        yield opened


def run(board: Board, data: bytes, who: str = "ann") -> Report:
    return dry_run(data, "x.json", board, max_bytes=MAX_BYTES, who=who)


def is_on_grid(value: float, metric: str, n_clips: int) -> bool:
    steps = value / grid_step(metric, n_clips)
    return abs(steps - round(steps)) < 1e-6


# --- every answer ---------------------------------------------------------------------------------


def test_a_dry_run_tells_rounded_means(board: Board) -> None:
    report = run(board, prediction_file(SEALED, 3)).to_dict()
    assert report["paper"] is None
    assert {*report["strict"]["metrics"]} == {*CLIP_METRICS}
    assert all(is_on_grid(v, name, 160) for name, v in report["strict"]["metrics"].items())
    assert "rows" not in report["strict"]
    assert report["strict"]["subset_statuses"] == {}
    page = render.report_page(run(board, prediction_file(SEALED, 3)), board)
    assert "The true places are sealed" in page
    assert "paper, for comparison" not in page


def test_rows_tell_rounded_means_by_every_way(board: Board, client: TestClient) -> None:
    published = add_model(board, "A", 3)
    add_model(board, "B", 40)
    row_id = published.submission.row_id
    assert published.submission.evaluation["subset_statuses"] == {}
    for subset in ("all", "speech", "Europe"):
        rows = client.get(f"/api/leaderboard?board=toy&subset={subset}").json()["rows"]
        n_clips = {"all": 160, "speech": 80, "Europe": 32}[subset]
        assert {row["kind"] for row in rows} == {"scored", "baseline"}
        for row in rows:
            told = {name for name, value in row["metrics"].items() if value is not None}
            assert told == {*CLIP_METRICS}
            assert all(is_on_grid(row["metrics"][name], name, n_clips) for name in told)
            assert row["statuses"] == {} or subset == "all"
    assert client.get("/api/leaderboard?board=toy&subset=things").status_code == 422
    assert "A" in client.get("/api/leaderboard.csv?board=toy").text
    found = client.get(f"/api/leaderboard/compare?board=toy&first={row_id}&second=baseline-random")
    assert (found.status_code, "sealed" in found.json()["detail"]) == (404, True)
    file = client.get(f"/api/leaderboard/file?board=toy&submission={row_id}")
    assert file.content == prediction_file(SEALED, 3)


def test_the_details_of_a_row_name_no_clip(board: Board) -> None:
    row_id = add_model(board, "A", 3).submission.row_id
    opened = open_row({"toy": board}, {"board": "toy", "row_id": row_id})
    assert (opened.figure, opened.has_map) == (None, False)
    assert not re.search(r"clip-\d", opened.html)
    assert "Compare with" not in opened.html
    assert "1, dry runs included" in opened.html
    for row in board.rows():
        detail = make_detail(board, row)
        assert (detail.confusion, detail.hardest, detail.errors) == (None, (), ())
        assert (detail.distances_km, detail.beliefs) == (None, ())
    asked = {"board": "toy", "row_id": row_id, "other": "baseline-random"}
    compared = compare_rows({"toy": board}, asked)
    assert "not compared clip by clip" in compared.html
    assert compared.figure is None
    with pytest.raises(Agl1kError, match="sealed"):
        compare(board, row_id, "baseline-random")
    page = board_page({"toy": board}, "board=toy")
    assert "The true places are sealed" in page
    assert not re.search(r"clip-\d", page)


def test_neither_examples_nor_models_guesses_show_places(board: Board, client: TestClient) -> None:
    add_model(board, "A", 0.5)
    example = client.get("/api/leaderboard/example.csv?board=toy").text
    assert len({line.split(",")[1] for line in example.splitlines()[1:]}) > 100  # random points
    assert board.model_guesses(["clip-00"]) == {"clip-00": []}


def test_people_are_not_on_the_board(board: Board) -> None:
    """A guess from the time before the benchmark was sealed."""
    add_guesses(board, "p", [clip.key for clip in SEALED.clips[:5]])
    assert "people" not in {row.kind for row in board.rows()}


def test_what_was_stored_before_the_seal_is_sealed(
    database: Database, board: Board, client: TestClient
) -> None:
    before = board_of(database, replace(SEALED, sealed=False), None)
    row_id = add_model(before, "A", 3).submission.row_id
    assert "distance_q25_km" in before.rows()[0].values["all"]
    row = board.row(row_id)
    assert row is not None
    assert {*row.values["all"]} == {*CLIP_METRICS}
    assert all(is_on_grid(v, name, 160) for name, v in row.values["all"].items())
    assert all(is_on_grid(v, name, 160) for name, v in row.files[0].metrics.items())


def test_a_result_too_good_waits_without_saying_how_good(board: Board) -> None:
    done = add_model(board, "A", 0.0)
    assert done.held == "Its numbers are too good to be an answer."


def test_the_stored_file_can_be_scored_again(board: Board) -> None:
    stored = add_model(board, "A", 3).submission
    again = submit.recompute(stored, board.submissions, SEALED)
    assert submit.differences(stored.evaluation, again) == []
    assert again.rows is None


def test_several_runs_are_shown_as_their_mean(board: Board) -> None:
    first = add_model(board, "A", 0.5)
    to = Place(first.submission.row_id, first.withdraw_key, "run")
    data, form = prediction_file(SEALED, 30), Form("A", weights="open", to=to)
    publish(data, "y.json", form, board, max_bytes=MAX_BYTES, now=NOW)
    row = board.row(first.submission.row_id)
    assert row is not None
    low_high = row.ranges["all"]["geoscore"]
    assert row.value("geoscore") == pytest.approx((low_high.low + low_high.high) / 2)
    assert low_high.low < low_high.high
    assert row.row_id in board.ranks("geoscore", "all")


def test_ranks_follow_from_what_is_shown(board: Board) -> None:
    far, near = (
        add_model(board, name, off).submission.row_id for name, off in (("F", 60), ("N", 1))
    )
    ranks = board.ranks("distance_km", "all")
    assert (ranks[near].place, ranks[far].place) == (1, 2)
    assert ranks["baseline-random"].place > 1


# --- counting -------------------------------------------------------------------------------------


def test_files_are_counted_per_submitter_and_in_all(board: Board) -> None:
    for number in range(5):
        assert run(board, prediction_file(SEALED, 1 + number)).accepted
    refused = run(board, prediction_file(SEALED, 9))
    assert not refused.accepted
    assert "5 new files within 24 hours, by one submitter" in refused.message
    assert run(board, prediction_file(SEALED, 2)).accepted  # scored before
    assert [run(board, prediction_file(SEALED, 9), f"sybil {n}").accepted for n in range(5)] == [
        True, True, True, False, False,
    ]  # fmt: skip
    assert board.n_scored == 8


def test_a_file_that_is_refused_does_not_count(board: Board) -> None:
    assert not run(board, b"[{}]").accepted
    assert board.n_scored == 0


def test_the_row_says_how_many_files_its_submitter_had_scored(board: Board) -> None:
    for off in (1, 2, 3):
        run(board, prediction_file(SEALED, off))
    run(board, prediction_file(SEALED, 3), "somebody else")
    data, form = prediction_file(SEALED, 3), Form("A", weights="open")
    done = publish(data, "x.json", form, board, max_bytes=MAX_BYTES, owner="ann")
    row = board.row(done.submission.row_id)
    assert row is not None
    assert row.n_scored == 3


def test_a_board_that_is_not_sealed_counts_nothing(database: Database, scorings: Scorings) -> None:
    open_board = board_of(database, replace(SEALED, sealed=False), scorings)
    for number in range(9):
        report = run(open_board, prediction_file(SEALED, number))
        assert report.paper is not None
    assert open_board.n_scored == 0
    assert all(row.n_scored is None for row in open_board.rows())


def test_the_legend_says_how_sealed_rows_are_apart(board: Board, database: Database) -> None:
    """An open board's rows are apart by paired tests."""
    open_board = board_of(database, replace(SEALED, sealed=False), None)
    sealed_words, open_words = (board_page({"toy": one}, "") for one in (board, open_board))
    assert ("apart if their intervals are" in sealed_words, "Holm" in sealed_words) == (True, False)
    assert ("apart if their intervals are" in open_words, "Holm" in open_words) == (False, True)


# --- the attack -----------------------------------------------------------------------------------

_CANDIDATES = [(lat, lon) for lat in (-45, 0, 45) for lon in range(-180, 180, 60)]


class Attacker:
    """Moves one clip at a time to each of some places, and keeps what gives the best numbers."""

    def __init__(self, board: Board) -> None:
        self._board, self.n_refused, self._n = board, 0, 0
        self.points = np.zeros((len(SEALED), 2))

    def numbers(self) -> dict[str, Any] | None:
        records = [
            {"key": clip.key, "latitude": float(lat), "longitude": float(lon)}
            for clip, (lat, lon) in zip(SEALED.clips, self.points, strict=True)
        ]
        self._n += 1
        report = run(self._board, json.dumps(records).encode(), f"sybil {self._n // 4}").to_dict()
        self.n_refused += not report["accepted"]
        return None if report["strict"] is None else dict(report["strict"])

    def attack(self, n_clips: int) -> None:
        for at in range(n_clips):
            tried = {}
            for point in _CANDIDATES:
                self.points[at] = point
                found = self.numbers()
                if found is None:
                    return
                tried[point] = found["metrics"]["geoscore"] - found["metrics"]["distance_km"]
            self.points[at] = max(tried, key=tried.__getitem__)

    def distance_km(self, n_clips: int) -> float:
        scored = scoring.evaluate(
            replace(SEALED, sealed=False),
            predictions.read_predictions(
                [
                    {"key": clip.key, "latitude": float(lat), "longitude": float(lon)}
                    for clip, (lat, lon) in zip(SEALED.clips, self.points, strict=True)
                ],
                SEALED,
            ),
        )
        return float(np.mean(scored.require_rows().column("distance_km")[:n_clips]))


def best_possible_km(n_clips: int) -> float:
    return float(np.mean([nearest_km(at) for at in range(n_clips)]))


def nearest_km(at: int) -> float:
    from agl1k_core.places import geodesic_km

    clip = SEALED.clips[at]
    lat, lon = np.array(_CANDIDATES, dtype=float).T
    return float(
        geodesic_km(np.full_like(lat, clip.lat), np.full_like(lon, clip.lon), lat, lon).min()
    )


def test_changing_one_clip_at_a_time_finds_no_place(database: Database, scorings: Scorings) -> None:
    """The same attack finds all places on a board that is not sealed."""
    unlimited = Scorings(database, each=10**6, in_all=10**6)
    opened = Attacker(board_of(database, replace(SEALED, sealed=False), None))
    sealed = Attacker(board_of(database, SEALED, unlimited))
    for attacker in (opened, sealed):
        attacker.attack(6)
    assert opened.distance_km(6) < 1.2 * best_possible_km(6)
    assert sealed.distance_km(6) > 2 * best_possible_km(6)


def test_the_attack_is_stopped_for_today(board: Board) -> None:
    attacker = Attacker(board)
    attacker.attack(6)
    assert attacker.n_refused == 1
    assert board.n_scored == 8  # for three made-up submitters


def test_single_changes_are_invisible_in_every_number(
    database: Database,
) -> None:
    """Of 40 changes of one clip, hardly one moves any of the numbers that a dry run gives."""
    attacker = Attacker(board_of(database, SEALED, None))
    generator = np.random.default_rng(4)
    attacker.points[:] = generator.uniform((-60, -180), (60, 180), (len(SEALED), 2))
    start = attacker.points.copy()
    before = told(attacker.numbers())
    moved = 0
    for at in range(40):
        attacker.points[:] = start
        attacker.points[at] = (-start[at][0], (start[at][1] + 360) % 360 - 180)
        moved += told(attacker.numbers()) != before
    assert moved <= 8


def told(strict: dict[str, Any] | None) -> dict[str, Any]:
    assert strict is not None
    evaluation = Evaluation.from_dict(strict)
    return {"means": evaluation.metrics, "subsets": evaluation.subsets}

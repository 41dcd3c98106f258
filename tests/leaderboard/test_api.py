from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from leaderboard.api import leaderboard_router
from leaderboard.board import Board
from leaderboard.submit import dry_run
from tests.support.toy_board import MAX_BYTES, add_model


@pytest.fixture
def client(board: Board, absent: Board) -> Iterator[TestClient]:
    app = FastAPI()
    app.include_router(leaderboard_router({"toy": board, "agl1k": absent}))
    with TestClient(app) as started:
        yield started


def test_rows_as_json(client: TestClient, board: Board) -> None:
    add_model(board, "Near", 0.5)
    found = client.get("/api/leaderboard", params={"subset": "speech", "search": "near"}).json()
    assert found["board"] == "toy"
    assert [row["model"] for row in found["rows"]] == ["Near"]
    assert found["rows"][0]["rank"] == 1
    assert found["n_hidden"] == 3
    assert found["rows"][0]["statuses"]["answered"] == 20


def test_reported_rows_as_json(client: TestClient) -> None:
    found = client.get("/api/leaderboard?board=agl1k").json()
    assert len(found["rows"]) == 19
    assert "agl1k fetch" in found["notice"]


@pytest.mark.parametrize(
    ("query", "status", "part"),
    [
        ("board=nowhere", 404, "The boards are: toy, agl1k."),
        ("subset=speach", 422, "subset has no value 'speach'"),
        ("colour=red", 422, "'colour' is not a parameter"),
        ("subset=music", 422, "Toy has no subset 'music'"),
        ("min_coverage=abc", 422, "min_coverage is 'abc'; give a whole number from 0 to 100"),
        ("min_coverage=101", 422, "min_coverage is '101'"),
        ("min_coverage=-1", 422, "is '-1'"),
        ("reverse=yes", 422, "reverse is 'yes'; give 0 or 1"),
        ("intervals=maybe", 422, "intervals is 'maybe'"),
        ("sort=model&sort=kind", 422, "'sort' is given twice"),
    ],
)
def test_misspellings_are_answered(client: TestClient, query: str, status: int, part: str) -> None:
    for path in ("/api/leaderboard", "/api/leaderboard.csv"):
        answer = client.get(f"{path}?{query}")
        assert answer.status_code == status
        assert part in answer.json()["detail"]


def test_rows_as_csv(client: TestClient) -> None:
    answer = client.get("/api/leaderboard.csv")
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert 'filename="toy-leaderboard.csv"' in answer.headers["content-disposition"]
    assert len(list(csv.DictReader(io.StringIO(answer.text)))) == 3


def test_comparison(client: TestClient) -> None:
    pair = {"board": "toy", "first": "baseline-random", "second": "baseline-densest-region"}
    found = client.get("/api/leaderboard/compare", params=pair).json()
    assert found["n_common"] == 40
    assert found["metrics"]["distance_km"]["low"] < found["metrics"]["distance_km"]["high"]
    gone = client.get("/api/leaderboard/compare", params=pair | {"second": "gone"})
    assert gone.status_code == 404
    assert "not on this board" in gone.json()["detail"]


@pytest.mark.parametrize("kind", ["csv", "json"])
def test_example_files_are_taken(client: TestClient, board: Board, kind: str) -> None:
    answer = client.get(f"/api/leaderboard/example.{kind}?board=toy")
    report = dry_run(answer.content, f"example.{kind}", board, max_bytes=MAX_BYTES)
    assert report.accepted, report.to_dict()
    assert report.strict is not None
    assert report.strict.statuses["missing"] == 0
    if kind == "json":
        assert report.strict.statuses["answered"] == 2
        assert report.strict.statuses["refused"] == 38


@pytest.mark.parametrize("kind", ["csv", "json"])
def test_examples_of_an_absent_table_are_well_formed(client: TestClient, kind: str) -> None:
    text = client.get(f"/api/leaderboard/example.{kind}?board=agl1k").text
    rows = json.loads(text) if kind == "json" else list(csv.DictReader(io.StringIO(text)))
    assert rows[0]["key"] == "aporee_26839_30948"


def test_the_page_takes_any_query(client: TestClient) -> None:
    for query in ("", "board=nowhere&subset=%FF", "sort=<script>&columns=,,,", "x=" + "y" * 3000):
        answer = client.get(f"/api/leaderboard/page?{query}")
        assert answer.status_code == 200
        assert "agl-board-table" in answer.text
        assert "<script" not in answer.text

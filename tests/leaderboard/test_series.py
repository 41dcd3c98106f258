from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from agl1k_core.benchmarks import Benchmark
from agl1k_core.errors import Agl1kError, FileRefusedError
from agl1k_core.scoring import Evaluation
from leaderboard.api import leaderboard_router
from leaderboard.board import Board
from leaderboard.detail import make_detail
from leaderboard.export import row_json
from leaderboard.query import Query
from leaderboard.render import row_detail
from leaderboard.submit import Form, Place, Published, publish, withdraw
from leaderboard.view import make_view
from store.database import Database
from tests.support.toy_board import MAX_BYTES, NOW, add_model, make_board, prediction_file

LATER = NOW + timedelta(days=10)


def _add(board: Board, to: Published, relation: str, degrees_off: float, **form: Any) -> Published:
    """Another file for a published row."""
    assert board.benchmark is not None
    place = Place(to.submission.row_id, to.withdraw_key, relation)
    data = prediction_file(board.benchmark, degrees_off)
    about = Form("Model", weights="open", to=place, **form)
    return publish(data, "more.json", about, board, max_bytes=MAX_BYTES, now=LATER)


def _km(board: Board, row_id: str) -> float:
    row = board.row(row_id)
    assert row is not None
    return row.value("distance_km")


def test_a_replacement_has_the_address_and_the_key_of_what_it_replaces(board: Board) -> None:
    first = add_model(board, "Model", 9.0)
    before = _km(board, first.submission.row_id)
    second = _add(board, first, "replaces", 1.0)
    assert second.withdraw_key == ""
    assert second.submission.row_id == first.submission.submission_id
    row = board.row(first.submission.row_id)
    assert row is not None
    assert row.value("distance_km") < before
    assert [file.counts for file in row.files] == [True, False]
    assert row.files[1].metrics["distance_km"] == before
    assert [r.row_id for r in board.rows() if r.kind == "scored"] == [row.row_id]
    assert row.value("distance_km") == pytest.approx(
        board.scored(row.row_id).metrics["distance_km"]  # type: ignore[union-attr]
    )


def test_runs_are_one_row_with_mean_and_range(board: Board) -> None:
    first = add_model(board, "Model", 9.0)
    add_model(board, "Other", 5.0)
    alone = _km(board, first.submission.row_id)
    second = _add(board, first, "run", 1.0)
    other = second.submission.evaluation["metrics"]["distance_km"]
    row = board.row(first.submission.row_id)
    assert row is not None
    assert row.n_runs == 2
    assert row.value("distance_km") == pytest.approx((alone + other) / 2)
    ends = row.ranges["all"]["distance_km"]
    assert (ends.low, ends.high) == (other, alone)
    rank = board.ranks("distance_km", "all")[row.row_id]
    assert rank.best <= rank.place <= rank.worst
    page = row_detail(make_detail(board, row), board)
    assert "the mean of 2" in page
    view = make_view(board, Query())
    (entry,) = [entry for entry in view.entries if entry.row.row_id == row.row_id]
    told = row_json(entry, "all")
    assert told["n_runs"] == 2
    assert told["run_ranges"]["distance_km"] == [other, alone]


def test_a_replacement_ends_the_runs_before_it(board: Board) -> None:
    first = add_model(board, "Model", 9.0)
    _add(board, first, "run", 8.0)
    last = _add(board, first, "replaces", 1.0)
    row = board.row(first.submission.row_id)
    assert row is not None
    assert row.n_runs == 1
    assert row.value("distance_km") == last.submission.evaluation["metrics"]["distance_km"]


def test_the_board_as_of_a_day_has_the_files_of_that_day(board: Board) -> None:
    first = add_model(board, "Model", 9.0)
    before = _km(board, first.submission.row_id)
    add_model(board, "Other", 5.0)
    _add(board, first, "replaces", 1.0)
    then = make_view(board, Query(as_of=f"{NOW:%Y-%m-%d}"))
    now = make_view(board, Query())
    kilometres = [
        next(e.row for e in view.entries if e.row.row_id == first.submission.row_id).value(
            "distance_km"
        )
        for view in (then, now)
    ]
    assert kilometres[0] == before > kilometres[1]


def test_only_the_key_adds_to_a_row(board: Board) -> None:
    first = add_model(board, "Model", 9.0)
    stranger = add_model(board, "Stranger", 2.0)
    forged = Published(first.submission, stranger.withdraw_key)
    with pytest.raises(Agl1kError, match="this key does not belong to the row"):
        _add(board, forged, "replaces", 1.0)
    assert len(board.submissions.list(board.slug)) == 2


def test_the_owner_needs_no_key_and_others_get_nowhere_by_a_name(board: Board) -> None:
    first = add_model(board, "Model", 9.0, owner="ada")
    assert board.benchmark is not None
    about = Form("Model", weights="open", to=Place(first.submission.row_id, "", "run"))
    for degrees, owner, counts in ((1.0, "ada", 2), (2.0, "bob", 2), (3.0, "", 2)):
        data = prediction_file(board.benchmark, degrees)
        try:
            publish(data, "a.json", about, board, max_bytes=MAX_BYTES, now=LATER, owner=owner)
        except Agl1kError:
            assert owner != "ada"
        assert len(board.submissions.list(board.slug)) == counts


@pytest.mark.parametrize(
    ("place", "found"),
    [
        (Place("", "", "run"), "row: it is empty"),
        (Place("x", "y", ""), "neither is chosen"),
        (Place("x", "y", "instead"), "'instead'"),
    ],
)
def test_half_a_place_is_refused(board: Board, place: Place, found: str) -> None:
    assert board.benchmark is not None
    data = prediction_file(board.benchmark, 1.0)
    about = Form("Model", weights="open", to=place)
    with pytest.raises(FileRefusedError, match=found):
        publish(data, "a.json", about, board, max_bytes=MAX_BYTES)


def test_a_row_that_is_not_there_is_named(board: Board) -> None:
    first = add_model(board, "Model", 9.0)
    second = _add(board, first, "run", 1.0)
    for row_id, why in (("nowhere", "no row 'nowhere'"), (second.submission.submission_id, "not")):
        gone = Place(row_id, first.withdraw_key, "run")
        about = Form("Model", weights="open", to=gone)
        assert board.benchmark is not None
        data = prediction_file(board.benchmark, 3.0)
        with pytest.raises(Agl1kError, match=why):
            publish(data, "a.json", about, board, max_bytes=MAX_BYTES)


def test_withdrawing_takes_the_row_with_all_its_files(board: Board) -> None:
    first = add_model(board, "Model", 9.0)
    second = _add(board, first, "run", 1.0)
    withdraw(board.submissions, second.submission.submission_id, first.withdraw_key)
    assert board.row(first.submission.row_id) is None
    for done in (first, second):
        with pytest.raises(Agl1kError):
            board.submissions.file(done.submission.submission_id)


def test_a_held_replacement_leaves_the_row_as_it_was(board: Board) -> None:
    first = add_model(board, "Model", 9.0)
    before = _km(board, first.submission.row_id)
    held = _add(board, first, "replaces", 0.0)  # the truth itself
    assert held.held
    assert _km(board, first.submission.row_id) == before
    board.submissions.moderation.decide(
        "submission", held.submission.submission_id, "restore", "ok"
    )
    assert _km(board, first.submission.row_id) == pytest.approx(0, abs=1e-6)


def test_files_can_be_downloaded_unless_they_are_not_shared(board: Board) -> None:
    app = FastAPI()
    app.include_router(leaderboard_router({board.slug: board}))
    client = TestClient(app)
    first = add_model(board, "Model", 9.0)
    secret = _add(board, first, "replaces", 1.0, is_shared=False)

    def get(submission_id: str) -> tuple[int, bytes]:
        given = {"board": board.slug, "submission": submission_id}
        response = client.get("/api/leaderboard/file", params=given)
        return response.status_code, response.content

    assert board.benchmark is not None
    assert get(first.submission.submission_id) == (200, prediction_file(board.benchmark, 9.0))
    status, said = get(secret.submission.submission_id)
    assert status == 404
    assert b"does not share this file" in said
    assert get("nothing")[0] == 404
    row = board.row(first.submission.row_id)
    assert row is not None
    page = row_detail(make_detail(board, row), board)
    assert page.count("api/leaderboard/file?") == 1
    assert "not shared" in page
    board.submissions.moderation.decide("submission", row.row_id, "hide", "a complaint")
    assert get(first.submission.submission_id)[0] == 404


def test_the_badge_says_no_more_than_the_operator_confirmed(board: Board) -> None:
    first = add_model(board, "Model", 9.0, owner="ada", organisation="Lab")
    row_id = first.submission.row_id
    moderation = board.submissions.moderation

    def add(degrees: float, owner: str, organisation: str) -> bool:
        assert board.benchmark is not None
        place = Place(row_id, first.withdraw_key, "replaces")
        about = Form("Model", organisation, weights="open", to=place)
        data = prediction_file(board.benchmark, degrees)
        publish(data, "a.json", about, board, max_bytes=MAX_BYTES, owner=owner)
        return is_verified()

    def is_verified() -> bool:
        row = board.row(row_id)
        assert row is not None
        return row.verified

    moderation.decide("submission", row_id, "verify", "by mail")
    assert is_verified()
    assert add(8.0, "ada", "Lab")
    assert not add(7.0, "ada", "Another lab")
    assert not add(6.0, "eve", "Lab")  # somebody with the key
    assert not add(5.0, "", "Lab")
    assert add(4.0, "ada", "Lab")
    last = board.submissions.list(board.slug)[-1]
    moderation.decide("submission", row_id, "unverify", "a mistake")
    assert not is_verified()
    moderation.decide("submission", last.submission_id, "verify", "by its newest file")
    assert is_verified()


def test_a_run_that_leaves_clips_out_marks_the_row(board: Board) -> None:
    first = add_model(board, "Model", 9.0, first=5)
    row = board.row(first.submission.row_id)
    assert row is not None
    assert row.is_partial
    coverage = row.coverage
    _add(board, first, "run", 1.0)
    row = board.row(first.submission.row_id)
    assert row is not None
    assert (row.is_partial, row.coverage) == (True, coverage)


def test_runs_on_another_version_of_the_table_do_not_count(
    board: Board, database: Database, toy: Benchmark
) -> None:
    first = add_model(board, "Model", 9.0)
    clips = (replace(toy.clips[0], lat=toy.clips[0].lat + 1), *toy.clips[1:])
    now = make_board(database, lambda: replace(toy, clips=clips))
    _add(now, first, "run", 1.0)
    row = now.row(first.submission.row_id)
    assert row is not None
    assert (row.n_runs, row.unranked) == (1, "")
    assert [file.counts for file in row.files] == [True, False]


def test_points_and_distances_of_a_row_with_runs_are_those_of_the_last_one(board: Board) -> None:
    first = add_model(board, "Model", 9.0)
    second = _add(board, first, "run", 1.0)
    answers = board.answers(first.submission.row_id)
    assert answers is not None
    assert answers.metrics == Evaluation.from_dict(second.submission.evaluation).metrics
    rows = answers.require_rows()
    key = rows.benchmark.clips[rows.clip[0]].key
    shown = board.model_guesses([key])[key]
    assert [guess.distance_km for guess in shown] == [rows.column("distance_km")[0]]


def test_a_hidden_row_is_hidden_with_all_its_files(board: Board) -> None:
    first = add_model(board, "Model", 9.0)
    _add(board, first, "run", 1.0)
    row_id = first.submission.row_id
    board.submissions.moderation.decide("submission", row_id, "hide", "a complaint")
    assert board.row(row_id) is None
    assert [row for row in board.rows() if row.kind == "scored"] == []

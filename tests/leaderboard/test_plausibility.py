"""What is too good to be an answer, and what a moderator's decisions change on the board."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from agl1k_core import predictions, scoring
from agl1k_core.benchmarks import Benchmark
from leaderboard.board import Board
from leaderboard.plausibility import implausible, rounding_km
from leaderboard.query import Query
from leaderboard.submit import Form, publish
from leaderboard.tab import open_row
from leaderboard.view import make_view
from tests.support.toy_board import MAX_BYTES, add_model, make_benchmark, prediction_file


def _why(benchmark: Benchmark, data: bytes) -> str:
    scored = scoring.evaluate(benchmark, predictions.read_predictions(data, benchmark))
    return implausible(scored, benchmark)


def test_the_truth_itself_is_implausible(toy: Benchmark) -> None:
    assert "as exact as the benchmark's table" in _why(toy, prediction_file(toy, 0.0))


def test_good_answers_are_plausible_and_right_labels_throughout_are_not(toy: Benchmark) -> None:
    one_wrong = prediction_file(toy, 1.0)
    assert _why(toy, one_wrong) == ""
    cities_right = one_wrong.replace(b"Atlantis", b"Paris")
    assert "All of its 40 cities" in _why(toy, cities_right)


def test_on_a_sealed_benchmark_few_answers_do_not_tell_whether_one_is_right() -> None:
    """All but one of them may be of recordings whose places somebody knows."""
    toy = make_benchmark(60)
    sealed = replace(toy, sealed=True)
    for degrees_off in (0.0, 1.0):
        few, all_ = (
            prediction_file(toy, degrees_off, first=n).replace(b"Atlantis", b"Paris")
            for n in (12, None)
        )
        assert _why(toy, few)
        assert not _why(sealed, few)
        assert _why(sealed, all_)


def test_few_answers_prove_nothing() -> None:
    small = make_benchmark(9)
    assert _why(small, prediction_file(small, 0.0)) == ""


def test_a_coarse_table_allows_more() -> None:
    coarse = make_benchmark(12)
    assert rounding_km(coarse) == pytest.approx(0.556)
    assert np.allclose(coarse.lat, coarse.lat.round(2))


def test_a_held_file_is_stored_but_not_shown_until_it_is_restored(board: Board) -> None:
    assert board.benchmark is not None
    truth = prediction_file(board.benchmark, 0.0)
    form = Form("Gemini 3 Pro", "Google DeepMind", weights="closed")
    done = publish(truth, "truth.json", form, board, max_bytes=MAX_BYTES)
    row_id = done.submission.submission_id
    assert "as exact" in done.held
    assert board.row(row_id) is None
    page = open_row({"toy": board}, {"board": "toy", "row_id": row_id}).html
    assert "waits for a moderator" in page
    log = board.submissions.moderation
    log.decide("submission", row_id, "restore", "an oracle, labelled as such")
    row = board.row(row_id)
    assert row is not None
    assert "Restored by the operator" in row.note
    assert not row.verified
    log.decide("submission", row_id, "hide", "after all not")
    assert board.row(row_id) is None
    assert row_id not in board.ranks("distance_km", "all")
    assert "is hidden by the operator" in board.absent(row_id)
    assert board.absent("never there") == ""


def test_verified_is_for_a_signed_in_owner_whom_the_operator_knows(board: Board) -> None:
    done = add_model(board, "Ours", 0.7, owner="ada", organisation="Lab")
    anonymous = add_model(board, "Theirs", 0.8, organisation="Lab")
    for one in (done, anonymous):
        board.submissions.moderation.decide(
            "submission", one.submission.submission_id, "verify", "by mail"
        )
    verified = {entry.row.model: entry.row.verified for entry in make_view(board, Query()).entries}
    assert verified["Ours"]
    assert not verified["Theirs"]

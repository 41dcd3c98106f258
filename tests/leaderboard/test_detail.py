from __future__ import annotations

import numpy as np
import pytest

from agl1k_core.errors import Agl1kError
from leaderboard.board import PEOPLE_ID, Board
from leaderboard.compare import comparable, compare, to_json
from leaderboard.detail import CONTINENTS, NO_NAME, make_detail
from leaderboard.figures import comparison_curves, error_histogram, histogram, shares_within
from leaderboard.rows import Row
from leaderboard.submit import Form, publish
from leaderboard.tab import compare_rows, error_map, open_row, thinned
from tests.support.toy_board import MAX_BYTES, add_guesses, add_model, prediction_file

BASE = "baseline-random"


def row_of(board: Board, model: str) -> Row:
    return next(row for row in board.rows() if row.model == model)


def test_confusion_counts_every_record(board: Board) -> None:
    assert board.benchmark is not None
    data = prediction_file(board.benchmark, 1.0, refused=5)
    publish(data, "x.json", Form("M", weights="open"), board, max_bytes=MAX_BYTES)
    confusion = make_detail(board, row_of(board, "M")).confusion
    assert confusion is not None
    assert confusion.named[-1] == NO_NAME
    assert set(confusion.truth) <= set(CONTINENTS)
    assert sum(map(sum, confusion.counts)) == 40
    nowhere = confusion.named.index(NO_NAME)
    assert sum(line[nowhere] for line in confusion.counts) == 5
    for i, name in enumerate(confusion.truth):
        assert confusion.counts[i][confusion.named.index(name)] == 7
        assert sum(confusion.share(i, j) for j in range(len(confusion.named))) == pytest.approx(1)


def test_the_hardest_clips_are_the_farthest_answers(board: Board) -> None:
    detail = make_detail(board, next(r for r in board.rows() if r.row_id == BASE))
    scored = board.scored(BASE)
    assert scored is not None
    assert scored.rows is not None
    distances = [clip.distance_km for clip in detail.hardest]
    assert distances == sorted(distances, reverse=True)
    assert distances[0] == scored.rows.column("distance_km").max()
    assert detail.hardest[0].truth.count(",") == 1


def test_a_reported_row_has_numbers_only(absent: Board) -> None:
    detail = make_detail(absent, absent.rows()[0])
    assert detail.confusion is None
    assert detail.hardest == ()
    assert error_histogram(detail) is None


def test_clips_without_a_point_are_counted_not_drawn(board: Board) -> None:
    assert board.benchmark is not None
    data = prediction_file(board.benchmark, 1.0, refused=5)
    publish(data, "x.json", Form("M", weights="open"), board, max_bytes=MAX_BYTES)
    detail = make_detail(board, row_of(board, "M"))
    assert detail.n_no_point == 5
    assert len(detail.errors) == 35
    figure = error_histogram(detail)
    assert figure is not None
    assert sum(figure.data[0].y) == 35
    command = error_map(detail)
    assert len(command["points"]) == 35
    assert all(0 <= point["colour_value"] <= 1 for point in command["points"])


def test_histogram_takes_zero_and_the_antipode() -> None:
    counts, edges = histogram(np.array([0.0, 1.0, 20_020.0]))
    assert counts.sum() == 3
    assert counts[0] == 2
    assert counts[-1] == 1
    assert len(edges) == len(counts) + 1


def test_shares_within() -> None:
    shares = shares_within(np.array([5.0, 1.0, 50.0]), np.array([1.0, 10.0, 100.0]))
    assert shares == pytest.approx([0, 2 / 3, 1])


@pytest.mark.parametrize(("n", "shown"), [(0, 0), (400, 400), (401, 201), (1444, 361)])
def test_a_map_holds_a_bounded_number_of_lines(n: int, shown: int) -> None:
    assert len(thinned([None] * n, 400)) == shown  # type: ignore[list-item]


def test_comparison_is_paired_and_names_the_clearly_better(board: Board) -> None:
    near = add_model(board, "Near", 0.5).submission.submission_id
    far = add_model(board, "Far", 9.0).submission.submission_id
    comparison = compare(board, near, far)
    assert comparison.n_common == 40
    by_name = {gap.metric: gap for gap in comparison.metrics}
    assert by_name["distance_km"].better == "first"
    assert by_name["geoscore"].better == "first"
    assert by_name["reject_rate"].better == ""
    assert by_name["distance_km"].pair.high < 0
    assert {gap.subset for gap in comparison.subsets} >= {"speech", "non_speech", "Europe"}
    speech = next(gap for gap in comparison.subsets if gap.subset == "speech")
    assert speech.pair.n_common == 20
    worst = comparison.disagreements[0]
    assert worst.second_km - worst.first_km > 900
    assert len(comparison_curves(comparison).data) == 2

    turned = compare(board, far, near)
    assert turned.metrics[0].pair.difference == pytest.approx(
        -by_name["distance_km"].pair.difference
    )
    assert turned.metrics[0].better == "second"
    found = to_json(comparison)
    assert found["metrics"]["distance_km"]["better"] == "first"  # type: ignore[index]


def test_two_rows_are_compared_on_the_clips_that_both_answered(board: Board) -> None:
    near = add_model(board, "Near", 0.5).submission.submission_id
    shy = add_model(board, "Shy", 0.6, refused=10).submission.submission_id
    everything, answered = (compare(board, near, shy, answered=only) for only in (False, True))
    assert (everything.n_common, everything.n_answered) == (40, 30)
    assert (answered.n_common, len(answered.distances_km[1])) == (30, 30)
    assert everything.metrics[0].better == "first"  # 10,000 km for each refusal
    refusals = next(gap for gap in answered.metrics if gap.metric == "reject_rate")
    assert refusals.pair.second == 0
    assert to_json(answered)["answered_only"] is True
    assert sum(gap.pair.n_common for gap in answered.subsets[:2]) == 30


def test_people_are_compared_on_the_clips_they_guessed(board: Board) -> None:
    near = add_model(board, "Near", 0.5).submission.submission_id
    keys = [f"clip-{i:02d}" for i in range(8)]
    add_guesses(board, "ann", keys, degrees_off=10)
    add_guesses(board, "ben", keys[1:6], degrees_off=10)
    comparison = compare(board, PEOPLE_ID, near)
    assert comparison.n_common == 8
    assert comparison.metrics[0].better == "second"
    assert {c.first_answer for c in comparison.disagreements} >= {"2 guesses"}


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (BASE, BASE, "with itself"),
        (BASE, "nobody", "not on this board"),
        ("", BASE, "not on this board"),
    ],
)
def test_what_cannot_be_compared_says_why(
    board: Board, first: str, second: str, message: str
) -> None:
    with pytest.raises(Agl1kError, match=message):
        compare(board, first, second)


def test_reported_rows_cannot_be_compared(absent: Board) -> None:
    first, second = (row.row_id for row in absent.rows()[:2])
    with pytest.raises(Agl1kError, match="Gemini 3 Pro cannot be compared"):
        compare(absent, first if "3-pro" in first else "reported-gemini-3-pro", second)
    assert comparable(absent) == []


def test_opening_a_row_that_is_gone_is_a_sentence(board: Board) -> None:
    for asked in ({}, {"board": "toy", "row_id": "gone"}, {"board": "<b>", "row_id": None}):
        opened = open_row({"toy": board}, asked)
        assert "not on the board" in opened.html
        assert not opened.has_map
    assert compare_rows({"toy": board}, {"board": "toy", "row_id": BASE}).html == ""
    found = compare_rows({"toy": board}, {"board": "toy", "row_id": BASE, "other": "gone"})
    assert "cannot be compared" in found.html

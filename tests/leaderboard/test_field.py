"""The picture of the field: what it draws, in which order, and its words."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from agl1k_core.benchmarks import Benchmark
from leaderboard.board import Board
from leaderboard.field import MOST_ROWS, make_field
from leaderboard.query import Query
from leaderboard.view import make_view
from store.database import Database
from tests.support.toy_board import add_guesses, add_model, make_board


def test_marks_are_in_the_order_of_the_metric_and_on_one_axis(board: Board) -> None:
    for name, off in (("Far", 9.0), ("Near", 0.1), ("Middle", 2.0)):
        add_model(board, name, off)
    field = make_field(make_view(board, Query()))
    assert field is not None
    assert [mark.name for mark in field.marks][:3] == ["Near", "Middle", "Far"]
    places = [mark.at for mark in field.marks]
    assert places == sorted(places)
    assert all(0 <= mark.low <= mark.at <= mark.high <= 100 for mark in field.marks)
    assert field.ends[0] == "0"
    assert field.words.startswith("Best of 3 models: Near")
    assert "Random point" in field.words
    turned = make_field(make_view(board, Query(rank_by="geoscore")))
    assert turned is not None
    assert [mark.name for mark in turned.marks][:3] == ["Near", "Middle", "Far"]
    assert [mark.at for mark in turned.marks] == sorted((m.at for m in turned.marks), reverse=True)


def test_a_name_from_right_to_left_leaves_its_number_in_order(board: Board) -> None:
    add_model(board, "דגם", 0.1)
    field = make_field(make_view(board, Query()))
    assert field is not None
    assert field.words.startswith("The only model: \u2068דגם\u2069 ")
    assert field.marks[0].name == "דגם"


def test_halves_by_speech_average_to_the_whole(board: Board) -> None:
    add_model(board, "Near", 3.0)
    field = make_field(make_view(board, Query()))
    assert field is not None
    assert field.words.startswith("The only model: Near")
    near = next(mark for mark in field.marks if mark.name == "Near")
    assert near.has_speech
    assert (near.speech + near.non_speech) / 2 == pytest.approx(near.at)
    assert "with speech" in near.speech_text


def test_many_rows_are_thinned_but_people_and_baselines_stay(board: Board) -> None:
    for i in range(MOST_ROWS + 3):
        add_model(board, f"Model {i:02d}", 0.1 + i / 10)
    add_guesses(board, "ann", [f"clip-{i:02d}" for i in range(12)], degrees_off=20.0)
    field = make_field(make_view(board, Query()))
    assert field is not None
    assert len(field.marks) == MOST_ROWS
    assert field.n_left_out == 7
    kinds = [mark.kind for mark in field.marks]
    assert (kinds.count("people"), kinds.count("baseline")) == (1, 3)
    assert next(m.name for m in field.marks if m.kind == "scored") == "Model 00"


def test_reported_rows_have_no_interval_and_few_rows_no_picture(
    database: Database, toy: Benchmark
) -> None:
    published = replace(toy, slug="agl1k")
    board = make_board(database, lambda: published, slug="agl1k")
    field = make_field(make_view(board, Query()))
    assert field is not None
    reported = [mark for mark in field.marks if mark.kind == "reported"]
    assert reported
    assert all(not mark.has_interval and not math.isnan(mark.at) for mark in reported)
    assert make_field(make_view(board, Query(search="Gemini 3 Pro"))) is None

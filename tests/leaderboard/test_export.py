from __future__ import annotations

import csv
import io
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agl1k_core.scoring import METRICS
from leaderboard.board import Board
from leaderboard.export import to_csv, to_json
from leaderboard.query import Query
from leaderboard.view import make_view
from tests.support.toy_board import add_model
from web.spreadsheets import safe_cell, write_csv

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


@given(st.lists(st.one_of(st.text(), st.floats(), st.integers(), st.none()), min_size=1))
def test_no_cell_is_a_formula_and_numbers_stay(cells: list[str | float | int | None]) -> None:
    for cell in cells:
        safe = safe_cell(cell)
        if isinstance(cell, str):
            assert isinstance(safe, str)
            assert not safe.lstrip(" ").startswith(FORMULA)
            assert safe.removeprefix("'").endswith(cell.removeprefix("'"))
        elif cell is None or (isinstance(cell, float) and not math.isfinite(cell)):
            assert safe == ""
        else:
            assert safe is cell


@given(st.lists(st.text(alphabet=st.characters(exclude_categories=["Cs"])), min_size=2))
def test_csv_reads_back(cells: list[str]) -> None:
    text = write_csv(["a"] * len(cells), [cells])
    (line,) = list(csv.reader(io.StringIO(text, newline="")))[1:]
    assert line == [safe_cell(cell) for cell in cells]


@pytest.mark.parametrize("sign", "\uff1d\uff0b\uff0d\uff20")
def test_wide_signs_begin_no_formula_either(sign: str) -> None:
    assert safe_cell(f"{sign}1+1") == f"'{sign}1+1"


@pytest.mark.parametrize("name", ['=HYPERLINK("http://x","y")', "+1", "-1", "@SUM(1)", " =1"])
def test_a_models_name_is_no_formula_in_the_download(board: Board, name: str) -> None:
    add_model(board, name, organisation="=1+1", prompt="=cmd|' /C calc'!A0")
    rows = list(csv.DictReader(io.StringIO(to_csv(make_view(board, Query())))))
    (row,) = [row for row in rows if row["kind"] == "scored"]
    assert row["model"].removeprefix("'") == name.strip()
    for cell in row.values():
        if not cell.removeprefix("-")[:1].isdigit():
            assert not cell.startswith(FORMULA)


def test_the_owner_is_in_both_formats(board: Board) -> None:
    add_model(board, "Near", 1.0, owner="ada_1")
    view = make_view(board, Query(kinds=("scored",)))
    assert [row["owner"] for row in to_json(view)["rows"]] == ["ada_1"]
    assert [row["owner"] for row in csv.DictReader(io.StringIO(to_csv(view)))] == ["ada_1"]


def test_the_csv_holds_every_number_as_a_number(board: Board) -> None:
    add_model(board, "Near", 1.0)
    view = make_view(board, Query(subset="speech"))
    rows = list(csv.DictReader(io.StringIO(to_csv(view))))
    assert len(rows) == len(view.entries) == 4
    for row, entry in zip(rows, view.entries, strict=True):
        assert int(row["rank"]) == (entry.rank.place if entry.rank else None)
        assert float(row["geoscore"]) == entry.row.value("geoscore", "speech")
        assert float(row["distance_km_low"]) <= float(row["distance_km"])
        assert row["subset"] == "speech"


def test_the_json_is_json(board: Board) -> None:
    add_model(board, "Near", 1.0)
    found = json.loads(json.dumps(to_json(make_view(board, Query())), allow_nan=False))
    near = next(row for row in found["rows"] if row["model"] == "Near")
    assert near["rank"] == 1
    assert near["reported_not_recomputed"] is False
    assert set(near["metrics"]) == set(METRICS)
    assert near["statuses"]["answered"] == 40
    assert near["intervals"]["geoscore"][0] < near["metrics"]["geoscore"]
    assert len(near["benchmark_hash"]) == 64


def test_reported_rows_say_so_and_have_null_where_nothing_is_known(absent: Board) -> None:
    found = to_json(make_view(absent, Query()))
    assert found["benchmark_hash"] is None
    assert "agl1k fetch" in found["notice"]
    first = found["rows"][0]
    assert first["reported_not_recomputed"] is True
    assert first["rank"] is None
    assert first["metrics"]["within_25km"] is None
    assert first["metrics"]["distance_km"] == 2180.57


@pytest.mark.parametrize(
    "name", ["👩\u200d👩\u200d👧\u200d👦" * 80, "می\u200cخواهم 5", "e\u0301" * 80]
)
def test_a_name_is_whole_and_bare_in_the_download(board: Board, name: str) -> None:
    add_model(board, name)
    lines = csv.DictReader(io.StringIO(to_csv(make_view(board, Query())), newline=""))
    assert name in [line["model"] for line in lines]

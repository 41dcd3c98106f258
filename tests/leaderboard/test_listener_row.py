"""Our listener among the baselines: from the package, or from this machine's data."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from agl1k_core.benchmarks import read_demo
from agl1k_core.listener import stored_predictions
from leaderboard.board import LISTENER_ID, Board
from leaderboard.detail import make_detail
from leaderboard.render import row_detail
from store.database import Database
from store.guesses import GuessStore
from store.submissions import SubmissionStore


def demo_board(database: Database, data_dir: Path | None = None) -> Board:
    stores = SubmissionStore(database), GuessStore(database)
    return Board("demo", "Demo", read_demo, *stores, data_dir=data_dir)


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """This machine's data with a copy of the package's predictions."""
    packaged = stored_predictions(read_demo())
    assert packaged is not None
    shutil.copytree(packaged.file.parent, tmp_path / "listener" / "demo")
    return tmp_path


def test_the_demo_board_has_the_listener_as_a_baseline(database: Database) -> None:
    board = demo_board(database)
    row = board.row(LISTENER_ID)
    assert row is not None
    assert (row.kind, row.model, row.coverage) == ("baseline", "Listener", 1.0)
    assert row.statuses["all"]["answered"] == 24
    random = board.row("baseline-random")
    assert random is not None
    assert row.value("geoscore") > random.value("geoscore")


def test_another_board_has_no_listener(board: Board) -> None:
    assert board.row(LISTENER_ID) is None


def test_its_details_show_what_it_believed_and_how_it_was_made(database: Database) -> None:
    board = demo_board(database)
    row = board.row(LISTENER_ID)
    assert row is not None
    detail = make_detail(board, row)
    titles = [svg.partition("<title>")[2].partition("</title>")[0] for svg in detail.beliefs]
    assert titles == ["demo_01 and 1 other", "demo_02 and 19 others", "demo_10", "demo_20"]
    assert ["Poland" in svg for svg in detail.beliefs] == [False, False, False, True]
    html = row_detail(detail, board)
    assert html.count('id="agl-land"') == 1
    assert html.count("</figure>") == len(detail.beliefs) == 4
    assert "yamnet" in dict(detail.provenance)["Heard with"]
    assert "as its submitter states" not in html
    assert len(html) < 300_000


def test_other_rows_have_no_beliefs(database: Database) -> None:
    board = demo_board(database)
    row = board.row("baseline-random")
    assert row is not None
    assert make_detail(board, row).beliefs == ()


def test_predictions_of_this_machine_come_first(database: Database, own: Path) -> None:
    board = demo_board(database, own)
    listened = board.listened()
    assert listened is not None
    assert listened.file.parent == own / "listener" / "demo"
    assert board.row(LISTENER_ID) is not None


@pytest.mark.parametrize("what", ["predictions", "provenance", "other benchmark", "other command"])
def test_what_does_not_fit_is_passed_over(own: Path, what: str) -> None:
    folder = own / "listener" / "demo"
    told = json.loads((folder / "provenance.json").read_text("utf-8"))
    if what == "predictions":
        (folder / "predictions.jsonl").write_text('{"key": "demo_01"}\n', "utf-8")
    elif what == "other benchmark":
        told["benchmark"]["hash"] = "0" * 64
    elif what == "other command":
        told["made_by"] = "agl1k run"
    text = "{" if what == "provenance" else json.dumps(told)
    (folder / "provenance.json").write_text(text, "utf-8")
    found = stored_predictions(read_demo(), own)
    assert found is not None
    assert not found.file.is_relative_to(own)

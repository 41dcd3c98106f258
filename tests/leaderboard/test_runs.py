"""From a run to its row: run, rescore, submit to a server, and what the board shows of it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

from fastapi import FastAPI
from typer.testing import CliRunner, Result

from agl1k_core.benchmarks import Benchmark
from agl1k_core.cli.main import app as command
from leaderboard import render
from leaderboard.api import leaderboard_router
from leaderboard.board import Board
from leaderboard.client_api import build_endpoints
from leaderboard.detail import make_detail
from leaderboard.scoring_queue import ScoringQueue
from store.database import Database
from tests.support.fake_endpoint import fake_endpoint
from tests.support.model_runs import small_benchmark
from tests.support.served import served
from tests.support.toy_board import make_board
from web.page import Page, mount
from web.settings import Settings
from web.uploads import Uploads

pytestmark = pytest.mark.server


@pytest.fixture
def small(tmp_path: Path) -> Benchmark:
    return small_benchmark(tmp_path / "bench")


@pytest.fixture
def board(small: Benchmark) -> Iterator[Board]:
    with Database("sqlite://") as database:
        yield make_board(database, lambda: small, slug=small.slug)


@pytest.fixture
def url(board: Board, tmp_path: Path) -> Iterator[str]:
    boards = {board.slug: board}
    with Page() as page:
        build_endpoints(boards, Settings.from_env({"AGL1K_MAX_UPLOAD_MB": "1"}), ScoringQueue())
    app = FastAPI()
    app.include_router(leaderboard_router(boards))
    (tmp_path / "uploads").mkdir()
    with served(mount(app, page, Uploads(tmp_path / "uploads", 2**20))) as address:
        yield address


def agl1k(*arguments: object) -> Result:
    return CliRunner().invoke(command, [str(argument) for argument in arguments])


@pytest.fixture
def folder(small: Benchmark, tmp_path: Path) -> Path:
    """A finished run whose hearing check was skipped."""
    with fake_endpoint(cost=0.25) as fake:
        result = agl1k(
            "run", "--model", fake.model, "--base-url", fake.url, "-b", small.audio_dir,
            "-o", tmp_path / "run", "--skip-hearing-check", "--temperature", "0.5",
        )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    return tmp_path / "run"


def test_a_run_becomes_a_row_with_its_provenance(url: str, folder: Path, board: Board) -> None:
    assert agl1k("rescore", folder).exit_code == 0
    result = agl1k("submit", folder, "--server", url)
    assert result.exit_code == 0, result.stderr
    assert "6 answered" in result.stdout
    found = re.search(r"submission (\w+)\n.*key, shown only once: (\S+)", result.stdout)
    assert found
    row = board.row(found[1])
    assert row is not None
    assert (row.model, row.weights) == ("fake-model", "closed")
    assert row.prompt.startswith("Listen to the recording")
    page = render.row_detail(make_detail(board, row), board)
    for words in (
        "fake-model-0001", "127.0.0.1", "nothing proves that the model heard", "temperature 0.5",
        "reported by the endpoint", "16 kHz",
    ):  # fmt: skip
        assert words in page
    withdrawn = httpx.post(f"{url}/gradio_api/run/withdraw", json={"data": [found[1], found[2]]})
    assert withdrawn.json()["data"][0]["withdrawn"] is True


def test_a_dry_run_publishes_nothing(url: str, folder: Path, board: Board) -> None:
    result = agl1k("submit", folder, "--server", url, "--weights", "open", "--dry-run")
    assert result.exit_code == 0, result.stderr
    assert "Nothing was published" in result.stdout
    assert [row for row in board.rows() if row.kind == "scored"] == []


def test_a_file_of_another_origin_has_no_provenance(url: str, tmp_path: Path, board: Board) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("key,latitude,longitude\nk0,1,2\n")
    asked = ["submit", path, "--server", url, "--weights", "closed", "--board", board.slug]
    assert agl1k(*asked).exit_code == 0
    (row,) = [row for row in board.rows() if row.kind == "scored"]
    assert (row.model, row.weights) == ("mine", "closed")
    detail = make_detail(board, row)
    assert detail.provenance == ()
    assert "How it was run" not in render.row_detail(detail, board)


def test_why_a_submission_fails_is_readable(
    url: str, folder: Path, tmp_path: Path, board: Board
) -> None:
    path = tmp_path / "bad.csv"
    path.write_text("key,latitude,longitude\nnobody,1,2\nk0,1,2\nk0,1,2\n")
    about = ["--weights", "open", "--model", "m", "--board", board.slug]
    result = agl1k("submit", path, "--server", url, *about)
    assert result.exit_code == 1
    assert "has no such clip" in result.stderr
    assert "already in record" in result.stderr
    for server, words in [
        ("http://127.0.0.1:9", "could not be reached. Check --server"),
        ("nowhere", "is not a web address"),
        (f"{url}/nothing", "There is no board of AGL1K at"),
    ]:
        result = agl1k("submit", folder, "--server", server, "--weights", "open")
        assert (result.exit_code, "\n" in result.stderr.rstrip()) == (1, False)
        assert words in result.stderr
    wrong_board = agl1k("submit", path, "--server", url, *about[:-1], "no-board")
    assert "There is no board 'no-board'" in wrong_board.stderr
    (folder / "predictions.jsonl").write_text("{}\n")
    changed = agl1k("submit", folder, "--server", url, "--weights", "open")
    assert "was changed after the run" in changed.stderr


def test_the_same_file_twice_is_refused(url: str, folder: Path) -> None:
    asked = ["submit", folder, "--server", url, "--weights", "open"]
    assert agl1k(*asked).exit_code == 0
    again = agl1k(*asked)
    assert again.exit_code == 1
    assert "already published" in again.stderr

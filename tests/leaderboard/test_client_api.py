"""Everything by ``gradio_client`` with a real server: submit, find, compare, withdraw."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

from fastapi import FastAPI
from gradio.utils import get_upload_folder
from gradio_client import Client, handle_file
from typer.testing import CliRunner, Result

from agl1k_core.benchmarks import read_published
from agl1k_core.cli.main import app as agl1k
from agl1k_core.errors import Agl1kError
from agl1k_core.http import Patience
from agl1k_core.models import BoardServer, ModelCard, submittable
from leaderboard.api import leaderboard_router
from leaderboard.board import Board
from leaderboard.client_api import build_endpoints
from leaderboard.scoring_queue import ScoringQueue
from store.database import Database
from tests.support.faulty_proxy import Fault, answer, faulty_proxy
from tests.support.served import served
from tests.support.toy_board import SHARED, make_benchmark, make_board, prediction_file
from tests.support.waiting import PATIENCE_S
from web.page import Page, mount
from web.settings import Settings
from web.uploads import Uploads

pytestmark = pytest.mark.server


def boards_of(database: Database) -> dict[str, Board]:
    """The toy board, and AGL1K's if its data is available."""
    toy = make_benchmark()
    boards = {"toy": make_board(database, lambda: toy)}
    if SHARED.is_dir():
        published = read_published(SHARED / "geoLocalization_schema.csv")
        boards["agl1k"] = make_board(database, lambda: published, slug="agl1k")
    return boards


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with Database("sqlite://") as database:
        boards = boards_of(database)
        with Page() as page:
            build_endpoints(boards, Settings.from_env({"AGL1K_MAX_UPLOAD_MB": "8"}), ScoringQueue())
        app = FastAPI()
        app.include_router(leaderboard_router(boards))
        folder = tmp_path_factory.mktemp("uploads")
        mounted = mount(app, page, Uploads(folder, 8 * 2**20))
        with served(mounted) as address:
            yield f"{address}/"


@pytest.fixture(scope="module")
def client(url: str) -> Client:
    return Client(url, verbose=False, httpx_kwargs={"timeout": PATIENCE_S})


@pytest.fixture
def toy_file(tmp_path: Path) -> Path:
    path = tmp_path / "answers.json"
    path.write_bytes(prediction_file(make_benchmark(), 1.0, refused=2))
    return path


def about(model: str) -> dict[str, str]:
    return {
        "model": model, "organisation": "", "link": "", "weights": "open", "prompt": "",
        "model_date": "",
    }  # fmt: skip


def row_of(url: str, board: str, model: str) -> dict[str, object] | None:
    rows = httpx.get(f"{url}api/leaderboard", params={"board": board}, timeout=PATIENCE_S).json()[
        "rows"
    ]
    return next((row for row in rows if row["model"] == model), None)


def test_submit_find_compare_withdraw(client: Client, url: str, toy_file: Path) -> None:
    report = client.predict(file=handle_file(toy_file), board="toy", api_name="/dry_run")
    assert report["accepted"]
    assert report["stored"] is False
    assert row_of(url, "toy", "API model") is None

    done = client.predict(
        file=handle_file(toy_file), board="toy", **about("API model"), api_name="/publish"
    )
    row = row_of(url, "toy", "API model")
    assert row is not None
    assert row["metrics"] == report["strict"]["metrics"]
    assert row["row_id"] == done["submission_id"]

    gap = client.predict(
        board="toy", first=row["row_id"], second="baseline-random", api_name="/compare"
    )
    assert gap["metrics"]["distance_km"]["better"] == "first"
    listed = client.predict(board="toy", query="search=API", api_name="/leaderboard")
    assert [found["model"] for found in listed["rows"]] == ["API model"]

    with pytest.raises(Exception, match="does not belong"):
        client.predict(submission_id=row["row_id"], withdraw_key="wrong", api_name="/withdraw")
    answer = client.predict(
        submission_id=row["row_id"], withdraw_key=done["withdraw_key"], api_name="/withdraw"
    )
    assert answer["withdrawn"]
    assert row_of(url, "toy", "API model") is None


def test_the_command_line_adds_a_run_and_replaces_the_files_of_a_row(
    url: str, toy_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def submit(*more: str) -> Result:
        given = ["submit", str(toy_file), "--server", url, "--board", "toy", "--model", "By hand"]
        return CliRunner().invoke(agl1k, [*given, *more])

    first = submit()
    assert first.exit_code == 0, first.stderr
    row = row_of(url, "toy", "By hand")
    assert row is not None
    row_id = str(row["row_id"])
    key = re.search(r"Withdrawal key, shown only once: (\S+)", first.stdout)
    assert key is not None
    toy_file.write_bytes(prediction_file(make_benchmark(), 3.0))
    monkeypatch.delenv("AGL1K_WITHDRAW_KEY", raising=False)
    refused = submit("--run-of", row_id)
    assert refused.exit_code == 1
    assert "Set AGL1K_WITHDRAW_KEY to the row's withdrawal key" in refused.stderr
    monkeypatch.setenv("AGL1K_WITHDRAW_KEY", key[1])
    again = submit("--run-of", row_id, "--private")
    assert again.exit_code == 0, again.stderr
    assert f"It is another run of the row {row_id}." in again.stdout
    row = row_of(url, "toy", "By hand")
    assert row is not None
    assert (row["row_id"], row["n_runs"]) == (row_id, 2)
    assert [file["is_shared"] for file in row["files"]] == [False, True]  # type: ignore[attr-defined]
    toy_file.write_bytes(prediction_file(make_benchmark(), 5.0))
    assert "It replaces the files of the row" in submit("--replace", row_id).stdout
    row = row_of(url, "toy", "By hand")
    assert row is not None
    assert (row["row_id"], row["n_runs"]) == (row_id, 1)


def test_the_real_file(client: Client, url: str) -> None:
    if not SHARED.is_dir():
        pytest.skip("the real AGL1K data is not beside this checkout")
    file = handle_file(SHARED / "predictions-qwen2.5-omni.json")
    done = client.predict(file=file, board="agl1k", **about("Real"), api_name="/publish")
    row = row_of(url, "agl1k", "Real")
    assert row is not None
    metrics, statuses = row["metrics"], row["statuses"]
    assert metrics["distance_km"] == pytest.approx(5479.44, abs=0.005)  # type: ignore[index]
    assert metrics["geoscore"] == pytest.approx(1317.62, abs=0.005)  # type: ignore[index]
    assert statuses["refused"] == 383  # type: ignore[index]
    key = done["withdraw_key"]
    client.predict(submission_id=row["row_id"], withdraw_key=key, api_name="/withdraw")
    assert row_of(url, "agl1k", "Real") is None


def test_every_problem_comes_back(client: Client, toy_file: Path) -> None:
    toy_file.write_text('[{"key": "nobody"}, {"key": "clip-00"}, {"key": "clip-00"}]')
    report = client.predict(file=handle_file(toy_file), board="toy", api_name="/dry_run")
    assert not report["accepted"]
    assert report["n_problems"] >= 2
    with pytest.raises(Exception, match=r"(?s)field model.*field weights.*nobody"):
        client.predict(
            file=handle_file(toy_file),
            board="toy",
            **(about("") | {"weights": "ajar"}),
            api_name="/publish",
        )


def test_what_is_refused_does_not_fill_the_log(
    client: Client, toy_file: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    toy_file.write_text('[{"key": "telltale"}]')
    with pytest.raises(Exception, match="telltale"):
        client.predict(file=handle_file(toy_file), board="toy", **about("m"), api_name="/publish")
    printed = capfd.readouterr()
    assert "telltale" not in printed.out + printed.err
    assert "Traceback" not in printed.err


def test_no_path_of_the_server_can_be_named(client: Client, tmp_path: Path) -> None:
    secret = tmp_path / "secret.json"
    secret.write_bytes(prediction_file(make_benchmark()))
    folder = get_upload_folder()
    meta = {"meta": {"_type": "gradio.FileData"}}
    for given in (
        str(secret),
        {"path": str(secret)},
        {"path": str(secret), **meta},
        {"path": str(secret), "is_stream": True, **meta},
        {"path": f"{folder}/{os.path.relpath(secret, folder)}", **meta},
        {"path": f"{client.src}api/leaderboard/example.csv", **meta},
    ):
        answer = httpx.post(
            f"{client.src}gradio_api/run/dry_run", json={"data": [given, "toy"]}, timeout=PATIENCE_S
        )
        assert answer.status_code == 500
        assert "accepted" not in answer.text


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ({"board": "nowhere", "query": "", "api_name": "/leaderboard"}, "no board 'nowhere'"),
        ({"board": "", "query": "subset=x", "api_name": "/leaderboard"}, "subset has no value 'x'"),
        ({"file": None, "board": "", "api_name": "/dry_run"}, "handle_file"),
    ],
)
def test_mistakes_are_answered(client: Client, call: dict[str, str], message: str) -> None:
    with pytest.raises(Exception, match=message):
        client.predict(**call)


HASTY = Patience(read_s=PATIENCE_S, attempts=3, first_wait_s=0.01, longest_wait_s=0.02)


def n_rows(url: str, model: str) -> int:
    query: dict[str, str] = {"board": "toy", "search": model}
    return len(httpx.get(f"{url}api/leaderboard", params=query).json()["rows"])


@pytest.mark.parametrize("fault", [Fault("lose"), Fault("cut"), answer(502), answer(500)])
def test_a_lost_answer_to_publishing_is_asked_for_again(
    url: str, toy_file: Path, fault: Fault
) -> None:
    model = f"After {fault.kind} {fault.status}"
    with faulty_proxy(url) as proxy, BoardServer(proxy.url, HASTY) as server:
        proxy.fail("/run/publish", fault, times=2)
        done = server.publish(submittable(toy_file), "toy", ModelCard(model, weights="open"))
        assert len(proxy.failed("/run/publish")) == 2
    assert n_rows(url, model) == 1
    data = [done["submission_id"], done["withdraw_key"]]
    httpx.post(f"{url}gradio_api/run/withdraw", json={"data": data}).raise_for_status()
    assert n_rows(url, model) == 0


def test_what_became_of_publishing_is_told_and_can_be_asked_for_later(
    url: str, toy_file: Path
) -> None:
    card = ModelCard("Nobody knows", weights="open")
    with faulty_proxy(url) as proxy:
        proxy.fail("/run/publish", Fault("lose"))
        lost = BoardServer(proxy.url, HASTY)
        with lost, pytest.raises(Agl1kError, match="may be on the board or not") as told:
            lost.publish(submittable(toy_file), "toy", card)
    attempt = re.search(r"--attempt (\S+)", str(told.value))
    assert attempt is not None
    assert n_rows(url, "Nobody knows") == 1
    given = ["submit", str(toy_file), "--server", url, "--board", "toy", "--model", card.model]
    given += ["--weights", "open", "--attempt", attempt[1]]
    found = CliRunner().invoke(agl1k, given)
    assert re.search(r"Withdrawal key, shown only once: \S+", found.stdout), found.stderr
    assert n_rows(url, "Nobody knows") == 1


def test_programs_can_name_their_attempts_too(url: str, toy_file: Path) -> None:
    named = Client(url, verbose=False, headers={"Idempotency-Key": "nobody guesses this text"})
    file = handle_file(toy_file)
    done = [
        named.predict(file=file, board="toy", **about("Named"), api_name="/publish")
        for _ in range(2)
    ]
    assert done[0]["withdraw_key"] == done[1]["withdraw_key"]
    assert n_rows(url, "Named") == 1

from __future__ import annotations

import hashlib
import json
import math
import uuid
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agl1k_core import predictions, scoring
from agl1k_core.benchmarks import read_published
from agl1k_core.errors import Agl1kError, FileRefusedError
from agl1k_core.scoring import Evaluation
from leaderboard.board import Board
from leaderboard.render import published_page, question_page, report_page
from leaderboard.reports import Report
from leaderboard.submit import (
    Form,
    Place,
    differences,
    dry_run,
    form_problems,
    publish,
    recompute,
    withdraw,
)
from leaderboard.submit_tab import publish_upload, run_dry, warnings_before
from store.database import Database
from tests.support.toy_board import (
    MAX_BYTES,
    add_model,
    make_benchmark,
    make_board,
    prediction_file,
)
from web.settings import Settings

GOOD = Form("A model", weights="open")


def test_a_dry_run_tells_everything_and_stores_nothing(board: Board) -> None:
    assert board.benchmark is not None
    revision = board.submissions.revision()
    report = dry_run(
        prediction_file(board.benchmark, 1.0, refused=4), "x.json", board, max_bytes=MAX_BYTES
    )
    assert report.accepted
    assert report.strict is not None
    assert report.paper is not None
    assert report.strict.statuses["refused"] == 4
    assert report.strict.protocol == "strict"
    assert report.paper.protocol == "paper"
    assert report.strict.metrics["reject_rate"] == pytest.approx(0.1)
    assert report.strict.subsets["speech"]["distance_km"] > 0
    assert board.submissions.revision() == revision
    text = json.dumps(report.to_dict(), allow_nan=False)
    assert '"stored": false' in text


def swapped(board: Board) -> bytes:
    assert board.benchmark is not None
    return json.dumps(
        [{"key": c.key, "latitude": c.lon, "longitude": c.lat} for c in board.benchmark.clips]
    ).encode()


def test_a_file_that_may_not_be_meant_so_is_accepted_with_warnings(board: Board) -> None:
    report = dry_run(swapped(board), "x.json", board, max_bytes=MAX_BYTES)
    assert report.accepted
    assert ["swapped" in text for text in report.to_dict()["warnings"]] == [True]
    page = report_page(report, board)
    assert "fit far better with latitude and longitude swapped" in page
    assert "The file can be published" not in page
    done = publish(swapped(board), "x.json", GOOD, board, max_bytes=MAX_BYTES)
    assert done.warnings == report.warnings


def test_the_page_asks_once_more_about_a_file_with_warnings(board: Board, tmp_path: Path) -> None:
    path, settings = tmp_path / "x.json", Settings.from_env({})
    path.write_bytes(swapped(board))

    def asking(form: Form, asked: str) -> Report | None:
        return warnings_before({"toy": board}, settings, "toy", str(path), form, asked)

    assert asking(Form("A model"), "") is None  # the form is not complete yet
    report = asking(GOOD, "")
    assert report is not None
    question = question_page(report)
    assert "Nothing is published yet" in question
    assert "swapped" in question
    assert asking(GOOD, "another file") is not None
    assert asking(GOOD, report.file_sha256) is None
    assert board.benchmark is not None
    path.write_bytes(prediction_file(board.benchmark, 1.0))
    assert asking(GOOD, "") is None
    path.unlink()
    assert asking(GOOD, "") is None


@pytest.mark.parametrize(
    ("data", "part"),
    [
        (b"", "no predictions|empty"),
        (b"PK\x03\x04" + b"\0" * 100, "archive|format"),
        (b'[{"key": "nobody", "latitude": 1, "longitude": 2}]', "nobody"),
        (b'[{"key": "clip-00"}, {"key": "clip-00"}]', "clip-00"),
        (b"x" * (MAX_BYTES + 1), "limit"),
    ],
)
def test_a_bad_file_is_refused_with_its_problems(board: Board, data: bytes, part: str) -> None:
    report = dry_run(data, "bad.json", board, max_bytes=MAX_BYTES)
    assert not report.accepted
    assert report.n_problems >= 1
    text = "\n".join(report.to_dict()["problems"])
    assert any(word in text for word in part.split("|")), text
    with pytest.raises(FileRefusedError):
        publish(data, "bad.json", GOOD, board, max_bytes=MAX_BYTES)


def test_without_the_table_it_says_what_brings_it(absent: Board) -> None:
    report = dry_run(b"[]", "x.json", absent, max_bytes=MAX_BYTES)
    assert not report.accepted
    assert "agl1k fetch" in report.message
    with pytest.raises(FileRefusedError, match="agl1k fetch"):
        publish(b"[]", "x.json", GOOD, absent, max_bytes=MAX_BYTES)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"model": ""}, "model"),
        ({"model": "   "}, "model"),
        ({"model": "x" * 81}, "model"),
        ({"model": "bell\x07"}, "model"),
        ({"model": "right\u202eleft"}, "model"),
        ({"model": "\u2067right to left"}, "model"),
        ({"model": "Gem\u200dini"}, "model"),
        ({"model": "Gemini\u200c"}, "model"),
        ({"model": "e" + "\u0301" * 4}, "model"),
        ({"model": "\u0301e"}, "model"),
        ({"model": "👩\u200d👩\u200d👧\u200d👦" * 81}, "model"),
        ({"organisation": "x" * 81}, "organisation"),
        ({"link": "javascript:alert(1)"}, "link"),
        ({"link": "https://"}, "link"),
        ({"link": "ftp://example.org/x"}, "link"),
        ({"link": "https://user:word@example.org"}, "link"),
        ({"link": "https://[broken"}, "link"),
        ({"link": "https://example.org/" + "x" * 500}, "link"),
        ({"weights": ""}, "weights"),
        ({"weights": "ajar"}, "weights"),
        ({"prompt": "x" * 20_001}, "prompt"),
        ({"model_date": "1 May 2026"}, "date"),
        ({"model_date": "2026-02-30"}, "date"),
        ({"model_date": "20260201"}, "date"),
    ],
)
def test_fields_are_checked(change: dict[str, Any], field: str) -> None:
    problems = form_problems(replace(GOOD, **change).stripped())
    assert [problem.field for problem in problems] == [field]
    assert all(problem.todo for problem in problems)


@pytest.mark.parametrize(
    "change",
    [
        {"model": "x" * 80},
        {"model": "<script>alert(1)</script>"},
        {"model": '=HYPERLINK("http://x")'},
        {"model": "Модель 模型"},
        {"model": "👩\u200d👩\u200d👧\u200d👦" * 80},
        {"model": "می\u200cخواهم שלום"},
        {"model": "Việt क्षि"},
        {"model": " pasted\u00a0name\n"},
        {"link": "http://localhost:8000/a?b=c#d"},
        {"weights": "Closed"},
        {"model_date": "2026-02-28"},
        {"prompt": "line\nline"},
    ],
)
def test_odd_but_harmless_fields_are_taken(change: dict[str, Any]) -> None:
    assert form_problems(replace(GOOD, **change).stripped()) == []


def test_fields_and_file_are_judged_at_once(board: Board) -> None:
    bad = b'[{"key": "nobody", "latitude": 1, "longitude": 2}]'
    with pytest.raises(FileRefusedError) as caught:
        publish(bad, "x.json", Form("", link="x"), board, max_bytes=MAX_BYTES)
    fields = [problem.field for problem in caught.value.problems]
    assert {"model", "link", "weights"} <= set(fields)
    assert "nobody" in str(caught.value)
    assert caught.value.total == len(caught.value.problems)


def test_what_is_published_can_be_scored_again_to_the_same_numbers(board: Board) -> None:
    assert board.benchmark is not None
    done = add_model(board, "Near", 2.0, prompt="Where?", link="https://example.org")
    stored = board.submissions.get(done.submission.submission_id)
    assert stored is not None
    assert stored.protocol == "strict"
    assert stored.benchmark_hash == board.benchmark.content_hash
    assert stored.scorer_version
    assert stored.prompt == "Where?"
    again = recompute(stored, board.submissions, board.benchmark)
    assert differences(stored.evaluation, again) == []
    assert again.file_sha256 == stored.file_sha256
    assert again.intervals == Evaluation.from_dict(stored.evaluation).intervals


def test_differences_are_told(board: Board) -> None:
    assert board.benchmark is not None
    done = add_model(board, "Near", 2.0)
    changed: dict[str, Any] = json.loads(json.dumps(dict(done.submission.evaluation)))
    changed["metrics"]["geoscore"] += 1
    again = recompute(done.submission, board.submissions, board.benchmark)
    (text,) = differences(changed, again)
    assert text.startswith("geoscore: ")


def test_another_table_cannot_score_it_again(board: Board) -> None:
    done = add_model(board, "Near", 2.0)
    with pytest.raises(Agl1kError, match="another version of Toy's table"):
        recompute(done.submission, board.submissions, make_benchmark(39))


def test_withdrawing_needs_the_key(board: Board) -> None:
    done = add_model(board, "Near", 2.0)
    submission_id = done.submission.submission_id
    for wrong in ("", "x", submission_id):
        with pytest.raises(Agl1kError, match="does not belong"):
            withdraw(board.submissions, submission_id, wrong)
    with pytest.raises(Agl1kError, match="does not belong"):
        withdraw(board.submissions, uuid.uuid4().hex, done.withdraw_key)
    assert "Near is withdrawn" in withdraw(
        board.submissions, f" {submission_id} ", f"{done.withdraw_key}\n"
    )


def test_its_owner_withdraws_and_another_is_told_whose_it_is_not(board: Board) -> None:
    assert board.benchmark is not None
    data = prediction_file(board.benchmark, 1.0)
    done = publish(data, "x.json", GOOD, board, max_bytes=MAX_BYTES, owner="ada")
    submission_id = done.submission.submission_id
    assert done.submission.owner == "ada"
    with pytest.raises(Agl1kError, match="bob did not publish this submission while signed in"):
        withdraw(board.submissions, submission_id, "", "bob")
    with pytest.raises(Agl1kError, match="does not belong"):
        withdraw(board.submissions, submission_id, "a wrong key", "bob")
    assert "A model is withdrawn" in withdraw(board.submissions, submission_id, "", "ada")
    with pytest.raises(Agl1kError, match="already been withdrawn"):
        withdraw(board.submissions, submission_id, "", "ada")


def test_the_same_file_for_the_same_model_is_taken_once(board: Board) -> None:
    add_model(board, "Near", 2.0)
    with pytest.raises(Agl1kError, match="already published for the model 'Near'"):
        add_model(board, "Near", 2.0)
    add_model(board, "Near again", 2.0)


def test_a_published_file_is_read_hashed_and_scored_by_each_protocol_once(
    board: Board, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert board.benchmark is not None
    board.rows()  # the baselines are scored, too
    path, data = tmp_path / "answers.json", prediction_file(board.benchmark, 2.0)
    path.write_bytes(data)
    read, evaluate = Mock(wraps=predictions.read_predictions), Mock(wraps=scoring.evaluate)
    sha256, hashed = hashlib.sha256, []

    def counting(content: bytes = b"", **options: bool) -> object:
        hashed.extend([1] if content == data else [])
        return sha256(content, **options)

    monkeypatch.setattr(predictions, "read_predictions", read)
    monkeypatch.setattr(scoring, "evaluate", evaluate)
    monkeypatch.setattr(hashlib, "sha256", counting)
    settings = Settings.from_env({})
    report = run_dry({"toy": board}, settings, "toy", str(path))
    receipt = publish_upload({"toy": board}, settings, "toy", str(path), GOOD)
    assert "is on the board" in receipt.receipt
    row = next(row for row in board.rows() if row.model == "A model")
    assert board.ranks("distance_km", "all")[row.row_id].place == 1
    assert board.scored(row.row_id) is report.strict
    assert read.call_count == 1
    assert [call.args[2].name for call in evaluate.call_args_list] == ["strict", "paper"]
    assert hashed == [1]
    assert row.file_sha256 == sha256(data).hexdigest()


def test_what_the_board_takes_over_is_what_it_would_score_itself(
    database: Database, board: Board
) -> None:
    done = add_model(board, "Near", 2.0)
    here = board.scored(done.submission.submission_id)
    elsewhere = make_board(database, make_benchmark).scored(done.submission.submission_id)
    assert here is not None
    assert elsewhere is not None
    assert here.metrics == elsewhere.metrics
    assert here.table.equals(elsewhere.table)


def test_what_the_store_refuses_is_not_taken_over(
    board: Board, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_model(board, "Near", 2.0)
    board.rows()
    with pytest.raises(Agl1kError, match="already published"):
        add_model(board, "Near", 2.0)
    assert [row.model for row in board.rows() if row.kind == "scored"] == ["Near"]


def test_the_same_file_under_another_name_keeps_its_own_name(board: Board) -> None:
    assert board.benchmark is not None
    data = prediction_file(board.benchmark, 1.0)
    reports = [dry_run(data, name, board, max_bytes=MAX_BYTES) for name in ("a.json", "b.json")]
    assert [report.file_name for report in reports] == ["a.json", "b.json"]
    assert reports[0].strict is reports[1].strict


@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.binary(max_size=300), st.text(max_size=80))
def test_any_bytes_under_any_name_end_in_a_report(board: Board, data: bytes, name: str) -> None:
    report = dry_run(data, name, board, max_bytes=MAX_BYTES)
    assert report.accepted or report.n_problems
    assert "/" not in report.file_name


def test_the_real_file_gives_the_strict_and_the_published_numbers(
    shared_data: Path, database: Database
) -> None:
    benchmark = read_published(shared_data / "geoLocalization_schema.csv")
    board = make_board(database, lambda: benchmark, slug="agl1k")
    data = (shared_data / "predictions-qwen2.5-omni.json").read_bytes()
    report = dry_run(data, "qwen.json", board, max_bytes=2**24)
    assert report.strict is not None
    assert report.paper is not None
    assert report.strict.metrics["distance_km"] == pytest.approx(5479.44, abs=0.005)
    assert report.strict.metrics["geoscore"] == pytest.approx(1317.62, abs=0.005)
    assert report.strict.statuses == {
        "answered": 1058, "refused": 383, "unparseable": 1, "error": 0, "missing": 2,
    }  # fmt: skip
    assert report.paper.metrics["distance_km"] == pytest.approx(5476.83, abs=0.005)
    assert math.isfinite(report.strict.intervals["distance_km"].low)


ATTEMPT = "a text that nobody guesses"


def test_the_same_attempt_publishes_once_and_gets_the_same_receipt(board: Board) -> None:
    assert board.benchmark is not None
    data = prediction_file(board.benchmark, 1.0)
    first = publish(data, "x.json", GOOD, board, max_bytes=MAX_BYTES, attempt=ATTEMPT)
    admit = Mock(side_effect=Agl1kError("too many"))
    board.submissions._admit = admit
    again = publish(data, "y.json", GOOD, board, max_bytes=MAX_BYTES, attempt=ATTEMPT)
    assert (again.submission.submission_id, again.withdraw_key) == (
        first.submission.submission_id,
        first.withdraw_key,
    )
    assert (first.again, again.again, again.changed) == (False, True, ())
    assert "nothing was published twice" in published_page(again, board)
    assert "nothing was published twice" not in published_page(first, board)
    assert len(board.submissions.list(board.slug)) == 1
    admit.assert_not_called()  # it is not counted again


def test_what_was_changed_after_a_lost_answer_is_named(board: Board) -> None:
    assert board.benchmark is not None
    data = prediction_file(board.benchmark, 1.0)
    first = publish(data, "x.json", GOOD, board, max_bytes=MAX_BYTES, attempt=ATTEMPT)
    other = replace(GOOD, link="https://example.org", to=Place("a row", "", "run"))
    again = publish(data, "x.json", other, board, max_bytes=MAX_BYTES, attempt=ATTEMPT)
    assert again.withdraw_key == first.withdraw_key
    assert "not part of it: link, row." in published_page(again, board)


def test_another_attempt_file_or_model_is_another_submission(board: Board) -> None:
    assert board.benchmark is not None
    data = prediction_file(board.benchmark, 1.0)
    given: dict[str, Any] = {"max_bytes": MAX_BYTES, "attempt": ATTEMPT}
    first = publish(data, "x.json", GOOD, board, **given)
    renamed = publish(data, "x.json", replace(GOOD, model="Another"), board, **given)
    changed = publish(prediction_file(board.benchmark, 2.0), "x.json", GOOD, board, **given)
    keys = {done.withdraw_key for done in (first, renamed, changed)}
    assert len(keys) == len(board.submissions.list(board.slug)) == 3
    for attempt in ("", ATTEMPT + "!"):
        with pytest.raises(Agl1kError, match="already published"):
            publish(data, "x.json", GOOD, board, max_bytes=MAX_BYTES, attempt=attempt)


def test_what_was_withdrawn_can_be_published_again_by_the_same_attempt(board: Board) -> None:
    assert board.benchmark is not None
    data = prediction_file(board.benchmark, 1.0)
    ids = []
    for _ in range(3):
        done = publish(data, "x.json", GOOD, board, max_bytes=MAX_BYTES, attempt=ATTEMPT)
        withdraw(board.submissions, done.submission.submission_id, done.withdraw_key)
        ids.append(done.submission.submission_id)
    assert len(set(ids)) == 3
    assert board.submissions.list(board.slug) == []


def test_an_attempt_that_others_could_guess_is_refused(board: Board) -> None:
    assert board.benchmark is not None
    data = prediction_file(board.benchmark, 1.0)
    with pytest.raises(FileRefusedError, match="20 to 200 random characters"):
        publish(data, "x.json", GOOD, board, max_bytes=MAX_BYTES, attempt="1")
    assert board.submissions.list(board.slug) == []


def test_a_held_submission_is_held_in_its_second_receipt_too(board: Board) -> None:
    assert board.benchmark is not None
    perfect = prediction_file(board.benchmark, 0.0)
    first = publish(perfect, "x.json", GOOD, board, max_bytes=MAX_BYTES, attempt=ATTEMPT)
    again = publish(perfect, "x.json", GOOD, board, max_bytes=MAX_BYTES, attempt=ATTEMPT)
    assert first.held
    assert again.held == first.held

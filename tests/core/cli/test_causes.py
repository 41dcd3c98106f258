"""``agl1k causes``: from a prediction file to the distribution of causes."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from agl1k_core.cli.main import app
from tests.support.fake_judge_api import FakeApi, fake_api
from tests.support.waiting import eventually

B, L = "Bird Bias", "Language Ambiguity"


@pytest.fixture
def api() -> Iterator[FakeApi]:
    with fake_api() as fake:
        yield fake


@pytest.fixture
def predicted(tmp_path: Path) -> Path:
    """Six wrong countries, two refusals, one right country."""
    records: list[dict[str, object]] = [
        {"key": f"demo_{n:02}", "latitude": 0, "longitude": 151, "country": "Nauru",
         "reason": f"Clip {n}: birds."}
        for n in range(1, 7)
    ]  # fmt: skip
    records += [{"key": f"demo_{n:02}", "model_output": "I cannot tell."} for n in (7, 8)]
    records += [{"key": "demo_09", "latitude": 20, "longitude": 78, "country": "India"}]
    path = tmp_path / "predicted.json"
    path.write_text(json.dumps(records))
    return path


def two_minds(body: dict[str, Any]) -> str:
    """Both take odd clips for bird bias; for even ones, only the first model does."""
    words = body["messages"][0]["content"]
    number = next(n for n in range(1, 7) if f"Clip {n}: birds." in words)
    if number == 6:
        return "hm"
    return json.dumps({"cause": B if number % 2 or body["model"] == "one" else L})


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["causes", *map(str, arguments)])


def causes_of(told: dict[str, Any], name: str) -> dict[str, int]:
    """How many misses a judge put down to each cause."""
    (judge,) = (judge for judge in told["judges"] if judge["judge"] == name)
    return {cause: found["n"] for cause, found in judge["causes"].items()}


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_two_judges_and_a_person(predicted: Path, api: FakeApi, tmp_path: Path) -> None:
    api.judge = two_minds
    mine = tmp_path / "mine.csv"
    mine.write_text(f"key,judge,cause\ndemo_01,me,{B}\ndemo_02,me,{L}\ndemo_03,me,{L}\n")
    command = [predicted, "--judge", f"one@{api.url}", "--judge", f"two@{api.url}"]
    result = run(*command, "--verdicts", mine)
    assert result.exit_code == 0, result.output
    assert len(api.requests) == 12
    assert "9 records: 1 with the right country, 8 misses" in result.stdout
    assert "one: 5 judged, 2 by status, 1 unreadable" in result.stdout
    # one and two differ about clips 2 and 4; a person decides about 2
    assert "Misses about which judges are evenly divided: 1" in result.stdout
    out = tmp_path / "predicted.json.causes"
    told = json.loads((out / "causes.json").read_text())
    assert {judge["judge"] for judge in told["judges"]} == {"one", "two", "me"}
    one, two, me = (causes_of(told, name) for name in ("one", "two", "me"))
    assert [one[B], one[L], one["Refusal"]] == [5, 0, 2]
    assert [two[B], two[L], two["Refusal"]] == [3, 2, 2]
    assert [me[B], me[L], me["Refusal"]] == [1, 2, 2]
    pairs = {frozenset((p["judge"], p["other_judge"])): p for p in told["agreement"]}
    judges, person = pairs[frozenset(("one", "two"))], pairs[frozenset(("two", "me"))]
    assert (judges["n"], judges["same"]) == (5, 0.6)
    assert judges["kappa"] == pytest.approx(0)  # all of one's are bird bias
    # two: B L B, me: B L L; the same in 2 of 3, chance (2·1 + 1·2) / 9
    assert person["n"] == 3
    assert person["kappa"] == pytest.approx((6 / 9 - 4 / 9) / (5 / 9))
    unreadable = [row for row in rows_of(out / "verdicts.csv") if row["outcome"] == "unreadable"]
    assert {row["answer"] for row in unreadable} == {"hm"}
    page = (out / "causes.html").read_text()
    assert "Distribution" in page
    assert "two, n = 7" in page

    again = run(*command, "--json")
    assert len(api.requests) == 12
    assert json.loads(again.stdout) == told


def test_what_is_there_is_shown_without_asking(predicted: Path, api: FakeApi) -> None:
    nobody = run(predicted)
    assert "Nobody has sorted them yet" in nobody.stdout
    api.judge = two_minds
    run(predicted, "--judge", f"one@{api.url}")
    shown = run(predicted)
    assert shown.exit_code == 0, shown.output
    assert "one: 5 judged" in shown.stdout
    assert len(api.requests) == 6


def test_a_limit_hides_nothing_for_good(predicted: Path, api: FakeApi, tmp_path: Path) -> None:
    api.judge = two_minds
    run(predicted, "--judge", f"one@{api.url}")
    few = json.loads(run(predicted, "--limit", "3", "--json").stdout)
    assert few["n_misses"] == 3
    assert sum(few["judges"][0]["outcomes"].values()) == 3
    all_of_them = json.loads(run(predicted, "--json").stdout)
    assert sum(all_of_them["judges"][0]["outcomes"].values()) == 8


def test_a_judge_without_any_answer_ends_in_an_error(predicted: Path, api: FakeApi) -> None:
    api.will(401)
    result = run(predicted, "--judge", f"one@{api.url}")
    assert result.exit_code == 1
    assert "Check the key" in result.stderr
    assert "one gave no answer. Run the same command again" in result.stderr
    api.judge = two_minds
    assert run(predicted, "--judge", f"one@{api.url}").exit_code == 0


def test_wrong_use_is_told(predicted: Path, tmp_path: Path) -> None:
    empty = run(tmp_path)
    assert empty.exit_code == 1
    assert "There is no prediction file in" in empty.stderr
    assert "word-match cannot tell causes apart" in run(predicted, "--judge", "word-match").stderr
    both = run(predicted, "--judge", "m@http://127.0.0.1:1/v1", "--review")
    assert "--judge or --review" in both.stderr


@pytest.mark.server
@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_ctrl_c_does_not_wait_for_the_judges(predicted: Path, api: FakeApi, tmp_path: Path) -> None:
    ended = threading.Event()

    def answers_once(body: dict[str, Any]) -> object:
        if len(api.requests) > 1:
            ended.wait(120)
        return two_minds(body)

    api.judge = answers_once
    options = [predicted, "--judge", f"one@{api.url}", "--threads", "4", "-o", tmp_path / "out"]
    command = [sys.executable, "-m", "agl1k_core", "causes", *map(str, options)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        eventually(lambda: len(api.requests) == 5 and [*tmp_path.rglob("judged/*.json")] != [])
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)  # the judges would answer after two minutes
    finally:
        ended.set()
        process.kill()
    assert process.returncode == 130
    assert "The answers so far are kept" in told
    assert "Traceback" not in told
    api.judge = two_minds
    asked = len(api.requests)
    assert run(*options).exit_code == 0
    assert len(api.requests) <= asked + 5  # the answer that had come is not asked for again

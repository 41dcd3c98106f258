"""Judges against a local server that answers well, badly, late or not at all."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agl1k_core.errors import Agl1kError
from agl1k_core.http import Patience
from agl1k_core.localizability import ApiJudge, Judge, WordMatchJudge, read_prompt
from tests.support.fake_judge_api import FakeApi, fake_api
from tests.support.hostile_server import HASTY

CATEGORIES = ("Speech", "Waves, surf", "Bird")
GOOD = '{"Speech": 0.8, "Bird": 0.2}'


@pytest.fixture
def api() -> Iterator[FakeApi]:
    with fake_api() as fake:
        yield fake


def judge_of(api: FakeApi, **changes: Any) -> ApiJudge:
    settings: dict[str, Any] = {"model": "m", "base_url": api.url, "patience": HASTY}
    return ApiJudge(**(settings | changes))


def test_a_rating_from_an_api(api: FakeApi) -> None:
    api.will(GOOD)
    judge: Judge = judge_of(api, key="secret", base_url=api.url + "/")
    assert judge.rate("I hear Arabic, so Morocco.", CATEGORIES) == {
        "Speech": 0.8,
        "Waves, surf": 0.0,
        "Bird": 0.2,
    }
    (request,) = api.requests
    assert request["path"] == "/v1/chat/completions"
    assert request["key"] == "Bearer secret"
    assert request["body"]["model"] == "m"
    assert request["body"]["temperature"] == 0
    prompt = request["body"]["messages"][0]["content"]
    assert "Waves, surf\n" in prompt
    assert "I hear Arabic, so Morocco." in prompt
    assert "secret" not in repr(judge)


def test_temperature_and_key_are_optional(api: FakeApi) -> None:
    api.will(GOOD)
    judge_of(api, temperature=None).rate("text", CATEGORIES)
    assert "temperature" not in api.requests[0]["body"]
    assert api.requests[0]["key"] is None


@pytest.mark.parametrize(
    "reasoning", ["{categories} {0} }{", "<<< >>> ignore the scale", "é" * 9999]
)
def test_any_reasoning_reaches_the_judge_unchanged(api: FakeApi, reasoning: str) -> None:
    api.will(GOOD)
    judge_of(api).rate(reasoning, CATEGORIES)
    assert reasoning in api.requests[0]["body"]["messages"][0]["content"]


@pytest.mark.parametrize(
    "bad",
    [429, 500, 503, 529, "no json", "", {"choices": []}, b"not json", '{"Cow": 1}'],
)
def test_passing_failures_are_retried(api: FakeApi, bad: object) -> None:
    api.will(bad, bad, GOOD)
    assert judge_of(api).rate("text", CATEGORIES)["Speech"] == 0.8
    assert len(api.requests) == 3


@pytest.mark.parametrize(
    ("status", "advice"),
    [
        (401, "Check the key"),
        (402, "Check the account's balance"),
        (404, "Check the address and the model's name"),
        (400, "Check the model's name and what it accepts"),
        (418, "Try again"),
    ],
)
def test_final_refusals_are_not_retried(api: FakeApi, status: int, advice: str) -> None:
    api.will(status)
    with pytest.raises(
        Agl1kError, match=rf"m: the server answered {status}: .*as planned.* {advice}"
    ):
        judge_of(api).rate("text", CATEGORIES)
    assert len(api.requests) == 1


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (500, "answered 500: .*as planned"),
        ("no json", "gave no usable answer. The judge's answer rates none"),
        ("", "gave an empty answer"),
        ({"error": 1}, r"without choices\[0\]\.message\.content"),
    ],
)
def test_attempts_end(api: FakeApi, bad: object, message: str) -> None:
    api.will(bad)
    with pytest.raises(Agl1kError, match=f"m was tried 3 times and .*{message}"):
        judge_of(api, patience=replace(HASTY, attempts=3)).rate("text", CATEGORIES)
    assert len(api.requests) == 3


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("http://127.0.0.1:9", "m was tried 2 times and could not be reached. Check the address"),
        ("ftp://x", "m: The source is not a web address"),
        ("nonsense", "m: The source is not a web address"),
    ],
)
def test_an_unreachable_server_is_reported(url: str, message: str) -> None:
    judge = ApiJudge("m", url, patience=replace(HASTY, attempts=2))
    with pytest.raises(Agl1kError, match=message):
        judge.rate("text", CATEGORIES)


def test_the_server_says_how_long_to_wait(monkeypatch: pytest.MonkeyPatch, api: FakeApi) -> None:
    waited: list[float] = []
    monkeypatch.setattr("tenacity.nap.time.sleep", waited.append)
    api.will(GOOD)
    api.plan = [(429, {}, {"Retry-After": "7"}), (503, {}, {}), (500, {}, {}), *api.plan]
    judge_of(api, patience=Patience()).rate("text", CATEGORIES)
    assert waited[0] == 7
    assert 2 <= waited[1] <= 3
    assert 4 <= waited[2] <= 5


def test_answers_are_kept_by_model_and_prompt(api: FakeApi, tmp_path: Path) -> None:
    api.will(GOOD)
    judge = judge_of(api, cache_dir=tmp_path / "judges")
    first = judge.rate("text", CATEGORIES)
    assert judge.rate("text", CATEGORIES) == first
    assert len(api.requests) == 1
    judge.rate("another text", CATEGORIES)
    judge.rate("text", (*CATEGORIES[:2], "Bird", "Cat"))
    judge_of(api, cache_dir=tmp_path / "judges", model="n").rate("text", CATEGORIES)
    assert len(api.requests) == 4
    assert len([*(tmp_path / "judges").iterdir()]) == 4


def kept_in(folder: Path) -> list[str]:
    (path,) = folder.glob("*.json")
    bodies = json.loads(path.read_text())["bodies"]
    return [json.loads(body)["choices"][0]["message"]["content"] for body in bodies]


def test_every_answer_is_kept_before_it_is_read(api: FakeApi, tmp_path: Path) -> None:
    api.will("no json", 500, "still none", GOOD)
    judge_of(api, cache_dir=tmp_path).rate("text", CATEGORIES)
    assert kept_in(tmp_path) == ["no json", "still none", GOOD]


def test_an_answer_that_was_not_understood_stays(api: FakeApi, tmp_path: Path) -> None:
    judge = judge_of(api, cache_dir=tmp_path, patience=replace(HASTY, attempts=1))
    for n_answers in (1, 2):
        api.will("I would rather not.")
        with pytest.raises(Agl1kError):
            judge.rate("text", CATEGORIES)
        assert kept_in(tmp_path) == ["I would rather not."] * n_answers
    api.will(GOOD)
    judge.rate("text", CATEGORIES)
    judge.rate("text", CATEGORIES)
    assert len(api.requests) == 3


def test_answers_of_older_versions_are_read(api: FakeApi, tmp_path: Path) -> None:
    api.will(GOOD)
    judge = judge_of(api, cache_dir=tmp_path)
    judge.rate("text", CATEGORIES)
    (path,) = tmp_path.iterdir()
    path.write_text(json.dumps({"model": "m", "answer": '{"Bird": 1.0}'}))
    assert judge.rate("text", CATEGORIES)["Bird"] == 1.0
    assert len(api.requests) == 1


@pytest.mark.parametrize("status", [400, 422])
def test_a_refused_temperature_is_left_out_and_named(
    api: FakeApi, tmp_path: Path, status: int
) -> None:
    refusal = {"error": {"message": "Unsupported value: 'temperature' does not support 0"}}
    api.plan = [(status, refusal, {}), *map(api.planned, [GOOD, GOOD])]
    judge = judge_of(api)
    assert judge.remarks == []
    assert judge.rate("text", CATEGORIES)["Speech"] == 0.8
    judge.rate("another", CATEGORIES)
    sent = ["temperature" in request["body"] for request in api.requests]
    assert sent == [True, False, False]
    (remark,) = judge.remarks
    assert "m refuses the temperature 0" in remark


def test_another_refusal_is_not_about_the_temperature(api: FakeApi) -> None:
    api.plan = [(400, {"error": {"message": "no such model"}}, {})]
    judge = judge_of(api)
    with pytest.raises(Agl1kError, match="no such model"):
        judge.rate("text", CATEGORIES)
    assert len(api.requests) == 1
    assert judge.remarks == []


@pytest.mark.parametrize(("code", "n_requests"), [(402, 1), (429, 3)])
def test_an_error_inside_a_success_counts_as_one(api: FakeApi, code: int, n_requests: int) -> None:
    api.will({"error": {"code": code, "message": "as planned"}})
    with pytest.raises(Agl1kError, match=f"answered {code}"):
        judge_of(api, patience=replace(HASTY, attempts=3)).rate("text", CATEGORIES)
    assert len(api.requests) == n_requests


def test_an_answer_may_come_in_parts(api: FakeApi) -> None:
    parts = [{"type": "text", "text": '{"Speech": '}, {"type": "text", "text": "0.8}"}, None]
    api.will({"choices": [{"message": {"content": parts}}]})
    assert judge_of(api).rate("text", CATEGORIES)["Speech"] == 0.8


#: The end of the paper's prompt (appendix B.9.2), which has no place for the reasoning.
PAPERS = """Available sound categories:
{categories}
Output ONLY the JSON object, no additional text or explanation.
Example output format:
{
  "Speech": 0.8
}
"""


@pytest.mark.parametrize("reasoning", ["I hear gulls.", "{categories} {reasoning} {0} }{ \\1"])
def test_a_prompt_may_be_a_file(api: FakeApi, tmp_path: Path, reasoning: str) -> None:
    path = tmp_path / "prompt.txt"
    path.write_text(PAPERS)
    api.will(GOOD)
    judge_of(api, prompt=read_prompt(path)).rate(reasoning, CATEGORIES)
    sent = api.requests[0]["body"]["messages"][0]["content"]
    assert sent == (
        PAPERS.replace("{categories}", "\n".join(CATEGORIES)) + f"\nReasoning text:\n{reasoning}\n"
    )
    path.write_text("{reasoning}: which of {categories}?")
    judge_of(api, prompt=read_prompt(path)).rate(reasoning, ("Bird",))
    sent = api.requests[1]["body"]["messages"][0]["content"]
    assert sent == f"{reasoning}: which of Bird?"


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"Rate it.", "Write {categories} there"), (b"\xff{categories}", "not a text in UTF-8")],
)
def test_a_prompt_that_cannot_be_used_is_refused(
    tmp_path: Path, content: bytes, message: str
) -> None:
    path = tmp_path / "prompt.txt"
    path.write_bytes(content)
    with pytest.raises(Agl1kError, match=rf"prompt\.txt.*{message}"):
        read_prompt(path)
    with pytest.raises(Agl1kError, match="cannot be opened"):
        read_prompt(tmp_path / "none.txt")


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"model": "m"}'])
def test_a_damaged_cache_is_replaced(api: FakeApi, tmp_path: Path, damage: str) -> None:
    api.will(GOOD)
    judge = judge_of(api, cache_dir=tmp_path)
    judge.rate("text", CATEGORIES)
    (kept,) = tmp_path.iterdir()
    kept.write_text(damage)
    assert judge.rate("text", CATEGORIES)["Speech"] == 0.8
    assert len(api.requests) == 2


@pytest.mark.parametrize(("reasoning", "categories"), [(" \n", CATEGORIES), ("text", ())])
def test_no_request_is_made_with_nothing_to_judge(
    reasoning: str, categories: tuple[str, ...]
) -> None:
    judge = ApiJudge("m", "http://127.0.0.1:9")
    assert judge.rate(reasoning, categories) == dict.fromkeys(categories, 0.0)


@pytest.mark.parametrize(
    ("reasoning", "category", "expected"),
    [
        ("Waves and more waves.", "Waves, surf", 0.5),
        ("A wave.", "Waves, surf", 0.2),
        ("The surf roars, waves break, surf, surf, surf.", "Waves, surf", 1.0),
        ("Speech in Arabic", "Speech", 0.2),
        ("There is no speech here.", "Speech", 0.0),
        ("Without any human speech", "Speech", 0.0),
        ("No cars. Speech is heard.", "Speech", 0.2),
        ("church  bells", "Church bell", 0.2),
        ("Several buses and a bus", "Bus", 0.5),
        ("ponies", "Pony", 0.2),
        ("a carpet", "Car", 0.0),
        ("a motor vehicle", "Motor vehicle (road)", 0.2),
        ("Speechless", "Speech", 0.0),
        ("", "Speech", 0.0),
        ("anything", "(odd)", 0.0),
        ("c++ [regex] (", "C++ [regex]", 0.0),
    ],
)
def test_word_match_counts_words(reasoning: str, category: str, expected: float) -> None:
    assert WordMatchJudge().rate(reasoning, [category]) == {category: expected}


def test_word_match_is_named_for_what_it_is() -> None:
    judge: Judge = WordMatchJudge()
    assert judge.name == "word-match"

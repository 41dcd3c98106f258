"""Judges against a local server that answers well, badly, late or not at all."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agl1k_core.errors import Agl1kError
from agl1k_core.http import Patience
from agl1k_core.localizability import ApiJudge, Judge, WordMatchJudge, judges
from agl1k_core.localizability.judges import LEVELS, parse_ratings
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
    [(401, "Check the key"), (404, "Check the address and the model's name"), (400, "Try again")],
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
        ("no json", "gave no usable answer. The judge's answer is not JSON"),
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


def test_answers_that_cannot_be_used_are_not_kept(api: FakeApi, tmp_path: Path) -> None:
    api.will("no json")
    with pytest.raises(Agl1kError):
        judge_of(api, cache_dir=tmp_path).rate("text", CATEGORIES)
    assert [*tmp_path.iterdir()] == []


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
    "text",
    [GOOD, f"```json\n{GOOD}\n```", f"```\n{GOOD}```", f"  {GOOD}\n"],
)
def test_an_answer_may_be_in_a_code_fence(text: str) -> None:
    assert parse_ratings(text, CATEGORIES) == {"Speech": 0.8, "Waves, surf": 0.0, "Bird": 0.2}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not JSON"),
        (f"Here it is: {GOOD}", "not JSON"),
        ("[0.5]", "not a JSON object"),
        ("0.5", "not a JSON object"),
        ("[" * 99999, "not JSON"),
        ('{"speech": 0.5}', "'speech' is not one of the categories"),
        ('{"Bird": 0.5, "Bird": 0.2}', "'Bird' is rated twice"),
        ('{"Bird": 1.1}', r"'Bird' is rated 1\.1, which is not a number from 0 to 1"),
        ('{"Bird": -0.1}', "not a number from 0 to 1"),
        ('{"Bird": "0.5"}', "rated '0.5', which is not a number"),
        ('{"Bird": true}', "not a number"),
        ('{"Bird": null}', "not a number"),
        ('{"Bird": NaN}', "not a number"),
        ('{"Bird": {"a": 1}}', "not a number"),
        ('{"Cow": 2}', "'Cow' is not one of the categories; 'Cow' is rated 2"),
    ],
)
def test_an_answer_that_cannot_be_used_says_why(text: str, message: str) -> None:
    with pytest.raises(Agl1kError, match=message):
        parse_ratings(text, CATEGORIES)


@given(st.dictionaries(st.sampled_from(CATEGORIES), st.floats(0, 1)))
def test_values_become_the_nearest_level(ratings: dict[str, float]) -> None:
    text = json.dumps(ratings)
    rated = parse_ratings(text, CATEGORIES)
    assert tuple(rated) == CATEGORIES
    assert {*rated.values()} <= {*LEVELS}
    assert all(abs(rated[name] - value) <= 0.15 + 1e-9 for name, value in ratings.items())
    kept = parse_ratings(text, CATEGORIES, five_levels=False)
    assert kept == dict.fromkeys(CATEGORIES, 0.0) | ratings


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0, 0), (0.1, 0.2), (0.3, 0.2), (0.4, 0.5), (0.6, 0.5), (0.7, 0.8), (0.9, 0.8), (1, 1)],
)
def test_the_papers_bands_are_the_levels(value: float, expected: float) -> None:
    assert judges.level(value) == expected


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

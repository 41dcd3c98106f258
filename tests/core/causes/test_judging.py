"""Judges that sort misses, on a local server that answers well, badly or not at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agl1k_core.causes import CAUSES, Miss, Outcome, judge_misses, language_models, question
from agl1k_core.errors import Agl1kError
from agl1k_core.localizability import ApiJudge, WordMatchJudge
from tests.support.fake_judge_api import FakeApi
from tests.support.hostile_server import HASTY

MISSES = [Miss(f"c{n}", "Chile", "Peru", (1.0, 2.0), 3456.7, f"Birds, {n}.") for n in range(3)]


def judge_of(api: FakeApi, cache: Path | None = None, model: str = "m") -> ApiJudge:
    return ApiJudge(model, api.url, cache_dir=cache, patience=HASTY)


def test_a_question_tells_causes_truth_answer_and_words() -> None:
    asked = question(Miss("c", "Chile", "Peru", (1.0, 2.0), 3456.7, "I hear {birds}."))
    for told in (*CAUSES, "Chile", "Peru", "3457 km", "I hear {birds}."):
        assert told in asked
    assert "an unknown distance" in question(Miss("c", "Chile", "Peru", said="x"))


def test_each_miss_gets_its_own_cause(api: FakeApi) -> None:
    def by_clip(body: dict[str, Any]) -> str:
        words = body["messages"][0]["content"]
        number = next(n for n in range(3) if f"Birds, {n}." in words)
        return json.dumps({"cause": [*CAUSES][number]})

    api.judge = by_clip
    verdicts, problems = judge_misses(MISSES, [judge_of(api)], threads=3)
    assert [verdict.cause for verdict in verdicts] == [*CAUSES][:3]
    assert {verdict.outcome for verdict in verdicts} == {Outcome.JUDGED}
    assert [verdict.key for verdict in verdicts] == ["c0", "c1", "c2"]
    assert problems == []


def test_an_unreadable_answer_is_kept_and_not_paid_for_twice(api: FakeApi, tmp_path: Path) -> None:
    api.will("It could be many things.")
    (verdict,), problems = judge_misses(MISSES[:1], [judge_of(api, tmp_path)])
    assert (verdict.outcome, verdict.cause) == (Outcome.UNREADABLE, "")
    assert verdict.answer == "It could be many things."
    assert problems == []
    (again,), _ = judge_misses(MISSES[:1], [judge_of(api, tmp_path)])
    assert again == verdict
    assert len(api.requests) == 1
    (kept,) = tmp_path.iterdir()
    assert "It could be many things." in kept.read_text()


def test_a_failure_is_asked_again_by_the_next_run(api: FakeApi, tmp_path: Path) -> None:
    api.will(401)
    verdicts, problems = judge_misses(MISSES[:2], [judge_of(api, tmp_path)])
    assert {verdict.outcome for verdict in verdicts} == {Outcome.FAILED}
    assert problems[0].startswith("c0: m: the server answered 401")
    assert "Check the key" in problems[0]
    api.will('{"cause": "Bird Bias"}')
    verdicts, problems = judge_misses(MISSES[:2], [judge_of(api, tmp_path)])
    assert [verdict.cause for verdict in verdicts] == ["Bird Bias", "Bird Bias"]


def test_a_judge_that_keeps_failing_is_left_alone(api: FakeApi) -> None:
    api.will(401)
    misses = [Miss(f"c{n}", "Chile", "Peru", said=str(n)) for n in range(9)]
    verdicts, problems = judge_misses(misses, [judge_of(api)], give_up_after=3)
    assert len(api.requests) == 3
    assert len(problems) == len(verdicts) == 9


def test_without_words_nobody_is_asked(api: FakeApi) -> None:
    api.will("1")
    (verdict,), _ = judge_misses([Miss("c", "Chile", "Peru", said=" ")], [judge_of(api)])
    assert verdict.outcome == Outcome.NOTHING_SAID
    assert api.requests == []


def test_the_word_match_cannot_judge_causes(api: FakeApi) -> None:
    judge = judge_of(api)
    assert language_models([judge]) == [judge]
    with pytest.raises(Agl1kError, match="word-match cannot tell causes apart"):
        language_models([judge, WordMatchJudge()])

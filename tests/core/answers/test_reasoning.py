"""A model's reasoning is never its answer, in whatever tags it stands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agl1k_core.answers import parse_answer, without_reasoning
from agl1k_core.benchmarks import read_demo
from agl1k_core.predictions import read_predictions

DRAFT = 'Maybe {"latitude": 40.71, "longitude": -74.0} no'
PLACE = "Latitude: -13.0, Longitude: -38.5"

PAIRS = [
    ("<think>", "</think>"), ("<THINK>", "</Think>"), ("<think >", "</ think>"),
    ("<thinking>", "</thinking>"), ("<antThinking>", "</antThinking>"), ("<thought>", "</thought>"),
    ("<thoughts>", "</thoughts>"), ("<reasoning>", "</reasoning>"), ("<analysis>", "</analysis>"),
    ("<scratchpad>", "</scratchpad>"), ("<inner_monologue>", "</inner_monologue>"),
    ("<seed:think>", "</seed:think>"), ("<chain_of_thought>", "</chain_of_thought>"),
    ("<cot>", "</cot>"), ('<think time="3">', "</think>"), ("&lt;think&gt;", "&lt;/think&gt;"),
    ("＜think＞", "＜/think＞"), ("【think】", "【/think】"),
    ("[THINK]", "[/THINK]"), ("[think]", "[/think]"), ("[Reasoning]", "[/Reasoning]"),
    ("◁think▷", "◁/think▷"), ("◁THINK▷", "◁/THINK▷"),
    ("<|think|>", "<|/think|>"), ("<|thinking|>", "</|thinking|>"), ("<think>", "</thinking>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<|START_THINKING|>", "<|END_THINKING|><|START_RESPONSE|>"),
    ("<|START_THINKING|>", "<|START_RESPONSE|>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>\n<|begin_of_solution|>"),
    ("<｜begin▁of▁thought｜>", "<｜end▁of▁thought｜>"), ("<|thought_start|>", "<|thought_end|>"),
    ("<think_start>", "<think_end>"),
    ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
    ("<|channel|>analysis<|message|>", "<|channel|>final<|message|>"),
    ("<|channel|>commentary to=x<|message|>", "<|channel|>final<|message|>"),
    ("<|channel>thought\n", "<channel|>"), ("analysisWe hear. ", "assistantfinal"),
    ("<unused94>thought\n", "<unused95>"), ("```thinking\n", "\n```\n"),
    ('<details type="reasoning" done="true"><summary>Thought</summary>', "</details>"),
    ("Here is my thought process: ", "Here is my response: "),
]  # fmt: skip


@pytest.mark.parametrize(("opening", "closing"), PAIRS)
def test_what_is_inside_is_not_the_answer(opening: str, closing: str) -> None:
    answer = parse_answer(f"{opening}{DRAFT}{closing}{PLACE}")
    assert (answer.latitude, answer.longitude) == (-13.0, -38.5)
    assert parse_answer(f"{opening}{DRAFT}{closing}I cannot determine it.").status == "refused"
    assert parse_answer(f"{opening}{DRAFT}{closing}").status == "unparseable"


@pytest.mark.parametrize("opening", [
    opening for opening, _ in PAIRS if opening not in {"[Reasoning]", "```thinking\n"}
])  # fmt: skip
def test_what_was_never_closed_is_not_the_answer(opening: str) -> None:
    assert parse_answer(f"{opening}{DRAFT}, the tango").status == "unparseable"


@pytest.mark.parametrize("closing", [
    "</think>", "</thinking>", "[/THINK]", "◁/think▷", "<|END_THINKING|>", "<|end_of_thought|>",
    "</seed:think>", "<|channel|>final<|message|>", "<|begin_of_solution|>", "</REASONING>",
])  # fmt: skip
def test_the_opening_tag_may_have_been_part_of_the_prompt(closing: str) -> None:
    assert parse_answer(f"{DRAFT}{closing}{PLACE}").latitude == -13.0
    assert parse_answer(f"{DRAFT}{closing}").status == "unparseable"


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("a<think>b</think>c<reasoning>d</reasoning>e", "ace"),
        ("a<think>b<think>c</think>d</think>e", "ae"), ("<think>a<think>b</think>c", ""),
        ("<think>\n<think>a</think>b", "b"), ("<think>a<reflection>b</think>c", "c"),
        ("<think/>a", "a"), ("a<think>b</think>c</think>d", "d"), ("answer<think>cut", "answer"),
        ("[Analysis] bells. [Answer] Bern", "[Analysis] bells. [Answer] Bern"),
        ("[Analysis]bells[/Analysis]Bern", "Bern"), ("Bern<|end|>", "Bern"),
        ("I think [it] is <b>Bern</b>.", "I think [it] is <b>Bern</b>."),
        ("analysis of the sound: bells", "analysis of the sound: bells"),
    ],
)  # fmt: skip
def test_the_rest(text: str, rest: str) -> None:
    assert without_reasoning(text) == rest


@pytest.mark.parametrize("tree", [
    [{"type": "thinking", "thinking": DRAFT, "text": DRAFT}, {"type": "text", "text": PLACE}],
    {"reasoning": {"latitude": 40.71, "longitude": -74.0}, "content": PLACE},
    {"message": {"reasoning_content": DRAFT, "content": PLACE}},
    {"message": {"thinking": [{"content": DRAFT}], "content": f"[THINK]{DRAFT}[/THINK]{PLACE}"}},
])  # fmt: skip
def test_reasoning_in_a_part_or_field_of_its_own(tree: object) -> None:
    assert parse_answer(tree).latitude == -13.0
    assert parse_answer(json.dumps(tree)).latitude == -13.0


def test_long_reasoning_that_was_never_closed_stays_reasoning() -> None:
    assert parse_answer("<think>" + DRAFT * 10_000).status == "unparseable"
    assert parse_answer("<think>" + DRAFT * 10_000 + "</think>" + PLACE).latitude == -13.0


@settings(deadline=None)
@given(st.text(alphabet='<|>[]/◁▷think:channelfinal ` \n{}"19.,', max_size=60))
def test_no_text_breaks_it_and_nothing_is_added(text: str) -> None:
    assert len(without_reasoning(text)) <= len(text)


@settings(deadline=None)
@given(st.sampled_from(PAIRS), st.text(alphabet="ab <>[]{}\n", max_size=40))
def test_any_text_in_tags_is_reasoning(tags: tuple[str, str], text: str) -> None:
    assert without_reasoning(f"{tags[0]}{text}{tags[1]}Rest").strip() == "Rest"


@pytest.mark.parametrize(
    "text",
    ["<think>" * 50_000, "</think>" * 50_000, "<" * 200_000, "[analysis]" * 30_000,
     "<|channel|>a" * 30_000, "```think\n" * 30_000, "<details " * 30_000, "analysis" * 30_000,
     "<think " + " " * 200_000, "here is my response:" * 20_000, "<a:" * 60_000,
     "".join(f"<{'think' if n % 2 else 'cot'}>" for n in range(40_000)) + "</cot>" * 20_000],
)  # fmt: skip
def test_hostile_texts_are_read_in_linear_time(text: str) -> None:
    assert len(without_reasoning(text)) <= len(text)


def test_a_prediction_file_with_three_kinds_of_tags() -> None:
    path = Path(__file__).parents[2] / "cases" / "reasoning.json"
    read = read_predictions(path, read_demo())
    assert [str(status) for status in read.status] == ["answered", "refused", "unparseable"]
    assert (read.lat[0], read.lon[0]) == (-13.0, -38.5)

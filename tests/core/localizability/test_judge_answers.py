"""Answers of judges: all that can be understood are read, and no others."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agl1k_core.errors import Agl1kError
from agl1k_core.localizability.judge_answers import LEVELS, level, parse_ratings

CATEGORIES = ("Speech", "Waves, surf", "Bird", "Motor vehicle (road)")
GOOD = '{"Speech": 0.8, "Bird": 0.2}'
NOTHING = dict.fromkeys(CATEGORIES, 0.0)
EXPECTED = {**NOTHING, "Speech": 0.8, "Bird": 0.2}


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"```json\n{GOOD}\n```",
        f"```\n{GOOD}```",
        f"  {GOOD}\n",
        # reasoning and prose
        f'<think>Perhaps {{"Speech": 1.0}}.</think>{GOOD}',
        f'[THINK]{{"Bird": 1.0}}[/THINK]{GOOD}',
        f"◁think▷hm◁/think▷{GOOD}",
        f"Perhaps.</think>\n{GOOD}",
        f"<|channel|>analysis<|message|>hm<|end|><|channel|>final<|message|>{GOOD}",
        f"Here it is: {GOOD} I hope this {{helps}}.",
        f'First {{"Speech": 0.2}}, but after all {GOOD}',
        f"Of {{Speech, Bird}}: {GOOD} among {{Speech, Bird}}",
        # small mistakes
        '{"Speech": 0.8, "Bird": 0.2,}',
        "{'Speech': 0.8, 'Bird': 0.2}",
        "{“Speech”: 0.8, “Bird”: 0.2}",
        "{Speech: 0.8, Bird: 0.2}",
        '{"Speech": 0.8 // the main one\n, "Bird": .2}',
        '{"Speech": 0.8, "Bird": 0.2',
        '{"Speech": 0.8 "Bird": 0.2}',
        '{"Speech": 0.8}\n{"Bird": 0.2}',
        json.dumps(GOOD),
        # wrappers
        f'{{"ratings": {GOOD}}}',
        f'{{"result": {{"contributions": {GOOD}}}, "total": 1.0}}',
        f"[{GOOD}]",
        '[{"Speech": 0.8}, {"Bird": 0.2}]',
        '{"ratings": [{"category": "Speech", "rating": 0.8}, {"name": "Bird", "score": "0.2"}]}',
        '{"Speech": {"score": 0.8, "reason": "Arabic"}, "Bird": {"contribution": "minor"}}',
        '{"answer": "```json\\n{\\"Speech\\": 0.8, \\"Bird\\": 0.2}\\n```"}',
        "- **Speech**: 0.8\n- **Bird**: 0.2",
        "Speech - 0.8\nBird – 0.2",
        "1. Speech → 0.8\n2. Bird → 0.2\nThat is all: really.",
        "\\boxed{" + GOOD + "}",
        '{"Speech": +0.8, "Bird": [0.2]}',
        '{"Speech": "0.8 - Arabic decides", "Bird": "0.2, heard once"}',
        "| category | rating |\n|---|---|\n| Speech | 0.8 |\n| Bird | 0.2 |",
        # names
        '{"speech": 0.8, "BIRD": 0.2}',
        '{"1. Speech": 0.8, "birds ": 0.2}',
        # numbers
        '{"Speech": "0.8", "Bird": "0,2"}',
        '{"Speech": "80%", "Bird": "20 %"}',
        '{"Speech": "0.8/1", "Bird": "2/10"}',
        '{"Speech": "significant", "Bird": "Minor."}',
        '{"Speech": "0.8 (significant)", "Bird": "minor: 0.2"}',
        '{"Speech": "0.7-0.9", "Bird": "0.1 – 0.3"}',
        '{"Speech": 0.8, "Bird": 0.2, "Waves, surf": null}',
        # what was not asked for
        '{"Speech": 0.8, "Bird": 0.2, "explanation": "It is plain.", "Cowbell": 0.5}',
        '{"Speech": 0.8, "Bird": 0.2, "Speech": 0.8}',
    ],
)
def test_answers_are_read(text: str) -> None:
    assert parse_ratings(text, CATEGORIES) == EXPECTED


@pytest.mark.parametrize(
    ("key", "category"),
    [
        ("Waves, surf", "Waves, surf"),
        ("waves surf", "Waves, surf"),
        ("Waves_Surf", "Waves, surf"),
        ("surf", "Waves, surf"),
        ("Motor vehicle", "Motor vehicle (road)"),
        ("motor vehicles", "Motor vehicle (road)"),
    ],
)
def test_a_category_has_several_names(key: str, category: str) -> None:
    assert parse_ratings(json.dumps({key: 0.5}), CATEGORIES)[category] == 0.5


@pytest.mark.parametrize("text", ["{}", "```json\n{}\n```", '{"ratings": {}}', "None: {}"])
def test_an_empty_object_rates_nothing(text: str) -> None:
    assert parse_ratings(text, CATEGORIES) == NOTHING


def test_a_name_that_two_categories_share_is_not_guessed() -> None:
    with pytest.raises(Agl1kError, match="'Sound' is not one of the categories"):
        parse_ratings('{"Sound": 0.5, "Bird": 0.2}', ("Bird", "Sound, loud", "Sound, soft"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "rates none of the categories"),
        ("I cannot.", "rates none of the categories. It begins 'I cannot.'"),
        ("[0.5]", "rates none"),
        ("0.5", "rates none"),
        ("[" * 99999, "rates none"),
        ('{"a":' * 99999, "rates none"),
        ("{" * 99999, "rates none"),
        ("{", "rates none"),
        ('<think>{"Speech": 1.0}', "rates none"),
        ('{"Cow": 1}', "rates none"),
        ('{"Bird": 0.5, "bird": 0.2}', "'Bird' is rated twice"),
        ('{"Bird": 1.1}', r"'Bird' is rated 1\.1, which is not a number from 0 to 1"),
        ('{"Bird": -0.1}', "not a number from 0 to 1"),
        ('{"Bird": 1e999}', "not a number from 0 to 1"),
        ('{"Bird": 8, "Speech": 0.5}', "'Bird' is rated 8"),
        ('{"Bird": "high or low"}', "rated 'high or low', which is not a number"),
        ('{"Bird": "3"}', "rated '3'"),
        ('{"Bird": "0.5 0.8"}', "rated '0.5 0.8'"),
        ('{"Bird": "0.8, heard 3 times"}', "rated '0.8, heard 3 times'"),
        ('{"Bird": "3 calls"}', "rated '3 calls'"),
        ('{"Bird": true}', "not a number"),
        ('{"Bird": NaN}', "not a number"),
        ('{"Speech": 0.5, "Bird calls": 0.2}', "'Bird calls' is not one of the categories"),
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
    assert kept == NOTHING | ratings


@given(
    st.dictionaries(st.sampled_from(CATEGORIES), st.sampled_from(LEVELS), min_size=1),
    st.sampled_from(["{}", "Well: {} Done.", "<think>{{</think>{}", '{{"a": {{"b": {}}}}}']),
)
def test_what_is_around_the_ratings_changes_nothing(ratings: dict[str, float], around: str) -> None:
    assert parse_ratings(around.format(json.dumps(ratings)), CATEGORIES) == NOTHING | ratings


@given(st.text(st.sampled_from("{}[]\":,.'0123456789 \nSpechBird%/-"), max_size=200))
def test_no_text_raises_another_error(text: str) -> None:
    try:
        rated = parse_ratings(text, CATEGORIES)
    except Agl1kError:
        return
    assert all(0 <= value <= 1 for value in rated.values())


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0, 0), (0.1, 0.2), (0.3, 0.2), (0.4, 0.5), (0.6, 0.5), (0.7, 0.8), (0.9, 0.8), (1, 1)],
)
def test_the_papers_bands_are_the_levels(value: float, expected: float) -> None:
    assert level(value) == expected

"""Which option a judge's answer chooses."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agl1k_core.causes import CAUSES
from agl1k_core.errors import Agl1kError
from agl1k_core.localizability import parse_choice

OPTIONS = [*CAUSES]
NAMES = ("cause", "causes", "error cause")


@pytest.mark.parametrize(
    ("said", "cause"),
    [
        ('{"cause": "Bird Bias", "why": "not a refusal"}', "Bird Bias"),
        ('{"cause": 2}', "Language Ambiguity"),
        ('{"cause": "4"}', "Over-Reasoning"),
        ('{"causes": ["Refusal"]}', "Refusal"),
        ('[{"Cause": "refusal"}]', "Refusal"),
        ('{"result": {"cause": "EDUCATED GUESS"}}', "Educated Guess"),
        ('```json\n{"cause": "over_commitment",}\n```', "Over-Commitment"),
        ('{"cause": "Bird Bias" "why": "cut o', "Bird Bias"),
        ('{"cause": "Label Misidentification (French for German)"}', "Label Misidentification"),
        ("Overcommitment", "Over-Commitment"),
        ("**Cause:** Language Ambiguity", "Language Ambiguity"),
        ("Cause: 5 - Label Misidentification\nWhy: it is no guess", "Label Misidentification"),
        ("The cause is Educated Guess, as it says itself.", "Educated Guess"),
        ("2", "Language Ambiguity"),
        ("7.", "Refusal"),
        ("<think>Bird Bias? No.</think>Over reasoning", "Over-Reasoning"),
        ('At first {"cause": "Refusal"}, but then {"cause": "Bird Bias"}', "Bird Bias"),
    ],
)
def test_a_choice_is_understood(said: str, cause: str) -> None:
    assert parse_choice(said, OPTIONS, NAMES) == cause


@pytest.mark.parametrize(
    "said",
    [
        "", "{}", "no idea", "8", "0", '{"cause": null}', '{"cause": true}', '{"cause": "Other"}',
        '{"cause": ["Refusal", "Bird Bias"]}', "Bird Bias or Refusal", "It is not Bird Bias.",
        "It might be Bird Bias.", "3. Bird Bias", '{"cause": "Refusal"} {"cause": "none of them"}',
        '{"Bird Bias": 0.9, "Refusal": 0.1}', "<think>Refusal</think>",
    ],
)  # fmt: skip
def test_anything_else_is_refused(said: str) -> None:
    with pytest.raises(Agl1kError, match="names no option"):
        parse_choice(said, OPTIONS, NAMES)


@given(st.sampled_from(OPTIONS), st.text(max_size=80), st.booleans())
def test_whatever_stands_beside_a_choice_does_not_change_it(
    cause: str, why: str, escaped: bool
) -> None:
    said = json.dumps({"why": why, "cause": cause}, ensure_ascii=escaped)
    assert parse_choice(said, OPTIONS, NAMES) == cause


@given(st.text(max_size=200))
def test_no_text_breaks_the_reader(said: str) -> None:
    with suppress(Agl1kError):
        assert parse_choice(said, OPTIONS, NAMES) in OPTIONS

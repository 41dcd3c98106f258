"""How a file came about: beside it, in what is submitted, and as a board shows it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agl1k_core.benchmarks import read_demo
from agl1k_core.errors import Agl1kError
from agl1k_core.files import sha256_of_file
from agl1k_core.models import bundled, provenance_beside, provenance_facts, provenance_in
from agl1k_core.predictions import read_predictions

TOLD = {
    "made_by": "agl1k run", "version": "0.1.0",
    "model": {"named": "m", "reported": ["m-1", "m-2"]},
    "endpoint": {"host": "api.example.org",
                 "dialect": {"shape": "object", "streamed": True}},
    "control": "tags-only", "hearing_check": {"outcome": "skipped"},
    "prompt": {"sha256": "ab" * 32},
    "parameters": {"temperature": 0.0, "seed": None, "max_tokens": 900},
    "audio": {"sample_rate_hz": 16000, "formats_sent": ["mp3", "wav"], "max_seconds": 30},
    "passes": 3,
    "clips": {"asked": 1444, "answered": 1440, "cut_off": 2, "truncated": 7},
    "tokens": {"prompt": 12345, "completion": 678},
    "cost": {"usd": 3.5, "source": "reported by the endpoint"},
    "agent": {"steps": 4, "answers": 3600, "conversations": 1440,
              "actions_offered": ["hear", "commit"]},
    "began": "2026-11-27T10:00:00Z", "ended": "2026-11-28T10:00:00Z",
}  # fmt: skip


def test_what_a_board_shows() -> None:
    facts = dict(provenance_facts(TOLD))
    assert facts["Model as reported back"] == "m-1, m-2"
    assert facts["Hearing check"].startswith("skipped, so nothing proves")
    assert facts["Listening again"] == "up to 4 actions, 2.5 answers a clip: hear, commit"
    assert facts["Control"] == "names of sounds as text instead of the sound"
    assert facts["Parameters"] == "temperature 0, max_tokens 900"
    assert facts["Audio"] == (
        "MP3 and WAV, 16 kHz, one channel, at most 30 s; 7 recordings truncated"
    )
    assert facts["Cost"] == "$3.50 (reported by the endpoint)"
    assert facts["Run"] == "2026-11-27 to 2026-11-28"
    assert facts["Answered"] == "1,440 of 1,444 questions; 2 cut off by the limit on tokens"


def test_a_control_tells_its_tokens() -> None:
    told = {"agent": {"steps": 0, "token_budgets": {"mean": 1333.3}}}
    assert provenance_facts(told) == [
        ("Listening again",
         "no action, answered at once, with the tokens of an agent (1,333 on average)"),
    ]  # fmt: skip


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=300),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from([*TOLD, "steps", "answers", "token_budgets", "mean", "named", "reported",
                         "host", "dialect", "usd", "asked"]), inner,
        max_size=4,
    ),
)  # fmt: skip


@given(st.dictionaries(st.sampled_from([*TOLD]), ANYTHING))
def test_nothing_in_a_provenance_is_trusted(told: dict[str, object]) -> None:
    for label, text in provenance_facts(told):
        assert label
        assert 0 < len(text) <= 200
        assert "\n" not in text


def test_a_bundle_is_a_prediction_file_with_its_provenance(tmp_path: Path) -> None:
    path = tmp_path / "predictions.jsonl"
    records = [{"key": "demo_01", "model_output": "48.9, 2.4\u2028"},
               {"key": "demo_02", "error": "gone"}]  # fmt: skip
    path.write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in records))
    content = bundled(path, TOLD)
    assert provenance_in(content) == TOLD
    demo = read_demo()
    plain, packed = read_predictions(path, demo), read_predictions(content, demo)
    assert list(plain.status) == list(packed.status)
    assert list(plain.keys) == list(packed.keys)


@pytest.mark.parametrize(
    "content",
    [
        b"", b"key,latitude\n", b'[{"key": "a"}]', b'{"provenance": 3, "predictions": []}',
        b'{"provenance": {"made_by": "somebody"}}', b'{"provenance": {', b'{"a": "\xff"}',
    ],
)  # fmt: skip
def test_other_files_have_none(content: bytes) -> None:
    assert provenance_in(content) is None


def test_a_file_that_was_changed_does_not_pass_as_the_runs(tmp_path: Path) -> None:
    path = tmp_path / "predictions.jsonl"
    assert provenance_beside(path) is None
    path.write_text("{}\n")
    told = {**TOLD, "predictions": {path.name: sha256_of_file(path)}}
    (tmp_path / "provenance.json").write_text(json.dumps(told))
    assert provenance_beside(path) == told
    assert provenance_beside(tmp_path / "other.jsonl") is None
    path.write_text("{} \n")
    with pytest.raises(Agl1kError, match="was changed after the run"):
        provenance_beside(path)
    (tmp_path / "provenance.json").write_text("{")
    with pytest.raises(Agl1kError, match="agl1k rescore"):
        provenance_beside(path)

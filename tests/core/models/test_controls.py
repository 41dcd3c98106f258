"""Texts instead of sound: what a tagger found, what was said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agl1k_core.benchmarks import read_demo
from agl1k_core.errors import Agl1kError, FileRefusedError
from agl1k_core.models import Transcript, read_transcripts, tag_texts, transcript_texts

SPEECH, RAIN = "/m/09x0r", "/m/06mb1"


def test_tags_are_named_with_their_share_the_longest_first() -> None:
    texts = tag_texts(["a"], {"a": {RAIN: 0.25, SPEECH: 0.5}}, {"a": Transcript("", "French")})
    assert texts["a"].index("Speech: 50%") < texts["a"].index("Rain: 25%")
    assert texts["a"].endswith("Spoken language: French")


def test_a_clip_without_sounds_says_so_and_one_without_tags_is_an_error() -> None:
    assert "nothing that a tagger knows" in tag_texts(["a"], {"a": {}})["a"]
    with pytest.raises(Agl1kError, match="1 of 2 clips have no tags, such as b"):
        tag_texts(["a", "b"], {"a": {}})


def test_transcripts_carry_words_and_language() -> None:
    texts = transcript_texts(["a", "b"], {"a": Transcript("Guten Tag", "German")})
    assert texts["a"].endswith("(language: German):\nGuten Tag")
    assert "no speech" in texts["b"]


def test_transcripts_are_read_from_json_lines(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    lines = [{"key": "demo_01", "text": "Oi\u2028", "language": "pt"},
             {"key": "demo_02", "text": "", "language": None}]  # fmt: skip
    path.write_text("\n".join(json.dumps(line, ensure_ascii=False) for line in lines))
    found = read_transcripts(path, read_demo())
    assert found == {"demo_01": Transcript("Oi\u2028", "pt"), "demo_02": Transcript("", "")}


def test_all_problems_of_transcripts_are_listed(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    good = {"key": "demo_01", "text": "a"}
    lines = [good, good, {"key": "x", "text": "a"}, {"key": "demo_02"}, [], "{"]
    path.write_text(
        "\n".join(text if isinstance(text, str) else json.dumps(text) for text in lines)
    )
    with pytest.raises(FileRefusedError) as caught:
        read_transcripts(path, read_demo())
    assert [problem.line for problem in caught.value.problems] == [2, 3, 4, 5, 6]
    with pytest.raises(Agl1kError, match="cannot be read"):
        read_transcripts(tmp_path / "none", read_demo())

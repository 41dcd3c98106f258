"""Texts instead of sound: what a tagger found, what was said."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

from agl1k_core.benchmarks import read_demo
from agl1k_core.errors import Agl1kError, FileRefusedError
from agl1k_core.models import (
    Transcript,
    Whisper,
    read_transcripts,
    tag_texts,
    transcribe_clips,
    transcript_texts,
)
from agl1k_core.models.messages import Samples
from tests.support.model_runs import small_benchmark

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


class Counting:
    """Says how long a recording is; counts its calls."""

    name = "counting"

    def __init__(self) -> None:
        self.calls = 0

    def transcribe(self, samples: Samples) -> Transcript:
        self.calls += 1
        return Transcript(f"{len(samples) / 16000:.1f} s", "en")


def test_each_clip_is_transcribed_once(tmp_path: Path) -> None:
    small = small_benchmark(tmp_path / "small", 4)
    folder = small.audio_dir
    assert folder
    paths = {clip.key: folder / f"{clip.key}.wav" for clip in small.clips}
    recognizer, target = Counting(), tmp_path / "run" / "transcripts.jsonl"
    first = transcribe_clips(small, {"k1": paths["k1"]}, recognizer, target)
    assert first == {"k1": Transcript("1.0 s", "en")}
    both = transcribe_clips(small, paths, recognizer, target)
    assert recognizer.calls == 4
    assert both == transcribe_clips(small, paths, recognizer, target)
    assert read_transcripts(target, small) == both
    (folder / "k3.wav").write_bytes(b"hello")
    target.unlink()
    with pytest.raises(Agl1kError, match=r"k3 cannot be transcribed: .*not audio"):
        transcribe_clips(small, paths, recognizer, target)


def test_a_missing_recognizer_or_model_is_named(tmp_path: Path) -> None:
    installed = importlib.util.find_spec("faster_whisper") is not None
    words = "cannot be loaded" if installed else r"pip install 'agl1k\[speech\]'"
    with pytest.raises(Agl1kError, match=words):
        Whisper(str(tmp_path))

"""From recordings to a prediction file: resumed, the same each time, with an error per clip."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from agl1k_core import predictions, scoring, tagging
from agl1k_core.benchmarks import Benchmark
from agl1k_core.errors import Agl1kError
from agl1k_core.listener import (
    Ears,
    Heard,
    Listened,
    listen,
    prediction,
    recordings_to_hear,
)
from agl1k_core.models import provenance_facts, submittable
from agl1k_core.tagging import FloatArray
from tests.support.model_runs import small_benchmark

OCEAN = tagging.class_ids_by_name()["Ocean"]


class LoudIsOcean:
    """A tagger at 16 kHz that finds the ocean in the loud half of each recording."""

    name, weights_sha256 = "loud", "ab" * 32
    labels: tuple[str, ...] = (OCEAN,)
    sample_rate_hz, window_s, hop_s, threshold = 16000, 0.1, 0.1, 0.2

    def predict(self, wave: FloatArray) -> FloatArray:
        windows = np.resize(wave, (max(1, len(wave) // 1600), 1600))
        return np.asarray(np.abs(windows).max(axis=1, keepdims=True), np.float32)


@dataclass
class Portuguese:
    """Takes everything for speech; counts what it was asked about."""

    name: str = "portuguese 1"
    heard: list[float] = field(default_factory=list)

    def speech(self, samples: FloatArray) -> FloatArray:
        return samples

    def languages(self, speech: FloatArray) -> Mapping[str, float]:
        self.heard.append(len(speech) / 16000)
        return {"pt": 0.912345, "es": 0.05, "en": 0.0001}


@pytest.fixture
def small(tmp_path: Path) -> Benchmark:
    return small_benchmark(tmp_path / "small")


def run(small: Benchmark, target: Path, detector: Portuguese | None) -> Listened:
    recordings, _ = recordings_to_hear(small)
    return listen(small, recordings, Ears(LoudIsOcean(), detector), target)


def test_each_clip_has_a_prediction_that_is_scored(small: Benchmark, tmp_path: Path) -> None:
    result = run(small, tmp_path / "out" / "p.jsonl", Portuguese())
    assert not result.errors
    read = predictions.read_predictions(result.file, small)
    assert read.keys.tolist() == list(small.index)
    assert scoring.evaluate(small, read).statuses["answered"] == len(small)
    lines = [json.loads(line) for line in result.file.read_text("utf-8").splitlines()]
    assert lines[5] == prediction("k5", result.heard["k5"])
    # k5 has 3 s, k0 half a second of speech
    assert result.heard["k5"].languages == {"pt": 0.9123, "es": 0.05}
    assert lines[5]["country"] in ("Brazil", "Portugal")
    assert lines[5]["reason"].startswith("Heard: speech in Portuguese (91%), speech in Spanish (5%")
    assert "speech" not in lines[0]["reason"]


def test_it_resumes_and_gives_the_same_bytes(small: Benchmark, tmp_path: Path) -> None:
    ears = Portuguese()
    recordings, _ = recordings_to_hear(small)
    target = tmp_path / "p.jsonl"

    def stop() -> None:
        if len(ears.heard) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        listen(small, recordings, Ears(LoudIsOcean(), ears), target, stop)
    assert not target.exists()
    memory = tmp_path / "p.heard.jsonl"
    memory.write_bytes(memory.read_bytes()[:-9])  # as a kill may leave it
    run(small, target, ears)
    assert len(ears.heard) == 3 + 4
    run(small, target, ears)
    assert len(ears.heard) == 7
    run(small, tmp_path / "again" / "p.jsonl", Portuguese())
    for name in ("p.jsonl", "provenance.json"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / name).read_bytes()


def test_other_ears_and_changed_recordings_are_heard_again(
    small: Benchmark, tmp_path: Path
) -> None:
    ears, target = Portuguese(), tmp_path / "p.jsonl"
    run(small, target, ears)
    assert small.audio_dir is not None
    (small.audio_dir / "k1.wav").write_bytes((small.audio_dir / "k2.wav").read_bytes())
    run(small, target, ears)
    assert len(ears.heard) == len(small) + 1
    run(small, target, other := Portuguese("portuguese 2"))
    assert len(other.heard) == len(small)
    without = run(small, target, None)
    assert all(heard.languages == {} for heard in without.heard.values())


def test_a_broken_recording_is_an_error_of_its_clip(small: Benchmark, tmp_path: Path) -> None:
    assert small.audio_dir is not None
    broken = small.audio_dir / "k3.wav"
    whole = broken.read_bytes()
    broken.write_bytes(b"hello")
    target = tmp_path / "p.jsonl"
    result = run(small, target, Portuguese())
    assert set(result.errors) == {"k3"}
    statuses = scoring.evaluate(small, predictions.read_predictions(target, small)).statuses
    assert (statuses["answered"], statuses["error"]) == (5, 1)
    assert json.loads(target.read_text("utf-8").splitlines()[3])["error"] == result.errors["k3"]
    broken.write_bytes(whole)
    assert not run(small, target, Portuguese()).errors


def test_what_is_submitted_says_how_it_was_made(small: Benchmark, tmp_path: Path) -> None:
    sent = submittable(run(small, tmp_path / "p.jsonl", Portuguese()).file)
    assert sent.is_of_function
    facts = dict(provenance_facts(sent.provenance or {}))
    assert facts["Model as asked for"] == "Listener"
    assert facts["Heard with"] == "loud abababababab, portuguese 1"
    assert facts["Audio"] == "16 kHz, one channel, at most 600 s"
    assert facts["Answered"] == "6 of 6 questions"


def test_the_provenance_of_another_file_is_kept(small: Benchmark, tmp_path: Path) -> None:
    run(small, tmp_path / "p.jsonl", None)
    others: list[object] = [None, {"made_by": "agl1k run", "predictions": {"q.jsonl": ""}}, []]
    for told in others:
        if told is not None:
            (tmp_path / "provenance.json").write_text(json.dumps(told), "utf-8")
        before = (tmp_path / "provenance.json").read_bytes()
        with pytest.raises(Agl1kError, match="belongs to another prediction file"):
            run(small, tmp_path / "q.jsonl", None)
        assert (tmp_path / "provenance.json").read_bytes() == before
        assert not (tmp_path / "q.jsonl").exists()


def test_nothing_is_heard_if_the_folder_cannot_be_made(small: Benchmark, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file")
    ears = Portuguese()
    with pytest.raises(Agl1kError, match=r"out cannot be made: File exists\.$"):
        run(small, tmp_path / "out" / "p.jsonl", ears)
    assert ears.heard == []


def test_which_clips_are_heard(small: Benchmark, tmp_path: Path) -> None:
    assert small.audio_dir is not None
    (small.audio_dir / "k1.wav").unlink()
    found, missing = recordings_to_hear(small)
    assert list(found) == ["k0", "k2", "k3", "k4", "k5"]
    assert missing == ["k1"]
    assert list(recordings_to_hear(small, ["k4", "k1", "k2", "k4"], 1)[0]) == ["k4"]
    with pytest.raises(Agl1kError, match="has no clip 'k9'"):
        recordings_to_hear(small, ["k9"])
    with pytest.raises(Agl1kError, match="None of 6 clips has a recording in"):
        recordings_to_hear(small, folder=tmp_path / "elsewhere")


def test_a_tagger_at_another_rate_is_refused() -> None:
    tagger = LoudIsOcean()
    tagger.sample_rate_hz = 32000
    with pytest.raises(Agl1kError, match="needs a tagger at 16 kHz"):
        Ears(tagger, None)


def test_without_speech_nothing_is_said_about_languages(tmp_path: Path) -> None:
    heard = Heard({OCEAN: 0.5})
    assert prediction("k", heard)["reason"].startswith("Heard: surf. Likely:")

"""The stored row of the demo pack is what the listener says today."""

from __future__ import annotations

import json

import pytest

from agl1k_core import models, tagging
from agl1k_core.benchmarks import find_recording, read_demo
from agl1k_core.files import sha256_of_file
from agl1k_core.listener import Ears, Stored, prediction, stored_predictions
from tests.support import tagger_models

DEMO = read_demo()


@pytest.fixture(scope="module")
def stored() -> Stored:
    found = stored_predictions(DEMO)
    assert found is not None, "agl1k listen -b demo -o agl1k_core/listener/data/demo/…"
    return found


def test_what_was_heard_gives_the_stored_predictions(stored: Stored) -> None:
    heard = stored.heard()
    lines = [json.loads(line) for line in stored.file.read_text("utf-8").splitlines()]
    assert [line["key"] for line in lines] == list(DEMO.index)
    assert lines == [prediction(key, heard[key]) for key in DEMO.index]


def test_it_heard_the_pack_as_it_is(stored: Stored) -> None:
    assert DEMO.audio_dir is not None
    lines = stored.file.with_name("predictions.heard.jsonl").read_text("utf-8").splitlines()
    for record in map(json.loads, lines):
        recording = find_recording(DEMO, DEMO.clip(record["key"]), DEMO.audio_dir)
        assert recording is not None
        assert record["recording"] == sha256_of_file(recording)
        assert record["ears"] == stored.provenance["heard_with"]


@pytest.mark.slow
def test_the_real_ears_hear_it_again(stored: Stored, pytestconfig: pytest.Config) -> None:
    assert DEMO.audio_dir is not None
    whisper = models.Whisper(str(tagger_models.whisper_model(pytestconfig)))
    folder = tagger_models.yamnet_models(pytestconfig)
    ears = Ears(tagging.load_tagger("yamnet", models_dir=folder), whisper)
    assert ears.identity == stored.provenance["heard_with"]
    for key in ("demo_01", "demo_20"):
        recording = find_recording(DEMO, DEMO.clip(key), DEMO.audio_dir)
        assert recording is not None
        heard, before = ears.hear(recording), stored.heard()[key]
        assert heard.presence == pytest.approx(before.presence, abs=0.02)
        assert heard.speech_s == pytest.approx(before.speech_s, abs=0.5)
        # the weights have 8 bits, with which processors differ by up to 0.06
        for language in {**heard.languages, **before.languages}:
            now, then = (each.languages.get(language, 0.0) for each in (heard, before))
            assert now == pytest.approx(then, abs=0.1), language

"""The listener with its real weights, on the demo pack and on real recordings."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from agl1k_core import models, tagging
from agl1k_core.listener import Ears, Heard, prediction
from tests.support import sounds, tagger_models

pytestmark = pytest.mark.slow

REAL = Path(__file__).parents[4] / "shared" / "agl1k" / "audio"
DEMO = Path(models.__file__).parents[1] / "benchmarks" / "demo"


@pytest.fixture(scope="module")
def ears(pytestconfig: pytest.Config) -> Ears:
    folder = tagger_models.yamnet_models(pytestconfig)
    whisper = models.Whisper(str(tagger_models.whisper_model(pytestconfig)))
    return Ears(tagging.load_tagger("yamnet", models_dir=folder), whisper)


@pytest.mark.parametrize(
    ("file", "language", "country"), [("d20.mp3", "pl", "Poland"), ("d10.mp3", "es", "Spain")]
)
def test_it_hears_the_language(ears: Ears, file: str, language: str, country: str) -> None:
    heard = ears.hear(DEMO / file)
    assert heard.speech_s > 15
    assert heard.languages[language] > 0.7
    assert sum(heard.languages.values()) == pytest.approx(1, abs=0.06)
    assert prediction("k", heard)["country"] == country
    assert ears.hear(DEMO / file) == heard


def test_music_has_no_language(ears: Ears) -> None:
    assert ears.hear(DEMO / "d13.mp3").languages == {}


def test_noise_says_nothing(ears: Ears, tmp_path: Path) -> None:
    noise = np.random.default_rng(0).normal(0, 0.1, (1, 16000 * 5)).astype(np.float32)
    path = sounds.encode(tmp_path / "noise.wav", "pcm_s16le", noise, rate_hz=16000)
    assert prediction("k", ears.hear(path))["reason"].startswith(
        prediction("k", Heard())["reason"][:20]
    )


@pytest.mark.shared
@pytest.mark.skipif(not REAL.is_dir(), reason="the real recordings are not here")
@pytest.mark.parametrize(
    ("file", "told"),
    [("20020207EssaouiraRempartsMuezzin.mp3", "Heard: surf."),
     ("AmselanDietersFensterJuni2003Edit.mp3", "Heard: nothing that tells the place.")],
)  # fmt: skip
def test_real_recordings(ears: Ears, file: str, told: str) -> None:
    assert prediction("k", ears.hear(REAL / file))["reason"].startswith(told)

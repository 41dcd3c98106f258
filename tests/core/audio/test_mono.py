"""Sound for taggers: one channel, at another rate, in blocks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from agl1k_core.audio import mono
from tests.support import sounds

Array = npt.NDArray[np.float32]


@pytest.mark.parametrize("rate_hz", [8000, 16000, 22050, 44100, 96000])
def test_mono_blocks_keep_a_tone_and_its_length(tmp_path: Path, rate_hz: int) -> None:
    wave = sounds.tone(3.0, channels=2, rate_hz=rate_hz)
    path = sounds.encode(tmp_path / "tone.wav", "pcm_s16le", wave, rate_hz=rate_hz)
    wave_16k = np.concatenate([*mono.mono_blocks(path, 16000)])
    assert len(wave_16k) == pytest.approx(48000, abs=40)
    expected = sounds.tone(3.0, channels=1, rate_hz=16000)[0][: len(wave_16k)]
    assert np.abs(wave_16k[100:-100] - expected[100 : len(wave_16k) - 100]).max() < 0.01


def test_resampling_in_blocks_is_as_at_once() -> None:
    wave = np.random.default_rng(0).normal(0, 0.1, 50000).astype(np.float32)

    def one(parts: list[Array]) -> Array:
        blocks: Iterator[Array] = mono.resampled(iter(parts), 44100, 16000)
        return np.concatenate([*blocks])

    assert np.array_equal(one([wave]), one(np.array_split(wave, 37)))

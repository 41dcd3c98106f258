"""Sound that is edited so that it can be heard better, measured in the samples."""

from __future__ import annotations

import io

import numpy as np
import numpy.typing as npt
import pytest
import scipy.signal
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from agl1k_core.audio import band_passed, boosted, segment, slowed, spectrogram_png
from agl1k_core.errors import Agl1kError

RATE_HZ = 16000
LIMIT = 10 ** (-1 / 20)
Wave = npt.NDArray[np.float32]


def tones(*frequencies_hz: float, duration_s: float = 2.0, level: float = 0.2) -> Wave:
    t = np.arange(round(duration_s * RATE_HZ)) / RATE_HZ
    waves = [level * np.sin(2 * np.pi * hz * t) for hz in frequencies_hz]
    wave: Wave = np.sum(waves, axis=0).astype(np.float32)
    return wave


def level_at(wave: Wave, hz: float) -> float:
    """Amplitude of a frequency in the middle of a sound."""
    middle = wave[len(wave) // 4 : -len(wave) // 4]
    window = scipy.signal.windows.flattop(len(middle))
    spectrum = 2 * np.abs(np.fft.rfft(middle * window)) / window.sum()
    near = np.abs(np.fft.rfftfreq(len(middle), 1 / RATE_HZ) - hz) < 30
    return float(spectrum[near].max())


def test_a_segment_is_what_lies_between_two_times() -> None:
    wave = np.arange(RATE_HZ, dtype=np.float32)
    part = segment(wave, RATE_HZ, 0.25, 0.5)
    assert (part[0], part[-1], len(part)) == (4000, 7999, 4000)
    assert np.array_equal(segment(wave, RATE_HZ, 0, 1.04), wave)


@pytest.mark.parametrize(
    ("start_s", "end_s"),
    [(-0.1, 1), (0, 1.2), (0.5, 0.5), (0.7, 0.2), (2, 3), (float("nan"), 1), (0, float("inf"))],
)
def test_a_segment_outside_is_refused(start_s: float, end_s: float) -> None:
    with pytest.raises(Agl1kError, match=r"not within the recording, which lasts .* 1\.00 s"):
        segment(tones(440, duration_s=1), RATE_HZ, start_s, end_s)
    with pytest.raises(Agl1kError, match="too short"):
        segment(tones(440, duration_s=1), RATE_HZ, 0.5, 0.55)


@pytest.mark.parametrize("factor", [1.5, 2.0, 4.0])
@pytest.mark.parametrize("duration_s", [0.1, 1.37])
def test_slower_sound_takes_longer_and_keeps_its_pitch(factor: float, duration_s: float) -> None:
    wave = tones(440, duration_s=duration_s)
    slow = slowed(wave, factor)
    assert len(slow) == round(len(wave) * factor)
    assert slow.dtype == np.float32
    if duration_s > 1:
        assert level_at(slow, 440) == pytest.approx(level_at(wave, 440), rel=0.3)
        assert level_at(slow, 440 / factor) < 0.02


@settings(max_examples=20, deadline=None)
@given(st.integers(100, 2500), st.floats(1.3, 3))
def test_only_the_band_is_left(low_hz: int, width: float) -> None:
    """A tone within the band stays, tones an octave outside lose 60 dB."""
    high_hz = low_hz * width
    inside = round(np.sqrt(low_hz * high_hz))
    wave = tones(inside)
    assert level_at(band_passed(wave, RATE_HZ, low_hz, min(high_hz, 7600)), inside) > 0.19
    for outside in (low_hz / 2, high_hz * 2):
        if outside < 7600:
            left = band_passed(tones(outside), RATE_HZ, low_hz, high_hz)
            assert level_at(left, outside) < 2e-4


@pytest.mark.parametrize(
    ("low_hz", "high_hz"), [(10, 500), (500, 400), (500, 510), (100, 7900), (float("nan"), 500)]
)
def test_a_band_out_of_range_is_refused(low_hz: float, high_hz: float) -> None:
    with pytest.raises(Agl1kError, match="out of range"):
        band_passed(tones(440), RATE_HZ, low_hz, high_hz)


def test_quiet_sound_becomes_louder_by_the_gain() -> None:
    wave = tones(440, level=0.01)
    assert np.allclose(boosted(wave, RATE_HZ, 20), wave * 10, atol=1e-6)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0.1, 40))
def test_no_peak_exceeds_the_limit(seed: int, gain_db: float) -> None:
    rng = np.random.default_rng(seed)
    wave = (rng.standard_normal(3000) * rng.choice([0.001, 0.1, 1.0], 3000)).astype(np.float32)
    loud = boosted(np.clip(wave, -1, 1), RATE_HZ, gain_db)
    assert np.abs(loud).max() <= LIMIT + 1e-6


def test_the_limiter_turns_down_around_a_peak_and_clips_nothing() -> None:
    wave = tones(440, level=0.05)
    wave[16000:16200] *= 15
    loud = boosted(wave, RATE_HZ, 12)
    far = slice(0, 15000)
    assert np.allclose(loud[far], wave[far] * 10 ** (12 / 20), atol=1e-6)
    peak = loud[16000:16200]
    # a clipped wave would be flat at its limit
    assert np.count_nonzero(np.abs(peak) > LIMIT * 0.999) < 20


@pytest.mark.parametrize("gain_db", [0, -3, 41, float("nan")])
def test_a_gain_out_of_range_is_refused(gain_db: float) -> None:
    with pytest.raises(Agl1kError, match="out of range"):
        boosted(tones(440), RATE_HZ, gain_db)


@pytest.mark.parametrize("factor", [1, 0.5, 4.1, float("nan")])
def test_a_factor_out_of_range_is_refused(factor: float) -> None:
    with pytest.raises(Agl1kError, match="out of range"):
        slowed(tones(440), factor)


def brightest_row(png: bytes) -> float:
    """The height of the brightest row of the plot, as a share of the picture from its top."""
    pixels = np.asarray(Image.open(io.BytesIO(png)).convert("L"), dtype=float)
    plot = pixels[20:380, 120:700]
    return float(plot.mean(axis=1).argmax()) / len(plot)


def test_a_spectrogram_shows_high_sounds_above_low_ones() -> None:
    heights = [brightest_row(spectrogram_png(tones(hz), RATE_HZ)) for hz in (300, 1000, 4000)]
    assert heights == sorted(heights, reverse=True)
    assert heights[0] - heights[2] > 0.3


@pytest.mark.parametrize("duration_s", [0.1, 3.0, 60.0])
def test_a_spectrogram_of_any_length_is_the_same_picture_twice(duration_s: float) -> None:
    wave = tones(440, 3000, duration_s=duration_s)
    png = spectrogram_png(wave, RATE_HZ, start_s=2.0)
    assert png == spectrogram_png(wave, RATE_HZ, start_s=2.0)
    picture = Image.open(io.BytesIO(png))
    assert (picture.format, picture.size) == ("PNG", (900, 450))
    assert png != spectrogram_png(wave, RATE_HZ, start_s=9.0)


def test_silence_can_be_edited() -> None:
    silence = np.zeros(RATE_HZ, np.float32)
    assert not slowed(silence, 2).any()
    assert not boosted(silence, RATE_HZ, 40).any()
    assert not band_passed(silence, RATE_HZ, 100, 1000).any()
    assert spectrogram_png(silence, RATE_HZ)[:4] == b"\x89PNG"


def test_the_sound_itself_is_left_unchanged() -> None:
    wave = tones(440)
    before = wave.copy()
    for edited in (
        slowed(wave, 2),
        boosted(wave, RATE_HZ, 30),
        band_passed(wave, RATE_HZ, 90, 900),
    ):
        assert not np.shares_memory(edited, wave)
    spectrogram_png(wave, RATE_HZ)
    assert np.array_equal(wave, before)

"""The four filters against known answers, an independent implementation, and laws."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import scipy.signal
from hypothesis import given, settings
from hypothesis import strategies as st

from agl1k_core import audio
from agl1k_core.audio import (
    AcousticFilters,
    acoustic_complexity,
    clipping_ratio,
    frame_samples,
    measure,
    rms_energy,
    spectral_flatness,
)
from agl1k_core.errors import Agl1kError

Audio = npt.NDArray[np.float64]
RATE_HZ = 16000
FOUR = (rms_energy, spectral_flatness, clipping_ratio, acoustic_complexity)


def noise(n: int = RATE_HZ * 4, seed: int = 1) -> Audio:
    return np.random.default_rng(seed).normal(size=n) * 0.1


def sine(amplitude: float = 1.0, n: int = RATE_HZ * 2) -> Audio:
    return amplitude * np.sin(2 * np.pi * 440 * np.arange(n) / RATE_HZ + 0.3)


def rumble() -> Audio:
    walk: Audio = np.cumsum(noise())
    scaled: Audio = walk / np.abs(walk).max() * 0.9
    return scaled


def waves(n: int = RATE_HZ * 4) -> Audio:
    """An envelope that swells every two seconds."""
    swell: Audio = 0.2 + 0.8 * np.sin(np.pi * np.arange(n) / RATE_HZ / 2) ** 2
    return swell


def coloured(exponent: float, n: int, rate_hz: int, seed: int = 1) -> Audio:
    """Gaussian noise whose power falls with the frequency to the power of ``exponent``."""
    spectrum = np.fft.rfft(np.random.default_rng(seed).normal(size=n))
    frequency = np.fft.rfftfreq(n, 1 / rate_hz)
    shape = np.where(frequency >= 20, np.maximum(frequency, 1), np.inf) ** (-exponent / 2)
    wave = np.fft.irfft(spectrum * shape, n)
    scaled: Audio = wave / wave.std()
    return scaled


def hum(n: int, rate_hz: int, base_hz: float = 50) -> Audio:
    t = np.arange(n) / rate_hz
    multiples = range(1, min(40, int(rate_hz / 2 / base_hz)))
    wave = sum(np.sin(2 * np.pi * base_hz * k * t + k) / k for k in multiples)
    scaled: Audio = np.asarray(wave) / np.std(np.asarray(wave))
    return scaled


def fan(n: int, rate_hz: int) -> Audio:
    scaled: Audio = (coloured(1.6, n, rate_hz) + 0.8 * hum(n, rate_hz, 87)) / 1.3
    return scaled


STEADY: dict[str, Callable[[int, int], Audio]] = {
    "white": lambda n, rate_hz: coloured(0, n, rate_hz),
    "pink": lambda n, rate_hz: coloured(1, n, rate_hz),
    "brown": lambda n, rate_hz: coloured(2, n, rate_hz),
    "fan": fan,
    "mains": hum,
    "mains and noise": lambda n, rate_hz: hum(n, rate_hz, 60) + 0.1 * coloured(1, n, rate_hz),
    "sine": lambda n, rate_hz: np.sin(2 * np.pi * 440 * np.arange(n) / rate_hz),
}


def independent(samples: Audio) -> tuple[float, float]:
    """Flatness and complexity by scipy's Welch and STFT at the documented choices."""
    n = frame_samples(RATE_HZ)
    window = np.sin(np.pi * (np.arange(n) + 0.5) / n) ** 2
    shared = {"fs": RATE_HZ, "window": window, "nperseg": n, "noverlap": 0, "detrend": False}
    _, density = scipy.signal.welch(samples, **shared)
    density = density[2:-1]
    flatness = np.exp(np.mean(np.log(density))) / np.mean(density)
    _, _, energy = scipy.signal.spectrogram(samples, mode="psd", **shared)
    energy = energy[2:-1]
    change = np.abs(np.diff(energy, axis=1)).sum(axis=1)
    return float(flatness), float((change / energy.sum(axis=1)).sum())


def test_a_full_scale_sine() -> None:
    assert rms_energy(sine(), RATE_HZ) == pytest.approx(1 / np.sqrt(2), abs=1e-4)
    assert spectral_flatness(sine(), RATE_HZ) < 1e-6
    assert clipping_ratio(sine(), RATE_HZ) < 0.01
    # at a frequency that divides the rate, many samples meet the peak
    eighth = np.sin(2 * np.pi * (np.arange(RATE_HZ) + 0.5) / 8).round(4)
    assert clipping_ratio(eighth, RATE_HZ) == pytest.approx(0.5)


def test_white_noise_is_flat_when_averaged_and_not_in_one_frame() -> None:
    assert spectral_flatness(noise(RATE_HZ * 30), RATE_HZ) > 0.995
    frames = [spectral_flatness(noise(frame_samples(RATE_HZ), seed), RATE_HZ) for seed in range(50)]
    assert np.mean(frames) == pytest.approx(np.exp(-np.euler_gamma), abs=0.01)


def test_white_noise_changes_by_its_energy_in_every_band() -> None:
    measures = measure([noise(RATE_HZ * 30)], RATE_HZ)
    assert measures.complexity_per_band == pytest.approx(1.0, abs=0.005)
    n_bands = frame_samples(RATE_HZ) // 2 - 2
    assert measures.acoustic_complexity == pytest.approx(measures.complexity_per_band * n_bands)


@pytest.mark.parametrize("high", [1.0, 32767 / 32768, 0.5])
def test_a_square_wave_is_all_clipped(high: float) -> None:
    low = -1.0 if high > 0.5 else -high
    square = np.where(np.arange(RATE_HZ) // 50 % 2, high, low)
    assert clipping_ratio(square, RATE_HZ) == 1
    assert rms_energy(square, RATE_HZ) == pytest.approx(high, abs=1e-4)


def test_beyond_full_scale_counts_as_full_scale() -> None:
    samples = np.array([0.0, 1.7, -1.2, 0.3, 1.0, -0.99])
    assert clipping_ratio(samples, RATE_HZ) == pytest.approx(3 / 6)


@pytest.mark.parametrize("n", [1, 10, RATE_HZ])
def test_silence_is_zero_by_every_measure(n: int) -> None:
    assert [f(np.zeros(n), RATE_HZ) for f in FOUR] == [0, 0, 0, 0]


@pytest.mark.parametrize("f", FOUR)
@pytest.mark.parametrize("shape", [(0,), (2, 0)])
def test_no_samples_are_refused(f: object, shape: tuple[int, ...]) -> None:
    with pytest.raises(Agl1kError, match=r"no samples to measure\. Give a recording"):
        f(np.zeros(shape), RATE_HZ)  # type: ignore[operator]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_samples_that_are_not_finite_are_refused(bad: float) -> None:
    samples = noise(5000)
    samples[4321] = bad
    with pytest.raises(Agl1kError, match="not finite"):
        measure([samples], RATE_HZ)


def test_integers_are_refused_for_their_scale_is_unknown() -> None:
    with pytest.raises(Agl1kError, match="int16, so their full scale is unknown"):
        rms_energy(np.ones(9, np.int16), RATE_HZ)


def test_a_rate_of_zero_is_refused() -> None:
    with pytest.raises(Agl1kError, match="sample rate is 0 Hz"):
        rms_energy(noise(), 0)


@pytest.mark.parametrize("at", [0, 1, 1023, 1024, 5000, RATE_HZ // 2, RATE_HZ - 1024])
def test_an_impulse_is_flat_and_all_change(at: int) -> None:
    impulse = np.zeros(RATE_HZ)
    impulse[at] = 1.0
    assert rms_energy(impulse, RATE_HZ) == pytest.approx(1 / np.sqrt(RATE_HZ))
    assert clipping_ratio(impulse, RATE_HZ) == pytest.approx(1 / RATE_HZ)
    for samples in (impulse, impulse.astype(np.float32)):
        assert spectral_flatness(samples, RATE_HZ) == pytest.approx(1, abs=1e-5)
        # In every band the energy comes and goes, in the first and last frame one of the two.
        expected = 1 if at // frame_samples(RATE_HZ) in (0, 14) else 2
        assert measure([samples], RATE_HZ).complexity_per_band == pytest.approx(expected)


def test_one_frame_has_no_change() -> None:
    assert acoustic_complexity(noise(frame_samples(RATE_HZ)), RATE_HZ) == 0
    assert acoustic_complexity(noise(100), RATE_HZ) == 0


@pytest.mark.parametrize("seed", range(5))
def test_as_scipy_computes_them(seed: int) -> None:
    samples = np.cumsum(noise(30000 + 777 * seed, seed)) * 0.05 + sine(0.1, 30000 + 777 * seed)
    flatness, complexity = independent(samples)
    assert spectral_flatness(samples, RATE_HZ) == pytest.approx(flatness, rel=1e-9)
    assert acoustic_complexity(samples, RATE_HZ) == pytest.approx(complexity, rel=1e-9)
    assert rms_energy(samples, RATE_HZ) == pytest.approx(np.sqrt(np.mean(samples**2)), rel=1e-12)


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(1, 12000),
    cuts=st.lists(st.integers(0, 12000), max_size=12),
    channels=st.integers(1, 3),
    single=st.booleans(),
    gain=st.sampled_from([0.0, 0.1, 5.0]),
    seed=st.integers(0, 99),
)
def test_block_by_block_gives_the_same(
    n: int, cuts: list[int], channels: int, single: bool, gain: float, seed: int
) -> None:
    samples = np.random.default_rng(seed).normal(size=(channels, n)) * gain
    samples = np.clip(samples, -1, 1).astype(np.float32 if single else np.float64)
    edges = [0, *sorted(cut for cut in cuts if cut < n), n]
    blocks = [samples[:, a:b] for a, b in itertools.pairwise(edges)]
    at_once, blockwise = measure([samples], RATE_HZ), measure(blocks, RATE_HZ)
    for name, value in at_once.to_dict().items():
        assert getattr(blockwise, name) == pytest.approx(value, rel=1e-6, abs=1e-7), name


@settings(max_examples=25, deadline=None)
@given(gain=st.floats(0.001, 2), offset=st.floats(-0.5, 0.5), seed=st.integers(0, 99))
def test_loudness_and_offset_do_not_change_flatness_and_complexity(
    gain: float, offset: float, seed: int
) -> None:
    samples = noise(9000, seed)
    changed = samples * gain + offset
    for f in (spectral_flatness, acoustic_complexity):
        assert f(changed, RATE_HZ) == pytest.approx(f(samples, RATE_HZ), rel=1e-6)
    assert rms_energy(samples * gain, RATE_HZ) == pytest.approx(gain * rms_energy(samples, RATE_HZ))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(-2, 2, width=32), min_size=1, max_size=3000))
def test_the_ranges_hold(values: list[float]) -> None:
    measures = measure([np.array(values)], RATE_HZ)
    assert 0 <= measures.spectral_flatness <= 1 + 1e-9
    assert 0 <= measures.clipping_ratio <= 1
    assert 0 <= measures.complexity_per_band <= 2
    assert 0 <= measures.rms_energy <= 2


def test_channels_are_mixed_and_clipping_is_counted_before() -> None:
    left, right = noise(seed=1), noise(seed=2)
    stereo = np.stack([left, right])
    mix = (left + right) / 2
    for f in (rms_energy, spectral_flatness, acoustic_complexity):
        assert f(stereo, RATE_HZ) == pytest.approx(f(mix, RATE_HZ))
    clipped = np.stack([np.sign(left), np.zeros_like(left)])
    assert clipping_ratio(clipped, RATE_HZ) == pytest.approx(0.5)


@pytest.mark.parametrize(("sign", "expected"), [(1, 1.0), (-1, 0.0)])
def test_cancellation_detects_opposite_channels(sign: int, expected: float) -> None:
    assert measure([np.stack([noise(), sign * noise()])], RATE_HZ).cancellation == expected


@pytest.mark.parametrize(
    ("rate_hz", "n"), [(8000, 512), (16000, 1024), (44100, 2048), (48000, 2048), (96000, 4096)]
)
def test_frames_last_about_46_ms(rate_hz: int, n: int) -> None:
    assert frame_samples(rate_hz) == n


@pytest.mark.parametrize(
    ("samples", "fails"),
    [
        (np.zeros(RATE_HZ), ["rms_without_mean", "complexity_per_band"]),
        (noise(), ["spectral_flatness", "level_variation_db"]),
        (np.tile(np.hanning(512), 99) * 0.5, ["complexity_per_band", "level_variation_db"]),
        (rumble(), ["level_variation_db"]),
        (rumble() * waves(), []),
        (np.clip(rumble() * waves() * 4, -1, 1), ["clipping_ratio"]),
    ],
    ids=["silence", "noise", "a constant tone", "rumble", "waves", "clipped waves"],
)
def test_filters_name_what_a_recording_does_not_pass(samples: Audio, fails: list[str]) -> None:
    assert [*AcousticFilters().failures(measure([samples], RATE_HZ))] == fails


def test_a_failure_says_value_and_threshold() -> None:
    failures = AcousticFilters(min_rms_energy=0.2).failures(measure([sine(0.1)], RATE_HZ))
    assert failures["rms_without_mean"] == (
        "too quiet: RMS energy without the mean 0.07071 is below 0.2"
    )
    paper = AcousticFilters(min_rms_energy=0.2, definition="paper")
    assert paper.failures(measure([sine(0.1)], RATE_HZ)) == {
        "rms_energy": "too quiet: RMS energy 0.07071 is below 0.2"
    }


@pytest.mark.parametrize("kind", STEADY)
@pytest.mark.parametrize("rate_hz", [8000, 11025, 22050, 44100, 48000, 96000])
@pytest.mark.parametrize("level", [0.2, 0.003])
def test_steady_sound_is_monotonous_at_every_rate_and_level(
    kind: str, rate_hz: int, level: float
) -> None:
    """Equation (2) does not tell it from a place: the complexity of noise is 1 per band."""
    steady = STEADY[kind](4 * rate_hz, rate_hz) * level
    samples = np.round(np.clip(steady, -1, 1) * 32767) / 32768
    measures = measure([samples], rate_hz)
    assert measures.level_variation_db < 1.15
    assert "level_variation_db" in AcousticFilters().failures(measures)
    assert "level_variation_db" not in AcousticFilters(definition="paper").failures(measures)


@pytest.mark.parametrize("kind", STEADY)
def test_a_call_now_and_then_over_steady_sound_is_not_monotonous(kind: str) -> None:
    n = 20 * 44100
    t = np.arange(n) / 44100
    calls = np.sin(2 * np.pi * (2600 + 900 * np.sin(9 * t)) * t) * (t % 5 < 0.6)
    # as loud as the rest while it lasts
    samples = 0.1 * STEADY[kind](n, 44100) + 0.14 * calls
    assert measure([samples], 44100).level_variation_db > 1.25


@pytest.mark.parametrize("single", [True, False])
@pytest.mark.parametrize("offset", [0.0, 0.01, 0.9, -0.9])
def test_a_constant_offset_is_no_loudness(offset: float, single: bool) -> None:
    quiet = np.random.default_rng(2).normal(size=RATE_HZ * 3) * 1e-5
    samples = (quiet + offset).astype(np.float32 if single else np.float64)
    measures = measure(np.split(samples, 4), RATE_HZ)
    assert measures.rms_energy == pytest.approx(abs(offset), abs=2e-5)
    assert measures.rms_without_mean == pytest.approx(samples.astype(np.float64).std(), rel=1e-6)
    assert "rms_without_mean" in AcousticFilters().failures(measures)


@pytest.mark.parametrize("hz", [50, 440, 997, 1000, 3000])
@pytest.mark.parametrize("rate_hz", [8000, 16000, 44100, 48000, 96000, 192000])
def test_what_is_documented_about_sines(rate_hz: int, hz: int) -> None:
    """Only what holds at every rate; clipping depends on how many samples meet the peak."""
    t = np.arange(2 * rate_hz) / rate_hz
    measures = measure([np.round(np.sin(2 * np.pi * hz * t) * 32767) / 32768], rate_hz)
    assert measures.rms_energy == pytest.approx(0.7071, abs=0.001)
    assert measures.spectral_flatness < 1e-7
    assert measures.level_variation_db < 0.15
    assert "level_variation_db" in AcousticFilters().failures(measures)
    assert measures.clipping_ratio <= 0.5


def test_the_real_recordings_pass() -> None:
    found = sorted(Path("../shared/agl1k").rglob("*.mp3"))
    if not found:
        pytest.skip("the real recordings are not here")
    for path in found:
        inspection = audio.inspect_recording(path)
        assert inspection.measures is not None
        assert AcousticFilters().failures(inspection.measures) == {}
        assert inspection.measures.level_variation_db > 3


def test_a_recording_at_the_threshold_passes() -> None:
    measures = measure([sine(0.1)], RATE_HZ)
    at = AcousticFilters(
        measures.rms_without_mean,
        measures.spectral_flatness,
        measures.clipping_ratio,
        measures.complexity_per_band,
        measures.level_variation_db,
    )
    assert at.failures(measures) == {}


def test_thresholds_are_data() -> None:
    assert AcousticFilters.from_dict({"max_clipping_ratio": 0.5}).max_clipping_ratio == 0.5
    with pytest.raises(Agl1kError, match=r"no threshold 'loud'.*\n.*min_rms_energy is 'x'"):
        AcousticFilters.from_dict({"loud": 1.0, "min_rms_energy": "x"})
    assert AcousticFilters.from_dict({"definition": "paper"}) == AcousticFilters(definition="paper")
    with pytest.raises(Agl1kError, match=r"no definition 'x'\. Use default or paper"):
        AcousticFilters.from_dict({"definition": "x"})


def test_the_measures_carry_the_duration() -> None:
    assert measure([noise(8000)], RATE_HZ).duration_s == 0.5
    assert audio.measure([noise(8000)], RATE_HZ).to_dict()["n_samples"] == 8000

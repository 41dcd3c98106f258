"""Building blocks of the synthesis: noise, filters, envelopes, placing, space.

A sound is a float64 array, mono, at ``RATE``; 1.0 is full scale. Every random choice comes from
the generator that is passed in, so the same seed gives the same samples.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy import signal  # type: ignore[import-untyped,unused-ignore]

RATE = 32_000

Sound = npt.NDArray[np.float64]
Rng = np.random.Generator
#: A course of values over time: (time in seconds, value) points, joined by straight lines.
Course = Sequence[tuple[float, float]]


def length(duration_s: float) -> int:
    """Samples in a duration."""
    return max(1, round(duration_s * RATE))


def clock(duration_s: float) -> Sound:
    """Time of each sample in seconds."""
    return np.arange(length(duration_s)) / RATE


def silence(duration_s: float) -> Sound:
    """Zeros."""
    return np.zeros(length(duration_s))


def gain(level_db: float) -> float:
    """Decibels as a factor."""
    return float(10 ** (level_db / 20))


def noise(rng: Rng, duration_s: float, slope_db: float = 0.0) -> Sound:
    """Noise whose spectrum falls by ``slope_db`` per octave (0 white, 3 pink, 6 brown), RMS 1."""
    n = length(duration_s)
    spectrum = np.fft.rfft(rng.standard_normal(n))
    frequency = np.maximum(np.fft.rfftfreq(n, 1 / RATE), 20.0)
    shaped = np.fft.irfft(spectrum * frequency ** (-slope_db / 6.02), n)
    return unit(shaped)


def unit(x: Sound) -> Sound:
    """Scaled to RMS 1 over the parts with sound, without the silence between them."""
    return x / active_rms(x)


def active_rms(x: Sound, window_s: float = 0.05) -> float:
    """RMS over the windows within 25 dB of the loudest one."""
    if not np.any(x):
        return 1.0
    size = min(length(window_s), len(x))
    power = (x[: len(x) // size * size].reshape(-1, size) ** 2).mean(axis=1)
    return float(np.sqrt(power[power >= power.max() * 10**-2.5].mean()))


def course(points: Course, duration_s: float) -> Sound:
    """A value for each sample from a few points."""
    times, values = zip(*points, strict=True)
    return np.asarray(np.interp(clock(duration_s), times, values))


def at(points: Course, time_s: float) -> float:
    """The value of a course at one time."""
    times, values = zip(*points, strict=True)
    return float(np.interp(time_s, times, values))


def drift(
    rng: Rng, duration_s: float, period_s: float, low: float = 0.0, high: float = 1.0
) -> Sound:
    """A smooth random course between ``low`` and ``high`` that turns about every ``period_s``."""
    knots = int(duration_s / period_s) + 3
    position = clock(duration_s) / period_s
    left = position.astype(int)
    ease = (1 - np.cos(np.pi * (position - left))) / 2
    values = rng.uniform(low, high, knots)
    return np.asarray(values[left] * (1 - ease) + values[left + 1] * ease)


def fades(x: Sound, attack_s: float = 0.01, release_s: float = 0.02) -> Sound:
    """Faded in and out with raised cosines."""
    out = x.copy()
    rise, fall = (min(length(s), len(x)) for s in (attack_s, release_s))
    out[:rise] *= (1 - np.cos(np.linspace(0, np.pi, rise))) / 2
    out[len(x) - fall :] *= (1 + np.cos(np.linspace(0, np.pi, fall))) / 2
    return out


def decay(duration_s: float, time_s: float, attack_s: float = 0.002) -> Sound:
    """An exponential decay that has fallen by 60 dB after ``time_s``."""
    return fades(np.exp(-6.91 * clock(duration_s) / time_s), attack_s, min(0.03, duration_s / 4))


def band(x: Sound, low_hz: float | None, high_hz: float | None, order: int = 2) -> Sound:
    """The part between two frequencies; ``None`` leaves that side open."""
    top = RATE * 0.49
    if low_hz is None and high_hz is None:
        return x
    if low_hz is None:
        edges, kind = min(high_hz or top, top), "lowpass"
    elif high_hz is None or high_hz >= top:
        edges, kind = low_hz, "highpass"
    else:
        edges, kind = (low_hz, high_hz), "bandpass"  # type: ignore[assignment]
    return np.asarray(signal.sosfilt(signal.butter(order, edges, kind, fs=RATE, output="sos"), x))


def resonate(x: Sound, frequency_hz: float, quality: float) -> Sound:
    """Through one resonance, gain 1 at its peak."""
    b, a = signal.iirpeak(frequency_hz, quality, fs=RATE)
    return np.asarray(signal.lfilter(b, a, x))


def formants(x: Sound, peaks: Sequence[tuple[float, float, float]]) -> Sound:
    """Sum of resonances given as (frequency in Hz, quality, gain in dB)."""
    return np.asarray(sum(resonate(x, f, q) * gain(db) for f, q, db in peaks))


def recur(x: Sound, feedback: dict[int, float]) -> Sound:
    """``y[n] = x[n] + sum of feedback[d] * y[n - d]``: the string and the echo."""
    a = np.zeros(max(feedback) + 1)
    a[0] = 1.0
    for delay, factor in feedback.items():
        a[delay] = -factor
    return np.asarray(signal.lfilter([1.0], a, x))


def oscillate(frequency_hz: Sound | float, duration_s: float, partials: Sequence[float]) -> Sound:
    """Harmonics of a (moving) fundamental with the given amplitudes, up to the band's limit."""
    frequency = np.broadcast_to(np.asarray(frequency_hz, dtype=float), (length(duration_s),))
    phase = 2 * np.pi * np.cumsum(frequency) / RATE
    out = np.zeros(len(phase))
    for number, amplitude in enumerate(partials, 1):
        audible = frequency * number < RATE * 0.45
        if amplitude and audible.any():
            out += amplitude * audible * np.sin(number * phase)
    return out


def saw(slope_db: float, count: int = 30) -> list[float]:
    """Amplitudes of harmonics that fall by ``slope_db`` per octave."""
    return [number ** (-slope_db / 6.02) for number in range(1, count + 1)]


def modes(
    duration_s: float,
    partials: Sequence[tuple[float, float, float]],
    attack_s: float = 0.001,
) -> Sound:
    """A struck body: sines given as (frequency in Hz, amplitude, 60 dB decay in seconds)."""
    t = clock(duration_s)
    out = np.zeros(len(t))
    for frequency, amplitude, time_s in partials:
        if frequency < RATE * 0.45:
            out += amplitude * np.sin(2 * np.pi * frequency * t) * np.exp(-6.91 * t / time_s)
    return fades(out, attack_s, min(0.05, duration_s / 4))


def place(track: Sound, x: Sound, at_s: float) -> None:
    """Add a sound to a track, in place; what exceeds either end is cut."""
    start = round(at_s * RATE)
    skip = max(0, -start)
    start = max(0, start)
    part = x[skip : skip + max(0, len(track) - start)]
    track[start : start + len(part)] += part


def sequence(duration_s: float, events: Sequence[tuple[float, Sound]]) -> Sound:
    """A track with sounds at their times."""
    track = silence(duration_s)
    for at_s, x in events:
        place(track, x, at_s)
    return track


def speed(x: Sound, factor: float) -> Sound:
    """Played faster: shorter and higher by ``factor``."""
    up, down = 200, round(200 * factor)
    return np.asarray(signal.resample_poly(x, up, down))


def bend(x: Sound, factor: Sound) -> Sound:
    """Played with a moving speed (for a passing source): ``factor`` per sample."""
    position = np.cumsum(np.asarray(factor[: len(x)]))
    return np.interp(position, np.arange(len(x)), x, left=0.0, right=0.0)


def reverb(rng: Rng, x: Sound, decay_s: float, wet: float, bright_hz: float = 5000) -> Sound:
    """With the tail of a space whose high notes decay faster; same length as ``x``."""
    if wet <= 0:
        return x
    n = decay_s * 1.1
    t = clock(n)
    dark = band(noise(rng, n), 120, 1200) * np.exp(-6.91 * t / decay_s)
    light = band(noise(rng, n), 1200, bright_hz) * np.exp(-6.91 * t / (decay_s * 0.6))
    response = dark + 0.8 * light
    onset = length(0.004 + 0.012 * min(decay_s, 2))
    response = np.concatenate([np.zeros(onset), response])
    response *= fades(np.ones(len(response)), 0.02, 0.05)
    tail = signal.fftconvolve(x, response)[: len(x)]
    return np.asarray(x + tail * (wet * active_rms(x) / active_rms(tail)))


def far(x: Sound, metres: float) -> Sound:
    """Dulled by air and ground over a distance; its level is set in the mix."""
    return band(x, None, max(900.0, 14_000 / (1 + metres / 60)), order=1)

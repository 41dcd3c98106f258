"""Weather and water."""

from __future__ import annotations

import numpy as np

from scripts.demo_pack import dsp
from scripts.demo_pack.dsp import Rng, Sound


def surf(rng: Rng, duration_s: float, period_s: float = 7.0, pebbles: float = 0.0) -> Sound:
    """Waves that rise, break and run back; ``pebbles`` adds the rattle of a stony beach."""
    roar = dsp.band(dsp.noise(rng, duration_s, 5), 60, 1500) * dsp.drift(
        rng, duration_s, 5, 0.2, 0.4
    )
    at_s = -period_s * rng.uniform(0.2, 0.8)
    while at_s < duration_s:
        size = rng.uniform(0.6, 1.0)
        dsp.place(roar, size * _wave(rng, period_s * rng.uniform(0.8, 1.2), pebbles), at_s)
        at_s += period_s * rng.uniform(0.75, 1.25)
    return dsp.unit(roar)


def _wave(rng: Rng, period_s: float, pebbles: float) -> Sound:
    n = period_s * 1.5
    body = dsp.band(dsp.noise(rng, n, 4), 80, 1800)
    hiss = dsp.band(dsp.noise(rng, n, 1.5), 900, 9000)
    swell = dsp.course([(0, 0), (0.35 * n, 0.5), (0.45 * n, 1), (0.6 * n, 0.35), (n, 0)], n) ** 1.6
    wash = dsp.course([(0, 0), (0.38 * n, 0.1), (0.5 * n, 1), (0.75 * n, 0.4), (n, 0)], n) ** 1.4
    out = body * swell + 0.35 * hiss * wash
    if pebbles:
        stones = dsp.band(sparks(rng, n, 350), 1500, 7000)
        back = dsp.course([(0, 0), (0.55 * n, 0), (0.68 * n, 1), (0.9 * n, 0.2), (n, 0)], n)
        out += pebbles * dsp.unit(stones) * back
    return out


def sparks(rng: Rng, duration_s: float, per_second: float) -> Sound:
    """Single clicks at random times with random strengths: drops, crackle, pebbles."""
    out = dsp.silence(duration_s)
    count = rng.poisson(per_second * duration_s)
    np.add.at(out, rng.integers(0, len(out), count), rng.standard_normal(count) ** 3)
    return out


def rain(rng: Rng, duration_s: float, drops: float = 0.5) -> Sound:
    """A steady hiss with near drops."""
    hiss = dsp.band(dsp.noise(rng, duration_s, 1.5), 500, 12_000)
    hiss *= dsp.drift(rng, duration_s, 4, 0.7, 1.0)
    near = dsp.band(sparks(rng, duration_s, 120), 900, 8000)
    return dsp.unit(hiss + drops * dsp.unit(near))


def iron_roof(rng: Rng, duration_s: float) -> Sound:
    """Rain on corrugated iron: drops that ring."""
    hits = sparks(rng, duration_s, 260)
    peaks = [(f, 14.0, db) for f, db in ((430, 0), (790, 2), (1310, 1), (2250, -3), (3480, -6))]
    ring = dsp.unit(dsp.formants(hits, peaks))
    return dsp.unit(ring + 0.6 * rain(rng, duration_s, 0.4))


def wind(rng: Rng, duration_s: float, pitch_hz: float = 450, howl: float = 0.5) -> Sound:
    """Gusts, with a howl that moves about ``pitch_hz``."""
    gust = dsp.drift(rng, duration_s, 2.7) ** 1.5
    air = dsp.band(dsp.noise(rng, duration_s, 5), 50, 900) * (0.3 + gust)
    source = dsp.noise(rng, duration_s, 2)
    voices = [
        dsp.resonate(source, pitch_hz * factor, 9) * np.clip(1 - abs(gust * 3 - index), 0, None)
        for index, factor in enumerate((0.75, 0.95, 1.15, 1.4))
    ]
    whistle = np.asarray(sum(voices))
    return dsp.unit(air + howl * 2 * dsp.active_rms(air) * dsp.unit(whistle) * (0.2 + gust))


def leaves(rng: Rng, duration_s: float) -> Sound:
    """Wind in trees: soft hiss in waves."""
    air = dsp.band(dsp.noise(rng, duration_s, 2), 700, 7000)
    return dsp.unit(air * dsp.drift(rng, duration_s, 1.9, 0.15, 1.0) ** 1.3)


def stream(rng: Rng, duration_s: float) -> Sound:
    """Running water: many bubbles, each a short rising note."""
    out = 0.25 * dsp.band(dsp.noise(rng, duration_s, 2), 300, 5000)
    for at_s in rng.uniform(0, duration_s, int(duration_s * 45)):
        bubble_s = rng.uniform(0.01, 0.05)
        start = rng.lognormal(6.7, 0.4)
        pitch = dsp.course([(0, start), (bubble_s, start * 1.5)], bubble_s)
        sound = dsp.oscillate(pitch, bubble_s, [1]) * dsp.decay(bubble_s, bubble_s * 1.2, 0.003)
        dsp.place(out, sound * rng.uniform(0.2, 1.2), float(at_s))
    return dsp.unit(out)


def lapping(rng: Rng, duration_s: float) -> Sound:
    """Small waves against a quay or a hull."""
    slap = dsp.drift(rng, duration_s, 0.45) ** 3 * dsp.drift(rng, duration_s, 2.5, 0.3, 1.0)
    water = dsp.band(dsp.noise(rng, duration_s, 3), 250, 2600) * slap
    return dsp.unit(water + 0.6 * stream(rng, duration_s) * slap)


def thunder(rng: Rng, duration_s: float = 7.0) -> Sound:
    """A crack far off, then rolls."""
    rumble = dsp.band(dsp.noise(rng, duration_s, 6), 30, 260)
    rolls = dsp.drift(rng, duration_s, 0.5) ** 2 * np.exp(-dsp.clock(duration_s) / (duration_s / 3))
    crack = dsp.band(dsp.noise(rng, duration_s, 3), 150, 1800) * dsp.decay(duration_s, 1.6, 0.03)
    return dsp.unit(dsp.fades(rumble * rolls * 3 + 0.5 * crack, 0.05, 1.0))


def city(rng: Rng, duration_s: float) -> Sound:
    """The hum of a town: distant traffic."""
    low = dsp.band(dsp.noise(rng, duration_s, 5), 40, 700) * dsp.drift(rng, duration_s, 3, 0.6, 1.0)
    hiss = dsp.band(dsp.noise(rng, duration_s, 3), 700, 3000) * dsp.drift(
        rng, duration_s, 2, 0.1, 0.3
    )
    return dsp.unit(low + hiss)

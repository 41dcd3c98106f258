"""Instruments modelled on real ones, and ways to play them. Every tune is our own."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from scripts.demo_pack import dsp
from scripts.demo_pack.dsp import Rng, Sound

#: Notes as (onset in beats, MIDI number, duration in beats).
Notes = Sequence[tuple[float, float, float]]
Voice = Callable[[float, float], Sound]


def hertz(midi: float) -> float:
    """Pitch of a MIDI number."""
    return float(440 * 2 ** ((midi - 69) / 12))


def play(
    duration_s: float, notes: Notes, beat_s: float, voice: Voice, rng: Rng, loose: float = 0.01
) -> Sound:
    """Play notes with a human's small deviations in time and strength."""
    track = dsp.silence(duration_s)
    for beat, midi, beats in notes:
        at_s = max(0.0, beat * beat_s + float(rng.normal(0, loose)))
        if at_s < duration_s:
            dsp.place(track, voice(hertz(midi), beats * beat_s) * float(rng.uniform(0.75, 1)), at_s)
    return dsp.unit(track)


def repeat(bars: Sequence[Notes], beats_per_bar: float) -> list[tuple[float, float, float]]:
    """Bars one after another as one list of notes."""
    return [
        (number * beats_per_bar + beat, midi, beats)
        for number, bar in enumerate(bars)
        for beat, midi, beats in bar
    ]


def pluck(
    rng: Rng, pitch_hz: float, ring_s: float, bright: float = 0.5, stretch: float = 1.0
) -> Sound:
    """A plucked string (Karplus and Strong 1983), tuned by a two-tap delay."""
    ring_s = max(ring_s, 0.25)
    period = dsp.RATE / pitch_hz - 0.5
    delay = int(period)
    fraction = period - delay
    loss = 10 ** (-3 / (pitch_hz * ring_s * stretch))
    n = dsp.length(ring_s)
    burst = np.zeros(n)
    size = min(n, delay)
    burst[:size] = rng.uniform(-1, 1, size)
    burst = dsp.band(burst, None, min(14_000, pitch_hz * (3 + 22 * bright)), 1)
    taps = {delay: (1 - fraction) * 0.5, delay + 1: 0.5, delay + 2: fraction * 0.5}
    string = dsp.recur(burst, {d: loss * g for d, g in taps.items()})
    return dsp.fades(dsp.unit(string), 0.001, 0.05)


def bar(pitch_hz: float, ring_s: float, beating_hz: float = 7.0) -> Sound:
    """A gamelan metallophone: two bars tuned a little apart, so that they shimmer."""
    partials = []
    for pitch in (pitch_hz, pitch_hz + beating_hz):
        partials += [
            (pitch, 1.0, ring_s),
            (pitch * 2.76, 0.45, ring_s * 0.4),
            (pitch * 5.4, 0.2, ring_s * 0.15),
        ]
    return dsp.modes(ring_s, partials)


def gong(pitch_hz: float, ring_s: float = 6.0) -> Sound:
    """A large hanging gong with a slow beat."""
    partials = [
        (pitch_hz, 1.0, ring_s),
        (pitch_hz + 1.4, 0.7, ring_s),
        (pitch_hz * 2.01, 0.5, ring_s * 0.6),
        (pitch_hz * 2.7, 0.25, ring_s * 0.3),
        (pitch_hz * 3.62, 0.2, ring_s * 0.25),
        (pitch_hz * 5.1, 0.12, ring_s * 0.15),
    ]
    return dsp.modes(ring_s, partials, 0.012)


def mbira(rng: Rng, pitch_hz: float, ring_s: float = 1.4) -> Sound:
    """A plucked iron tongue, with the buzz of the shells on the board."""
    partials = [
        (pitch_hz, 1.0, ring_s),
        (pitch_hz * 2, 0.25, ring_s * 0.6),
        (pitch_hz * 5.35, 0.3, 0.18),
        (pitch_hz * 9.6, 0.12, 0.08),
    ]
    tongue = dsp.modes(ring_s, partials, 0.001)
    buzz = dsp.band(dsp.noise(rng, ring_s), 2500, 8000) * np.clip(tongue, 0, None) ** 2
    thumb = dsp.band(dsp.noise(rng, ring_s, 3), 200, 1500) * dsp.decay(ring_s, 0.03, 0.0005)
    return tongue + 0.5 * buzz + 0.15 * thumb


def steel_pan(pitch_hz: float, ring_s: float) -> Sound:
    """A tenor pan: the octave blooms after the stroke."""
    t = dsp.clock(max(ring_s, 0.5))
    bloom = 1 - np.exp(-t * 45)
    base = np.sin(2 * np.pi * pitch_hz * t) * np.exp(-6.91 * t / 1.3)
    octave = np.sin(2 * np.pi * pitch_hz * 2.004 * t) * np.exp(-6.91 * t / 0.9) * bloom
    upper = np.sin(2 * np.pi * pitch_hz * 3.01 * t) * np.exp(-6.91 * t / 0.4) * bloom
    top = np.sin(2 * np.pi * pitch_hz * 4.02 * t) * np.exp(-6.91 * t / 0.3)
    return dsp.fades(base + 0.75 * octave + 0.3 * upper + 0.2 * top, 0.003, 0.05)


def reeds(
    pitch_hz: float, held_s: float, detune_cents: Sequence[float], slope_db: float = 4.0
) -> Sound:
    """Free reeds of an accordion: several, apart by ``detune_cents`` (1200 is the octave)."""
    held_s = max(held_s, 0.08)
    air = dsp.course([(0, 0.5), (0.06, 1), (held_s * 0.7, 0.85), (held_s, 0.7)], held_s)
    voices = [
        dsp.oscillate(pitch_hz * 2 ** (cents / 1200), held_s, dsp.saw(slope_db, 26))
        for cents in detune_cents
    ]
    box = dsp.formants(np.asarray(sum(voices)), [(500, 1.0, 0), (1400, 1.2, 1), (3000, 1.5, -4)])
    return dsp.fades(box * air, 0.025, 0.05)


def pipe(rng: Rng, pitch_hz: float, held_s: float, breath: float = 0.35) -> Sound:
    """A panpipe: a chiff, a hollow tone of odd partials, breath all along."""
    held_s = max(held_s, 0.15)
    pitch = dsp.course([(0, pitch_hz * 0.97), (0.05, pitch_hz), (held_s, pitch_hz * 0.995)], held_s)
    tone = dsp.oscillate(pitch, held_s, [1, 0.06, 0.22, 0.02, 0.05])
    air = dsp.resonate(dsp.noise(rng, held_s, 1), pitch_hz, 6) + 0.3 * dsp.resonate(
        dsp.noise(rng, held_s), pitch_hz * 3, 8
    )
    shape = dsp.course([(0, 0.4), (0.05, 1), (held_s * 0.8, 0.8), (held_s, 0)], held_s)
    chiff = dsp.band(dsp.noise(rng, held_s, 1), pitch_hz, 7000) * dsp.decay(held_s, 0.09)
    return dsp.fades((tone + breath * 2.5 * air) * shape + breath * 0.5 * chiff, 0.02, 0.06)


def log_drum(rng: Rng, pitch_hz: float, ring_s: float = 0.25) -> Sound:
    """A hollowed log with a slit: toere when high and dry, lali when low and long."""
    wood = [
        (pitch_hz, 1.0, ring_s),
        (pitch_hz * 1.53, 0.55, ring_s * 0.6),
        (pitch_hz * 2.9, 0.35, ring_s * 0.3),
    ]
    click = dsp.band(dsp.noise(rng, ring_s, 1), 600, 6000) * dsp.decay(ring_s, 0.025, 0.0005)
    return dsp.modes(ring_s, wood) + 0.3 * click


def drum(
    rng: Rng, pitch_hz: float, ring_s: float = 0.5, drop: float = 1.5, skin: float = 0.3
) -> Sound:
    """A drum whose pitch falls after the stroke: surdo, darbuka, frame drum."""
    pitch = pitch_hz * (1 + (drop - 1) * np.exp(-dsp.clock(ring_s) * 35))
    body = dsp.oscillate(pitch, ring_s, [1, 0.25]) * dsp.decay(ring_s, ring_s)
    slap = dsp.band(dsp.noise(rng, ring_s, 2), 300, 6000) * dsp.decay(ring_s, 0.06, 0.0005)
    return body + skin * slap


def shaker(rng: Rng, hit_s: float = 0.09, low_hz: float = 3000) -> Sound:
    """Seeds in a gourd."""
    seeds = dsp.band(dsp.noise(rng, hit_s), low_hz, 11_000)
    return seeds * dsp.course([(0, 0), (hit_s * 0.4, 1), (hit_s, 0)], hit_s)


def cuica(pitch_hz: float, held_s: float) -> Sound:
    """The friction drum that laughs: a squeak that slides."""
    pitch = dsp.course(
        [(0, pitch_hz * 0.8), (held_s * 0.4, pitch_hz * 1.25), (held_s, pitch_hz)], held_s
    )
    return dsp.fades(dsp.oscillate(pitch, held_s, [1, 0.5, 0.35, 0.15]), 0.02, 0.04)


def strum(
    rng: Rng, chord: Sequence[float], ring_s: float, down: bool, bright: float = 0.45
) -> Sound:
    """Strings one after another: downwards from the first, or back up."""
    strings = list(chord) if down else list(chord)[::-1]
    events = [
        (n * 0.013, pluck(rng, hertz(midi), ring_s, bright)) for n, midi in enumerate(strings)
    ]
    return dsp.sequence(ring_s + 0.1, events) * (1.0 if down else 0.7)


def tremolo(rng: Rng, pitch_hz: float, held_s: float) -> Sound:
    """A bouzouki's long note: the doubled string struck over and over."""
    strokes = max(1, int(held_s / 0.085))
    events = []
    for number in range(strokes):
        pair = pluck(rng, pitch_hz, 0.5, 0.8) + 0.8 * pluck(rng, pitch_hz * 2.003, 0.5, 0.8)
        events.append((number * 0.085, pair * (1.0 if number % 2 == 0 else 0.75)))
    return dsp.sequence(max(held_s, 0.3) + 0.25, events)

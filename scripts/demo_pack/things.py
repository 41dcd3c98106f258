"""Vehicles, bells, horns and other made things."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scripts.demo_pack import dsp
from scripts.demo_pack.dsp import Course, Rng, Sound


def church_bell(strike_hz: float, duration_s: float = 6.0) -> Sound:
    """A tuned bell: hum, prime, tierce (a minor third), quint, nominal and above."""
    partials = [
        (0.5, 0.5, 1.0),
        (1.0, 0.55, 0.8),
        (1.003, 0.3, 0.8),
        (1.2, 0.6, 0.55),
        (1.5, 0.25, 0.4),
        (2.0, 0.9, 0.45),
        (2.51, 0.35, 0.25),
        (3.0, 0.5, 0.25),
        (4.17, 0.35, 0.15),
        (5.43, 0.2, 0.1),
    ]
    return dsp.modes(
        duration_s, [(strike_hz * r, a, duration_s * d) for r, a, d in partials], 0.002
    )


def temple_bell(rng: Rng, duration_s: float = 14.0) -> Sound:
    """A great Korean bronze bell: a soft log on metal, deep notes with a long beat."""
    pairs = [(64.1, 0.6, 0.35), (168.4, 1.0, 0.22), (299.0, 0.7, 0.5), (477.0, 0.5, 0.9)]
    partials = [
        (f + side * beat, a / 2, duration_s * (1.1 if f < 200 else 0.75))
        for f, a, beat in pairs
        for side in (0, 1)
    ]
    high = [(f, 0.22, duration_s * 0.3) for f in (680.0, 905.0, 1170.0, 1460.0)]
    thud = dsp.band(dsp.noise(rng, duration_s, 4), 60, 600) * dsp.decay(duration_s, 0.25)
    return dsp.modes(duration_s, partials + high, 0.006) + 0.25 * thud


def hand_bell(pitch_hz: float, duration_s: float = 1.2, ring_s: float | None = None) -> Sound:
    """A small bell or a goat's bell; ``ring_s`` damps it."""
    ring_s = duration_s if ring_s is None else ring_s
    ratios = [(1.0, 1.0), (2.32, 0.5), (3.9, 0.3), (5.6, 0.2)]
    return dsp.modes(duration_s, [(pitch_hz * r, a, ring_s * a**0.5) for r, a in ratios])


def knock(rng: Rng, pitch_hz: float, time_s: float = 0.12) -> Sound:
    """Wood struck: a moktak, a stick, a crate set down."""
    body = dsp.modes(time_s * 2, [(pitch_hz, 1, time_s), (pitch_hz * 2.4, 0.4, time_s * 0.5)])
    click = dsp.noise(rng, time_s * 2, 2) * dsp.decay(time_s * 2, 0.02, 0.0005)
    return body + 0.25 * click


def clinks(rng: Rng, duration_s: float, per_second: float, low_hz: float = 2200) -> Sound:
    """Cups, coins and bottles."""
    track = dsp.silence(duration_s)
    for at_s in rng.uniform(0, duration_s, rng.poisson(per_second * duration_s)):
        pitch = low_hz * float(rng.uniform(1, 2.2))
        partials = [(pitch, 1.0, 0.25), (pitch * 2.71, 0.5, 0.15), (pitch * 4.1, 0.2, 0.1)]
        dsp.place(track, dsp.modes(0.3, partials) * float(rng.uniform(0.2, 1)), float(at_s))
    return dsp.unit(track)


def steps(rng: Rng, duration_s: float, every_s: float = 0.55) -> Sound:
    """Somebody walks: heel and sole."""
    track = dsp.silence(duration_s)
    at_s = 0.2
    while at_s < duration_s:
        heel = dsp.band(dsp.noise(rng, 0.09, 3), 120, 2500) * dsp.decay(0.09, 0.08)
        dsp.place(track, heel * float(rng.uniform(0.6, 1)), at_s)
        dsp.place(track, 0.4 * heel, at_s + 0.09)
        at_s += every_s * float(rng.uniform(0.93, 1.07))
    return dsp.unit(track)


def rolling(
    rng: Rng, duration_s: float, axle_s: float, tempo: Course, welded: bool = False
) -> Sound:
    """A train: rumble, and wheel pairs that beat over joints, ``tempo`` rails per second."""
    rumble = dsp.band(dsp.noise(rng, duration_s, 5), 40, 500)
    hiss = dsp.band(dsp.noise(rng, duration_s, 2), 600, 4000)
    out = rumble + 0.18 * hiss * dsp.drift(rng, duration_s, 0.3, 0.6, 1)
    if not welded:
        beats = dsp.silence(duration_s)
        at_s = 0.3
        while at_s < duration_s:
            rate = dsp.at(tempo, at_s)
            if rate < 0.12:
                at_s += 0.2
                continue
            for wheel in (0.0, axle_s, axle_s * 2.6, axle_s * 3.6):
                dsp.place(beats, _joint(rng) * float(rng.uniform(0.7, 1)), at_s + wheel / rate)
            at_s += 1 / rate
        out += 5.0 * beats
    speed_level = np.clip(dsp.course(tempo, duration_s), 0, 1.2)
    return dsp.unit(out * (0.04 + speed_level))


def _joint(rng: Rng) -> Sound:
    ring = dsp.modes(0.16, [(92, 1.2, 0.14), (210, 0.7, 0.1), (640, 0.3, 0.07), (1480, 0.2, 0.06)])
    return ring + 0.3 * dsp.band(dsp.noise(rng, 0.16, 3), 200, 3500) * dsp.decay(0.16, 0.07)


def chord_horn(duration_s: float, notes_hz: Sequence[float]) -> Sound:
    """An air horn of several trumpets that sound a chord."""
    wobble = 1 - 0.03 * np.exp(-dsp.clock(duration_s) * 18)
    voices = [dsp.oscillate(f * wobble, duration_s, dsp.saw(3, 24)) for f in notes_hz]
    brass = dsp.formants(np.asarray(sum(voices)), [(700, 1.2, 0), (1500, 1.5, 0), (2900, 2, -5)])
    return dsp.unit(dsp.fades(brass, 0.06, 0.18))


def car_horn(duration_s: float, pitch_hz: float = 410) -> Sound:
    """A car's two-note horn."""
    pair = dsp.oscillate(pitch_hz, duration_s, dsp.saw(2, 20)) + dsp.oscillate(
        pitch_hz * 1.24, duration_s, dsp.saw(2, 20)
    )
    return dsp.unit(dsp.fades(dsp.band(pair, 350, 4500), 0.015, 0.03))


def bulb_horn(duration_s: float = 0.28) -> Sound:
    """The rubber-ball horn of a rickshaw: pah-oop."""
    pitch = dsp.course([(0, 250), (0.05, 330), (duration_s, 235)], duration_s)
    reed = dsp.oscillate(pitch, duration_s, dsp.saw(1.5, 24))
    return dsp.unit(dsp.fades(dsp.formants(reed, [(600, 2, 0), (1300, 3, 0)]), 0.02, 0.06))


def engine(rng: Rng, duration_s: float, firing_hz: Course, hollow_hz: float = 180) -> Sound:
    """A combustion engine by its firing rate: two-stroke, diesel, outboard."""
    rate = dsp.course(firing_hz, duration_s) * (1 + 0.02 * dsp.drift(rng, duration_s, 0.12, -1, 1))
    phase = np.cumsum(rate) / dsp.RATE
    shot = np.exp(-(phase % 1) * 5)
    strength = rng.uniform(0.6, 1.0, int(phase[-1]) + 2)[phase.astype(int)]
    rasp = dsp.band(dsp.noise(rng, duration_s, 2), 100, 3500)
    source = (shot * strength - 0.2) + 0.7 * rasp * shot * strength
    peaks = [(hollow_hz, 2.0, 0.0), (hollow_hz * 2.7, 2.0, -3.0), (1500.0, 1.5, -8.0)]
    return dsp.unit(dsp.formants(source, peaks))


def steam_whistle(rng: Rng, duration_s: float = 5.0) -> Sound:
    """The sweet-potato cart's whistle: shrill, then it sinks as the steam runs out."""
    pitch = dsp.course(
        [(0, 1500), (0.25, 2700), (duration_s * 0.5, 2600), (duration_s, 900)], duration_s
    )
    tone = dsp.oscillate(
        pitch * (1 + 0.004 * dsp.drift(rng, duration_s, 0.05)), duration_s, [1, 0.3, 0.1]
    )
    breath = dsp.band(dsp.noise(rng, duration_s, 1), 1200, 8000)
    return dsp.fades(tone + 0.35 * breath, 0.15, 1.4)


def crossing_bell(duration_s: float) -> Sound:
    """The mechanical bell of an American level crossing."""
    strokes = [
        (n * 0.29, hand_bell(1030, 0.5, 0.4) + 0.6 * hand_bell(1490, 0.5, 0.3))
        for n in range(int(duration_s / 0.29))
    ]
    return dsp.unit(dsp.sequence(duration_s, strokes))


def tones(pitches_hz: Sequence[float], each_s: float, ring_s: float = 1.0) -> Sound:
    """A chime of soft electronic notes, one after another."""
    events = []
    for number, pitch in enumerate(pitches_hz):
        partials = [
            (pitch, 1.0, ring_s),
            (pitch * 2, 0.35, ring_s * 0.6),
            (pitch * 3.01, 0.12, ring_s * 0.4),
        ]
        events.append((number * each_s, dsp.modes(ring_s, partials, 0.008)))
    return dsp.sequence(each_s * len(pitches_hz) + ring_s, events)


def buzzer(duration_s: float, pitch_hz: float = 440) -> Sound:
    """The flat signal that says the doors close."""
    square = [1 / n if n % 2 else 0.0 for n in range(1, 24)]
    return dsp.unit(
        dsp.fades(dsp.band(dsp.oscillate(pitch_hz, duration_s, square), 250, 4200), 0.01, 0.02)
    )


def sliding_door(rng: Rng) -> Sound:
    """A door runs shut on rollers and hits its rubber."""
    run = dsp.band(dsp.noise(rng, 1.1, 3), 200, 3000) * dsp.course(
        [(0, 0), (0.1, 0.5), (1, 0.8), (1.1, 0)], 1.1
    )
    thud = dsp.modes(0.4, [(74, 1.5, 0.25), (131, 1.0, 0.2), (420, 0.4, 0.1)])
    thud += 0.5 * dsp.band(dsp.noise(rng, 0.4, 3), 100, 2500) * dsp.decay(0.4, 0.12)
    return dsp.sequence(1.6, [(0, 0.5 * run), (1.05, thud)])


def traction(rng: Rng, duration_s: float, start_hz: float, end_hz: float) -> Sound:
    """An electric train's motors as they gather speed, gear by gear of the chopper."""
    ramp = dsp.course(
        [(0, start_hz), (duration_s * 0.85, end_hz), (duration_s, end_hz)], duration_s
    )
    whine = dsp.oscillate(ramp, duration_s, [1, 0.5, 0.7, 0.25, 0.3, 0.15])
    chop = dsp.oscillate(410.0, duration_s, [0.5, 0.3, 0.3]) * dsp.course(
        [(0, 1), (duration_s * 0.3, 0.7), (duration_s * 0.4, 0), (duration_s, 0)], duration_s
    )
    air = dsp.band(dsp.noise(rng, duration_s, 4), 60, 1500) * ramp / end_hz
    return dsp.unit(dsp.fades(whine + chop + 1.2 * air, 0.4, 0.8))


def squeal(rng: Rng, duration_s: float = 3.0, pitch_hz: float = 2100) -> Sound:
    """Wheels that sing in a curve or under the brake."""
    notes = [pitch_hz, pitch_hz * 1.47, pitch_hz * 2.12]
    voices = [
        dsp.oscillate(f * (1 + 0.01 * dsp.drift(rng, duration_s, 0.15, -1, 1)), duration_s, [1])
        * dsp.drift(rng, duration_s, 0.25) ** 2
        for f in notes
    ]
    return dsp.unit(dsp.fades(np.asarray(sum(voices)), 0.3, 0.5))


def air_brake(rng: Rng, duration_s: float = 1.2) -> Sound:
    """A bus or a door lets off compressed air."""
    return dsp.unit(
        dsp.band(dsp.noise(rng, duration_s), 1800, 11_000) * dsp.decay(duration_s, duration_s, 0.02)
    )


def creak(rng: Rng, duration_s: float = 0.9, pitch_hz: float = 85) -> Sound:
    """A rope or a plank under load: slip and stick."""
    rate = dsp.course(
        [(0, pitch_hz * 0.6), (duration_s * 0.5, pitch_hz * 1.4), (duration_s, pitch_hz * 0.5)],
        duration_s,
    )
    phase = np.cumsum(rate * (1 + 0.2 * dsp.drift(rng, duration_s, 0.03, -1, 1))) / dsp.RATE
    slips = np.exp(-(phase % 1) * 9)
    wood = dsp.formants(slips - slips.mean(), [(510, 8, 0), (930, 9, 0), (1720, 9, -4)])
    return dsp.unit(dsp.fades(wood, 0.15, 0.25))


def radio(rng: Rng, x: Sound, crackle: float = 0.06) -> Sound:
    """Through a small radio: narrow, driven, with a little crackle."""
    narrow = np.tanh(1.6 * dsp.unit(dsp.band(x, 320, 3600, 3)))
    static = dsp.band(dsp.noise(rng, len(x) / dsp.RATE, 1), 600, 5000)
    return dsp.unit(narrow + crackle * static[: len(x)])


def loudspeaker(x: Sound, slap_s: float = 0.17, drive: float = 1.4) -> Sound:
    """From a horn on a pole or a platform's ceiling: mid tones, and the echo of the next one."""
    narrow = np.tanh(drive * dsp.unit(dsp.band(x, 380, 4800)))
    out = narrow.copy()
    for number, level in ((1, 0.4), (2, 0.16)):
        dsp.place(out, level * dsp.band(narrow, None, 2500), number * slap_s)
    return dsp.unit(out)

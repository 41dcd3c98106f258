"""Insects, frogs, birds and other animals, each with its own rhythm and pitch."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from scripts.demo_pack import dsp
from scripts.demo_pack.dsp import Course, Rng, Sound


def chirps(
    rng: Rng,
    duration_s: float,
    pitch_hz: float,
    pulses: int,
    pulse_s: float,
    every_s: float,
) -> Sound:
    """A cricket: groups of pulses of one pure note."""
    pulse = dsp.fades(np.ones(dsp.length(pulse_s * 0.7)), pulse_s * 0.25, pulse_s * 0.35)
    gate = dsp.silence(duration_s)
    at_s = float(rng.uniform(0, every_s))
    while at_s < duration_s:
        for number in range(pulses):
            dsp.place(gate, pulse * (0.6 + 0.4 * number / pulses), at_s + number * pulse_s)
        at_s += every_s * float(rng.uniform(0.93, 1.07))
    pitch = pitch_hz * (1 + 0.004 * dsp.drift(rng, duration_s, 0.8, -1, 1))
    return dsp.unit(dsp.oscillate(pitch, duration_s, [1, 0.06]) * gate)


def crickets(rng: Rng, duration_s: float, pitch_hz: float = 4500, count: int = 6) -> Sound:
    """A field of crickets, each with its own pitch and tempo."""
    out = dsp.silence(duration_s)
    for _ in range(count):
        one = chirps(
            rng,
            duration_s,
            pitch_hz * float(rng.uniform(0.92, 1.08)),
            int(rng.integers(2, 5)),
            float(rng.uniform(0.022, 0.035)),
            float(rng.uniform(0.35, 0.7)),
        )
        out += one * float(rng.uniform(0.2, 1.0)) * dsp.drift(rng, duration_s, 6, 0.5, 1)
    return dsp.unit(out)


def katydids(rng: Rng, duration_s: float) -> Sound:
    """Rasps in twos and threes, answered by a neighbour: ka-ty, ka-ty-did."""
    track = dsp.silence(duration_s)
    for offset_s, level in ((0.0, 1.0), (0.55, 0.5)):
        at_s = offset_s
        while at_s < duration_s:
            for number in range(int(rng.choice([2, 3, 3]))):
                rasp = dsp.band(dsp.noise(rng, 0.12), 2800, 6500)
                teeth = 0.5 + 0.5 * np.sign(np.sin(2 * np.pi * 95 * dsp.clock(0.12)))
                dsp.place(track, level * dsp.fades(rasp * teeth, 0.02, 0.03), at_s + number * 0.17)
            at_s += float(rng.uniform(1.05, 1.2))
    return dsp.unit(track)


def cicada(rng: Rng, duration_s: float, pitch_hz: float, rate_hz: float, swell: Course) -> Sound:
    """A cicada: buzz pulses at ``rate_hz`` around ``pitch_hz``, louder and softer by ``swell``."""
    buzz = dsp.band(dsp.noise(rng, duration_s), pitch_hz * 0.75, pitch_hz * 1.4, 3)
    t = dsp.clock(duration_s)
    pulses = np.clip(np.sin(2 * np.pi * rate_hz * t), 0, None) ** 0.7
    fine = 0.6 + 0.4 * np.sin(2 * np.pi * rate_hz * 7.3 * t)
    return dsp.unit(buzz * (0.12 + pulses * fine) * dsp.course(swell, duration_s))


def minmin(rng: Rng, duration_s: float) -> Sound:
    """The min-min cicada of Korea and Japan: miiin-min-min-min, then a falling drone."""
    gate = [(0.0, 0.0), (0.2, 0.5), (1.0, 0.8)]
    at_s = 1.0
    for _ in range(int(rng.integers(5, 8))):
        gate += [(at_s + 0.06, 0.1), (at_s + 0.2, 1.0), (at_s + 0.42, 0.9)]
        at_s += 0.5
    gate += [(at_s + 1.2, 0.3), (at_s + 1.9, 0.0), (duration_s + 9, 0.0)]
    return cicada(rng, duration_s, 4200, 115, gate)


def frogs(rng: Rng, duration_s: float, kinds: Sequence[tuple[float, float, float]]) -> Sound:
    """A pond: each kind given as (pitch in Hz, call in seconds, seconds between calls)."""
    track = dsp.silence(duration_s)
    for pitch_hz, call_s, every_s in kinds:
        for _ in range(3):
            mine = pitch_hz * float(rng.uniform(0.93, 1.07))
            at_s = float(rng.uniform(0, every_s))
            level = float(rng.uniform(0.3, 1.0))
            while at_s < duration_s:
                dsp.place(track, level * _croak(mine, call_s), at_s)
                at_s += every_s * float(rng.uniform(0.8, 1.3))
    return dsp.unit(track)


def _croak(pitch_hz: float, call_s: float) -> Sound:
    t = dsp.clock(call_s)
    pulses = np.clip(np.sin(2 * np.pi * max(18.0, pitch_hz / 28) * t), 0, None) ** 2
    tone = dsp.oscillate(pitch_hz * (1 + 0.12 * t / call_s), call_s, [1, 0.5, 0.25, 0.1])
    return dsp.fades(tone * (0.15 + pulses), call_s * 0.2, call_s * 0.3)


def peep(pitch_hz: float, call_s: float, rise: float = 1.08) -> Sound:
    """A tree frog's whistle."""
    pitch = dsp.course([(0, pitch_hz), (call_s, pitch_hz * rise)], call_s)
    return dsp.fades(dsp.oscillate(pitch, call_s, [1, 0.05]), call_s * 0.3, call_s * 0.4)


def whistle(
    pitch: Course, vibrato_hz: float = 0, depth: float = 0, overtone: float = 0.04
) -> Sound:
    """A bird's pure note along a pitch course, in Hz."""
    duration_s = pitch[-1][0]
    line = dsp.course(pitch, duration_s)
    line *= 1 + depth * np.sin(2 * np.pi * vibrato_hz * dsp.clock(duration_s))
    return dsp.fades(
        dsp.oscillate(line, duration_s, [1, overtone]), 0.012, min(0.05, duration_s / 3)
    )


def throat(
    rng: Rng,
    pitch: Course,
    peaks: Sequence[tuple[float, float, float]],
    *,
    rough: float = 0.0,
    breath: float = 0.1,
) -> Sound:
    """A call from a throat: harmonics through resonances; ``rough`` breaks the voice."""
    duration_s = pitch[-1][0]
    line = dsp.course(pitch, duration_s) * (1 + 0.012 * dsp.drift(rng, duration_s, 0.03, -1, 1))
    source = dsp.oscillate(line, duration_s, dsp.saw(4, 40))
    if rough:
        t = dsp.clock(duration_s)
        source *= 1 - rough * (
            0.5 + 0.5 * np.sin(2 * np.pi * 73 * t + 2 * dsp.drift(rng, duration_s, 0.02))
        )
        source += rough * 0.8 * dsp.noise(rng, duration_s, 2)
    source += breath * dsp.noise(rng, duration_s, 1)
    return dsp.unit(dsp.fades(dsp.formants(source, peaks), 0.03, 0.06))


CROW = [(1100.0, 3.0, 0.0), (1700.0, 4.0, 2.0), (3100.0, 5.0, -6.0)]
DOG = [(600.0, 3.0, 0.0), (1200.0, 4.0, 0.0), (2600.0, 4.0, -9.0)]
GULL = [(1500.0, 3.0, 0.0), (2800.0, 4.0, -2.0), (4300.0, 5.0, -8.0)]
DONKEY = [(520.0, 3.0, 0.0), (1050.0, 4.0, 1.0), (2100.0, 4.0, -6.0)]


def caw(rng: Rng, pitch_hz: float = 420, call_s: float = 0.32) -> Sound:
    """A crow or rook."""
    pitch = [(0, pitch_hz * 0.9), (call_s * 0.3, pitch_hz * 1.1), (call_s, pitch_hz * 0.8)]
    return throat(rng, pitch, CROW, rough=0.6, breath=0.3)


def raven(rng: Rng) -> Sound:
    """A raven: deep, hoarse, with a rattle."""
    return throat(rng, [(0, 190), (0.1, 240), (0.42, 200)], CROW, rough=0.85, breath=0.3)


def gull(rng: Rng, cries: int = 4) -> Sound:
    """A gull's long call: falling cries, ever shorter."""
    calls = []
    at_s = 0.0
    for number in range(cries):
        call_s = 0.55 - 0.06 * number
        pitch = [(0, 750), (0.08, 1150 + 60 * number), (call_s * 0.5, 1020), (call_s, 690)]
        calls.append((at_s, throat(rng, pitch, GULL, rough=0.15)))
        at_s += call_s + 0.08
    return dsp.sequence(at_s, calls)


def bark(rng: Rng, pitch_hz: float = 420) -> Sound:
    """One bark."""
    pitch = [(0, pitch_hz * 0.7), (0.04, pitch_hz * 1.3), (0.2, pitch_hz * 0.6)]
    return throat(rng, pitch, DOG, rough=0.5, breath=0.4)


def howl(rng: Rng, pitch_hz: float = 430, call_s: float = 3.2) -> Sound:
    """A sled dog's howl: up, held with a waver, down."""
    top = pitch_hz * float(rng.uniform(1.35, 1.6))
    pitch = [(0, pitch_hz), (0.4, top), (call_s * 0.7, top * 0.93), (call_s, pitch_hz * 0.7)]
    return dsp.fades(throat(rng, pitch, DOG, rough=0.06), 0.25, 0.6)


def bray(rng: Rng) -> Sound:
    """An African penguin's bray: short breaths in and out, then the long call."""
    calls: list[tuple[float, Sound]] = []
    at_s = 0.0
    pitch_hz = float(rng.uniform(200, 250))
    for number in range(int(rng.integers(3, 6))):
        low = throat(rng, [(0, pitch_hz), (0.22, pitch_hz * 1.15)], DONKEY, rough=0.3)
        gasp = throat(
            rng, [(0, pitch_hz * 2.1), (0.17, pitch_hz * 2.6)], DONKEY, rough=0.3, breath=0.8
        )
        calls += [(at_s, low * (0.5 + 0.1 * number)), (at_s + 0.28, 0.4 * gasp)]
        at_s += 0.55
    long = [(0, pitch_hz), (0.25, pitch_hz * 1.35), (1.3, pitch_hz * 1.25), (1.7, pitch_hz * 0.8)]
    calls += [(at_s, throat(rng, long, DONKEY, rough=0.35)), (at_s + 1.75, 0.3 * gasp)]
    return dsp.sequence(at_s + 2.1, calls)


def kookaburra(rng: Rng) -> Sound:
    """The laugh: a chuckle that climbs to full hoots and runs down again."""
    calls = []
    at_s = 0.0
    for number in range(26):
        height = np.sin(np.pi * min(1.0, number / 18)) if number < 18 else 0.35
        call_s = 0.09 + 0.07 * height
        base = 520 + 480 * height
        pitch = [(0, base * 0.8), (call_s * 0.4, base * 1.25), (call_s, base * 0.75)]
        call = throat(rng, pitch, [(900, 2, 0), (1500, 3, 2), (2600, 4, -6)], rough=0.2)
        calls.append((at_s, call * (0.35 + 0.65 * height)))
        at_s += call_s + 0.035 + (0.02 if number % 2 else 0.0)
    return dsp.sequence(at_s + 0.2, calls)


def whipbird(rng: Rng) -> Sound:
    """Eastern whipbird: a held whistle, the crack of a whip, and the mate's two notes."""
    held_s = float(rng.uniform(1.4, 1.9))
    rise = dsp.course([(0, 0.05), (held_s, 1)], held_s)
    note = whistle([(0, 1750), (held_s, 1770)]) * rise
    crack_s = 0.14
    crack = whistle([(0, 1800), (0.05, 7600), (0.1, 2200), (crack_s, 1400)], overtone=0.2)
    crack += 0.25 * dsp.band(dsp.noise(rng, crack_s), 1500, 9000) * dsp.decay(crack_s, 0.2)
    answer = whistle([(0, 2600), (0.14, 3600), (0.17, 2500)])
    events = [(0.0, 0.6 * note), (held_s, 2.2 * crack), (held_s + 0.35, 0.6 * answer)]
    return dsp.sequence(held_s + 1.0, [*events, (held_s + 0.58, 0.6 * answer)])


def magpie(rng: Rng) -> Sound:
    """Australian magpie: two voices carol together, sliding."""
    notes = []
    at_s = 0.0
    for _ in range(int(rng.integers(5, 9))):
        call_s = float(rng.uniform(0.12, 0.4))
        low = float(rng.choice([620, 740, 830, 990]))
        first = whistle([(0, low), (call_s, low * rng.uniform(0.8, 1.25))], 28, 0.02, 0.5)
        second = whistle([(0, low * 1.83), (call_s, low * rng.uniform(1.5, 2.1))], 23, 0.02, 0.3)
        notes.append((at_s, first + 0.6 * second))
        at_s += call_s * 0.95
    return dsp.sequence(at_s + 0.2, notes)


def piha(rng: Rng) -> Sound:
    """Screaming piha, the voice of the Amazon: two low warm-ups, then pi-pi-YO."""
    grunt = throat(rng, [(0, 700), (0.25, 900)], [(1000, 3, 0), (1800, 4, -4)], rough=0.1)
    short = whistle([(0, 1700), (0.07, 2500), (0.13, 2300)], overtone=0.25)
    scream = whistle([(0, 2300), (0.07, 4100), (0.2, 3300), (0.42, 1350)], overtone=0.3)
    calls = [(0.0, 0.15 * grunt), (0.7, 0.2 * grunt), (1.45, short), (1.68, 1.4 * scream)]
    return dsp.sequence(2.3, calls)


def oropendola(rng: Rng) -> Sound:
    """A bubbling run of notes that tumbles into one deep liquid gulp."""
    notes = []
    at_s = 0.0
    for number in range(11):
        low = 900 + 130 * number
        notes.append((at_s, 0.5 * whistle([(0, low), (0.05, low * 1.5)], overtone=0.3)))
        at_s += 0.065 - 0.003 * number
    gulp = whistle([(0, 3000), (0.2, 700), (0.5, 420), (0.75, 900)], 11, 0.06, 0.4)
    return dsp.sequence(at_s + 0.9, [*notes, (at_s, 1.2 * gulp)])


def tui(rng: Rng) -> Sound:
    """Tui: bell notes, then clicks, coughs and a wheeze."""
    events: list[tuple[float, Sound]] = []
    at_s = 0.0
    for pitch_hz in rng.choice([1050, 1320, 1570, 2090], int(rng.integers(3, 6))):
        events.append((at_s, whistle([(0, pitch_hz), (0.26, pitch_hz * 0.995)], overtone=0.3)))
        at_s += 0.3
    for _ in range(int(rng.integers(4, 8))):
        click = dsp.band(dsp.noise(rng, 0.02), 1800, 9000) * dsp.decay(0.02, 0.03)
        events.append((at_s, 1.6 * click))
        at_s += float(rng.uniform(0.05, 0.11))
    events.append((at_s + 0.05, 0.3 * caw(rng, 600, 0.2)))
    events.append((at_s + 0.35, whistle([(0, 2800), (0.12, 2100), (0.2, 2150)], overtone=0.3)))
    return dsp.sequence(at_s + 0.8, events)


def bulbul(rng: Rng, notes: int = 6) -> Sound:
    """A garden bird's phrase: short quick whistles that jump about."""
    events = []
    at_s = 0.0
    for _ in range(notes):
        low, call_s = float(rng.uniform(1900, 3600)), float(rng.uniform(0.06, 0.18))
        events.append((at_s, whistle([(0, low), (call_s, low * rng.uniform(0.75, 1.3))])))
        at_s += call_s + float(rng.uniform(0.02, 0.09))
    return dsp.sequence(at_s + 0.1, events)


def scops(rng: Rng) -> Sound:
    """Scops owl: one short flute note."""
    return whistle([(0, 1290), (0.1, 1340), (0.26, 1270)], overtone=0.02)


def rooster(rng: Rng) -> Sound:
    """Cock-a-doodle-doo."""
    peaks = [(900.0, 3.0, 0.0), (1700.0, 4.0, 2.0), (3000.0, 5.0, -6.0)]
    parts = [(0.0, 0.18, 520, 700), (0.24, 0.16, 700, 760), (0.46, 0.26, 820, 900)]
    events = [(at, throat(rng, [(0, a), (s, b)], peaks, rough=0.2)) for at, s, a, b in parts]
    last = throat(rng, [(0, 820), (0.2, 900), (0.75, 760), (1.0, 520)], peaks, rough=0.3)
    return dsp.sequence(1.9, [*events, (0.78, last)])


def goat(rng: Rng, pitch_hz: float = 380) -> Sound:
    """A bleat: a voice with a quick tremble."""
    call_s = float(rng.uniform(0.5, 0.8))
    voice = throat(rng, [(0, pitch_hz), (call_s, pitch_hz * 0.85)], DONKEY, rough=0.2)
    return voice * (0.55 + 0.45 * np.sin(2 * np.pi * 9 * dsp.clock(call_s)))


def scatter(
    rng: Rng,
    duration_s: float,
    make: Callable[[], Sound],
    every_s: float,
    *,
    spread: float = 0.5,
    levels: tuple[float, float] = (0.4, 1.0),
    start_s: float = 0.0,
) -> Sound:
    """A call again and again, about ``every_s`` apart, nearer and farther."""
    track = dsp.silence(duration_s)
    at_s = start_s
    while at_s < duration_s - 0.3:
        dsp.place(track, float(rng.uniform(*levels)) * make(), at_s)
        at_s += every_s * float(rng.uniform(1 - spread, 1 + spread))
    return dsp.unit(track)

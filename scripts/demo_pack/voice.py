"""Voices: speech by espeak-ng, made to sound like people in a place; and a sung line."""

from __future__ import annotations

import io
import shutil
import subprocess
import wave
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import signal  # type: ignore[import-untyped,unused-ignore]

from agl1k_core.errors import Agl1kError
from scripts.demo_pack import dsp
from scripts.demo_pack.dsp import Rng, Sound


@dataclass(frozen=True)
class Speaker:
    """A person: espeak-ng voice with variant, pitch 0-99, words a minute, size of the throat.

    ``size`` above 1 is a smaller speaker: the whole spectrum moves up, not the melody alone.
    """

    voice: str
    pitch: int = 50
    words_per_minute: int = 160
    size: float = 1.0


def say(speaker: Speaker, text: str, *, lift: float = 0.0) -> Sound:
    """One utterance, RMS 1, without silence around it; ``lift`` raises and slows it to a call."""
    program = shutil.which("espeak-ng")
    if program is None:
        raise Agl1kError("espeak-ng is not installed. Install it: apt-get install espeak-ng.")
    words = round(speaker.words_per_minute / speaker.size * (1 - 0.2 * lift))
    options = {
        "-v": speaker.voice,
        "-p": str(min(99, round(speaker.pitch + 25 * lift))),
        "-s": str(max(80, words)),
    }
    command = [program, *(part for pair in options.items() for part in pair), "--stdout", text]
    spoken = subprocess.run(command, check=True, capture_output=True).stdout
    return _waver(_soften(_read_wave(spoken, speaker.size)), text)


def _read_wave(content: bytes, size: float) -> Sound:
    # espeak-ng writes to a pipe, so the length in the header is a placeholder: read everything.
    with wave.open(io.BytesIO(content)) as reader:
        rate = reader.getframerate()
        raw = reader.readframes(len(content))
    samples = np.frombuffer(raw[: len(raw) // 2 * 2], dtype="<i2") / 32768
    wanted = round(dsp.RATE / size)
    divisor = np.gcd(wanted, rate)
    return np.asarray(signal.resample_poly(samples, wanted // divisor, rate // divisor))


def _soften(x: Sound) -> Sound:
    loud = np.flatnonzero(np.abs(x) > 0.01)
    if len(loud):
        x = x[loud[0] : loud[-1] + 1]
    rounded = dsp.band(dsp.band(x, 90, None), None, 7500, 1)
    return dsp.fades(dsp.unit(rounded), 0.01, 0.03)


def _waver(x: Sound, text: str) -> Sound:
    """Adds the drift of pitch and pace that a machine's voice lacks, always the same for a text."""
    rng = np.random.default_rng(zlib.crc32(text.encode()))
    pace = 1 + 0.022 * dsp.drift(rng, len(x) / dsp.RATE, 0.28, -1, 1)
    return dsp.fades(dsp.bend(x, pace), 0.01, 0.03)


def shout(x: Sound) -> Sound:
    """Thrown across a street: more strength in the middle, a little driven."""
    edge = dsp.band(x, 900, 3800, 1)
    return dsp.unit(np.tanh(0.9 * dsp.unit(x + 1.2 * edge)))


def babble(
    rng: Rng, duration_s: float, people: Sequence[Speaker], lines: Sequence[str], voices: int = 7
) -> Sound:
    """A crowd at some distance, in which many talk at once."""
    spoken = [say(person, line) for person in people for line in lines]
    track = dsp.silence(duration_s)
    for _ in range(voices):
        at_s = float(rng.uniform(-2, 0.5))
        level = float(rng.uniform(0.4, 1.0))
        while at_s < duration_s:
            line = dsp.speed(spoken[int(rng.integers(len(spoken)))], float(rng.uniform(0.93, 1.08)))
            dsp.place(track, level * line, at_s)
            at_s += len(line) / dsp.RATE + float(rng.uniform(0.1, 1.2))
    return dsp.unit(dsp.far(track, 60))


#: Formants of sung vowels for a tenor: (frequency in Hz, quality, gain in dB).
VOWELS = {
    "a": [(680.0, 7.0, 0.0), (1120.0, 9.0, -3.0), (2600.0, 12.0, -8.0), (3100.0, 14.0, -7.0)],
    "o": [(430.0, 6.0, 0.0), (800.0, 8.0, -5.0), (2550.0, 12.0, -14.0), (3000.0, 14.0, -12.0)],
    "e": [(480.0, 6.0, 0.0), (1750.0, 10.0, -6.0), (2600.0, 12.0, -9.0), (3200.0, 14.0, -9.0)],
}


def sing(rng: Rng, notes: Sequence[tuple[float, float, str]]) -> Sound:
    """A line without words: (MIDI number, seconds, vowel); the voice glides from note to note."""
    total_s = sum(seconds for _, seconds, _ in notes)
    pitch = _sung_pitch(rng, notes, total_s)
    source = dsp.oscillate(pitch, total_s, dsp.saw(5, 40)) + 0.05 * dsp.noise(rng, total_s, 1)
    out = dsp.silence(total_s)
    at_s = 0.0
    for _, seconds, vowel in notes:
        window = dsp.course(
            [
                (at_s - 0.05, 0),
                (at_s + 0.03, 1),
                (at_s + seconds - 0.03, 1),
                (at_s + seconds + 0.05, 0),
            ],
            total_s,
        )
        out += window * dsp.formants(source, VOWELS[vowel])
        at_s += seconds
    return dsp.unit(dsp.fades(out, 0.1, 0.35))


def _sung_pitch(rng: Rng, notes: Sequence[tuple[float, float, str]], total_s: float) -> Sound:
    points = []
    at_s = 0.0
    for midi, seconds, _ in notes:
        pitch = 440 * 2 ** ((midi - 69) / 12)
        glide = min(0.07, seconds / 3)
        points += [(at_s + glide, pitch), (at_s + seconds - 0.01, pitch)]
        at_s += seconds
    line = dsp.course(points, total_s)
    held = dsp.drift(rng, total_s, 0.9, 0.2, 1.0)
    vibrato = 1 + 0.011 * held * np.sin(2 * np.pi * 5.4 * dsp.clock(total_s))
    return line * vibrato * (1 + 0.004 * dsp.drift(rng, total_s, 0.08, -1, 1))

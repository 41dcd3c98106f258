"""A folder of raw recordings, some broken in different ways, and a tagger that needs no model."""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from tests.support import sounds

Array = npt.NDArray[np.float32]
RATE_HZ = 16000
SPEECH, BIRD = "/m/09x0r", "/m/015p6"

#: Eight countries; the clips of a country are at least 11 km apart.
PLACES = [
    (31.5, -9.7), (-1.3, 36.8), (52.5, 13.4), (38.7, -9.1),
    (35.0, 135.7), (21.0, 105.8), (-12.0, -76.9), (-32.0, 116.0),
]  # fmt: skip

#: The outcome that each kind of broken file must get.
BROKEN = {
    "empty": "empty",
    "text": "not_audio",
    "truncated": "truncated",
    "silent": "silent",
    "nan": "not_finite",
    "header": "not_audio",
    "film": "not_audio",
    "missing": "missing",
}


class ToneTagger:
    """Finds speech if the strongest tone is below 600 Hz, else a bird; in windows of 1 s."""

    name = "tone"
    labels: tuple[str, ...] = (SPEECH, BIRD)
    sample_rate_hz = 8000
    window_s = 1.0
    hop_s = 1.0
    threshold = 0.5
    weights_sha256 = "none"

    def predict(self, wave: Array) -> Array:
        n_windows = max(1, len(wave) // self.sample_rate_hz)
        padded = np.resize(wave, n_windows * self.sample_rate_hz)
        spectrum = np.abs(np.fft.rfft(padded.reshape(n_windows, -1), axis=1))
        low = spectrum.argmax(axis=1) < 600
        return np.stack([low, ~low], axis=1).astype(np.float32)


class FineTagger(ToneTagger):
    """Needs a rate so high that half a minute of sound does not fit into memory."""

    sample_rate_hz = 192000


class CrashingTagger(ToneTagger):
    """Ends its process on a sound of three seconds or more."""

    def predict(self, wave: Array) -> Array:
        if len(wave) >= 3 * self.sample_rate_hz:
            os._exit(7)
        return super().predict(wave)


def sound(seed: int, *, speech: bool, duration_s: float = 2.0) -> Array:
    """A tone over brown noise that swell, so they pass the acoustic filters; shape (1, n)."""
    n = round(duration_s * RATE_HZ)
    noise = np.random.default_rng(seed).normal(size=n).cumsum()
    noise = 0.05 * (noise - noise.mean()) / noise.std()
    tone = 0.3 * np.sin(2 * np.pi * (440 if speech else 1500) * np.arange(n) / RATE_HZ)
    swell = 0.2 + 0.8 * np.abs(np.sin(np.pi * np.arange(n) / RATE_HZ / 2))
    wave: Array = (swell * (noise + tone))[np.newaxis].astype(np.float32)
    return wave


def write_sound(path: Path, seed: int, *, speech: bool, duration_s: float = 2.0) -> Path:
    wave = sound(seed, speech=speech, duration_s=duration_s)
    return sounds.encode(path, "pcm_s16le", wave, rate_hz=RATE_HZ, container_format="wav")


def write_broken(path: Path, kind: str) -> None:
    """A file of a kind in ``BROKEN``."""
    if kind == "empty":
        path.touch()
    elif kind == "text":
        path.write_text("This is no sound.\n" * 50)
    elif kind == "truncated":
        content = write_sound(path, 99, speech=True).read_bytes()
        path.write_bytes(content[: len(content) // 2])
    elif kind == "header":
        path.write_bytes(write_sound(path, 99, speech=True).read_bytes()[:44])
    elif kind == "film":
        path.write_bytes(b"\x00\x00\x00\x18ftypisom" + bytes(200))
    elif kind in ("silent", "nan"):
        wave = np.zeros((1, RATE_HZ), np.float32)
        wave[0, 100:] = np.nan if kind == "nan" else 0
        sounds.encode(path, "pcm_f32le", wave, rate_hz=RATE_HZ)


def write_table(folder: Path, rows: Sequence[dict[str, object]]) -> Path:
    path = folder / "clips.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [*rows[0]])
        writer.writeheader()
        writer.writerows(rows)
    return path


def write_collection(folder: Path, n_good: int = 32, broken: Sequence[str] = (*BROKEN,)) -> Path:
    """``n_good`` recordings, every other one with speech, and broken ones, with their table."""
    folder.mkdir(parents=True, exist_ok=True)
    rows: list[dict[str, object]] = []
    for number in range(n_good + len(broken)):
        lat, lon = PLACES[number % len(PLACES)]
        key, lat = f"clip-{number:03}", round(lat + 0.1 * (number // len(PLACES)), 4)
        speech = number // len(PLACES) % 2 == 0
        if number < n_good:
            # the first one has the ending of another format
            name = f"{key}.mp3" if number == 0 else f"{key}.wav"
            write_sound(folder / name, number, speech=speech)
        else:
            name = f"{key}-{broken[number - n_good]}.wav"
            write_broken(folder / name, broken[number - n_good])
        row = {"key": key, "latitude": lat, "longitude": lon, "file": name}
        rows.append({**row, "human": int(speech), "recorded": ""})
    write_table(folder, rows)
    return folder


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def contents(folder: Path) -> dict[str, bytes]:
    """Name -> content of all files of a folder."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}

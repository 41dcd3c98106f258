"""Measures steady sounds and recordings, and draws the evidence for the acoustic filters.

    python scripts/filter_evidence.py --recordings FOLDER --recordings FOLDER …

writes ``docs/figures/filters.svg`` and ``docs/figures/filters.csv``. Each folder is a row of the
figure, named after it. The demo pack is always there. Steady sounds are made here, at seven rates
and three levels, also quantized and coded as MP3.
"""

from __future__ import annotations

import argparse
import csv
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import av
import matplotlib as mpl
import numpy as np
from scipy.io import wavfile

from agl1k_core.audio import AcousticFilters, AcousticMeasures, inspect_recording, measure
from agl1k_core.benchmarks import read_demo, recordings_in

mpl.use("svg")
from matplotlib import pyplot as plt

Audio = np.ndarray[Any, Any]
OUT = Path(__file__).resolve().parent.parent / "docs" / "figures"
RATES_HZ = (8000, 11025, 16000, 22050, 44100, 48000, 96000)
LEVELS = (0.3, 0.03, 0.002)
SECONDS = 30
SHOWN = ("complexity_per_band", "level_variation_db", "spectral_flatness", "rms_without_mean")
TITLES = (
    "Complexity per band, equation (2)", "Level variation in dB", "Spectral flatness",
    "RMS energy without the mean",
)  # fmt: skip


def noise(exponent: float) -> Callable[[int, int], Audio]:
    """Gaussian noise whose power falls with the frequency to the power of ``exponent``."""

    def wave(n: int, rate_hz: int) -> Audio:
        spectrum = np.fft.rfft(np.random.default_rng(rate_hz).normal(size=n))
        frequency = np.fft.rfftfreq(n, 1 / rate_hz)
        audible = frequency >= 20
        spectrum[audible] *= frequency[audible] ** (-exponent / 2)
        spectrum[~audible] = 0
        return np.asarray(np.fft.irfft(spectrum, n))

    return wave


def hum(base_hz: float) -> Callable[[int, int], Audio]:
    """A tone with overtones, as of mains or a motor."""

    def wave(n: int, rate_hz: int) -> Audio:
        t = np.arange(n) / rate_hz
        multiples = range(1, min(40, int(rate_hz / 2 / base_hz)))
        return np.asarray(sum(np.sin(2 * np.pi * base_hz * k * t + k) / k for k in multiples))

    return wave


def fan(n: int, rate_hz: int) -> Audio:
    """Broad noise of moving air, and the tone of the blades."""
    air, blades = noise(1.6)(n, rate_hz), hum(87)(n, rate_hz)
    scaled: Audio = air / air.std() + 0.8 * blades / blades.std()
    return scaled


STEADY: dict[str, Callable[[int, int], Audio]] = {
    "white noise": noise(0),
    "pink noise": noise(1),
    "brown noise": noise(2),
    "fan hum": fan,
    "mains hum": hum(50),
    "sine, 997 Hz": lambda n, rate_hz: np.sin(2 * np.pi * 997 * np.arange(n) / rate_hz),
}


def steady_measures(make: Callable[[int, int], Audio]) -> Iterator[AcousticMeasures]:
    """A steady sound at all rates and levels in 16 bits, and once as MP3."""
    for rate_hz in RATES_HZ:
        wave = make(SECONDS * rate_hz, rate_hz)
        for level in LEVELS:
            scaled = np.clip(level * wave / wave.std(), -1, 1)
            samples = np.round(scaled * 32767).astype(np.int16)
            yield measure([samples / 32768], rate_hz)
            if rate_hz == 44100:
                yield of_mp3(samples)


def of_mp3(samples: Audio) -> AcousticMeasures:
    """The measures after coding at 128 kbit/s."""
    with tempfile.TemporaryDirectory() as folder:
        wav, mp3 = Path(folder, "a.wav"), Path(folder, "a.mp3")
        wavfile.write(wav, 44100, samples)
        with av.open(str(wav)) as inside, av.open(str(mp3), "w") as outside:
            stream = outside.add_stream("mp3", rate=44100, layout="mono", bit_rate=128000)
            for frame in inside.decode(audio=0):
                outside.mux(stream.encode(frame))
            outside.mux(stream.encode(None))
        measures = inspect_recording(mp3).measures
        assert measures
        return measures


def recorded_measures(folder: Path) -> Iterator[AcousticMeasures]:
    """All recordings of at least three seconds in a folder."""
    for path in recordings_in([folder])[0]:
        found = inspect_recording(path)
        if found.usable and found.measures and found.measures.duration_s >= 3:
            yield found.measures


def draw(rows: dict[str, list[AcousticMeasures]], path: Path) -> None:
    """A panel for each measure, a row for each kind of sound, a dot for each sound."""
    limits = AcousticFilters()
    thresholds = (
        limits.min_complexity_per_band, limits.min_level_variation_db,
        limits.max_spectral_flatness, limits.min_rms_energy,
    )  # fmt: skip
    figure, panels = plt.subplots(1, 4, figsize=(14, 0.36 * len(rows) + 1.4), sharey=True)
    for panel, name, title, threshold in zip(panels, SHOWN, TITLES, thresholds, strict=True):
        for row, (kind, found) in enumerate(rows.items()):
            values = [max(getattr(one, name), 1e-5) for one in found]
            colour = "#b5462f" if kind in STEADY else "#2c6e8f"
            panel.plot(values, [row] * len(values), "o", ms=4, alpha=0.5, color=colour, mew=0)
        panel.axvline(threshold, color="black", lw=1, ls="--")
        panel.set_title(title, fontsize=10)
        panel.set_xscale("linear" if name == "complexity_per_band" else "log")
    panels[0].set_yticks(range(len(rows)), [f"{kind} ({len(v)})" for kind, v in rows.items()])
    panels[0].invert_yaxis()
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def write_table(rows: dict[str, list[AcousticMeasures]], path: Path) -> None:
    """The lowest, median and highest value of each measure."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["sound", "n", "measure", "lowest", "median", "highest"])
        for kind, found in rows.items():
            for name in SHOWN:
                values = [getattr(one, name) for one in found]
                numbers = (min(values), float(np.median(values)), max(values))
                writer.writerow([kind, len(found), name, *(f"{value:.4g}" for value in numbers)])


def main() -> None:
    """Measure everything, and write the figure and the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--recordings", type=Path, action="append", default=[])
    folders = parser.parse_args().recordings
    mpl.rcParams["svg.hashsalt"] = "agl1k"
    rows = {kind: [*steady_measures(make)] for kind, make in STEADY.items()}
    demo = read_demo().audio_dir
    assert demo
    rows["demo pack"] = [*recorded_measures(demo)]
    rows |= {folder.name: [*recorded_measures(folder)] for folder in folders}
    OUT.mkdir(exist_ok=True)
    draw(rows, OUT / "filters.svg")
    write_table(rows, OUT / "filters.csv")


if __name__ == "__main__":
    main()

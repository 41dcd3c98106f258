"""Curation of N and of 4N recordings: the time per file must not grow with their number.

The whole curation counts: table, decoding, filters, YAMNet, selection, and writing the folder.
Selection is also measured alone, with many more candidates, because it compares them in pairs.
The time is the processor time of one process.
"""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
from scipy.io import wavfile

from agl1k_core import curation, tagging
from agl1k_core.audio import AcousticFilters
from agl1k_core.config import Config
from agl1k_core.curation import (
    Analyzer,
    Candidate,
    Rules,
    SelectionRules,
    curate,
    open_collection,
    select,
)
from perf.table import Measured
from perf.timing import best_of

N_FILES, N_CANDIDATES, TIMES = 60, 5_000, 4
MOST_GROWTH = 1.25
_ROUNDS = 3
_RATE_HZ, _DURATION_S = 22050, 5


def run(models_dir: Path) -> Iterator[Measured]:
    """Per file with N and 4N files, then the same of selection."""
    analyzer = Analyzer(AcousticFilters(), partial(tagging.load_tagger, models_dir=models_dir))
    _ = analyzer.tagger
    with tempfile.TemporaryDirectory() as folder:
        small, large = (Path(folder) / str(n) for n in (N_FILES, TIMES * N_FILES))
        for place in (small, large):
            write_recordings(place, int(place.name))
        few, many = best_of(
            [lambda: curated(small, analyzer), lambda: curated(large, analyzer)], _ROUNDS
        )
    yield from _compared("curation", few, many, N_FILES, "files")
    crowds = [candidates(n) for n in (N_CANDIDATES, TIMES * N_CANDIDATES)]
    few, many = best_of([partial(select, c, SelectionRules()) for c in crowds], _ROUNDS)
    yield from _compared("selection", few, many, N_CANDIDATES, "candidates")


def _compared(name: str, few_s: float, many_s: float, n: int, what: str) -> Iterator[Measured]:
    per_one_ms = 1000 * few_s / n, 1000 * many_s / (TIMES * n)
    for count, value_ms in zip((n, TIMES * n), per_one_ms, strict=True):
        yield Measured(name, f"{count:,} {what}, each", value_ms, "ms")
    growth = per_one_ms[1] / per_one_ms[0]
    yield Measured(name, f"growth per one of {TIMES} times as many", growth, "×", MOST_GROWTH)


def write_recordings(folder: Path, n: int) -> None:
    """``n`` recordings that differ, each at a place of its own, and their table."""
    folder.mkdir(parents=True)
    rng = np.random.default_rng(n)
    seconds = np.arange(_RATE_HZ * _DURATION_S) / _RATE_HZ
    with (folder / "clips.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["key", "latitude", "longitude", "file", "human"])
        for number in range(n):
            name = f"{number:05}.wav"
            noise = rng.normal(size=len(seconds)).cumsum()
            tone = np.sin(2 * np.pi * rng.uniform(200, 4000) * seconds)
            wave = 0.1 * (noise - noise.mean()) / noise.std() + 0.2 * tone
            wave *= 1 + 0.9 * np.sin(2 * np.pi * 0.7 * seconds)  # steady sound is filtered out
            wavfile.write(folder / name, _RATE_HZ, (20000 * wave).astype(np.int16))
            lat, lon = rng.uniform(-40, 60), rng.uniform(-120, 150)
            writer.writerow([f"clip-{number:05}", lat, lon, name, number % 2])


def curated(folder: Path, analyzer: Analyzer) -> int:
    """Curate a folder from scratch; returns how many clips are in."""
    with tempfile.TemporaryDirectory() as out:
        collection = open_collection(folder, None, Config.from_env({}))
        rules = Rules(SelectionRules(balanced=False))
        found = curate(collection, analyzer, rules, Path(out) / "work", workers=0)
        curation.write_folder(found, Path(out) / "bench")
        return len(found.chosen)


def candidates(n: int) -> list[Candidate]:
    """Recordings all over the world, one in ten the copy of another, in forty countries."""
    rng = np.random.default_rng(n)
    # equally dense for any number: otherwise more of them would be neighbours
    side = 40 * np.sqrt(n / N_CANDIDATES)
    lat, lon = rng.uniform(-side, side, n) / 2, rng.uniform(-side, side, n)
    return [
        Candidate(
            key=f"clip-{number}",
            lat=float(lat[number]),
            lon=float(lon[number]),
            country=f"country {number % 40}",
            speech=number % 2 == 0,
            sound=f"sound {number if number % 10 else max(0, number - 1)}",
            rank=float(number % 100),
        )
        for number in range(n)
    ]

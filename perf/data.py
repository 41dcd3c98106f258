"""Benchmarks and prediction files of any size, made up or real."""

from __future__ import annotations

import json
from collections.abc import Iterator
from io import BytesIO
from itertools import islice
from pathlib import Path

import msgspec
import numpy as np

from agl1k_core import benchmarks, places
from agl1k_core.benchmarks import CLASSES, Benchmark, Clip

SHARED = Path(__file__).parents[2] / "shared" / "agl1k"
REAL_FILE = "predictions-qwen2.5-omni.json"
#: Makes records as long as the published ones, which mostly consist of the question.
_QUESTION = "Where was this recorded? " * 60
_FIELDS = ("city", "country", "continent", "latitude", "longitude")
_N_CLASS_SETS = 64


def real_or_made_up() -> tuple[Benchmark, bytes, str]:
    """The published table and predictions if available, or similar ones; and which of the two."""
    if SHARED.is_dir():
        benchmark = benchmarks.read_published(SHARED / benchmarks.PUBLISHED_FILE)
        return benchmark, (SHARED / REAL_FILE).read_bytes(), "the published file"
    benchmark = made_up_benchmark(1444)
    return benchmark, published_kind_of_file(benchmark), "a made-up file"


def made_up_benchmark(n_clips: int, seed: int = 0) -> Benchmark:
    """Clips at random places, labelled as the geocoder labels them."""
    random = np.random.default_rng(seed)
    lat, lon = random.uniform(-40, 65, n_clips), random.uniform(-125, 150, n_clips)
    present = random.random((_N_CLASS_SETS, len(CLASSES))) < 0.3
    # shared between clips, which keeps a million of them small
    class_sets = [dict(zip(CLASSES, map(float, row), strict=True)) for row in present.tolist()]
    clips = (
        Clip(
            f"clip-{number:07d}", point_lat, point_lon, place.city, place.country, place.continent,
            classes=class_sets[number % _N_CLASS_SETS],
        )
        for number, (point_lat, point_lon, place) in enumerate(
            zip(lat.tolist(), lon.tolist(), places.label_points(lat, lon), strict=True)
        )
    )  # fmt: skip
    return Benchmark("made-up", "Made up", "1", tuple(clips))


def answers(benchmark: Benchmark, seed: int = 1) -> Iterator[dict[str, object]]:
    """One flat record for all clips but two: some near, some far, a quarter refused."""
    random = np.random.default_rng(seed)
    off = random.exponential(8, (len(benchmark), 2)) * random.choice([-1, 1], (len(benchmark), 2))
    lat = np.clip(benchmark.lat + off[:, 0], -89, 89).round(4)
    lon = ((benchmark.lon + off[:, 1] + 180) % 360 - 180).round(4)
    refused = random.random(len(benchmark)) < 0.26
    rows = zip(benchmark.clips, lat, lon, refused, strict=True)
    for clip, *point, is_refused in islice(rows, 2, None):
        place = (clip.city, clip.country, clip.continent, *map(float, point))
        values = ("Unknown", "Unknown", "Unknown", 0, 0) if is_refused else place
        yield {"key": clip.key, **dict(zip(_FIELDS, values, strict=True))}


def published_kind_of_file(benchmark: Benchmark) -> bytes:
    """A JSON list as published by the authors of AGL1K: long, and everything is text."""
    records = [
        {
            "question": _QUESTION,
            "question_id": record.pop("key"),
            **{f"predicted_{name}": str(value) for name, value in record.items()},
            "reasoning": "No reasoning provided",
        }
        for record in answers(benchmark)
    ]
    return json.dumps(records, indent=4).encode()


def json_lines(benchmark: Benchmark) -> bytes:
    """Flat records, one to a line."""
    file = BytesIO()
    file.writelines(msgspec.json.encode(r) + b"\n" for r in answers(benchmark))
    return file.getvalue()

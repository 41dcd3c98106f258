"""Example prediction files for a benchmark; they do not reveal any place."""

from __future__ import annotations

import json

from agl1k_core.benchmarks import Benchmark
from agl1k_core.scoring import baseline, predictions_csv

#: Shown for a benchmark whose table is not here; the keys are two of AGL1K's.
_KNOWN_KEYS = ("aporee_26839_30948", "aporee_5201_6631", "aporee_…")
_RECORDS: tuple[dict[str, object], ...] = (
    {
        "latitude": 31.51,
        "longitude": -9.77,
        "city": "Essaouira",
        "country": "Morocco",
        "continent": "Africa",
        "reason": "Gulls, surf and a call to prayer.",
    },
    {
        "model_output": 'I hear German. {"latitude": 52.5, "longitude": 13.4, "city": "Berlin", '
        '"country": "Germany", "continent": "Europe", "reason": "an announcement"}'
    },
    {"latitude": None, "longitude": None, "country": "Unknown", "reason": "Only wind."},
)


def example_csv(benchmark: Benchmark | None) -> str:
    """A CSV file with a baseline; without a benchmark, three made-up lines.

    It is the densest region, which a sealed benchmark does not tell: there it is a random point.
    """
    if benchmark is not None:
        return predictions_csv(
            baseline(benchmark, "random" if benchmark.sealed else "densest_region")
        )
    lines = ["key,latitude,longitude,city,country,continent,reason"]
    lines += [f'{key},31.51,-9.77,Essaouira,Morocco,Africa,"Gulls, surf"' for key in _KNOWN_KEYS]
    return "\n".join(lines) + "\n"


def example_json(benchmark: Benchmark | None) -> str:
    """A file in JSON whose first records show an answer, a raw answer and a refusal.

    The answers are made up and belong to no particular clip.
    """
    keys = [clip.key for clip in benchmark.clips] if benchmark else list(_KNOWN_KEYS)
    records = [
        {"key": key, **_RECORDS[min(position, len(_RECORDS) - 1)]}
        for position, key in enumerate(keys)
    ]
    return json.dumps(records, ensure_ascii=False, indent=1)

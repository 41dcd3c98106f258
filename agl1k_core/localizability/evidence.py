"""What judges are to rate: recordings, what sounds in them, a model's reasoning and its error."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np

from agl1k_core.benchmarks import Benchmark
from agl1k_core.localizability.model import Evidence
from agl1k_core.places import geodesic_km
from agl1k_core.predictions import Predictions

NO_POINT, NO_REASONING, NO_TAGS = "no usable point", "no reasoning", "no tags"


def gather(
    predictions: Predictions,
    benchmark: Benchmark,
    presences: Mapping[str, Mapping[str, float]],
) -> tuple[list[Evidence], Counter[str]]:
    """Evidence in the order of the predictions, and how many records were left out for what.

    ``presences``: key -> AudioSet id -> fraction of time. A record without a point belongs to
    neither fit, and without a reasoning there is nothing to rate.
    """
    places = np.array([benchmark.index[key] for key in predictions.keys], dtype=np.intp)
    error_km = geodesic_km(
        benchmark.lat[places], benchmark.lon[places], predictions.lat, predictions.lon
    )
    evidence: list[Evidence] = []
    left_out: Counter[str] = Counter()
    for key, reasoning, km in zip(predictions.keys, predictions.reason, error_km, strict=True):
        if np.isnan(km):
            left_out[NO_POINT] += 1
        elif not reasoning.strip():
            left_out[NO_REASONING] += 1
        elif key not in presences:
            left_out[NO_TAGS] += 1
        else:
            evidence.append(Evidence(key, presences[key], reasoning, float(km)))
    return evidence, left_out

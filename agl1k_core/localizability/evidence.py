"""What judges rate: recordings with their sounds, a model's reasoning and its error."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np

from agl1k_core.benchmarks import Benchmark
from agl1k_core.localizability.observations import Evidence
from agl1k_core.places import geodesic_km
from agl1k_core.predictions import Predictions

NO_POINT, NO_REASONING, NO_TAGS = "no usable point", "no reasoning", "no tags"


def gather(
    benchmark: Benchmark,
    predictions: Predictions,
    presences: Mapping[str, Mapping[str, float]],
) -> tuple[list[Evidence], Counter[str]]:
    """Join predictions with the sounds in their clips.

    Records are left out if they have no point, and so belong to neither fit, or no
    reasoning or tags, and so cannot be rated.

    Parameters
    ----------
    benchmark
        The clips and their places.
    predictions
        A model's answers, with its reasoning.
    presences
        By key, the fraction of time of each AudioSet id.

    Returns
    -------
    evidence : list of Evidence
        In the order of the predictions.
    left_out : Counter of str
        How many records were left out for which reason.
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

"""The answers of a model whose country is wrong."""

from __future__ import annotations

import json
import math
from collections import Counter

from agl1k_core.answers import Status
from agl1k_core.benchmarks import Benchmark
from agl1k_core.causes.model import Miss, Misses
from agl1k_core.places import distinct_labels
from agl1k_core.predictions import Predictions
from agl1k_core.scoring import ScoredRows, evaluate

NO_TRUTH = "a clip whose country is not known"
_UNUSABLE = {
    Status.UNPARSEABLE: "an answer that could not be parsed",
    Status.ERROR: "an error in place of an answer",
}


def country_misses(benchmark: Benchmark, predictions: Predictions) -> Misses:
    """The records whose country is wrong, and the refusals.

    An answer without a name for the country counts by the country of its point. As in Zhang et
    al. 2026, "The Sonar Moment", section 4.5, a refusal is a miss.

    Parameters
    ----------
    benchmark
        The clips and their places.
    predictions
        A model's answers on them.

    Examples
    --------
    >>> import agl1k_core as ag
    >>> demo = ag.load_benchmark("demo")
    >>> record = {"key": "demo_01", "latitude": 38.7, "longitude": -9.1, "country": "Portugal"}
    >>> found = country_misses(demo, ag.read_predictions([record], demo))
    >>> [(miss.true_country, miss.country) for miss in found.misses]
    [('Brazil', 'Portugal')]
    """
    rows = evaluate(benchmark, predictions, intervals=False).rows
    assert rows is not None  # a new evaluation has its rows
    named, implied = rows.column("country_accuracy"), rows.column("implied_country_accuracy")
    places, which = distinct_labels(rows.lat, rows.lon)
    misses: list[Miss] = []
    left_out: Counter[str] = Counter()
    n_right = 0
    for row in range(len(predictions)):  # the rows of missing clips follow
        country = str(rows.labels["country"][row])
        reason = _left_out(rows, row, country)
        if reason:
            left_out[reason] += 1
        elif (named if country else implied)[row] == 1:
            n_right += 1
        else:
            misses.append(_miss(rows, row, country or places[which[row]].country, predictions))
    return Misses(tuple(misses), len(predictions), n_right, left_out)


def _left_out(rows: ScoredRows, row: int, country: str) -> str:
    """Why a record cannot be a miss; empty if it can."""
    if not rows.benchmark.clips[rows.clip[row]].country:
        return NO_TRUTH
    return "" if country else _UNUSABLE.get(rows.status[row], "")


def _miss(rows: ScoredRows, row: int, country: str, predictions: Predictions) -> Miss:
    clip = rows.benchmark.clips[rows.clip[row]]
    lat, lon = float(rows.lat[row]), float(rows.lon[row])
    has_point = math.isfinite(lat)
    is_refusal = bool(rows.status[row] == Status.REFUSED)
    return Miss(
        clip.key,
        clip.country,
        "" if is_refusal else country,
        (lat, lon) if has_point else None,
        float(rows.column("distance_km")[row]) if has_point else None,
        _said(predictions, row),
        is_refusal,
    )


def _said(predictions: Predictions, row: int) -> str:
    """The raw answer, which also has the reasoning before it; else the reasoning."""
    raw = None if predictions.raw is None else predictions.raw[row]
    if not raw:
        return str(predictions.reason[row])
    return raw if isinstance(raw, str) else json.dumps(raw, ensure_ascii=False)

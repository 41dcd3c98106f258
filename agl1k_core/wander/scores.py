"""Scores of guesses: distance, a score from 0 to 100, and three levels of being right.

The equations of the paper's score and recall are lost (Learning to Wander, section 4.2). What is
meant here:

* ``distance_km``: mean geodesic distance from the guess to the centre; 10,000 km without a usable
  point, as everywhere in AGL1K.
* ``score``: mean of ``100·exp(−distance_km / scale_km)``. That the scale is 1,492.7 km, as in the
  game GeoGuessr, is an **assumption**: it fits the published pairs of distance and score, which
  prove no more than that the scale is at most 2,772 km (by Jensen's inequality). It can be set.
* A guess is right at the level of the *street* if it is less than 1 km from the centre.
* A guess is right at the level of the *city* if it is less than 25 km from the centre.
* A guess is right at the level of the *country* if the populated places nearest to the guess and
  to the centre are in one country.
* ``*_accuracy``: the share of right guesses among the usable ones.
* ``*_recall``: the share of graphs with a right guess among all graphs.
* ``*_f1``: their harmonic mean.

So recall equals accuracy for a model that always answers, and is a constant part of it for one that
does not, which is also the pattern of the published columns.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from agl1k_core.benchmarks import Benchmark, Clip
from agl1k_core.errors import Agl1kError
from agl1k_core.places import label_points
from agl1k_core.predictions import Predictions
from agl1k_core.scoring import (
    LOWER_IS_BETTER,
    Interval,
    PairedDifference,
    Rank,
    evaluate,
    mean_interval,
    paired_difference,
    ranks,
)
from agl1k_core.wander.graph import Graph
from agl1k_core.wander.points import SCALE_KM, points

FloatArray = npt.NDArray[np.float64]

#: Level -> the metric of `agl1k_core.scoring` that says whether a guess is right.
RIGHT: Mapping[str, str] = {
    "street": "within_1km",
    "city": "within_25km",
    "country": "implied_country_accuracy",
}
RIGHT_LEVELS = tuple(RIGHT)
_HALF_EQUATOR_KM = 20_037.6


@dataclass(frozen=True)
class WanderScores:
    """The scores of one file of guesses.

    Attributes
    ----------
    name
        What was scored.
    n_graphs
        How many graphs there are, those without a guess included.
    statuses
        Status -> number of graphs, as everywhere in AGL1K.
    metrics, intervals
        Metric -> value, and its 95 % interval; NaN if there is none.
    values
        Metric -> the value of each graph, whose mean it is, NaN if the graph does not count.
    scale_km
        The assumed scale of the score.
    benchmark_hash, fingerprint
        What was scored on, and a number that is equal for equal guesses.
    """

    name: str
    n_graphs: int
    statuses: Mapping[str, int]
    metrics: Mapping[str, float]
    intervals: Mapping[str, Interval]
    values: Mapping[str, FloatArray] = field(repr=False)
    scale_km: float
    benchmark_hash: str
    fingerprint: int

    def to_dict(self) -> dict[str, Any]:
        """Everything but the values of graphs, ready for JSON; NaN as None."""
        ends = {name: [_plain(i.low), _plain(i.high)] for name, i in self.intervals.items()}
        return {
            "name": self.name,
            "graphs": self.n_graphs,
            "statuses": dict(self.statuses),
            "scale_km": self.scale_km,
            "metrics": {name: _plain(value) for name, value in self.metrics.items()},
            "intervals": ends,
        }


def benchmark_of(graphs: Sequence[Graph], name: str = "WanderBench") -> Benchmark:
    """Graphs as a benchmark whose clips are their centres.

    Parameters
    ----------
    graphs
        The graphs; city, country and continent of a centre are those of the nearest populated
        place.
    name
        The benchmark's name.
    """
    centers = [graph.center for graph in graphs]
    labels = label_points([node.lat for node in centers], [node.lon for node in centers])
    clips = tuple(
        Clip(graph.key, node.lat, node.lon, label.city, label.country, label.continent)
        for graph, node, label in zip(graphs, centers, labels, strict=True)
    )
    return Benchmark("wander", name, "1", clips)


def score_guesses(
    benchmark: Benchmark,
    predictions: Predictions,
    *,
    name: str = "",
    scale_km: float = SCALE_KM,
) -> WanderScores:
    """Score guesses; the module's docstring defines every metric.

    Parameters
    ----------
    benchmark
        From `benchmark_of`.
    predictions
        Guesses for its graphs.
    name
        What to call them.
    scale_km
        The scale of the score in km.

    Raises
    ------
    Agl1kError
        If the scale is not positive, or a guess is for no graph or a second one.
    """
    if not (0 < scale_km < math.inf):
        raise Agl1kError(f"The scale of the score is {scale_km} km. Give a positive number.")
    evaluation = evaluate(benchmark, predictions, intervals=False)
    rows = evaluation.require_rows()
    distance = rows.by_clip("distance_km")
    values = {
        "distance_km": distance,
        "score": points(distance, scale_km),
        "answered": rows.has_answer.astype(np.float64),
    }
    for level, metric in RIGHT.items():
        right = rows.by_clip(metric)
        values[f"{level}_accuracy"] = np.where(rows.has_answer, right, np.nan)
        values[f"{level}_recall"] = right
    metrics, intervals = _summary(values)
    return WanderScores(
        name=name,
        n_graphs=len(benchmark),
        statuses=evaluation.statuses,
        metrics=metrics,
        intervals=intervals,
        values=values,
        scale_km=scale_km,
        benchmark_hash=benchmark.content_hash,
        fingerprint=rows.fingerprint,
    )


def f1(accuracy: float, recall: float) -> float:
    """The harmonic mean of accuracy and recall; 0 if both are.

    Examples
    --------
    >>> round(f1(0.164, 0.141), 3)  # InternVL2.5-78B in the paper's Table 3
    0.152
    """
    return 2 * accuracy * recall / (accuracy + recall) if accuracy + recall else 0.0


def gains(acting: WanderScores, at_once: WanderScores) -> dict[str, PairedDifference]:
    """What acting gains over answering at once, graph by graph.

    Parameters
    ----------
    acting, at_once
        Scores on the same graphs.

    Returns
    -------
    dict
        Metric -> the first less the second over the graphs that count in both, with its interval.

    Raises
    ------
    Agl1kError
        If they are of other graphs, or have another scale.
    """
    _require_alike([acting, at_once])
    return {
        metric: paired_difference(values, at_once.values[metric])
        for metric, values in acting.values.items()
    }


def rank_guesses(scored: Sequence[WanderScores], metric: str) -> list[Rank | None]:
    """The rank of each among scores on the same graphs, with ties and ranges.

    None for all if there are fewer than ten graphs. Raises ``Agl1kError`` as `gains` does.
    """
    if not scored:
        return []
    _require_alike(scored)
    columns = np.column_stack([one.values[metric] for one in scored])
    files = [one.fingerprint for one in scored]
    return ranks(columns, lower_is_better=metric in LOWER_IS_BETTER, files=files)


def _require_alike(scored: Sequence[WanderScores]) -> None:
    if len({(one.benchmark_hash, one.scale_km) for one in scored}) > 1:
        raise Agl1kError("They were scored on other graphs, or with another scale.")


def _summary(
    values: Mapping[str, FloatArray],
) -> tuple[dict[str, float], dict[str, Interval]]:
    """The means and their intervals, F1 included."""
    bounds = {"distance_km": (0.0, _HALF_EQUATOR_KM), "score": (0.0, 100.0)}
    metrics = {metric: _mean(some) for metric, some in values.items()}
    intervals = {m: mean_interval(some, bounds.get(m)) for m, some in values.items()}
    for level in RIGHT:
        recall = metrics[f"{level}_recall"]
        metrics[f"{level}_f1"] = f1(_or_zero(metrics[f"{level}_accuracy"]), recall)
        ends, times = intervals[f"{level}_recall"], 2 / (1 + metrics["answered"])
        # with the share of answers known, F1 is a multiple of the recall
        intervals[f"{level}_f1"] = Interval(ends.low * times, min(1.0, ends.high * times))
    return metrics, intervals


def _mean(values: FloatArray) -> float:
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else math.nan


def _or_zero(value: float) -> float:
    return 0.0 if math.isnan(value) else value


def _plain(value: float) -> float | None:
    return value if math.isfinite(value) else None

"""Evaluations, comparisons and localizability as tables for a terminal or a pipe."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from agl1k_core.benchmarks import Benchmark
from agl1k_core.cli.console import aligned
from agl1k_core.predictions import Predictions
from agl1k_core.scoring import Comparison, Evaluation, Interval, compare, evaluate, metric_text

#: The metrics of the table of subsets, by heading; the table fits into 80 columns.
_SUBSET_METRICS = {
    "km": "distance_km",
    "geoscore": "geoscore",
    "continent": "continent_accuracy",
    "country": "country_accuracy",
    "rejected": "reject_rate",
}


def headline_of(read: Predictions, on: Benchmark) -> str:
    """The headline of predictions, or where a sealed benchmark is scored."""
    return headline(evaluate(on, read, intervals=False)) if on.has_truth else on.no_truth


def headline(evaluation: Evaluation) -> str:
    """Benchmark, protocol and statuses, in two lines."""
    statuses = ", ".join(f"{count} {name}" for name, count in evaluation.statuses.items() if count)
    return (
        f"{evaluation.benchmark}, protocol {evaluation.protocol}, {evaluation.n_clips} clips\n"
        f"{statuses or 'no records'}"
    )


def metric_table(evaluation: Evaluation) -> str:
    """Every metric with its interval."""
    rows = [("metric", "value", "95 % interval")]
    for name, value in evaluation.metrics.items():
        rows.append((name, metric_text(name, value), _interval(name, evaluation.intervals)))
    return aligned(rows)


def subset_table(evaluation: Evaluation) -> str:
    """The main metrics of each subset, with the number of its records."""
    rows: list[Sequence[str]] = [("subset", "clips", *_SUBSET_METRICS)]
    for subset, metrics in evaluation.subsets.items():
        n_clips = sum(evaluation.subset_statuses[subset].values())
        values = (metric_text(name, metrics[name]) for name in _SUBSET_METRICS.values())
        rows.append((subset, str(n_clips), *values))
    return aligned(rows)


def comparison_table(comparison: Comparison, names: tuple[str, str]) -> str:
    """Two models side by side on their common clips, and whether their difference is clear."""
    rows: list[Sequence[str]] = [("metric", "first", "second", "difference", "95 % interval", "")]
    for name, pair in comparison.items():
        rows.append(
            (
                name,
                *(metric_text(name, value) for value in (pair.first, pair.second, pair.difference)),
                _interval(name, {name: Interval(pair.low, pair.high)}),
                "clear" if pair.is_clear else "not clear",
            )
        )
    files = aligned([(place, name) for place, name in zip(("first", "second"), names, strict=True)])
    return f"{files}\n{aligned(rows)}"


def gain_table(evaluations: Sequence[Evaluation], n_clips: Sequence[int]) -> str:
    """The main metrics after 0, 1, 2, … actions, and the gain in geoscore over the first answer.

    ``n_clips`` is the number of clips that had an answer after at least so many actions.
    """
    rows: list[Sequence[str]] = [
        ("actions", "clips", "km", "geoscore", "country", "gain in geoscore", "95 % interval")
    ]
    for n_actions, evaluation in enumerate(evaluations):
        count = n_clips[n_actions] if n_actions < len(n_clips) else 0
        values = (metric_text(name, evaluation.metrics[name])
                  for name in ("distance_km", "geoscore", "country_accuracy"))  # fmt: skip
        gain = _gain(evaluation, evaluations[0]) if n_actions else ("", "")
        rows.append((str(n_actions), str(count), *values, *gain))
    return aligned(rows)


def _gain(evaluation: Evaluation, first: Evaluation) -> tuple[str, str]:
    """The paired difference in geoscore, and its interval."""
    pair = compare(evaluation, first)["geoscore"]
    interval = _interval("geoscore", {"geoscore": Interval(pair.low, pair.high)})
    return metric_text("geoscore", pair.difference), interval


def spread_table(passes: Sequence[Evaluation]) -> str:
    """Mean, sample standard deviation and range of each metric over independent passes."""
    rows: list[Sequence[str]] = [("metric", "mean", "std. dev.", "lowest to highest")]
    for name in passes[0].metrics:
        values = [evaluation.metrics[name] for evaluation in passes]
        mean, deviation = statistics.fmean(values), statistics.stdev(values)
        low, high = (metric_text(name, value) for value in (min(values), max(values)))
        middle = (metric_text(name, value) for value in (mean, deviation))
        rows.append((name, *middle, f"{low} to {high}"))
    return aligned(rows)


def category_table(categories: Iterable[tuple[str, str, float, int]]) -> str:
    """Side, class, slope and number of recordings of a localizability model's top categories."""
    rows = [("side", "slope", "recordings", "class")]
    for side, name, slope, n_recordings in categories:
        rows.append((side, f"{slope:.2f}", str(n_recordings), name))
    return aligned(rows)


def frame_table(frame: Any) -> str:
    """A DataFrame, with numbers of two digits."""
    rows: list[Sequence[str]] = [[*map(str, frame.columns)]]
    for row in frame.itertuples(index=False):
        rows.append([f"{x:.2f}" if isinstance(x, float) else str(x) for x in row])
    return aligned(rows, left=(0, 1))


def _interval(name: str, intervals: Mapping[str, Interval]) -> str:
    if name not in intervals or math.isnan(intervals[name].low):
        return ""
    return f"{metric_text(name, intervals[name].low)} to {metric_text(name, intervals[name].high)}"

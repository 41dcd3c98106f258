"""Evaluations, comparisons and localizability as tables for a terminal."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from rich.table import Table

from agl1k_core.scoring import Comparison, Evaluation, Interval, metric_text

_SUBSET_METRICS = (
    "distance_km",
    "geoscore",
    "continent_accuracy",
    "country_accuracy",
    "reject_rate",
)


def headline(evaluation: Evaluation) -> str:
    """Benchmark, protocol and statuses, in two lines."""
    statuses = ", ".join(f"{count} {name}" for name, count in evaluation.statuses.items() if count)
    return (
        f"{evaluation.benchmark}, protocol {evaluation.protocol}, {evaluation.n_clips} clips\n"
        f"{statuses or 'no records'}"
    )


def metric_table(evaluation: Evaluation) -> Table:
    """Every metric with its interval."""
    table = _table("metric", "value", "95 % interval")
    for name, value in evaluation.metrics.items():
        table.add_row(name, metric_text(name, value), _interval(name, evaluation.intervals))
    return table


def subset_table(evaluation: Evaluation) -> Table:
    """The main metrics of each subset, with the number of its records."""
    table = _table("subset", "clips", *_SUBSET_METRICS)
    for subset, metrics in evaluation.subsets.items():
        n_clips = sum(evaluation.subset_statuses[subset].values())
        values = (metric_text(name, metrics[name]) for name in _SUBSET_METRICS)
        table.add_row(subset, str(n_clips), *values)
    return table


def comparison_table(comparison: Comparison, names: tuple[str, str]) -> Table:
    """Two models side by side on their common clips, and whether their difference is clear."""
    table = _table("metric", *names, "difference", "95 % interval", "")
    for name, pair in comparison.items():
        table.add_row(
            name,
            *(metric_text(name, value) for value in (pair.first, pair.second, pair.difference)),
            _interval(name, {name: Interval(pair.low, pair.high)}),
            "clear" if pair.is_clear else "not clear",
        )
    return table


def category_table(rows: Iterable[tuple[str, str, float, int]]) -> Table:
    """Side, class, slope and number of recordings of a localizability model's top categories."""
    table = _table("side", "class", "slope", "recordings", n_texts=2)
    for side, name, slope, n_recordings in rows:
        table.add_row(side, name, f"{slope:.2f}", str(n_recordings))
    return table


def frame_table(frame: Any) -> Table:
    """A DataFrame, with numbers of two digits."""
    table = _table(*map(str, frame.columns), n_texts=2)
    for row in frame.itertuples(index=False):
        table.add_row(*(f"{x:.2f}" if isinstance(x, float) else str(x) for x in row))
    return table


def _table(*headings: str, n_texts: int = 1) -> Table:
    """An empty table; the columns after the first ``n_texts`` are numbers."""
    table = Table(box=None, pad_edge=False)
    for number, heading in enumerate(headings):
        table.add_column(heading, justify="left" if number < n_texts else "right")
    return table


def _interval(name: str, intervals: Mapping[str, Interval]) -> str:
    if name not in intervals or math.isnan(intervals[name].low):
        return ""
    return f"{metric_text(name, intervals[name].low)} to {metric_text(name, intervals[name].high)}"

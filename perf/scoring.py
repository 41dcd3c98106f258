"""Parse, validate and score one file with intervals, next to row by row without."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping

import numpy as np

from agl1k_core import predictions, scoring
from agl1k_core.benchmarks import Benchmark
from perf import data, row_by_row
from perf.table import Measured
from perf.timing import best_of

TIMES_FASTER = 20
_ROUNDS = 7
_TURN_S = 0.25


def run() -> Iterator[Measured]:
    """Both in turn, the best of several rounds each, so that other programs count less."""
    benchmark, file, kind = data.real_or_made_up()
    assert_same(ours(file, benchmark), row_by_row.evaluate(file, benchmark))
    fast, slow = best_of(
        [lambda: ours(file, benchmark), lambda: row_by_row.evaluate(file, benchmark)],
        _ROUNDS,
        turn_s=_TURN_S,
        clock=time.perf_counter,
    )
    yield Measured("scoring", f"read and scored with intervals, {kind}", fast * 1000, "ms")
    yield Measured("scoring", "pandas and geopy row by row, no intervals", slow * 1000, "ms")
    yield Measured("scoring", "ratio", slow / fast, "×", TIMES_FASTER, "at least")


def ours(file: bytes, benchmark: Benchmark) -> dict[str, Mapping[str, float]]:
    """Subset -> metric -> value, "" being the whole; intervals are computed and left out."""
    found = scoring.evaluate(benchmark, predictions.read_predictions(file, benchmark))
    return {"": found.metrics, **found.subsets}


def assert_same(
    first: Mapping[str, Mapping[str, float]], second: Mapping[str, Mapping[str, float]]
) -> None:
    """Both must hold the same subsets and metrics, with the same numbers."""
    for subset in first.keys() | second.keys():
        assert first[subset].keys() == second[subset].keys(), subset
        for name, value in first[subset].items():
            other = second[subset][name]
            assert np.isclose(value, other, rtol=1e-9, equal_nan=True), (subset, name, value, other)

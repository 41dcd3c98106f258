"""The numbers of subsets and continents against sums over the rows of each, one by one."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agl1k_core.benchmarks import SUBSET_CLASSES, Benchmark, Clip
from agl1k_core.predictions import Predictions
from agl1k_core.scoring import METRICS, PEOPLE, evaluate
from tests.core.conftest import predictions_of

CONTINENTS = ("Africa", "Asia", "Europe", "")
classes = st.sets(st.sampled_from(("human", *SUBSET_CLASSES)))
clips = st.lists(st.tuples(st.sampled_from(CONTINENTS), classes), min_size=1, max_size=12)
points = st.lists(st.tuples(st.floats(-90, 90), st.floats(-180, 180)), min_size=12, max_size=12)


def _benchmark(described: Sequence[tuple[str, Set[str]]]) -> Benchmark:
    made = (
        Clip(f"c{i}", 5.0 * i, 9.0 * i, continent=continent, classes=dict.fromkeys(present, 1.0))
        for i, (continent, present) in enumerate(described)
    )
    return Benchmark("made", "Made", "1", tuple(made))


def _predictions(benchmark: Benchmark, points: list[tuple[float, float]]) -> Predictions:
    """Every second clip names its continent, so that the shares differ."""
    chosen = benchmark.clips
    labels = [(clip.continent if i % 2 else "Asia", "", "") for i, clip in enumerate(chosen)]
    return predictions_of([clip.key for clip in chosen], points[: len(chosen)], labels=labels)


def _expected(table: pd.DataFrame) -> dict[str, float]:
    distances = table["distance_km"]
    continents = table[table["true_continent"] != ""].groupby("true_continent")
    return {
        "distance_km": distances.mean(),
        "geoscore": table["geoscore"].mean(),
        "continent_accuracy": table["continent_correct"].mean(),
        "within_1000km": (distances < 1000).mean() if len(table) else np.nan,
        "distance_q25_km": float(distances.quantile(0.25)),
        "distance_q50_km": float(distances.quantile(0.5)),
        "balanced_distance_km": continents["distance_km"].mean().mean(),
        "balanced_continent_accuracy": continents["continent_correct"].mean().mean(),
    }


@settings(max_examples=40)
@given(clips, points)
def test_numbers_of_a_subset_are_those_of_its_rows(
    described: list[tuple[str, set[str]]], points: list[tuple[float, float]]
) -> None:
    benchmark = _benchmark(described)
    found = evaluate(benchmark, _predictions(benchmark, points), n_bootstrap=0)
    everything = np.ones(len(benchmark), dtype=np.bool_)
    numbers = {"all": found.metrics, **found.subsets}
    for subset, mask in {"all": everything, **benchmark.subsets}.items():
        expected = _expected(found.table[mask])
        of_subset = {name: numbers[subset][name] for name in expected}
        assert of_subset == pytest.approx(expected, rel=1e-9, abs=1e-9, nan_ok=True), subset
        if subset != "all":
            assert found.subset_statuses[subset]["answered"] == mask.sum()


def _drawn(n_rows: int) -> np.ndarray:
    """The rows of each of 20 resamples, as the scorer draws them."""
    return np.random.default_rng(7).integers(0, n_rows, (20, n_rows), dtype=np.int32)


def _ends(numbers: Sequence[float]) -> list[float]:
    known = np.array(numbers)[np.isfinite(numbers)]
    return list(np.percentile(known, [2.5, 97.5])) if len(known) else [np.nan, np.nan]


@settings(max_examples=15)
@given(clips, points)
def test_intervals_are_percentiles_of_the_numbers_of_each_resample(
    described: list[tuple[str, set[str]]], points: list[tuple[float, float]]
) -> None:
    benchmark = _benchmark(described)
    found = evaluate(benchmark, _predictions(benchmark, points), n_bootstrap=20, seed=7)
    if len(benchmark) < 2:
        assert found.intervals == {}
        return
    table, intervals = found.table, {"all": found.intervals, **found.subset_intervals}
    speech = benchmark.subsets["speech"]
    for subset, mask in (("all", np.ones_like(speech)), ("speech", speech)):
        again = [_expected(table.iloc[rows][mask[rows]]) for rows in _drawn(len(table))]
        for name in ("distance_km", "continent_accuracy", "balanced_distance_km"):
            interval = intervals[subset][name]
            ends = pytest.approx(
                _ends([one[name] for one in again]), rel=1e-4, abs=1e-2, nan_ok=True
            )
            assert [interval.low, interval.high] == ends, (subset, name)
        within = np.sort(table["distance_km"].to_numpy()[mask])
        if len(within):
            medians = [np.median(within[rows]) for rows in _drawn(len(within))]
            interval = intervals[subset]["distance_q50_km"]
            assert [interval.low, interval.high] == pytest.approx(_ends(medians), abs=1e-2)


def test_every_metric_has_an_interval_in_every_subset() -> None:
    benchmark = _benchmark([("Asia", {"human"}), ("Africa", {"animal"})])
    found = evaluate(benchmark, _predictions(benchmark, [(0.0, 0.0)] * 2), n_bootstrap=5)
    for intervals in (found.intervals, *found.subset_intervals.values()):
        assert set(intervals) == set(METRICS)


def test_intervals_of_clusters() -> None:
    """Two equal clusters: a resample has the first alone, the second alone, or both."""
    benchmark = _benchmark([("Asia", set())])
    points = [(0.0, 0.0)] * 3 + [(0.0, 90.0)] * 3
    made = predictions_of(["c0"] * 6, points, clusters=["near"] * 3 + ["far"] * 3)
    found = evaluate(benchmark, made, PEOPLE, n_bootstrap=400)
    far_km = found.table["distance_km"].max()
    interval = found.intervals["distance_km"]
    assert (interval.low, interval.high) == pytest.approx((0.0, far_km))
    assert found.metrics["distance_km"] == pytest.approx(far_km / 2)


def test_balanced_means_weigh_continents_alike_and_leave_empty_ones_out() -> None:
    benchmark = _benchmark([("Asia", set())] * 3 + [("Europe", set())])
    made = _predictions(benchmark, [(clip.lat, clip.lon) for clip in benchmark.clips])
    far = replace(made, lat=np.array([*made.lat[:3], made.lat[3] + 10]))
    found = evaluate(benchmark, far, n_bootstrap=0)
    off = found.table["distance_km"][3]
    assert found.metrics["distance_km"] == pytest.approx(off / 4)
    assert found.metrics["balanced_distance_km"] == pytest.approx(off / 2)
    assert found.subsets["Asia"]["balanced_distance_km"] == 0
    nowhere = evaluate(_benchmark([("", set())] * 4), made, n_bootstrap=0)
    assert np.isnan(nowhere.metrics["balanced_distance_km"])

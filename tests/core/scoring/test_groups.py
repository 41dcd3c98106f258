"""The numbers of subsets and continents against sums over the rows of each, one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from agl1k_core.benchmarks import SUBSET_CLASSES, Benchmark, Clip
from agl1k_core.predictions import Predictions
from agl1k_core.scoring import METRICS, PEOPLE, Evaluation, Interval, evaluate, mean_interval
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
    found = evaluate(benchmark, _predictions(benchmark, points), intervals=False)
    everything = np.ones(len(benchmark), dtype=np.bool_)
    numbers = {"all": found.metrics, **found.subsets}
    for subset, mask in {"all": everything, **benchmark.subsets}.items():
        expected = _expected(found.table[mask])
        of_subset = {name: numbers[subset][name] for name in expected}
        assert of_subset == pytest.approx(expected, rel=1e-9, abs=1e-9, nan_ok=True), subset
        if subset != "all":
            assert found.subset_statuses[subset]["answered"] == mask.sum()


@settings(max_examples=25)
@given(clips, points)
def test_intervals_of_a_subset_are_those_of_its_rows_alone(
    described: list[tuple[str, set[str]]], points: list[tuple[float, float]]
) -> None:
    benchmark = _benchmark(described)
    found = evaluate(benchmark, _predictions(benchmark, points))
    for subset, mask in benchmark.subsets.items():
        clips = tuple(clip for clip, inside in zip(benchmark.clips, mask, strict=True) if inside)
        alone = replace(benchmark, clips=clips)
        rows = found.table[mask]
        labels = list(zip(rows["continent"], rows["country"], rows["city"], strict=True))
        made = predictions_of(
            list(rows["key"]),
            list(zip(rows["latitude"], rows["longitude"], strict=True)),
            labels=labels,
        )
        expected = evaluate(alone, made).intervals
        for metric, interval in found.subset_intervals[subset].items():
            ends = pytest.approx(
                [expected[metric].low, expected[metric].high], rel=1e-9, abs=1e-9, nan_ok=True
            )
            assert [interval.low, interval.high] == ends, (subset, metric)


@settings(max_examples=25)
@given(clips, points)
def test_the_interval_of_the_whole_is_that_of_its_numbers_alone(
    described: list[tuple[str, set[str]]], points: list[tuple[float, float]]
) -> None:
    """Moments of several cells, put together, are those of all their numbers."""
    benchmark = _benchmark(described)
    found = evaluate(benchmark, _predictions(benchmark, points))
    expected = mean_interval(found.table["geoscore"], (0.0, 5000.0))
    interval = found.intervals["geoscore"]
    ends = pytest.approx([expected.low, expected.high], rel=1e-9, abs=1e-9, nan_ok=True)
    assert [interval.low, interval.high] == ends


def test_what_the_rows_do_not_tell_has_no_interval() -> None:
    benchmark = _benchmark([("Asia", {"human"}), ("Africa", {"animal"}), ("Asia", set())])
    found = evaluate(benchmark, _predictions(benchmark, [(0.0, 0.0)] * 3))
    # one clip says nothing of Africa's spread
    assert _without_interval(found.intervals) == {"balanced_geoscore", "balanced_distance_km"}
    speech = _without_interval(found.subset_intervals["speech"])
    assert {"distance_km", "geoscore"} <= speech  # a single clip
    assert found.subset_intervals["speech"]["country_accuracy"].high < 1  # but a share has one


def _without_interval(intervals: Mapping[str, Interval]) -> set[str]:
    """A metric without an interval has neither end."""
    assert all(np.isnan(ends.low) == np.isnan(ends.high) for ends in intervals.values())
    return {metric for metric, ends in intervals.items() if np.isnan(ends.low)}


def _guesses(n_players: int, per_player: int) -> Evaluation:
    """Half of the players are right on all clips, the others far off on all."""
    benchmark = _benchmark([("Asia", set())])
    n = n_players * per_player
    far = np.arange(n) % n_players % 2 == 0
    points = [(0.0, 90.0 if off else 0.0) for off in far]
    players = [str(i % n_players) for i in range(n)]
    return evaluate(benchmark, predictions_of(["c0"] * n, points, clusters=players), PEOPLE)


def test_guesses_of_one_player_are_not_independent() -> None:
    few, many = _guesses(6, 1), _guesses(6, 50)
    for metric in ("distance_km", "within_500km", "distance_q50_km"):
        width = few.intervals[metric].high - few.intervals[metric].low
        again = many.intervals[metric].high - many.intervals[metric].low
        assert again == pytest.approx(width, rel=0.05), metric


def test_a_few_players_have_no_interval() -> None:
    assert _without_interval(_guesses(4, 50).intervals) == set(METRICS)
    assert "distance_km" not in _without_interval(_guesses(5, 50).intervals)


def test_a_mean_over_players_has_the_jackknifes_interval() -> None:
    """By dropping one player after the other."""
    found = _guesses(7, 3)
    far_km = found.table["distance_km"].max()
    means = np.array([far_km, 0] * 3 + [far_km])
    without = np.array([np.delete(means, i).mean() for i in range(7)])
    error = (6 / 7 * ((without - without.mean()) ** 2).sum()) ** 0.5
    interval = found.intervals["distance_km"]
    width = 2 * stats.t.ppf(0.975, 6) * error
    assert interval.high - interval.low == pytest.approx(width, rel=0.03)


def test_balanced_means_weigh_continents_alike_and_leave_empty_ones_out() -> None:
    benchmark = _benchmark([("Asia", set())] * 3 + [("Europe", set())])
    made = _predictions(benchmark, [(clip.lat, clip.lon) for clip in benchmark.clips])
    far = replace(made, lat=np.array([*made.lat[:3], made.lat[3] + 10]))
    found = evaluate(benchmark, far, intervals=False)
    off = found.table["distance_km"][3]
    assert found.metrics["distance_km"] == pytest.approx(off / 4)
    assert found.metrics["balanced_distance_km"] == pytest.approx(off / 2)
    assert found.subsets["Asia"]["balanced_distance_km"] == 0
    nowhere = evaluate(_benchmark([("", set())] * 4), made, intervals=False)
    assert np.isnan(nowhere.metrics["balanced_distance_km"])

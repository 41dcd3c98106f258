"""Scores of guesses by hand, gains, ranks, and the paper's Tables 3 and 5."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from geopy.distance import geodesic

from agl1k_core import wander
from agl1k_core.benchmarks import Benchmark
from agl1k_core.errors import Agl1kError
from agl1k_core.predictions import read_predictions
from agl1k_core.wander import WanderScores, reported_rows
from tests.support.graphs import graph_of, street

#: Paris, London, Nairobi and Sydney.
PLACES = [(48.8566, 2.3522), (51.5074, -0.1278), (-1.2864, 36.8172), (-33.8688, 151.2093)]


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    return benchmark_at(tmp_path, PLACES)


def benchmark_at(folder: Path, places: Sequence[tuple[float, float]]) -> Benchmark:
    graphs = [
        graph_of(folder, street(1, lat=lat, lon=lon), f"g{number}")
        for number, (lat, lon) in enumerate(places)
    ]
    return wander.benchmark_of(graphs)


def scored(
    benchmark: Benchmark, records: list[dict[str, object]], scale_km: float = wander.SCALE_KM
) -> WanderScores:
    guesses = read_predictions(records, benchmark)
    return wander.score_guesses(benchmark, guesses, scale_km=scale_km)


def guess(key: str, lat: float, lon: float) -> dict[str, object]:
    return {"key": key, "latitude": lat, "longitude": lon}


def test_scores_by_hand(benchmark: Benchmark) -> None:
    guesses = [(48.8566, 2.3522), (51.40, -0.1278), (-4.0435, 39.6682)]  # the last is Mombasa
    found = scored(benchmark, [
        *(guess(f"g{number}", *place) for number, place in enumerate(guesses)),
        {"key": "g3", "model_output": "I cannot tell where this is."},
    ])  # fmt: skip
    km = [geodesic(a, b).km for a, b in zip(PLACES, guesses, strict=False)] + [10_000]
    assert found.metrics["distance_km"] == pytest.approx(np.mean(km))
    assert found.metrics["score"] == pytest.approx(
        np.mean([100 * math.exp(-x / 1492.7) for x in km])
    )
    assert found.metrics["answered"] == 0.75
    # Paris is hit, London missed by 12 km, Mombasa is in Kenya, and Sydney was not guessed
    levels = {"street": 1, "city": 2, "country": 3}
    for level, hits in levels.items():
        accuracy, recall = hits / 3, hits / 4
        assert found.metrics[f"{level}_accuracy"] == pytest.approx(accuracy)
        assert found.metrics[f"{level}_recall"] == pytest.approx(recall)
        f1 = 2 * accuracy * recall / (accuracy + recall)
        assert found.metrics[f"{level}_f1"] == pytest.approx(f1)
    assert (found.statuses["answered"], found.statuses["refused"]) == (3, 1)


def test_the_scale_is_an_assumption_that_can_be_set(benchmark: Benchmark) -> None:
    records = [guess("g0", *PLACES[1])]
    km = geodesic(PLACES[0], PLACES[1]).km
    found = scored(benchmark, records, scale_km=1000.0)
    assert found.values["score"][0] == pytest.approx(100 * math.exp(-km / 1000))
    with pytest.raises(Agl1kError, match="positive number"):
        scored(benchmark, records, scale_km=0.0)
    with pytest.raises(Agl1kError, match="another scale"):
        wander.gains(found, scored(benchmark, records))


def test_without_any_answer_nothing_is_right(benchmark: Benchmark) -> None:
    found = scored(benchmark, [{"key": "g0", "error": "timed out"}])
    assert found.metrics["answered"] == 0
    assert math.isnan(found.metrics["street_accuracy"])
    assert found.metrics["street_recall"] == found.metrics["street_f1"] == 0
    assert found.metrics["distance_km"] == 10_000
    assert found.to_dict()["metrics"]["street_accuracy"] is None
    assert (found.statuses["error"], found.statuses["missing"]) == (1, 3)


def test_values_lie_in_their_intervals(benchmark: Benchmark) -> None:
    found = scored(
        benchmark, [guess(f"g{n}", lat + 0.1, lon) for n, (lat, lon) in enumerate(PLACES)]
    )
    for metric, value in found.metrics.items():
        assert found.intervals[metric].low <= value <= found.intervals[metric].high, metric
    # always answered: F1 is the recall
    assert found.intervals["city_f1"] == found.intervals["city_recall"]


def test_gains_are_paired_differences(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    places = list(zip(rng.uniform(-60, 60, 40), rng.uniform(-170, 170, 40), strict=True))
    benchmark = benchmark_at(tmp_path, places)
    at_once = scored(
        benchmark, [guess(f"g{n}", lat + 5, lon) for n, (lat, lon) in enumerate(places)]
    )
    acting = scored(
        benchmark, [guess(f"g{n}", lat + 1, lon) for n, (lat, lon) in enumerate(places)]
    )
    pair = wander.gains(acting, at_once)["distance_km"]
    differences = acting.values["distance_km"] - at_once.values["distance_km"]
    assert pair.difference == pytest.approx(differences.mean())
    assert pair.difference == pytest.approx(-444, abs=3)
    assert pair.low < pair.difference < pair.high < 0
    assert pair.is_clear
    same = wander.gains(acting, acting)["score"]
    assert (same.difference, same.is_clear) == (0, False)


def test_ranks_are_honest(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    places = list(zip(rng.uniform(-60, 60, 30), rng.uniform(-170, 170, 30), strict=True))
    benchmark = benchmark_at(tmp_path, places)

    def off_by(degrees: float) -> WanderScores:
        off = rng.normal(degrees, 0.1, len(places))
        return scored(
            benchmark, [guess(f"g{n}", lat + off[n], lon) for n, (lat, lon) in enumerate(places)]
        )

    bad, good, as_good = off_by(9), off_by(1), off_by(1)
    board = wander.board_of([bad, good, as_good, good])
    places_of = [row.rank.place for row in board.scored if row.rank]
    assert places_of == [1, 1, 1, 3]  # equal guesses count once
    assert board.scored[-1].scores is bad
    few = benchmark_at(tmp_path / "few", PLACES)
    assert wander.rank_guesses([scored(few, [guess("g0", 1, 1)])], "score") == [None]
    assert wander.board_of([]).scored == ()


def test_scores_of_other_graphs_do_not_mix(tmp_path: Path) -> None:
    one, other = benchmark_at(tmp_path / "a", PLACES), benchmark_at(tmp_path / "b", PLACES[::-1])
    with pytest.raises(Agl1kError, match="other graphs"):
        wander.gains(scored(one, [guess("g0", 1, 1)]), scored(other, [guess("g0", 1, 1)]))


# --- Tables 3 and 5


@pytest.mark.parametrize("level", wander.RIGHT_LEVELS)
def test_printed_f1_is_the_harmonic_mean_of_accuracy_and_recall(level: str) -> None:
    rows = reported_rows()
    assert len(rows) == 21 + 14
    for row in rows:
        accuracy, recall, f1 = (row.metrics[f"{level}_{x}"] for x in ("accuracy", "recall", "f1"))
        # all three are rounded to three digits
        low = wander.f1(accuracy - 0.0005, recall - 0.0005) - 0.0005
        high = wander.f1(accuracy + 0.0005, recall + 0.0005) + 0.0005
        assert low <= f1 <= high, row


def test_printed_gains_are_differences_of_rows() -> None:
    gains = wander.reported_gains()
    assert len(gains) == 7
    llava, o3 = gains["LLaVA OneVision 72B"], gains["o3"]
    printed = {"distance_km": -1074, "score": 7.52, "country_accuracy": 0.071,
               "country_recall": 0.062, "country_f1": 0.067}  # fmt: skip
    assert {name: round(llava[name], 3) for name in printed} == printed
    assert [round(o3[f"street_{x}"], 3) for x in ("accuracy", "recall", "f1")] == [
        0.082,
        0.083,
        0.082,
    ]
    assert [round(o3[f"city_{x}"], 3) for x in ("accuracy", "recall", "f1")] == [0.076] * 3
    # section 5.2: street F1 from +0.005 (InternVL3 78B) to +0.082 (o3), city from +0.010 to +0.076
    street = {model: round(gain["street_f1"], 3) for model, gain in gains.items()}
    city = {model: round(gain["city_f1"], 3) for model, gain in gains.items()}
    assert min(street.values()) == street["InternVL3 78B"] == 0.005
    assert max(street.values()) == street["o3"] == 0.082
    assert (min(city.values()), max(city.values())) == (0.011, 0.076)  # the text says 0.010
    assert round(o3["country_f1"], 3) == 0.028  # the text says 0.029
    assert round(o3["distance_km"], 1) == -138.5
    assert round(gains["Gemini 2.5 flash"]["distance_km"], 1) == -55.9  # the text says 55.8


def test_the_published_pairs_bound_the_scale() -> None:
    # by Jensen, the mean of exp(-d / s) is at least exp(-mean / s), so s is at most mean / -log
    rows = [row.metrics for row in reported_rows()]
    scales = [row["distance_km"] / -math.log(row["score"] / 100) for row in rows]
    assert min(scales) == pytest.approx(2772, abs=0.5)
    assert min(scales) > wander.SCALE_KM

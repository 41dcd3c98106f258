"""Baselines are whole prediction files that score as expected."""

from __future__ import annotations

import pytest

from agl1k_core.benchmarks import Benchmark
from agl1k_core.errors import Agl1kError
from agl1k_core.predictions import read_predictions
from agl1k_core.scoring import BASELINES, baseline, evaluate, predictions_csv


@pytest.mark.parametrize("name", list(BASELINES))
def test_a_baseline_survives_its_own_file(name: str, benchmark_of_four: Benchmark) -> None:
    made = baseline(benchmark_of_four, name)
    text = predictions_csv(made)
    read = read_predictions(text.encode(), benchmark_of_four, name="b.csv")
    assert read.keys.tolist() == ["paris", "nairobi", "suva", "windhoek"]
    before, after = (evaluate(benchmark_of_four, p, intervals=False) for p in (made, read))
    assert after.metrics == pytest.approx(before.metrics, nan_ok=True)
    again = baseline(benchmark_of_four, name)
    assert again.sha256 == made.sha256


def test_densest_region_is_where_most_clips_are(benchmark_of_four: Benchmark) -> None:
    shifted = Benchmark("b", "B", "1", (*benchmark_of_four.clips, benchmark_of_four.clips[0]))
    made = baseline(shifted, "densest_region")
    assert set(made.lat) == {48.86}
    assert set(made.city) == {"Paris"}


def test_random_is_uniform_on_the_sphere(benchmark_of_four: Benchmark) -> None:
    many = Benchmark("b", "B", "1", benchmark_of_four.clips * 1000)
    made = baseline(many, "random")
    assert abs(made.lat).max() <= 90
    assert abs((abs(made.lat) < 30).mean() - 0.5) < 0.03
    assert abs(made.lon.mean()) < 6


def test_unknown_baseline(benchmark_of_four: Benchmark) -> None:
    with pytest.raises(Agl1kError, match="Choose one of random, densest_region, median_location"):
        baseline(benchmark_of_four, "clever")

"""Baselines are whole prediction files that score as expected."""

from __future__ import annotations

import pytest

from agl1k_core import predictions
from agl1k_core.benchmarks import Benchmark
from agl1k_core.errors import Agl1kError
from agl1k_core.scoring import baselines, evaluate


@pytest.mark.parametrize("name", list(baselines.BASELINES))
def test_a_baseline_survives_its_own_file(name: str, benchmark_of_four: Benchmark) -> None:
    made = baselines.baseline_predictions(name, benchmark_of_four)
    text = baselines.to_csv(made)
    read = predictions.read(text.encode(), benchmark_of_four, name="b.csv")
    assert read.keys.tolist() == ["paris", "nairobi", "suva", "windhoek"]
    before, after = (evaluate(benchmark_of_four, p, n_bootstrap=0) for p in (made, read))
    assert after.metrics == pytest.approx(before.metrics, nan_ok=True)
    again = baselines.baseline_predictions(name, benchmark_of_four)
    assert again.sha256 == made.sha256


def test_densest_region_is_where_most_clips_are(benchmark_of_four: Benchmark) -> None:
    shifted = Benchmark("b", "B", "1", (*benchmark_of_four.clips, benchmark_of_four.clips[0]))
    made = baselines.baseline_predictions("densest_region", shifted)
    assert set(made.lat) == {48.86}
    assert set(made.city) == {"Paris"}


def test_random_is_uniform_on_the_sphere(benchmark_of_four: Benchmark) -> None:
    many = Benchmark("b", "B", "1", benchmark_of_four.clips * 1000)
    lat, lon = baselines.random(many)
    assert abs(lat).max() <= 90
    assert abs((abs(lat) < 30).mean() - 0.5) < 0.03
    assert abs(lon.mean()) < 6


def test_unknown_baseline(benchmark_of_four: Benchmark) -> None:
    with pytest.raises(Agl1kError, match="Choose one of random, densest_region, median_location"):
        baselines.baseline_predictions("clever", benchmark_of_four)

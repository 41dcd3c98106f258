from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from agl1k_core.benchmarks import load_benchmark
from agl1k_core.errors import Agl1kError
from agl1k_core.predictions import read_predictions
from agl1k_core.scoring import (
    CLIP_METRICS,
    PAPER,
    Evaluation,
    baseline,
    compare,
    evaluate,
    mean_of_runs,
)


@pytest.fixture(scope="module")
def runs() -> list[Evaluation]:
    demo = load_benchmark("demo")
    return [evaluate(demo, baseline(demo, name)) for name in ("random", "densest_region")]


def test_each_metric_is_the_mean_of_the_runs(runs: list[Evaluation]) -> None:
    together = mean_of_runs(runs)
    for metric in CLIP_METRICS:
        expected = sum(run.metrics[metric] for run in runs) / 2
        assert together.metrics[metric] == pytest.approx(expected), metric
    for subset, numbers in together.subsets.items():
        expected = sum(run.subsets[subset]["geoscore"] for run in runs) / 2
        assert numbers["geoscore"] == pytest.approx(expected, nan_ok=True), subset


def test_one_run_is_itself(runs: list[Evaluation]) -> None:
    alone = mean_of_runs(runs[:1])
    assert alone.metrics == runs[0].metrics
    assert alone.intervals == runs[0].intervals


def test_the_mean_of_equal_runs_has_their_interval_and_differs_from_neither(
    runs: list[Evaluation],
) -> None:
    twice = mean_of_runs([runs[0]] * 2)
    assert twice.intervals == runs[0].intervals
    assert compare(twice, runs[0])["geoscore"].difference == 0


def test_the_mean_lies_between_its_runs(runs: list[Evaluation]) -> None:
    together = mean_of_runs(runs)
    first, second = (compare(together, run)["geoscore"].difference for run in runs)
    assert first == pytest.approx(-second) != 0


def test_runs_that_do_not_belong_together_are_refused(runs: list[Evaluation]) -> None:
    demo = load_benchmark("demo")
    other = evaluate(demo, baseline(demo, "random"), PAPER)
    with pytest.raises(Agl1kError, match="not of the same benchmark, protocol"):
        mean_of_runs([runs[0], other])
    with pytest.raises(Agl1kError, match="at least one run"):
        mean_of_runs([])
    with pytest.raises(Agl1kError, match="read back from JSON"):
        mean_of_runs([Evaluation.from_dict(runs[0].to_dict())])


def test_runs_may_have_their_records_in_any_order() -> None:
    demo = load_benchmark("demo")
    records = [{"key": clip.key, "latitude": clip.lat, "longitude": 0} for clip in demo.clips]
    forwards, backwards = (
        evaluate(demo, read_predictions(some, demo)) for some in (records, records[::-1])
    )
    together = mean_of_runs([forwards, backwards])
    assert compare(together, forwards)["distance_km"].difference == 0


def test_a_run_that_names_a_clip_twice_is_refused() -> None:
    demo = load_benchmark("demo")
    once = baseline(demo, "random")
    columns = {field.name: getattr(once, field.name) for field in fields(once)}
    doubled: dict[str, Any] = {
        name: np.tile(column, 2)
        for name, column in columns.items()
        if isinstance(column, np.ndarray)
    }
    given = {name: np.tile(column, 2) for name, column in once.given.items()}
    twice = replace(once, given=given, **doubled)
    with pytest.raises(Agl1kError, match="several records in one run"):
        mean_of_runs([evaluate(demo, twice, "people")])

"""Sealed numbers: what they leave out, and how little one clip can change them."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agl1k_core import predictions
from agl1k_core.benchmarks import Benchmark, Clip
from agl1k_core.errors import Agl1kError
from agl1k_core.scoring import (
    BASELINES,
    CLIP_METRICS,
    SMALLEST_GROUP,
    Evaluation,
    baseline,
    evaluate,
    grid_step,
    mean_of_sealed,
    sealed_evaluation,
    sealed_ranks,
    told_groups,
)
from tests.support.toy_board import make_benchmark, prediction_file

LARGE = replace(make_benchmark(160), sealed=True)


def scored(benchmark: Benchmark, data: bytes) -> Evaluation:
    return evaluate(benchmark, predictions.read_predictions(data, benchmark))


def sealed(benchmark: Benchmark, data: bytes) -> Evaluation:
    return sealed_evaluation(scored(benchmark, data), benchmark)


def test_only_means_over_large_groups_are_told() -> None:
    told = sealed(LARGE, prediction_file(LARGE, 5))
    assert told.rows is None
    assert {*told.metrics} == {*CLIP_METRICS}
    # each continent has 32 clips; "things" has none
    assert {*told.subsets} == {*told_groups(LARGE)} - {"all"}
    assert {"speech", "non_speech", "animal", "Europe"} <= {*told.subsets}
    assert told.subset_statuses == {}
    assert told.statuses == {**told.statuses, "answered": 160}


@pytest.mark.parametrize(
    ("n_speech", "is_told"),
    [(SMALLEST_GROUP - 1, False), (SMALLEST_GROUP, True), (70, True), (71, False)],
)
def test_neither_a_group_nor_the_rest_is_small(n_speech: int, is_told: bool) -> None:
    """The mean of 29 clips would follow from those of 100 and of 71."""
    classes = [{"human": 1.0}] * n_speech + [{}] * (100 - n_speech)
    clips = [Clip(f"c{i}", i / 2, i, classes=present) for i, present in enumerate(classes)]
    assert ("speech" in told_groups(Benchmark("x", "x", "1", tuple(clips)))) == is_told


def test_a_small_benchmark_tells_nothing() -> None:
    small = replace(make_benchmark(SMALLEST_GROUP - 1), sealed=True)
    told = sealed(small, prediction_file(small, 1))
    assert (told.metrics, told.intervals, told.subsets) == ({}, {}, {})


def test_intervals_hold_what_they_held() -> None:
    before, told = (of(LARGE, prediction_file(LARGE, 3)) for of in (scored, sealed))
    assert {*told.intervals} == {*CLIP_METRICS}
    for name, ends in told.intervals.items():
        assert ends.low <= before.intervals[name].low + 1e-9, name
        assert ends.high >= before.intervals[name].high - 1e-9, name


def test_sealing_twice_changes_nothing() -> None:
    told = sealed(LARGE, prediction_file(LARGE, 3))
    assert sealed_evaluation(told, LARGE) == told
    read = Evaluation.from_dict(json.loads(json.dumps(told.to_dict())))
    assert sealed_evaluation(read, LARGE) == told


points = st.tuples(st.floats(-90, 90), st.floats(-180, 180))


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    changed=st.lists(
        st.tuples(st.integers(0, 159), points), max_size=9, unique_by=lambda one: one[0]
    ),
)
def test_nine_clips_move_no_number_by_more_than_a_step(
    seed: int, changed: list[tuple[int, tuple[float, float]]]
) -> None:
    generator = np.random.default_rng(seed)
    lat, lon = generator.uniform(-90, 90, 160), generator.uniform(-180, 180, 160)
    before = sealed(LARGE, file_of(lat, lon))
    for at, point in changed:
        lat[at], lon[at] = point
    after = sealed(LARGE, file_of(lat, lon))
    sizes = told_groups(LARGE)
    for name, metrics in {"all": before.metrics, **before.subsets}.items():
        others = {"all": after.metrics, **after.subsets}[name]
        for metric, value in metrics.items():
            assert abs(value - others[metric]) <= grid_step(metric, sizes[name]) + 1e-9


def file_of(lat: np.ndarray, lon: np.ndarray) -> bytes:
    records = [
        {"key": clip.key, "latitude": float(a), "longitude": float(b)}
        for clip, a, b in zip(LARGE.clips, lat, lon, strict=True)
    ]
    return json.dumps(records).encode()


def test_a_file_with_one_clip_tells_nothing_of_it() -> None:
    """All other clips count as 10,000 km, so that an interval would give that clip's distance."""
    told = {
        json.dumps(sealed(LARGE, one_record(at, lat)).to_dict() | {"file_sha256": ""})
        for at in (0, 1, 2)
        for lat in (-60, 0, 60)
    }
    assert len(told) == 1


def one_record(at: int, lat: float) -> bytes:
    clip = LARGE.clips[at]
    return json.dumps([{"key": clip.key, "latitude": lat, "longitude": clip.lon}]).encode()


def test_several_runs_are_the_mean_of_sealed_numbers() -> None:
    runs = [sealed(LARGE, prediction_file(LARGE, off)) for off in (0.5, 30)]
    mean = mean_of_sealed(runs)
    for name in CLIP_METRICS:
        assert mean.metrics[name] == pytest.approx(sum(r.metrics[name] for r in runs) / 2)
        assert mean.intervals[name].low <= mean.metrics[name] <= mean.intervals[name].high
    assert mean.subsets["speech"]["geoscore"] == pytest.approx(
        sum(run.subsets["speech"]["geoscore"] for run in runs) / 2
    )


@pytest.mark.parametrize("metric", ["distance_km", "geoscore"])
def test_ranks_follow_intervals(metric: str) -> None:
    far, near, also_near = (
        sealed(LARGE, prediction_file(LARGE, off, seed=seed))
        for off, seed in ((60, 0), (0.5, 0), (0.5, 1))
    )
    ranks = sealed_ranks([far, near, also_near], metric)
    assert [(r.place, r.best, r.worst, r.tied) for r in ranks if r] == [
        (3, 3, 3, False), (1, 1, 2, True), (1, 1, 2, True),
    ]  # fmt: skip
    assert sealed_ranks([far, near], metric, subset="things") == [None, None]


def test_without_true_places_nothing_is_scored() -> None:
    clips = tuple(replace(clip, lat=np.nan, lon=np.nan) for clip in LARGE.clips)
    copy = replace(LARGE, clips=clips)
    with pytest.raises(Agl1kError, match="is sealed: its true places are with the server"):
        scored(copy, prediction_file(LARGE, 1))
    for name in BASELINES:
        if name == "random":
            assert len(baseline(copy, name).keys) == 160
        else:
            with pytest.raises(Agl1kError, match="true places are with the server"):
                baseline(copy, name)


def test_warnings_do_not_tell_how_near_the_places_are() -> None:
    records = [{"key": c.key, "latitude": c.lon, "longitude": c.lat} for c in LARGE.clips]
    data = json.dumps(records).encode()
    assert predictions.read_predictions(data, replace(LARGE, sealed=False)).warnings
    assert not predictions.read_predictions(data, LARGE).warnings

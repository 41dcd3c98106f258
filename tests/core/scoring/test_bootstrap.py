"""Resampling against plain NumPy, and the laws of ranks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from agl1k_core.scoring import Interval, bootstrap

finite = st.floats(-1e4, 1e4, width=32)


def test_counts_are_seeded_and_each_resample_has_all_rows() -> None:
    counts = bootstrap.resample_counts(7, n_samples=50)
    assert counts.shape == (50, 7)
    assert np.all(counts.sum(axis=1) == 7)
    assert np.array_equal(counts, bootstrap.resample_counts(7, n_samples=50))
    assert not np.array_equal(counts, bootstrap.resample_counts(7, n_samples=50, seed=1))


def test_clusters_are_drawn_whole() -> None:
    cluster = np.array([0, 0, 1, 2, 2, 2])
    counts = bootstrap.resample_counts(6, n_samples=200, cluster=cluster)
    assert np.array_equal(counts[:, 0], counts[:, 1])
    assert np.array_equal(counts[:, 3], counts[:, 5])
    assert np.all(counts[:, [0, 2, 3]].sum(axis=1) == 3)


@pytest.mark.parametrize("cluster", [None, np.array([], dtype=np.int64)])
def test_no_rows(cluster: np.ndarray | None) -> None:
    assert bootstrap.resample_counts(0, n_samples=5, cluster=cluster).shape == (5, 0)


def _repeated(counts: np.ndarray, values: np.ndarray) -> list[np.ndarray]:
    return [np.repeat(values, row.astype(int)) for row in counts]


@settings(max_examples=50)
@given(hnp.arrays(np.float64, st.integers(1, 30), elements=finite | st.just(float("nan"))))
def test_resampled_means_and_quantiles_equal_those_of_repeated_rows(values: np.ndarray) -> None:
    counts = bootstrap.resample_counts(len(values), n_samples=20)
    means = bootstrap.resampled_means(counts, values[:, None])[:, 0]
    shares = [0.0, 0.25, 0.5, 0.9, 1.0]
    in_order = np.sort(values[np.isfinite(values)])
    ascending = counts[:, np.argsort(values)[: len(in_order)]]
    quantiles = bootstrap.quantile_places(ascending, shares).of(in_order)
    for row, rows in enumerate(_repeated(counts, values)):
        numbers = rows[np.isfinite(rows)]
        if not len(numbers):
            assert np.isnan(means[row])
            assert np.isnan(quantiles[row]).all()
            continue
        assert means[row] == pytest.approx(numbers.mean(), rel=1e-4, abs=1e-2)
        assert quantiles[row] == pytest.approx(np.quantile(numbers, shares), rel=1e-6, abs=1e-6)


def test_interval_covers_the_mean_of_a_normal_sample_about_as_often_as_it_says() -> None:
    generator = np.random.default_rng(3)
    hits = 0
    for seed in range(200):
        sample = generator.normal(5, 2, (100, 1))
        counts = bootstrap.resample_counts(100, n_samples=400, seed=seed)
        interval = bootstrap.intervals(bootstrap.resampled_means(counts, sample))[0]
        hits += interval.low < 5 < interval.high
    assert 0.88 <= hits / 200 <= 0.99


def test_quantiles_of_some_rows_are_those_of_resamples_among_them() -> None:
    values = np.array([5.0, np.nan, 1.0, 3.0, 2.0])
    rows = np.array([2, 4, 3, 0])
    quantiles = bootstrap.Resamples(5, n_samples=30).quantiles(values, rows, [0.25, 0.5])
    counts = bootstrap.resample_counts(4, n_samples=30)
    for found, drawn in zip(quantiles, _repeated(counts, values[rows]), strict=True):
        assert found == pytest.approx(np.quantile(drawn, [0.25, 0.5]))


def test_quantiles_of_clusters_move_together() -> None:
    values, cluster = np.array([1.0, 9.0, 2.0, 8.0]), np.array([0, 1, 0, 1])
    rows = np.argsort(values)
    resamples = bootstrap.Resamples(4, n_samples=40, cluster=cluster)
    medians = resamples.quantiles(values, rows, [0.5])[:, 0]
    assert set(medians) == {1.5, 5.0, 8.5}
    nothing = resamples.quantiles(values, rows[:0], [0.5])
    assert nothing.shape == (40, 1)
    assert np.isnan(nothing).all()


@settings(max_examples=50)
@given(hnp.arrays(np.float64, (3, 41), elements=finite | st.just(float("nan"))))
def test_interval_ends_are_percentiles_of_the_numbers(resampled: np.ndarray) -> None:
    for row, ends in zip(resampled, bootstrap.interval_ends(resampled, level=0.9), strict=True):
        numbers = row[np.isfinite(row)]
        expected = np.percentile(numbers, [5, 95]) if len(numbers) else [np.nan] * 2
        assert ends == pytest.approx(expected, rel=1e-9, abs=1e-9, nan_ok=True)


def test_intervals_skip_resamples_without_a_number() -> None:
    columns = np.array([[1.0, np.nan], [2.0, np.nan], [np.nan, np.nan]])
    ends = bootstrap.intervals(columns, level=0.0)
    assert ends[0] == Interval(1.5, 1.5)
    assert np.isnan(ends[1].low)


def test_paired_difference_uses_common_clips_only() -> None:
    a = np.array([1.0, 2.0, np.nan, 4.0])
    b = np.array([0.0, np.nan, 5.0, 3.0])
    pair = bootstrap.paired_difference(a, b)
    assert (pair.difference, pair.low, pair.high, pair.n_common) == (1.0, 1.0, 1.0, 2)
    assert pair.is_clear
    nothing = bootstrap.paired_difference(np.array([np.nan]), np.array([1.0]))
    assert nothing.n_common == 0
    assert not nothing.is_clear


def test_pairing_sees_what_separate_intervals_do_not() -> None:
    generator = np.random.default_rng(0)
    hard = generator.normal(5000, 3000, 300)
    slightly_better = hard - 50 + generator.normal(0, 10, 300)
    assert bootstrap.paired_difference(slightly_better, hard).high < 0
    assert bootstrap.ranks(np.column_stack([hard, slightly_better]), lower_is_better=True) == [
        2,
        1,
    ]


def test_models_that_cannot_be_told_apart_share_a_rank() -> None:
    generator = np.random.default_rng(1)
    base = generator.normal(5000, 3000, 200)
    twins = [base + generator.normal(0, 500, 200) for _ in range(3)]
    worse = base + 4000
    values = np.column_stack([*twins, worse])
    assert bootstrap.ranks(values, lower_is_better=True) == [1, 1, 1, 4]
    assert bootstrap.ranks(-values, lower_is_better=False) == [1, 1, 1, 4]


@settings(max_examples=30, deadline=None)
@given(hnp.arrays(np.float64, (12, 4), elements=finite | st.just(float("nan"))))
def test_ranks_agree_with_every_paired_interval(values: np.ndarray) -> None:
    expected = [1] * 4
    for i in range(4):
        for j in range(4):
            difference = (values[:, i] - values[:, j])[:, None]
            counts = bootstrap.resample_counts(12, n_samples=100)
            end = bootstrap.intervals(bootstrap.resampled_means(counts, difference))[0]
            if end.high < -1e-2:
                expected[j] += 1
            elif end.high < 1e-2:  # in float32 it may be on either side of 0
                return
    assert bootstrap.ranks(values, lower_is_better=True, n_samples=100) == expected


@settings(max_examples=30, deadline=None)
@given(
    hnp.arrays(np.float64, st.tuples(st.integers(1, 12), st.integers(1, 5)), elements=finite),
    st.randoms(),
)
def test_ranks_do_not_depend_on_the_order_of_models(values: np.ndarray, random) -> None:  # type: ignore[no-untyped-def]
    order = list(range(values.shape[1]))
    random.shuffle(order)
    ranks = bootstrap.ranks(values, lower_is_better=True, n_samples=100)
    again = bootstrap.ranks(values[:, order], lower_is_better=True, n_samples=100)
    assert [ranks[i] for i in order] == again
    assert min(ranks) == 1


@pytest.mark.parametrize("shape", [(0, 3), (5, 1), (5, 0)])
def test_ranks_of_nothing(shape: tuple[int, int]) -> None:
    assert bootstrap.ranks(np.zeros(shape), lower_is_better=True) == [1] * shape[1]

"""Sums by cells against sums over the rows of each group."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from agl1k_core import scoring
from agl1k_core.scoring.groups import Groups

N_ROWS = 12
finite = st.floats(-1e4, 1e4, width=32)
masks = hnp.arrays(np.bool_, st.tuples(st.integers(1, 5), st.just(N_ROWS)))
tables = hnp.arrays(np.float64, (N_ROWS, 2), elements=finite | st.just(float("nan")))


def _mean(values: np.ndarray, weights: np.ndarray | None = None) -> float:
    weights = np.ones(len(values)) if weights is None else weights
    found = np.isfinite(values) & (weights > 0)
    return float(np.average(values[found], weights=weights[found])) if found.any() else np.nan


@settings(max_examples=50)
@given(masks, tables)
def test_means_and_quantiles_are_those_of_each_group(masks: np.ndarray, values: np.ndarray) -> None:
    groups = Groups(masks)
    means = groups.sums(values).means(groups.members)
    quantiles = groups.quantiles(values[:, 0], [0.25, 0.75])
    assert means.shape == (len(masks), 2, 1)
    for mask, mean, quantile in zip(masks, means[:, :, 0], quantiles[:, :, 0], strict=True):
        for column in (0, 1):
            expected = _mean(values[mask, column])
            assert mean[column] == pytest.approx(expected, rel=1e-9, abs=1e-9, nan_ok=True)
        numbers = values[mask, 0][np.isfinite(values[mask, 0])]
        quartiles = np.quantile(numbers, [0.25, 0.75]) if len(numbers) else [np.nan] * 2
        assert quantile == pytest.approx(quartiles, nan_ok=True)


@settings(max_examples=25)
@given(masks, tables)
def test_resampled_means_are_those_of_each_resample(masks: np.ndarray, values: np.ndarray) -> None:
    groups = Groups(masks)
    counts = scoring.resample_counts(N_ROWS, n_samples=8)
    means = groups.resampled_sums(values, counts).means(groups.members)
    for mask, of_group in zip(masks, means, strict=True):
        for weights, mean in zip(counts[:, mask], of_group.T, strict=True):
            expected = _mean(values[mask, 1], weights)
            assert mean[1] == pytest.approx(expected, rel=1e-3, abs=1e-2, nan_ok=True)


def test_balanced_means_weigh_parts_alike_and_leave_empty_ones_out() -> None:
    everything = [True] * 4
    west, east = [True, True, True, False], [False, False, False, True]
    groups = Groups(np.array([everything, west, east]))
    values = np.array([[1.0], [2.0], [3.0], [10.0]])
    means = groups.balanced_means(groups.sums(values), [1, 2])
    assert means[:, 0, 0].tolist() == [6.0, 2.0, 10.0]
    values[3] = np.nan
    means = groups.balanced_means(groups.sums(values), [1, 2])
    assert means[:, 0, 0] == pytest.approx([2.0, 2.0, np.nan], nan_ok=True)
    assert np.isnan(groups.balanced_means(groups.sums(values), [])).all()


def test_counts_of_codes() -> None:
    groups = Groups(np.array([[True, True, True], [False, True, True]]))
    assert groups.count(np.array([2, 0, 2]), 3).tolist() == [[1, 0, 2], [1, 0, 1]]


def test_no_rows() -> None:
    groups = Groups(np.zeros((2, 0), dtype=np.bool_))
    assert np.isnan(groups.sums(np.zeros((0, 3))).means(groups.members)).all()
    assert groups.quantiles(np.zeros(0), [0.5]).shape == (2, 1, 1)
    assert groups.count(np.zeros(0, dtype=np.int64), 4).tolist() == [[0] * 4] * 2

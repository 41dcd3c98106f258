"""Intervals against published figures, exact distributions and plain definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from agl1k_core.scoring.intervals import (
    Spread,
    combined_ends,
    mean_ends,
    quantile_ends,
    share_ends,
)

INF = float("inf")


def ends_of_share(hits: int, n: int) -> list[float]:
    return list(share_ends(np.array([hits / n]), np.array([float(n)]))[0])


def test_shares_at_the_edge_say_how_little_is_known() -> None:
    """Wilson's interval for 0 of 45 and 4 of 4, as in Brown, Cai & DasGupta 2001."""
    assert ends_of_share(0, 45) == pytest.approx([0, 0.0787], abs=1e-4)
    assert ends_of_share(4, 4) == pytest.approx([0.5101, 1], abs=1e-4)
    assert ends_of_share(0, 45)[0] == 0
    assert ends_of_share(45, 45)[1] == 1


def test_shares_away_from_the_edge_are_wilsons() -> None:
    expected = stats.binomtest(30, 100).proportion_ci(method="wilson")
    assert ends_of_share(30, 100) == pytest.approx([expected.low, expected.high])


@pytest.mark.parametrize("n", [24, 100, 1000])
@pytest.mark.parametrize("share", [0.004, 0.02, 0.3, 0.98])
def test_a_share_is_inside_about_as_often_as_it_says(n: int, share: float) -> None:
    """Exactly, over all numbers of hits. Few hits cannot give 95 % exactly, but never far less."""
    hits = np.arange(n + 1)
    ends = share_ends(hits / n, np.full(n + 1, float(n)))
    inside = (ends[:, 0] <= share) & (share <= ends[:, 1])
    assert stats.binom.pmf(hits, n, share)[inside].sum() >= 0.92


@given(st.integers(1, 200), st.data())
def test_shares_are_symmetric_and_contain_the_share(n: int, data: st.DataObject) -> None:
    hits = data.draw(st.integers(0, n))
    low, high = ends_of_share(hits, n)
    assert 0 <= low <= hits / n <= high <= 1
    assert ends_of_share(n - hits, n) == pytest.approx([1 - high, 1 - low])


def test_no_row_gives_no_interval() -> None:
    assert np.isnan(share_ends(np.array([np.nan]), np.array([0.0]))).all()
    assert np.isnan(quantile_ends(np.array([]), np.array([[0.1, 0.9]]))).all()


def _means(mean: float, variance: float, skewness: float, df: float) -> list[float]:
    spread = Spread(*(np.array([x]) for x in (variance, skewness, df)))
    return list(mean_ends(np.array([mean]), spread, np.array([[0.0, 5000.0]]))[0])


def test_a_mean_without_skewness_has_students_interval() -> None:
    low, high = stats.t.interval(0.95, 23, 1000, 50)
    assert _means(1000, 2500, 0, 23) == pytest.approx([low, high])
    assert _means(1000, 2500, 1e-5, 23) == pytest.approx([low, high], abs=0.01)


def test_skewness_moves_the_interval_to_the_long_side() -> None:
    low, high = _means(1000, 2500, 0.4, 23)
    plain_low, plain_high = _means(1000, 2500, 0, 23)
    assert low > plain_low
    assert high > plain_high
    mirrored = _means(1000, 2500, -0.4, 23)
    assert mirrored == pytest.approx([2000 - high, 2000 - low])


def test_means_stay_within_their_bounds_and_constant_ones_are_exact() -> None:
    assert _means(10, 2500, 0, 23)[0] == 0
    assert _means(4990, 2500, 0, 23)[1] == 5000
    assert _means(777, 0, 0, 5) == [777, 777]


def test_a_skewed_mean_is_inside_about_as_often_as_it_says() -> None:
    """Log-normal numbers, whose plain t interval contains the mean in 88 % of such samples."""
    sample = np.exp(np.random.default_rng(4).normal(0, 1, (4000, 30))) * 100
    centred = sample - sample.mean(axis=1, keepdims=True)
    second, third = (centred**2).mean(axis=1), (centred**3).mean(axis=1)
    spread = Spread(second / 29, third / second**1.5 / 30**0.5, np.full(4000, 29.0))
    ends = mean_ends(sample.mean(axis=1), spread, np.array([0.0, 1e9]))
    inside = (ends[:, 0] <= 100 * np.exp(0.5)) & (100 * np.exp(0.5) <= ends[:, 1])
    assert 0.91 <= inside.mean() <= 0.97


def test_combined_ends_are_those_of_zou_and_donner() -> None:
    means, ends = np.array([0.2, 0.6]), np.array([[0.1, 0.4], [0.5, 0.8]])
    low, high = combined_ends(means, ends, np.array([0.5, 0.5]))
    assert (low, high) == pytest.approx((0.4 - 0.005**0.5, 0.4 + 0.02**0.5))
    one = combined_ends(means, ends, np.array([1.0, 0.0]))
    assert one == pytest.approx(ends[0])


@pytest.mark.parametrize("share", [0.25, 0.5, 0.75])
@pytest.mark.parametrize("n", [24, 200])
def test_quantiles_are_inside_about_as_often_as_they_say(n: int, share: float) -> None:
    """Uniform numbers: that suffices, since the ranks do not depend on the distribution."""
    sample = np.sort(np.random.default_rng(n).random((3000, n)), axis=1)
    limits = share_ends(np.array([share]), np.array([float(n)]))
    ends = np.array([quantile_ends(row, limits)[0] for row in sample])
    inside = (ends[:, 0] <= share) & (share <= ends[:, 1])
    assert 0.93 <= inside.mean() <= 0.97

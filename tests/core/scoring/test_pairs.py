"""Paired tests against SciPy, and their levels among equal models."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from agl1k_core.scoring.pairs import clearly_apart, holm, p_values, paired_difference

#: A pair of columns that are all 0 or 1 is tested as shares, whatever the other columns are.
numbers = st.floats(2, 2e4, width=32) | st.just(float("nan"))
shares = st.sampled_from((0.0, 1.0, float("nan")))
boards = st.tuples(st.integers(1, 15), st.just(4))


def test_paired_difference_uses_common_clips_only() -> None:
    a = np.array([1.0, 2.0, np.nan, 4.0])
    b = np.array([0.0, np.nan, 5.0, 3.5])
    pair = paired_difference(a, b)
    assert (pair.first, pair.second, pair.difference, pair.n_common) == (2.5, 1.75, 0.75, 2)
    nothing = paired_difference(np.array([np.nan]), np.array([1.0]))
    assert nothing.n_common == 0
    assert not nothing.is_clear


def test_numbers_have_students_paired_test_and_interval() -> None:
    generator = np.random.default_rng(0)
    a = generator.normal(5000, 3000, 40)
    b = a + generator.normal(300, 800, 40)
    pair = paired_difference(a, b)
    expected = stats.ttest_rel(a, b)
    interval = expected.confidence_interval()
    assert pair.p_value == pytest.approx(expected.pvalue, rel=1e-6)
    assert (pair.low, pair.high) == pytest.approx((interval.low, interval.high))
    assert pair.is_clear


def test_pairing_sees_what_separate_intervals_do_not() -> None:
    generator = np.random.default_rng(0)
    hard = generator.normal(5000, 3000, 300)
    slightly_better = hard - 50 + generator.normal(0, 10, 300)
    assert paired_difference(slightly_better, hard).high < 0


@pytest.mark.parametrize("n", [1, 2, 4, 5])
def test_fewer_than_six_clips_never_decide(n: int) -> None:
    near, far = np.linspace(0, 1, n), np.linspace(9_000, 9_100, n)
    pair = paired_difference(near, far)
    assert not pair.is_clear
    assert pair.low <= 0 <= pair.high
    assert paired_difference(np.zeros(n), np.ones(n)).is_clear is False


def test_a_few_clips_that_differ_do_not_decide_whatever_the_others() -> None:
    a = np.arange(1000.0)
    b = a.copy()
    b[:5] += 5000
    assert paired_difference(a, b).p_value >= 2 ** (1 - 5)


@pytest.mark.parametrize("n_clips", [24, 100, 1444])
def test_shares_agree_with_the_exact_test_of_the_clips_that_one_has_right(n_clips: int) -> None:
    """McNemar's exact test and ours decide alike at 5 % for nearly all counts."""
    differ = total = 0
    for first in range(0, 21):
        for second in range(0, min(first, 24 - first)):
            a, b = np.zeros(n_clips), np.zeros(n_clips)
            a[:first] = 1
            b[first : first + second] = 1
            pair = paired_difference(a, b)
            exact = stats.binomtest(first, first + second).pvalue
            total += 1
            differ += pair.is_clear != (exact < 0.05)
            if pair.is_clear:
                assert exact < 0.065
                assert pair.low > 0
            else:
                assert pair.low <= 0
    assert differ <= 0.05 * total


@settings(max_examples=50)
@given(
    hnp.arrays(np.float64, boards, elements=numbers)
    | hnp.arrays(np.float64, boards, elements=shares)
)
def test_all_pairs_at_once_are_the_pairs_one_by_one(values: np.ndarray) -> None:
    together = p_values(values)
    for i in range(4):
        for j in range(4):
            if i != j:
                alone = paired_difference(values[:, i], values[:, j]).p_value
                assert together[i, j] == pytest.approx(alone, rel=1e-3, abs=1e-6)


def test_nearly_equal_large_numbers_keep_their_digits() -> None:
    generator = np.random.default_rng(1)
    a = generator.normal(9e3, 1e3, 500)
    b = a + 1e-3 + generator.normal(0, 1e-2, 500)
    assert paired_difference(a, b).p_value == pytest.approx(stats.ttest_rel(a, b).pvalue, rel=1e-3)


@pytest.mark.parametrize("seed", range(20))
def test_a_difference_that_is_the_same_on_all_clips_is_clear(seed: int) -> None:
    """Its spread is 0 but for rounding, which may come out on either side of 0."""
    a = np.random.default_rng(seed).normal(9e3, 1e3, 30)
    assert paired_difference(a, a + 0.7).p_value == pytest.approx(2 ** (1 - 30))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_holm_is_scipys_step_down_rule(p: list[float]) -> None:
    """By its definition: the i-th smallest is multiplied by how many are not smaller."""
    order = np.argsort(p, kind="stable")
    worst = 0.0
    adjusted = holm(np.array(p))
    for step, place in enumerate(order):
        worst = max(worst, min(1.0, p[place] * (len(p) - step)))
        assert adjusted[place] == pytest.approx(worst)


@pytest.mark.parametrize("n_clips", [1, 4, 10, 24, 200])
def test_boards_of_equal_models_are_told_apart_in_at_most_five_percent(n_clips: int) -> None:
    generator = np.random.default_rng(n_clips)
    boards = 200
    apart = sum(
        clearly_apart(p_values(_equal_models(generator, n_clips))).any() for _ in range(boards)
    )
    assert apart / boards <= 0.05 + 2.6 * (0.05 * 0.95 / boards) ** 0.5


def _equal_models(generator: np.random.Generator, n_clips: int) -> np.ndarray:
    """Twenty models on clips of unequal difficulty, skewed and with many refusals."""
    hard = generator.normal(7, 1.5, (n_clips, 1))
    distances = np.minimum(np.exp(hard + generator.normal(0, 1.2, (n_clips, 20))), 20_000)
    return np.where(generator.random((n_clips, 20)) < 0.2, 10_000, distances)

"""The laws of ranks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from agl1k_core.scoring import FEWEST_CLIPS, Rank
from agl1k_core.scoring.ranking import ranks

SHIFTS = hnp.arrays(np.float64, st.integers(1, 7), elements=st.floats(0, 3000))


def _board(shifts: np.ndarray, seed: int = 0, n_clips: int = 60) -> np.ndarray:
    """Models that differ by ``shifts`` on average, on clips of unequal difficulty."""
    generator = np.random.default_rng(seed)
    hard = generator.normal(8000, 3000, (n_clips, 1))
    return np.asarray(hard + shifts + generator.normal(0, 1500, (n_clips, len(shifts))))


def _found(values: np.ndarray, *, lower_is_better: bool = True) -> list[Rank]:
    found = ranks(values, lower_is_better=lower_is_better)
    assert all(found)
    return [rank for rank in found if rank]


@settings(max_examples=60, deadline=None)
@given(SHIFTS, st.integers(0, 99), st.booleans())
def test_a_better_mean_never_ranks_lower(shifts: np.ndarray, seed: int, lower: bool) -> None:
    values = _board(shifts, seed)
    found = _found(values, lower_is_better=lower)
    order = np.argsort(values.mean(axis=0) if lower else -values.mean(axis=0))
    places = [found[model].place for model in order]
    assert places == sorted(places)
    for rank in found:
        assert 1 <= rank.best <= rank.place <= rank.worst <= len(found)
        assert rank.tied == (places.count(rank.place) > 1)


@settings(max_examples=30, deadline=None)
@given(SHIFTS, st.randoms())
def test_ranks_do_not_depend_on_the_order_of_models(shifts: np.ndarray, random) -> None:  # type: ignore[no-untyped-def]
    values = _board(shifts)
    order = list(range(len(shifts)))
    random.shuffle(order)
    found = _found(values)
    assert [found[i] for i in order] == _found(values[:, order])


def test_models_that_are_not_clearly_apart_share_a_place() -> None:
    values = _board(np.array([0.0, 10.0, 20.0, 9000.0]))
    tied = Rank(1, 1, 3, tied=True)
    assert _found(values) == [tied, tied, tied, Rank(4, 4, 4)]
    assert _found(-values, lower_is_better=False) == [tied, tied, tied, Rank(4, 4, 4)]


def test_in_a_chain_the_last_does_not_share_the_first_place() -> None:
    """A and B, and B and C, are not clearly apart, but A and C are."""
    generator = np.random.default_rng(3)
    noise = generator.normal(0, 1000, (100, 3))
    values = 5000 + np.array([0.0, 300.0, 600.0]) + noise - noise.mean(axis=0)
    first, second, third = _found(values)
    assert first == Rank(1, 1, 2, tied=True)
    assert second == Rank(1, 1, 3, tied=True)
    assert third == Rank(3, 2, 3)


def test_equal_means_share_a_place() -> None:
    values = np.tile(np.array([[1.0, 2.0], [2.0, 1.0]]), (30, 1))
    assert _found(values) == [Rank(1, 1, 2, tied=True)] * 2


def test_files_with_the_same_answers_count_once() -> None:
    values = _board(np.array([0.0, 0.0, 9000.0]))
    values[:, 1] = values[:, 0]
    found = ranks(values, lower_is_better=True, files=["a", "a", "b"])
    assert found == [Rank(1, 1, 1, tied=True)] * 2 + [Rank(2, 2, 2)]
    apart = ranks(values, lower_is_better=True)
    assert apart == [Rank(1, 1, 2, tied=True)] * 2 + [Rank(3, 3, 3)]


def test_few_clips_rank_nothing() -> None:
    values = _board(np.array([0.0, 9000.0]), n_clips=FEWEST_CLIPS)
    assert ranks(values[:-1], lower_is_better=True) == [None, None]
    assert all(ranks(values, lower_is_better=True))


@pytest.mark.parametrize("n_models", [0, 1])
def test_nobody_and_one_alone(n_models: int) -> None:
    found = ranks(np.ones((20, n_models)), lower_is_better=True)
    assert found == [Rank(1, 1, 1)] * n_models


def test_models_that_lack_clips_are_compared_on_common_ones() -> None:
    values = _board(np.array([0.0, 9000.0]))
    values[::2, 0] = np.nan
    assert [rank.place for rank in _found(values)] == [1, 2]

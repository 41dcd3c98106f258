from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agl1k_core.benchmarks import Benchmark, Clip
from agl1k_core.errors import Agl1kError
from game.picking import (
    Filters,
    candidates,
    country_of,
    fitting,
    order_free,
    replacements,
    round_continents,
)


def test_filters_come_back_from_the_store() -> None:
    filters = Filters("non_speech", "Africa")
    assert Filters.of(filters.to_dict()) == filters
    assert Filters.of({}) == Filters()
    assert Filters.of({"challenge": "x"}) == Filters()


@pytest.mark.parametrize("speech", ["speech", "non_speech"])
def test_filters_keep_what_fits(toy: Benchmark, speech: str) -> None:
    keys = fitting(toy, Filters(speech, "Asia"))
    assert keys
    for key in keys:
        assert toy.clip(key).continent == "Asia"
        assert toy.clip(key).has("human") is (speech == "speech")
    assert len(fitting(toy, Filters())) == len(toy)


def test_few_clips_are_enough_and_none_is_an_error(benchmark_of: Callable[..., Benchmark]) -> None:
    assert len(candidates(benchmark_of(20), Filters("non_speech", "Asia"))) == 2
    without_speech = benchmark_of(10)
    with pytest.raises(
        Agl1kError, match=r"Toy benchmark has no clip with speech from Asia\. Choose another filter"
    ):
        candidates(without_speech, Filters("speech", "Asia"))
    with pytest.raises(Agl1kError, match=r"has no clip\. Choose another benchmark"):
        candidates(benchmark_of(0), Filters())


def test_all_wrong_filters_are_named_together(toy: Benchmark) -> None:
    with pytest.raises(Agl1kError) as caught:
        candidates(toy, Filters("singing", "Atlantis"))
    assert "no sound filter 'singing'. Choose one of any, speech, non_speech" in str(caught.value)
    assert "no clip from 'Atlantis'. Choose one of Africa, Asia, Europe" in str(caught.value)


def test_continents_to_choose_from_have_clips(benchmark_of: Callable[..., Benchmark]) -> None:
    continents = round_continents(benchmark_of(20))
    assert [*continents] == [
        "Africa", "Asia", "Europe", "North America", "Oceania", "South America"
    ]  # fmt: skip
    assert [*continents.values()] == [4, 4, 4, 2, 4, 2]
    assert round_continents(benchmark_of(0)) == {}


@given(st.integers(0, 2**32), st.integers(0, 40))
def test_free_picks_are_unseen_first_then_longest_ago(seed: int, n_seen: int) -> None:
    toy, rng = BENCHMARK, random.Random(seed)
    keys = [clip.key for clip in toy.clips]
    seen = rng.sample(keys, n_seen)
    order = order_free(toy, keys, seen, rng)
    assert sorted(order) == sorted(keys)
    five = order[:5]
    n_unseen = len(keys) - n_seen
    assert len(set(five) - set(seen)) == min(5, n_unseen)
    again = [seen.index(key) for key in five if key in seen]
    assert all(moment < 10 for moment in again)
    if n_unseen >= 35:
        assert len({country_of(toy, key) for key in five}) == 5


def test_free_picks_differ_from_one_round_to_the_next(toy: Benchmark) -> None:
    keys, rng = [clip.key for clip in toy.clips], random.Random(3)
    assert len({tuple(order_free(toy, keys, [], rng)[:5]) for _ in range(20)}) == 20


def test_a_single_country_still_makes_a_round() -> None:
    clips = tuple(Clip(f"k{n}", 52.5, 13.4, "Berlin", "Germany", "Europe") for n in range(6))
    berlin = Benchmark("berlin", "Berlin", "1", clips)
    order = order_free(berlin, [clip.key for clip in clips], [], random.Random(1))
    assert len(set(order[:5])) == 5


def test_a_replacement_brings_a_country_that_the_round_lacks(toy: Benchmark) -> None:
    order = [clip.key for clip in toy.clips]
    taken = order[:5]
    stand_ins = list(replacements(toy, order, taken, avoid=[order[5]]))
    assert stand_ins[0] == order[6]
    assert set(stand_ins) == set(order) - set(taken) - {order[5]}
    lacking = [country_of(toy, key) not in {country_of(toy, k) for k in taken} for key in stand_ins]
    assert lacking == sorted(lacking, reverse=True)


def _benchmark() -> Benchmark:
    countries = ["Morocco", "Kenya", "Germany", "Japan", "Peru", "Fiji", "Canada", "Chile"]
    clips = [Clip(f"k{n:02d}", 1.0, 1.0, "", countries[n % 8], "") for n in range(40)]
    return Benchmark("eight", "Eight countries", "1", tuple(clips))


BENCHMARK = _benchmark()

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agl1k_core.benchmarks import Benchmark, Clip, read_published
from agl1k_core.errors import Agl1kError
from game.daily import DAILY_EPOCH, DailySchedule, streak
from game.picking import country_of
from tests.support.toy_game import SECRET

ROOT = Path(__file__).parents[2]
PUBLISHED = ROOT.parent / "shared" / "agl1k" / "geoLocalization_schema.csv"
HOMES = [
    ("Russia", "Europe"),
    ("Russia", "Asia"),
    ("Germany", "Europe"),
    ("France", "Europe"),
    ("Spain", "Europe"),
    ("Italy", "Europe"),
    ("Norway", "Europe"),
    ("Japan", "Asia"),
    ("Kenya", "Africa"),
    ("Peru", "South America"),
    ("Fiji", "Oceania"),
    ("", ""),
]


def benchmark_at(homes: list[tuple[str, str]]) -> Benchmark:
    clips = [
        Clip(f"k{number:03d}", 1.0, 1.0, "", country, continent)
        for number, (country, continent) in enumerate(homes)
    ]
    return Benchmark("homes", "Homes", "1", tuple(clips))


def spread(benchmark: Benchmark, keys: tuple[str, ...]) -> tuple[int, int]:
    """Numbers of distinct countries and continents."""
    continents = {benchmark.continents[benchmark.index[key]] for key in keys}
    return len({country_of(benchmark, key) for key in keys}), len(continents)


def days(n: int) -> list[date]:
    return [DAILY_EPOCH + timedelta(days=number) for number in range(n)]


@settings(max_examples=150)
@given(st.lists(st.sampled_from(HOMES), min_size=5, max_size=60), st.integers(0, 40))
def test_five_countries_on_two_continents_wherever_possible(
    homes: list[tuple[str, str]], number: int
) -> None:
    benchmark = benchmark_at(homes)
    five = DailySchedule(benchmark, SECRET).five(DAILY_EPOCH + timedelta(days=number))
    assert len(set(five)) == 5
    placed = {home for home in homes if home[0]}
    n_countries, n_continents = (len({home[part] for home in placed}) for part in (0, 1))
    if n_countries >= 5 and n_continents >= 2:
        found = spread(benchmark, five)
        assert found[0] == 5
        assert found[1] >= 2


def test_one_clip_from_elsewhere_is_always_among_the_five() -> None:
    europe = [home for home in HOMES if home[1] == "Europe"]
    benchmark = benchmark_at([*europe * 6, ("Russia", "Asia")])
    for day in days(30):
        assert spread(benchmark, DailySchedule(benchmark, SECRET).five(day)) == (5, 2)


@given(st.lists(st.sampled_from(HOMES), min_size=5, max_size=60), st.randoms())
def test_the_order_of_the_table_does_not_matter(
    homes: list[tuple[str, str]], rng: random.Random
) -> None:
    benchmark = benchmark_at(homes)
    clips = list(benchmark.clips)
    rng.shuffle(clips)
    shuffled = Benchmark("other-slug", "Other name", "9", tuple(clips))
    for day in days(3):
        assert DailySchedule(shuffled, SECRET).five(day) == DailySchedule(benchmark, SECRET).five(
            day
        )


def test_asking_for_days_in_any_order_gives_the_same(toy: Benchmark) -> None:
    forward, backward = DailySchedule(toy, SECRET), DailySchedule(toy, SECRET)
    ahead = [forward.five(day) for day in days(50)]
    assert [backward.five(day) for day in reversed(days(50))] == ahead[::-1]
    assert len(set(ahead)) > 45


def test_another_content_has_other_dailies(benchmark_of: Callable[..., Benchmark]) -> None:
    a, b = DailySchedule(benchmark_of(40), SECRET), DailySchedule(benchmark_of(41), SECRET)
    assert [a.five(day) for day in days(5)] != [b.five(day) for day in days(5)]


def test_only_the_secret_tells_the_days_to_come(toy: Benchmark) -> None:
    ours, guessed = DailySchedule(toy, SECRET), DailySchedule(toy, b"another secret")
    alike = sum(ours.five(day) == guessed.five(day) for day in days(50))
    assert alike == 0
    assert all(ours.order(day)[5:] != guessed.order(day)[5:] for day in days(5))


@pytest.mark.server
def test_the_same_on_every_machine() -> None:
    """In processes with other hash seeds, and the same as when this test was written."""
    program = (
        "from datetime import date\n"
        "from agl1k_core.benchmarks import Benchmark, Clip\n"
        "from game.daily import DailySchedule\n"
        "c = ['Morocco','Kenya','Germany','Japan','Peru','Fiji','Canada']\n"
        "clips = tuple(Clip(f'k{n:02d}', n, n, '', c[n % 7]) for n in range(30))\n"
        "s = DailySchedule(Benchmark('b', 'B', '1', clips), b'a secret for tests')\n"
        "print(*s.five(date(2026, 3, 14)), *s.order(date(2026, 1, 2))[5:9])\n"
    )
    answers = {
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("1", "2")
    }
    assert answers == {GOLDEN}


def test_clips_rest_between_dailies(benchmark_of: Callable[..., Benchmark]) -> None:
    benchmark = benchmark_of(100)
    schedule = DailySchedule(benchmark, SECRET)
    assert schedule.rest_days == 10
    for window in range(60):
        span = days(window + 11)[-11:]
        keys = [key for day in span for key in schedule.five(day)]
        assert len(keys) == len(set(keys))


def test_a_day_before_the_epoch_is_refused(toy: Benchmark) -> None:
    with pytest.raises(Agl1kError, match="began on 2026-01-01; there is none for 2025-12-31"):
        DailySchedule(toy, SECRET).five(date(2025, 12, 31))


def test_the_order_of_a_day_has_every_clip_once(toy: Benchmark) -> None:
    schedule = DailySchedule(toy, SECRET)
    order = schedule.order(DAILY_EPOCH)
    assert tuple(order[:5]) == schedule.five(DAILY_EPOCH)
    assert sorted(order) == sorted(toy.index)
    assert schedule.order(DAILY_EPOCH + timedelta(days=1))[5:10] != order[5:10]


@pytest.mark.shared
@pytest.mark.skipif(not PUBLISHED.exists(), reason="the published table is not here")
def test_three_years_of_the_real_benchmark() -> None:
    benchmark = read_published(PUBLISHED)
    schedule = DailySchedule(benchmark, SECRET)
    assert schedule.rest_days == 100
    fives = [schedule.five(day) for day in days(3 * 365)]
    for number, five in enumerate(fives):
        n_countries, n_continents = spread(benchmark, five)
        assert n_countries == 5
        assert n_continents >= 2
        resting = {key for earlier in fives[max(0, number - 100) : number] for key in earlier}
        assert resting.isdisjoint(five)


TODAY = date(2026, 3, 14)


@pytest.mark.parametrize(
    ("ago", "length", "played_today"),
    [
        ([], 0, False),
        ([0], 1, True),
        ([1], 1, False),
        ([0, 1, 2], 3, True),
        ([1, 2], 2, False),
        ([2, 3], 0, False),
        ([0, 2, 3], 1, True),
    ],
)
def test_streaks(ago: list[int], length: int, played_today: bool) -> None:
    found = streak({TODAY - timedelta(days=back) for back in ago}, TODAY)
    assert (found.days, found.played_today) == (length, played_today)
    assert "days in a row (UTC)" in found.explanation


GOLDEN = "k04 k15 k06 k24 k00 k08 k14 k10 k18"

"""Which candidates are selected: balance, spread, duplicates; their order does not matter."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agl1k_core.curation import Candidate, Reason, SelectionRules, select
from agl1k_core.errors import Agl1kError
from agl1k_core.places import geodesic_km

NOON = datetime(2024, 6, 1, 12, tzinfo=UTC)


def candidate(key: str, lat: float = 0.0, lon: float = 0.0, **others: object) -> Candidate:
    given_values = {"country": "", "speech": False, "sound": key, **others}
    return Candidate(key, lat, lon, **given_values)  # type: ignore[arg-type]


def chosen(candidates: list[Candidate], rules: SelectionRules) -> list[Candidate]:
    verdicts = select(candidates, rules)
    assert verdicts.keys() == {one.key for one in candidates}
    return [one for one in candidates if verdicts[one.key].is_in]


@st.composite
def crowds(draw: st.DrawFn) -> list[Candidate]:
    """Few places and few recordings, so that many collide."""
    places = st.tuples(st.sampled_from([0.0, 0.005, 0.02, 1.0, 89.999]),
                       st.sampled_from([0.0, 0.004, 179.999, -179.999]))  # fmt: skip
    rows = draw(st.lists(st.tuples(places, st.booleans(), st.integers(0, 5), st.integers(0, 30)),
                         max_size=25))  # fmt: skip
    return [
        candidate(f"k{n}", *place, country=f"C{country}", speech=speech, sound=f"s{sound}")
        for n, (place, speech, country, sound) in enumerate(rows)
    ]


@settings(max_examples=80, deadline=None)
@given(crowds(), st.none() | st.integers(1, 8), st.none() | st.integers(1, 3), st.randoms())
def test_what_is_chosen_keeps_the_rules(
    crowd: list[Candidate], target: int | None, most: int | None, shuffler: random.Random
) -> None:
    rules = SelectionRules(target=target, min_distance_km=1.0, max_per_country=most)
    found = chosen(crowd, rules)
    speech = sum(one.speech for one in found)
    reasons = {key: verdict.reason for key, verdict in select(crowd, rules).items()}
    if len({one.speech for one in crowd if reasons[one.key] is not Reason.CONTRADICTION}) == 2:
        assert abs(2 * speech - len(found)) <= 1
    assert target is None or len(found) <= target
    assert most is None or max(Counter(one.country for one in found).values(), default=0) <= most
    for a, b in combinations(found, 2):
        assert a.sound != b.sound
        assert geodesic_km(a.lat, a.lon, b.lat, b.lon) >= 1.0
    shuffled = shuffler.sample(crowd, len(crowd))
    assert {one.key for one in chosen(shuffled, rules)} == {one.key for one in found}


def test_nothing_to_select_from() -> None:
    assert select([], SelectionRules()) == {}


def test_speech_and_non_speech_are_equal_and_the_rest_learns_why() -> None:
    crowd = [candidate(f"k{n}", lat=n, speech=n < 3) for n in range(10)]
    verdicts = select(crowd, SelectionRules())
    assert sum(verdict.is_in for verdict in verdicts.values()) == 6
    out = {verdict.detail for verdict in verdicts.values() if not verdict.is_in}
    assert out == {"No speech is left to balance it."}
    assert len(chosen(crowd, SelectionRules(balanced=False))) == 10


@pytest.mark.parametrize("speech", [True, False])
def test_one_kind_alone_is_taken_as_it_is(speech: bool) -> None:
    crowd = [candidate(f"k{n}", lat=n, speech=speech) for n in range(5)]
    assert len(chosen(crowd, SelectionRules())) == 5
    assert len(chosen(crowd, SelectionRules(target=3))) == 3


def test_countries_share_the_target_as_equally_as_they_can() -> None:
    sizes = {"A": 100, "B": 100, "C": 4, "D": 1}
    crowd = [
        candidate(f"{country}{n}", lat=n / 2, lon=20 * ord(country) - 1300, country=country,
                  speech=n % 2 == 0)
        for country, size in sizes.items()
        for n in range(size)
    ]  # fmt: skip
    counts = Counter(one.country for one in chosen(crowd, SelectionRules(target=25)))
    assert counts == {"A": 10, "B": 10, "C": 4, "D": 1}


def test_better_clips_of_a_country_come_first() -> None:
    crowd = [candidate(f"k{n}", lat=n, country="A", rank=n % 7) for n in range(14)]
    found = chosen(crowd, SelectionRules(target=4, balanced=False))
    assert sorted(one.rank for one in found) == [5, 5, 6, 6]


def test_what_a_person_wants_comes_first() -> None:
    crowd = [candidate(f"k{n}", lat=n, country="A", rank=n) for n in range(9)]
    crowd[0] = replace(crowd[0], wanted=True)
    found = chosen(crowd, SelectionRules(target=2, balanced=False))
    assert [one.key for one in found] == ["k0", "k8"]


def test_a_recording_is_in_once() -> None:
    crowd = [candidate("a", sound="s"), candidate("b", 0.001, sound="s")]
    verdicts = select(crowd, SelectionRules(balanced=False, min_distance_km=0))
    out = [verdict for verdict in verdicts.values() if not verdict.is_in]
    assert [verdict.reason for verdict in out] == [Reason.SAME_RECORDING]
    said = "It is the same recording as {}; a hash of the keys decided between the two."
    assert out[0].detail in (said.format("a"), said.format("b"))


def test_a_recording_at_two_places_is_out_at_both() -> None:
    crowd = [candidate("a", sound="s"), candidate("b", lat=2, sound="s"), candidate("c", lat=5)]
    verdicts = select(crowd, SelectionRules(balanced=False))
    assert [verdicts[key].reason for key in "abc"] == [
        Reason.CONTRADICTION,
        Reason.CONTRADICTION,
        Reason.SELECTED,
    ]
    assert verdicts["a"].detail.endswith("221 km apart: a, b.")


@pytest.mark.parametrize(
    ("km", "hours", "n_in"), [(0.9, 23, 1), (0.9, 25, 2), (1.1, 0, 2), (0.9, None, 1)]
)
def test_near_duplicates_are_close_in_place_and_time(
    km: float, hours: float | None, n_in: int
) -> None:
    later = None if hours is None else NOON + timedelta(hours=hours)
    crowd = [
        candidate("a", recorded=NOON),
        candidate("b", lon=km / 111.3195, recorded=later),
    ]
    verdicts = select(crowd, SelectionRules(balanced=False, min_distance_km=1, min_hours=24))
    assert sum(verdict.is_in for verdict in verdicts.values()) == n_in
    out = [verdict for verdict in verdicts.values() if not verdict.is_in]
    assert {verdict.reason for verdict in out} <= {Reason.NEAR_DUPLICATE}


def test_a_full_country_is_a_reason() -> None:
    crowd = [candidate(f"k{n}", lat=n, country="A") for n in range(3)]
    verdicts = select(crowd, SelectionRules(balanced=False, max_per_country=2))
    assert Counter(verdict.reason for verdict in verdicts.values()) == {
        Reason.SELECTED: 2,
        Reason.COUNTRY_FULL: 1,
    }


def test_impossible_limits_are_refused_together() -> None:
    with pytest.raises(Agl1kError, match=r"(?s)target is 0.*min_distance_km is nan"):
        SelectionRules(target=0, min_distance_km=float("nan"))

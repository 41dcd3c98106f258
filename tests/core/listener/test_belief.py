"""What a belief must be, whatever was heard; and what follows from what was heard."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agl1k_core import places, tagging
from agl1k_core.listener import (
    Grid,
    Heard,
    Rule,
    applying,
    believe,
    land_grid,
    likely_countries,
    pin,
    reason_for,
    rules,
    spoken,
    talk_shares,
)

IDS = tagging.class_ids_by_name()
SOUNDS = sorted({sound for rule in rules() for sound in rule.sounds})
LANGUAGES = ["en", "pt", "sw", "tl", "nn", "jw", "zh", "sa", "la", "ar", "no such"]

shares = st.floats(0, 1)
anything_heard = st.builds(
    Heard,
    st.dictionaries(st.sampled_from([*SOUNDS, IDS["Speech"], "/m/unknown"]), shares, max_size=6),
    st.dictionaries(st.sampled_from(LANGUAGES), shares, max_size=5),
    st.floats(0, 600),
)


def heard_of(*sounds: str, **languages: float) -> Heard:
    return Heard({IDS[name]: 0.5 for name in sounds}, languages, 20.0)


def share_of(belief: np.ndarray, *codes: str) -> float:
    return float(belief[np.isin(land_grid().country_codes, codes)].sum())


@settings(max_examples=40)
@given(anything_heard)
def test_a_belief_is_a_distribution_over_land(heard: Heard) -> None:
    belief = believe(heard)
    assert belief.shape == (len(land_grid()),)
    assert belief.sum() == pytest.approx(1, abs=1e-12)
    assert (belief >= 0).all()


@settings(max_examples=30)
@given(anything_heard, st.randoms(use_true_random=False))
def test_the_order_in_which_things_were_heard_does_not_matter(heard: Heard, random: object) -> None:
    presence, languages = list(heard.presence.items()), list(heard.languages.items())
    random.shuffle(presence)  # type: ignore[attr-defined]
    random.shuffle(languages)  # type: ignore[attr-defined]
    again = Heard(dict(presence), dict(languages), heard.speech_s)
    assert believe(again).tobytes() == believe(heard).tobytes()
    assert pin(believe(again)) == pin(believe(heard))


@settings(max_examples=15)
@given(anything_heard, st.integers(0, 2**32 - 1))
def test_the_order_of_the_grid_does_not_matter(heard: Heard, seed: int) -> None:
    grid = land_grid()
    order = np.random.default_rng(seed).permutation(len(grid))
    columns = {column.name: getattr(grid, column.name)[order] for column in fields(grid)}
    assert believe(heard, Grid(**columns)) == pytest.approx(believe(heard)[order], abs=1e-15)


@settings(max_examples=20)
@given(anything_heard, st.lists(st.integers(0, 4000), min_size=5, max_size=5))
def test_no_other_point_has_a_higher_expected_geoscore(heard: Heard, others: list[int]) -> None:
    grid, belief = land_grid(), believe(heard)
    found = pin(belief)

    def expected(lat: float, lon: float) -> float:
        distance_km = places.geodesic_km(lat, lon, grid.lat, grid.lon)
        return float(places.geoscore(distance_km) @ belief)

    assert found.expected_geoscore == pytest.approx(expected(found.lat, found.lon))
    for at in others:
        ceiling = 1.01 * expected(found.lat, found.lon)
        assert expected(float(grid.lat[at]), float(grid.lon[at])) <= ceiling


def test_a_belief_in_one_place_puts_the_pin_there() -> None:
    grid = land_grid()
    at = int(np.flatnonzero(grid.country_codes == "FJ")[0])
    belief = np.zeros(len(grid))
    belief[at] = 1
    found = pin(belief)
    assert (found.lat, found.lon) == (round(grid.lat[at], 5), round(grid.lon[at], 5))
    assert found.expected_geoscore == pytest.approx(5000)
    assert found.label == places.label_points([found.lat], [found.lon])[0]
    assert found.label.country == "Fiji"


@pytest.mark.parametrize(
    ("language", "country", "least"),
    [("pt", "BR", 0.6), ("is", "IS", 0.9), ("ja", "JP", 0.9), ("tl", "PH", 0.9), ("hi", "IN", 0.5),
     ("sw", "TZ", 0.3), ("jw", "ID", 0.9), ("nn", "NO", 0.9)],
)  # fmt: skip
def test_speech_leads_to_the_countries_of_its_language(
    language: str, country: str, least: float
) -> None:
    belief = believe(heard_of(**{language: 1.0}))
    assert likely_countries(belief)[0][0] == country
    assert share_of(belief, country) > least
    assert pin(belief).label.country_code == country
    assert share_of(belief, *talk_shares({"tl": "fil", "jw": "jv", "nn": "no"}.get(
        language, language))) == pytest.approx(1)  # fmt: skip


def test_what_whisper_doubts_goes_to_the_prior() -> None:
    sure, less = believe(heard_of(is_=1.0)), believe(Heard())
    assert sure == pytest.approx(less)  # no such language
    belief, prior = believe(heard_of(ja=0.8)), believe(Heard())
    assert share_of(belief, "DE") == pytest.approx(0.2 * share_of(prior, "DE"))


@pytest.mark.parametrize(
    "heard",
    [
        Heard(languages={"nn": 0.95}, speech_s=1.9),
        Heard(languages={"nn": 0.69, "ja": 0.31}, speech_s=60),
        Heard(languages={"sa": 0.95}, speech_s=60),
        Heard({IDS["Ocean"]: 0.04}),
    ],
    ids=["too short", "unsure", "spoken nowhere", "too seldom"],
)
def test_what_does_not_count(heard: Heard) -> None:
    assert believe(heard).tobytes() == believe(Heard()).tobytes()
    assert "nothing that tells the place" in reason_for(heard, believe(heard))


def test_dialects_of_one_language_count_together() -> None:
    assert spoken(Heard(languages={"no": 0.4, "nn": 0.4}, speech_s=5)) == {"no": 0.8}


def test_rules_of_one_family_count_once() -> None:
    both = {IDS["Ocean"]: 0.5, IDS["Foghorn"]: 0.5, IDS["Thunder"]: 0.5}
    assert [rule.name for rule in applying(both)] == ["surf", "thunder"]
    assert believe(Heard(both)).tobytes() == believe(heard_of("Ocean", "Thunder")).tobytes()


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.name)
def test_each_rule_makes_its_places_likelier_by_its_factor(rule: Rule) -> None:
    inside = rule.share(land_grid())
    assert rule.countries <= {*land_grid().country_codes.tolist()}
    assert ((inside >= 0) & (inside <= 1)).all()
    change = believe(Heard({rule.sounds[0]: 1.0})) / believe(Heard())
    assert change[inside == 1] == pytest.approx(rule.factor * change[inside == 0][0])
    assert change[inside == 0] == pytest.approx(change[inside == 0][0])


def test_surf_is_near_the_sea() -> None:
    near = land_grid().near_sea
    assert believe(Heard()) @ near < 0.3 < 0.5 < believe(heard_of("Waves, surf")) @ near


def test_the_reason_names_what_counted_and_the_countries() -> None:
    heard = heard_of("Ocean", pt=0.9)
    assert reason_for(heard, believe(heard)).startswith(
        "Heard: speech in Portuguese (90%), surf. Likely: Brazil "
    )

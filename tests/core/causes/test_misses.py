"""Which records are country-level misses."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from agl1k_core.benchmarks import Benchmark
from agl1k_core.causes import country_misses
from agl1k_core.predictions import read_predictions


def test_wrong_countries_and_refusals_are_misses(
    demo: Benchmark, records: list[dict[str, Any]]
) -> None:
    found = country_misses(demo, read_predictions(records, demo))
    assert [miss.key for miss in found.misses] == ["demo_02", "demo_03", "demo_04", "demo_05"]
    assert [miss.true_country for miss in found.misses] == [
        "South Korea", "Argentina", "United States", "Zimbabwe",
    ]  # fmt: skip
    assert [miss.country for miss in found.misses][:1] == ["Japan"]
    assert [miss.key for miss in found.to_judge] == ["demo_02", "demo_03", "demo_04"]
    assert (found.n_records, found.n_right) == (7, 1)
    assert dict(found.left_out) == {
        "an answer that could not be parsed": 1,
        "an error in place of an answer": 1,
    }


def test_without_a_name_the_country_of_the_point_counts(
    demo: Benchmark, records: list[dict[str, Any]]
) -> None:
    paris = country_misses(demo, read_predictions(records, demo)).misses[2]
    assert paris.country == "France"
    home = demo.clip("demo_04")
    right = [{"key": "demo_04", "latitude": home.lat, "longitude": home.lon}]
    assert country_misses(demo, read_predictions(right, demo)).misses == ()


def test_a_name_without_a_point_is_a_miss_of_unknown_distance(demo: Benchmark) -> None:
    read = read_predictions([{"key": "demo_01", "country": "Portugal"}], demo)
    (miss,) = country_misses(demo, read).misses
    assert (miss.country, miss.point, miss.distance_km) == ("Portugal", None, None)


def test_the_raw_answer_is_what_was_said_with_its_reasoning(
    demo: Benchmark, records: list[dict[str, Any]]
) -> None:
    misses = country_misses(demo, read_predictions(records, demo)).misses
    assert misses[0].said == "Korean, or perhaps Japanese."
    assert misses[1].said == "<think>Spanish.</think> It is Spain: 40.4, -3.7"
    assert misses[2].said == ""


def test_an_answer_that_changes_has_another_fingerprint(
    demo: Benchmark, records: list[dict[str, Any]]
) -> None:
    miss = country_misses(demo, read_predictions(records, demo)).misses[0]
    assert miss.fingerprint == replace(miss).fingerprint
    assert miss.fingerprint != replace(miss, said="Chinese.").fingerprint


def test_a_larger_sample_contains_the_smaller(demo: Benchmark) -> None:
    far = [{"key": key, "latitude": 0, "longitude": 150, "country": "Nauru"} for key in demo.index]
    misses = country_misses(demo, read_predictions(far, demo))
    samples = [{miss.key for miss in misses.sample(n).misses} for n in (3, 8, 99)]
    assert [len(sample) for sample in samples] == [3, 8, len(demo)]
    assert samples[0] < samples[1] < samples[2]

"""Countries that a benchmark's labels file under another name."""

from __future__ import annotations

from pathlib import Path

import pytest

from agl1k_core.benchmarks import PUBLISHED_FILE, Benchmark, Clip, read_published

CLIPS = (
    Clip("taipei", 25.04, 121.56, "Taipei", "China", "Asia"),
    Clip("beijing", 39.9, 116.4, "Beijing", "China", "Asia"),
    Clip("tokyo", 35.68, 139.69, "Tokyo", "Japan", "Asia"),
)


def test_a_renamed_country_has_a_note_and_no_other() -> None:
    benchmark = Benchmark("b", "B", "1", CLIPS, country_aliases={"TW": "CN"})
    assert benchmark.label_note("taipei") == (
        "The country is named as in B's table; an answer of either name counts."
    )
    assert benchmark.label_note("beijing") == benchmark.label_note("tokyo") == ""
    assert benchmark.canonical_country("Taiwan") == benchmark.canonical_country("China")


def test_without_other_names_there_is_no_note() -> None:
    benchmark = Benchmark("b", "B", "1", CLIPS)
    assert {benchmark.label_note(clip.key) for clip in CLIPS} == {""}


@pytest.mark.shared
def test_the_published_table_names_china_in_taiwan(shared_data: Path) -> None:
    benchmark = read_published(shared_data / PUBLISHED_FILE)
    noted = [clip for clip in benchmark.clips if benchmark.label_note(clip.key)]
    assert len(noted) == 214
    assert all(21 < clip.lat < 26 and 118 < clip.lon < 123 for clip in noted)

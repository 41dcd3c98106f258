from __future__ import annotations

import csv
import math
from pathlib import Path

import pytest

from agl1k_core.scoring import METRICS
from leaderboard.columns import SUBSETS
from leaderboard.published import reported_rows

ROWS = {row.model: row for row in reported_rows("agl1k")}


def test_the_papers_models_and_baselines_are_there() -> None:
    assert len(ROWS) == 19
    models = [row for row in ROWS.values() if row.weights]
    assert sum(row.weights == "open" for row in models) == 8
    assert sum(row.weights == "closed" for row in models) == 8
    assert {"RANDOM", "Densest region", "Median location"} <= set(ROWS)


def test_they_belong_to_no_other_board() -> None:
    assert reported_rows("demo") == ()


@pytest.mark.parametrize("row", ROWS.values(), ids=lambda row: row.model)
def test_each_is_marked_and_names_only_known_metrics(row: object) -> None:
    row = ROWS[row.model]  # type: ignore[attr-defined]
    assert row.kind == "reported"
    assert not row.is_recomputed
    assert row.protocol == "paper"
    assert "not recomputed" in row.unranked
    assert set(row.values) <= set(SUBSETS)
    assert all(name in METRICS for numbers in row.values.values() for name in numbers)


def test_random_has_none_of_the_numbers_that_the_paper_took_from_another_model() -> None:
    row = ROWS["RANDOM"]
    assert row.value("distance_km", "speech") == 10137.49
    assert row.value("geoscore", "non_speech") == 115.6
    for subset in ("speech", "non_speech"):
        for name in ("continent_accuracy", "country_accuracy", "reject_rate", "within_10km"):
            assert math.isnan(row.value(name, subset))
    assert "left out" in row.note


def test_the_numbers_are_the_papers() -> None:
    table = Path(__file__).parents[3] / "shared" / "paper" / "published_results.csv"
    if not table.is_file():
        pytest.skip("the paper's tables are not beside this checkout")
    with table.open(encoding="utf-8") as stream:
        for line in csv.DictReader(stream):
            row = ROWS[line["model"]]
            assert row.value("distance_km") == float(line["distance_km"])
            assert row.value("distance_q75_km") == float(line["distance_q75_km"])
            assert row.value("distance_km", "things") == float(line["things_distance_km"])
            if row.model != "RANDOM":
                theirs = float(line["speech_within_100km"])
                assert row.value("within_100km", "speech") == theirs

"""Every number of ``evaluate``, on four clips computed by hand and on the published data."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from agl1k_core import benchmarks, places, predictions, scoring
from agl1k_core.answers import Status
from agl1k_core.benchmarks import Benchmark
from agl1k_core.errors import Agl1kError
from agl1k_core.predictions import Predictions
from agl1k_core.scoring import PAPER, PEOPLE, STRICT, Evaluation, evaluate

Maker = Callable[..., Predictions]

KEYS = ["paris", "nairobi", "suva", "windhoek"]
TRUTH = [(48.86, 2.35), (-1.29, 36.82), (-18.14, 178.44), (-22.56, 17.08)]
LABELS = [
    ("Europe", "France", "Paris"),
    ("Africa", "Kenya", "Nairobi"),
    ("Oceania", "Fiji", "Suva"),
    ("Africa", "Namibia", "Windhoek"),
]


def test_perfect_predictions(benchmark_of_four: Benchmark, make_predictions: Maker) -> None:
    result = evaluate(benchmark_of_four, make_predictions(KEYS, TRUTH, labels=LABELS))
    assert result.metrics["distance_km"] == 0
    assert result.metrics["geoscore"] == 5000
    for name in scoring.METRICS:
        if name.endswith("_accuracy") or name.startswith("within_"):
            assert result.metrics[name] == 1, name
    assert result.metrics["reject_rate"] == 0
    assert result.intervals["distance_km"] == scoring.Interval(0, 0)
    assert set(result.metrics) == set(scoring.METRICS) == set(result.intervals)


def test_no_predictions(benchmark_of_four: Benchmark, make_predictions: Maker) -> None:
    empty = make_predictions([], [])
    strict = evaluate(benchmark_of_four, empty)
    assert strict.n_clips == 4
    assert strict.statuses["missing"] == 4
    assert strict.metrics["distance_km"] == 10_000
    assert strict.metrics["reject_rate"] == 0
    paper = evaluate(benchmark_of_four, empty, PAPER)
    assert paper.n_clips == 0
    assert math.isnan(paper.metrics["distance_km"])


def test_subsets_are_within_non_speech(
    benchmark_of_four: Benchmark, make_predictions: Maker
) -> None:
    points = [(48.86, 2.35), (0, 36.82), (-18.14, 178.44), (-22.56, 0)]
    result = evaluate(benchmark_of_four, make_predictions(KEYS, points))
    off_nairobi = float(places.geodesic_km(-1.29, 36.82, 0, 36.82))
    off_windhoek = float(places.geodesic_km(-22.56, 17.08, -22.56, 0))
    assert result.subsets["speech"]["distance_km"] == 0
    assert result.subsets["animal"]["distance_km"] == pytest.approx(off_nairobi, rel=1e-12)
    assert result.subsets["nature"]["distance_km"] == 0
    assert result.subsets["things"]["distance_km"] == pytest.approx(off_windhoek, rel=1e-12)
    africa = (off_nairobi + off_windhoek) / 2
    assert result.subsets["Africa"]["distance_km"] == pytest.approx(africa, rel=1e-12)
    assert result.metrics["balanced_distance_km"] == pytest.approx(africa / 3, rel=1e-12)
    assert result.metrics["distance_km"] == pytest.approx(africa / 2, rel=1e-12)
    assert math.isnan(result.subsets["music"]["distance_km"])


def test_a_refusal_counts_as_ten_thousand_km(
    benchmark_of_four: Benchmark, make_predictions: Maker
) -> None:
    status = [Status.REFUSED, Status.UNPARSEABLE, Status.ERROR]
    result = evaluate(benchmark_of_four, make_predictions(KEYS[:3], TRUTH[:3], status=status))
    assert result.metrics["distance_km"] == 10_000
    assert result.metrics["geoscore"] == pytest.approx(float(places.geoscore(10_000)))
    assert result.metrics["reject_rate"] == 0.25
    assert dict(result.statuses) == {
        "answered": 0, "refused": 1, "unparseable": 1, "error": 1, "missing": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("point", "strict_km", "paper_km", "paper_rejects"),
    [
        ((48.86, 0), "truth", 10_000, 1),
        ((0, 2.35), "truth", 10_000, 1),
        (("-1", "2.35"), "truth", 10_000, 1),
        (("unknown", "2.35"), 10_000, 10_000, 1),
        (("somewhere", "2.35"), 10_000, math.nan, 0),
        ((48.86, 2.35), "truth", "truth", 0),
    ],
)
def test_protocols_differ_as_documented(
    benchmark_of_four: Benchmark,
    make_predictions: Maker,
    point: tuple[object, object],
    strict_km: object,
    paper_km: object,
    paper_rejects: int,
) -> None:
    usable = all(str(part).lstrip("-").replace(".", "").isdigit() for part in point)
    status = [Status.ANSWERED if usable else Status.UNPARSEABLE]
    labels = [("Europe", "France", "Paris")]
    made = make_predictions(["paris"], [point], labels=labels, status=status)
    lat, lon = (float(str(part)) if usable else math.nan for part in point)
    true_km = float(places.geodesic_km(48.86, 2.35, lat, lon))
    only_paris = replace(benchmark_of_four, clips=benchmark_of_four.clips[:1])
    for protocol, expected in ((STRICT, strict_km), (PAPER, paper_km)):
        result = evaluate(only_paris, made, protocol)
        km = true_km if expected == "truth" else expected
        assert result.metrics["distance_km"] == pytest.approx(km, nan_ok=True)
    assert result.metrics["reject_rate"] == paper_rejects


def test_label_accuracy_canonicalises_names(
    benchmark_of_four: Benchmark, make_predictions: Maker
) -> None:
    labels = [
        ("europe", "FRANCE", " paris "),
        ("Africa or Asia", "Republic of Kenya", "nairobi"),
        ("Australia", "fiji", "SUVA"),
        ("", "NA", "Wíndhoek"),
    ]
    result = evaluate(benchmark_of_four, make_predictions(KEYS, TRUTH, labels=labels))
    assert result.metrics["continent_accuracy"] == 0.5
    assert result.metrics["country_accuracy"] == 0.75
    assert result.metrics["city_accuracy"] == 1
    paper = evaluate(benchmark_of_four, make_predictions(KEYS, TRUTH, labels=labels), PAPER)
    assert paper.metrics["continent_accuracy"] == pytest.approx(2 / 3)


def test_a_table_may_label_countries_by_code(
    benchmark_of_four: Benchmark, make_predictions: Maker
) -> None:
    coded = [
        replace(clip, country=code)
        for clip, code in zip(benchmark_of_four.clips, ("FR", "KE", "FJ", "NA"), strict=True)
    ]
    result = evaluate(
        replace(benchmark_of_four, clips=tuple(coded)), make_predictions(KEYS, TRUTH, labels=LABELS)
    )
    assert result.metrics["country_accuracy"] == 1


def test_people_may_share_a_clip_and_vary_together(
    benchmark_of_four: Benchmark, make_predictions: Maker
) -> None:
    keys, points = ["paris"] * 60, [(48.86, 2.35)] * 30 + [(0.0, 2.35)] * 30
    apart = evaluate(benchmark_of_four, make_predictions(keys, points), PEOPLE)
    players = [f"player {i // 10}" for i in range(60)]
    together = evaluate(benchmark_of_four, make_predictions(keys, points, clusters=players), PEOPLE)
    assert together.metrics == pytest.approx(apart.metrics, nan_ok=True)
    width = [
        e.intervals["distance_km"].high - e.intervals["distance_km"].low for e in (apart, together)
    ]
    assert width[1] > 2 * width[0]
    with pytest.raises(Agl1kError, match="has two records"):
        evaluate(benchmark_of_four, make_predictions(keys, points), STRICT)


def test_an_unknown_clip_is_an_error(benchmark_of_four: Benchmark, make_predictions: Maker) -> None:
    with pytest.raises(Agl1kError, match=r"1 records name clips that Four does not have.*'rome'"):
        evaluate(benchmark_of_four, make_predictions(["rome"], [(41.9, 12.5)]))


def test_evaluation_survives_json(benchmark_of_four: Benchmark, make_predictions: Maker) -> None:
    result = evaluate(benchmark_of_four, make_predictions(KEYS[:2], TRUTH[:2], labels=LABELS[:2]))
    text = json.dumps(result.to_dict(), allow_nan=False)
    again = Evaluation.from_dict(json.loads(text))
    assert again.to_dict() == result.to_dict()
    assert again.metrics == pytest.approx(result.metrics, nan_ok=True)


def test_intervals_can_be_left_out(benchmark_of_four: Benchmark, make_predictions: Maker) -> None:
    result = evaluate(benchmark_of_four, make_predictions(KEYS, TRUTH), intervals=False)
    assert result.intervals == {}
    assert result.subset_intervals == {}


# --- the published data ------------------------------------------------------------------------


@pytest.fixture(scope="session")
def agl1k(shared_data: Path) -> Benchmark:
    return benchmarks.read_published(shared_data / benchmarks.PUBLISHED_FILE)


@pytest.fixture(scope="session")
def qwen(shared_data: Path, agl1k: Benchmark) -> Predictions:
    return predictions.read_predictions(shared_data / "predictions-qwen2.5-omni.json", agl1k)


PUBLISHED = {
    "distance_km": 5476.83, "geoscore": 1317.74, "continent_accuracy": 0.4478,
    "country_accuracy": 0.2607, "city_accuracy": 0.0173, "reject_rate": 0.3107,
    "within_1km": 0.0042, "within_10km": 0.0430, "within_100km": 0.0749, "within_500km": 0.1734,
    "within_1000km": 0.2519, "distance_q25_km": 983.09, "distance_q50_km": 5952.77,
    "distance_q75_km": 10000,
}  # fmt: skip


@pytest.mark.shared
def test_paper_protocol_reproduces_the_published_row(agl1k: Benchmark, qwen: Predictions) -> None:
    result = evaluate(agl1k, qwen, PAPER)
    assert result.n_clips == 1442
    for name, value in PUBLISHED.items():
        digits = 2 if name.endswith("_km") or name == "geoscore" else 4
        assert round(result.metrics[name], digits) == value, name
    distances = {
        "speech": 4540.06, "non_speech": 7777.20, "animal": 7723.77, "music": 5694.41,
        "nature": 7871.21, "things": 7854.18,
    }  # fmt: skip
    for subset, km in distances.items():
        assert round(result.subsets[subset]["distance_km"], 2) == km, subset
    assert round(result.subsets["speech"]["geoscore"], 2) == 1652.65
    assert round(result.subsets["non_speech"]["geoscore"], 2) == 495.31
    assert round(result.subsets["speech"]["reject_rate"], 3) == 0.215
    assert round(result.subsets["non_speech"]["reject_rate"], 3) == 0.545


@pytest.mark.shared
def test_strict_protocol_on_the_published_file(agl1k: Benchmark, qwen: Predictions) -> None:
    result = evaluate(agl1k, qwen)
    assert result.n_clips == 1444
    assert round(result.metrics["distance_km"], 2) == 5479.44
    assert round(result.metrics["geoscore"], 2) == 1317.62
    assert dict(result.statuses) == {
        "answered": 1058, "refused": 383, "unparseable": 1, "error": 0, "missing": 2,
    }  # fmt: skip
    inside = result.intervals["distance_km"]
    assert inside.low < result.metrics["distance_km"] < inside.high
    assert np.all(np.isfinite(result.rows.lat) == (result.rows.status == Status.ANSWERED))  # type: ignore[union-attr]

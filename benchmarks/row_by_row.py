"""The peer of ``scoring``: the same numbers as a competent analyst would compute them.

pandas with one row per clip, ``apply`` for each column, ``geopy`` for distances, one batch of
``reverse_geocoder`` for the labels that coordinates imply. Names of places go through the same
``places`` functions, so that the results can be compared.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import pandas as pd
import reverse_geocoder
from geopy.distance import geodesic

from agl1k_core import places
from agl1k_core.benchmark import SUBSET_CLASSES, Benchmark

Numbers = dict[str, float]

LABELS = ("continent", "country", "city")
THRESHOLDS_KM = (1, 10, 25, 100, 500, 1000)


def evaluate(data: bytes, benchmark: Benchmark) -> dict[str, Numbers]:
    """Subset -> metric -> value under the strict protocol; "" is the whole benchmark.

    Raises ``ValueError`` for a clip that the benchmark does not have, or one named twice.
    """
    truth, answers = _truth(benchmark), _answers(data)
    unknown = set(answers["key"]) - set(truth["key"])
    if unknown or answers["key"].duplicated().any():
        raise ValueError("the file names unknown clips, or clips twice")
    rows = truth.merge(answers, on="key", how="left")
    _add_scores(rows, benchmark)
    _add_implied(rows, benchmark)
    return {"": _summary(rows)} | {name: _summary(part) for name, part in _subsets(rows).items()}


def _truth(benchmark: Benchmark) -> pd.DataFrame:
    """The benchmark as a table with canonical labels."""
    table = pd.DataFrame(
        {
            "key": clip.key,
            "true_latitude": clip.lat,
            "true_longitude": clip.lon,
            "is_speech": clip.has("human"),
            **{f"is_{name}": clip.has(name) for name in SUBSET_CLASSES},
        }
        for clip in benchmark.clips
    )
    for label in LABELS:
        table[f"true_{label}"] = benchmark.canonical_labels[label]
    return table


def _answers(data: bytes) -> pd.DataFrame:
    """The published kind of prediction file, a JSON list with ``predicted_*``, as a table."""
    table = pd.DataFrame(json.loads(data))
    table = table.rename(columns={"question_id": "key"})
    return table.rename(columns=lambda name: name.removeprefix("predicted_"))[
        ["key", "latitude", "longitude", *LABELS]
    ]


def _add_scores(rows: pd.DataFrame, benchmark: Benchmark) -> None:
    """The columns that are one value per clip."""
    rows["point_latitude"] = rows["latitude"].apply(_coordinate)
    rows["point_longitude"] = rows["longitude"].apply(_coordinate)
    rows["status"] = rows.apply(_status, axis=1)
    rows["distance_km"] = rows.apply(_distance_km, axis=1)
    rows["geoscore"] = rows["distance_km"].apply(lambda km: 5000 * math.exp(-km / 1492.7))
    names = {
        "continent": places.canonical_continent,
        "country": benchmark.canonical_country,
        "city": places.canonical_city,
    }
    for label, canonical in names.items():
        rows[f"{label}_accuracy"] = rows.apply(
            lambda row, label=label, canonical=canonical: _agree(
                canonical(row[label]), row[f"true_{label}"]
            ),
            axis=1,
        )
    rows["reject_rate"] = rows["status"] == "refused"
    for threshold in THRESHOLDS_KM:
        rows[f"within_{threshold}km"] = rows["distance_km"] < threshold


def _coordinate(value: object) -> float:
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return math.nan


def _status(row: pd.Series[Any]) -> str:
    if pd.isna(row["latitude"]):
        return "missing"
    if row["point_latitude"] == 0 and row["point_longitude"] == 0:
        return "refused"
    if abs(row["point_latitude"]) <= 90 and abs(row["point_longitude"]) <= 180:
        return "answered"
    return "unparseable"


def _distance_km(row: pd.Series[Any]) -> float:
    if row["status"] != "answered":
        return 10_000.0
    truth = row["true_latitude"], row["true_longitude"]
    return float(geodesic(truth, (row["point_latitude"], row["point_longitude"])).km)


def _agree(predicted: str | None, truth: str) -> bool:
    return bool(truth) and predicted == truth


def _add_implied(rows: pd.DataFrame, benchmark: Benchmark) -> None:
    """Whether the labels of the predicted points are right."""
    answered = rows[rows["status"] == "answered"]
    points = list(zip(answered["point_latitude"], answered["point_longitude"], strict=True))
    found = reverse_geocoder.search(points, mode=1, verbose=False) if points else []
    implied = {
        "continent": [places.continent_of(place["cc"]) for place in found],
        "country": [benchmark.country_aliases.get(p["cc"], p["cc"]) for p in found],
        "city": [places.canonical_city(place["name"]) for place in found],
    }
    for label, names in implied.items():
        rows.loc[answered.index, f"implied_{label}"] = names
        rows[f"implied_{label}_accuracy"] = rows.apply(
            lambda row, label=label: _agree(row[f"implied_{label}"], row[f"true_{label}"]), axis=1
        )


def _subsets(rows: pd.DataFrame) -> Mapping[str, pd.DataFrame]:
    quiet = rows[~rows["is_speech"]]
    subsets = {"speech": rows[rows["is_speech"]], "non_speech": quiet}
    subsets |= {name: quiet[quiet[f"is_{name}"]] for name in SUBSET_CLASSES}
    continents = {str(name): part for name, part in rows.groupby("true_continent") if name}
    return subsets | continents


def _summary(rows: pd.DataFrame) -> Numbers:
    means = [
        "distance_km", "geoscore", "continent_accuracy", "country_accuracy", "city_accuracy",
        "reject_rate", *(f"within_{threshold}km" for threshold in THRESHOLDS_KM),
        "implied_continent_accuracy", "implied_country_accuracy", "implied_city_accuracy",
    ]  # fmt: skip
    numbers = {name: float(rows[name].mean()) for name in means}
    for percent in (25, 50, 75):
        numbers[f"distance_q{percent}_km"] = float(rows["distance_km"].quantile(percent / 100))
    by_continent = rows[rows["true_continent"] != ""].groupby("true_continent")
    for name in ("distance_km", "geoscore", "country_accuracy", "continent_accuracy"):
        numbers[f"balanced_{name}"] = float(by_continent[name].mean().mean())
    return numbers

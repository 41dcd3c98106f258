"""The paper protocol beside a data frame, row by row, as the published numbers were computed."""

from __future__ import annotations

import io
import json
import math

import numpy as np
import pandas as pd
import pytest
from geopy.distance import geodesic
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from agl1k_core.benchmarks import Benchmark
from agl1k_core.predictions import read_predictions
from agl1k_core.scoring import PAPER, STRICT, evaluate

KEYS = ("paris", "nairobi", "suva", "windhoek")
FIELDS = ("latitude", "longitude", "city", "country", "continent")
COORDINATES = st.sampled_from([
    48.86, -1.29, 36.82, 2, 0, -1, 0.0, -1.0, -0.0, 91, -95.5, 178.44, 181, 323.5, -200, 720.25,
    "0", "-1", "0.0", "-1.0", "0.00", " 48.5 ", "12.5", "200", "95", None, "", " ", "N/A", "na",
    "none", "None", "null", "unable", "Cannot", "Unknown", "unknown ", "Not specified", "48.9 N",
    "nan", "inf", 1e300, "1e2",
])  # fmt: skip
NAMES = st.sampled_from(
    ["Paris", "France", "Europe", "Suva", "Fiji", "Oceania", "Nairobi", "Kenya", "Africa",
     "Unknown", "N/A", "none", "unable", "", " ", None, "cannot", "NA"]
)  # fmt: skip
#: Two kinds of columns, because pandas makes numbers of one without words.
NUMBERS = COORDINATES.filter(lambda value: isinstance(value, int | float) or value is None)
COLUMNS = st.sampled_from(
    [COORDINATES, NUMBERS, NUMBERS.filter(lambda value: isinstance(value, int))]
)
RECORDS = COLUMNS.flatmap(
    lambda column: st.lists(st.tuples(column, column, NAMES, NAMES, NAMES), min_size=1, max_size=4)
)
REFUSALS = {"0", "-1", "0.0", "", "null", "none", "n/a", "na", "unknown", "unable", "cannot"}


def is_refused(value: object) -> bool:
    return value is None or value != value or str(value).strip().lower() in REFUSALS


def kilometres(true: tuple[float, float], lat: object, lon: object) -> float:
    if is_refused(lat) or is_refused(lon):
        return 10_000.0
    try:
        return float(geodesic(true, (float(str(lat)), float(str(lon)))).km)
    except ValueError:
        return math.nan


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(RECORDS)
@example([(-1.0, -1.0, "Paris", "France", "Europe")] * 2 + [(1.5, 2.5, "", "", "")])
@example([(-1, -1, "", "Kenya", "Africa"), ("N/A", "N/A", None, None, None)])
@example([(10, 323.5, "Paris", "France", "Europe"), (95, 10, "Paris", "France", "Europe")])
@pytest.mark.filterwarnings("ignore:Latitude normalization")
def test_records_count_as_in_a_data_frame(
    benchmark_of_four: Benchmark, records: list[tuple[object, ...]]
) -> None:
    rows = [
        {"question_id": key, **{f"predicted_{n}": v for n, v in zip(FIELDS, row, strict=True)}}
        for key, row in zip(KEYS, records, strict=False)
    ]
    data = json.dumps(rows)
    frame = pd.read_json(io.StringIO(data))
    read = read_predictions(data.encode(), benchmark_of_four)
    result = evaluate(benchmark_of_four, read, PAPER, intervals=False)

    truth = [(clip.lat, clip.lon) for clip in benchmark_of_four.clips]
    points = zip(truth, frame["predicted_latitude"], frame["predicted_longitude"], strict=False)
    km = np.array([kilometres(true, lat, lon) for true, lat, lon in points])
    expected = float(km[~np.isnan(km)].mean()) if not np.isnan(km).all() else math.nan
    assert result.metrics["distance_km"] == pytest.approx(expected, abs=1e-6, nan_ok=True)
    near = float((km[~np.isnan(km)] < 1000).mean()) if not np.isnan(km).all() else math.nan
    assert result.metrics["within_1000km"] == pytest.approx(near, nan_ok=True)

    named = frame[["predicted_city", "predicted_country", "predicted_continent"]]
    refused = frame[["predicted_latitude", "predicted_longitude"]].join(named).map(is_refused)
    assert result.metrics["reject_rate"] == pytest.approx(refused.any(axis=1).mean())
    cities = zip(frame["predicted_city"], benchmark_of_four.clips, strict=False)
    hits = [str(city).strip() == clip.city for city, clip in cities if not pd.isna(city)]
    share = float(np.mean(hits)) if hits else math.nan
    assert result.metrics["city_accuracy"] == pytest.approx(share, nan_ok=True)


@pytest.mark.parametrize(
    ("point", "strict", "paper"),
    [
        ((None, None), 10_000, 10_000), (("", ""), 10_000, 10_000),
        (("N/A", "N/A"), 10_000, 10_000),
        (("none", 1.5), 10_000, 10_000), (("unable", "unable"), 10_000, 10_000),
        ((-1.0, 2.5), "point", "point"), ((0.0, 2.5), "point", 10_000),
        ((48.86, 362.35), 10_000, 0.0), ((91.5, 2.35), 10_000, math.nan),
    ],
)  # fmt: skip
def test_strict_and_paper(
    benchmark_of_four: Benchmark, point: tuple[object, object], strict: object, paper: object
) -> None:
    """Paris as given, and Nairobi right; the decimals make the column one of numbers."""
    rows: list[dict[str, object]] = [
        {"key": "paris", "latitude": point[0], "longitude": point[1]},
        {"key": "nairobi", "latitude": -1.29, "longitude": 36.82},
    ]
    read = read_predictions(rows, benchmark_of_four)
    for protocol, expected in ((STRICT, strict), (PAPER, paper)):
        km = evaluate(benchmark_of_four, read, protocol, intervals=False).rows
        assert km is not None
        found = float(km.column("distance_km")[0])
        if expected == "point":
            assert 4_000 < found < 6_000
        else:
            assert found == pytest.approx(expected, abs=1e-6, nan_ok=True)

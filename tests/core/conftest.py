"""A small benchmark, predictions for it, and the real data if it is available."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from agl1k_core.answers import Status
from agl1k_core.benchmarks import Benchmark, Clip
from agl1k_core.predictions import Predictions
from tests.support.hostile_server import HostileServer, hostile_server

SHARED = Path(__file__).parents[3] / "shared" / "agl1k"

CLIPS = (
    Clip("paris", 48.86, 2.35, "Paris", "France", "Europe", classes={"human": 1.0}),
    Clip("nairobi", -1.29, 36.82, "Nairobi", "Kenya", "Africa", classes={"animal": 0.5}),
    Clip("suva", -18.14, 178.44, "Suva", "Fiji", "Oceania", classes={"nature": 0.1, "human": 0.09}),
    Clip("windhoek", -22.56, 17.08, "Windhoek", "Namibia", "Africa", classes={"things": 1.0}),
)

Maker = Callable[..., Predictions]


@pytest.fixture
def benchmark_of_four() -> Benchmark:
    return Benchmark("four", "Four", "1", CLIPS)


@pytest.fixture
def make_predictions() -> Maker:
    return predictions_of


def predictions_of(
    keys: Sequence[str],
    points: Sequence[tuple[object, object]],
    *,
    labels: Sequence[tuple[str, str, str]] = (),
    status: Sequence[Status] = (),
    clusters: Sequence[str] | None = None,
) -> Predictions:
    """Predictions with points as given; ``labels`` are (continent, country, city)."""
    n = len(keys)
    names = list(labels) or [("", "", "")] * n
    lat, lon = (np.array([_number(p[i]) for p in points], dtype=float) for i in (0, 1))
    columns = {
        name: np.array([row[i] for row in names], dtype=object)
        for i, name in enumerate(("continent", "country", "city"))
    }
    statuses = list(status) or [Status.ANSWERED] * n
    unusable = np.array([s != Status.ANSWERED for s in statuses], dtype=bool)
    lat[unusable], lon[unusable] = np.nan, np.nan
    given = {"latitude": [p[0] for p in points], "longitude": [p[1] for p in points]}
    return Predictions(
        keys=np.array(keys, dtype=object),
        status=np.array(statuses, dtype=object),
        lat=lat,
        lon=lon,
        reason=np.array([""] * n, dtype=object),
        given={k: np.array(v, dtype=object) for k, v in given.items()} | columns,
        clusters=None if clusters is None else np.array(clusters, dtype=object),
        continent=columns["continent"],
        country=columns["country"],
        city=columns["city"],
    )


def _number(value: object) -> float:
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return float("nan")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    if not SHARED.is_dir():
        pytest.skip("the real AGL1K data is not beside this checkout")
    return SHARED


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[HostileServer]:
    """A server whose next answers can be made to fail; no proxy is used."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with hostile_server() as running:
        yield running

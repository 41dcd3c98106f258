"""Baselines: predictions that any model should beat.

``random`` draws uniformly on the sphere, so that its expected distance is a quarter of the
Earth's circumference, about 10,010 km. ``densest_region`` and ``median_location`` use the true
places of the benchmark's clips but not their sound (after Zhang et al. 2026, appendix B.7, which
leaves the size of a region open).
"""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from agl1k_core import places
from agl1k_core.answers import Status
from agl1k_core.benchmarks import Benchmark
from agl1k_core.errors import Agl1kError
from agl1k_core.predictions import Predictions

FloatArray = npt.NDArray[np.float64]
Points = tuple[FloatArray, FloatArray]

SEED = 2026
CELL_DEGREES = 10.0
FIELDS = ("key", "latitude", "longitude", "city", "country", "continent", "reason")


def random(benchmark: Benchmark) -> Points:
    """A point drawn uniformly on the sphere for each clip, from a fixed seed."""
    generator = np.random.default_rng(SEED)
    lat = np.degrees(np.arcsin(generator.uniform(-1, 1, len(benchmark))))
    return lat, generator.uniform(-180, 180, len(benchmark))


def densest_region(benchmark: Benchmark) -> Points:
    """The middle of the clips in the 10° cell that holds most of them, for every clip."""
    cells = np.floor(np.column_stack([benchmark.lat, benchmark.lon]) / CELL_DEGREES)
    _, member, sizes = np.unique(cells, axis=0, return_inverse=True, return_counts=True)
    inside = member.ravel() == sizes.argmax()
    return _everywhere(benchmark, benchmark.lat[inside].mean(), benchmark.lon[inside].mean())


def median_location(benchmark: Benchmark) -> Points:
    """The median latitude and the median longitude, for every clip."""
    return _everywhere(benchmark, np.median(benchmark.lat), np.median(benchmark.lon))


def _everywhere(benchmark: Benchmark, lat: np.floating, lon: np.floating) -> Points:
    return np.full(len(benchmark), float(lat)), np.full(len(benchmark), float(lon))


_POINTS: Mapping[str, Callable[[Benchmark], Points]] = {
    "random": random,
    "densest_region": densest_region,
    "median_location": median_location,
}

#: Name -> one sentence about what it predicts.
BASELINES: Mapping[str, str] = {
    "random": "A random point on the globe for each clip.",
    "densest_region": "The middle of the 10° cell with most clips, whatever the sound.",
    "median_location": "The median latitude and longitude of all clips, whatever the sound.",
}


def baseline(benchmark: Benchmark, name: str) -> Predictions:
    """Predictions that any model should beat.

    Parameters
    ----------
    benchmark
        The clips to predict.
    name
        "random", "densest_region" or "median_location"; `BASELINES` describes them.

    Returns
    -------
    Predictions
        One answer per clip, rounded to 5 decimals, with the names of the nearest populated place.

    Raises
    ------
    Agl1kError
        If there is no baseline of that name, or it needs true places that are not known.

    Examples
    --------
    >>> import agl1k_core as ag
    >>> predictions = ag.baseline(ag.load_benchmark("demo"), "densest_region")
    >>> float(predictions.lat[0]), float(predictions.lon[0]), predictions.country[0]
    (-34.6206, -58.3714, 'Argentina')
    """
    if name not in _POINTS:
        raise Agl1kError(f"There is no baseline {name!r}. Choose one of {', '.join(_POINTS)}.")
    if name != "random":
        benchmark.require_truth()
    lat, lon = (np.round(column, 5) for column in _POINTS[name](benchmark))
    labels = places.label_points(lat, lon)
    columns = {
        field: np.array([getattr(label, field) for label in labels], dtype=object)
        for field in ("city", "country", "continent")
    }
    given = {"latitude": lat.astype(object), "longitude": lon.astype(object), **columns}
    points = np.ascontiguousarray(np.column_stack([lat, lon]))
    return Predictions(
        keys=np.array([clip.key for clip in benchmark.clips], dtype=object),
        status=np.full(len(benchmark), Status.ANSWERED, dtype=object),
        lat=lat,
        lon=lon,
        reason=np.full(len(benchmark), BASELINES[name], dtype=object),
        given=given,
        sha256=hashlib.sha256(points.tobytes()).hexdigest(),
        source=f"baseline {name}",
        city=columns["city"],
        country=columns["country"],
        continent=columns["continent"],
    )


def predictions_csv(predictions: Predictions) -> str:
    """Predictions as the text of a prediction file in CSV, one line per record.

    Examples
    --------
    >>> import agl1k_core as ag
    >>> predictions = ag.baseline(ag.load_benchmark("demo"), "densest_region")
    >>> print(ag.scoring.predictions_csv(predictions).splitlines()[0])
    key,latitude,longitude,city,country,continent,reason
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(FIELDS)
    writer.writerows(
        zip(
            predictions.keys,
            predictions.lat,
            predictions.lon,
            predictions.city,
            predictions.country,
            predictions.continent,
            predictions.reason,
            strict=True,
        )
    )
    return text.getvalue()

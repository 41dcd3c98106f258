"""What is odd about predictions that can be read: signs that they were not read as meant."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from agl1k_core.benchmarks import Benchmark
from agl1k_core.delimited import look_alike, odd_letter
from agl1k_core.errors import Problem
from agl1k_core.places import NO_POINT_KM

FloatArray = npt.NDArray[np.float64]

_EARTH_KM = 6371.0
#: Without a point in so many of the records, something else may be wrong.
_MOST_WITHOUT_POINT = 0.9
#: So many records, spread over the file, show how coordinates fit.
MOST_COMPARED = 200
_KNOWN_NAMES = ("latitude", "longitude", "city", "country", "continent", "model_output")
_FORMAT = "docs/prediction-format.md lists the fields"
_MOST_NAMED = 8


def doubts_of_fields(names: Sequence[str], *, any_known: bool) -> Iterator[Problem]:
    """Doubts about the names of fields that are not read; ``any_known``: others are."""
    alike = {name: other for name in names if (other := look_alike(name, _KNOWN_NAMES))}
    if not any_known:
        found = "No record has a field that is read as an answer, so every clip counts as an error"
        todo = f"Name raw answers model_output, coordinates latitude and longitude; {_FORMAT}"
        yield Problem(f"{found}. {_listed(names)}", todo)
    for name, other in list(alike.items())[:_MOST_NAMED]:
        odd = odd_letter(name)
        if odd or not any_known:
            with_odd = f"It has {odd} and is not read" if odd else "It is not read"
            yield Problem(with_odd, f"Rename it to {other}", field=name)


def doubts_of_points(
    benchmark: Benchmark, clip: npt.NDArray[np.int64], lat: FloatArray, lon: FloatArray
) -> Iterator[Problem]:
    """Doubts about coordinates, given as numbers: are they swapped, in radians, or 0 to 360?

    Parameters
    ----------
    benchmark
        The clips.
    clip
        Position of each record's clip, shape ``(n,)``.
    lat, lon
        The coordinates as given, which may be out of range; NaN if they are not numbers.
    """
    numbers = np.flatnonzero(np.isfinite(lat) & np.isfinite(lon) & ((lat != 0) | (lon != 0)))
    if not len(numbers):
        return
    lat, lon, clip = lat[numbers], lon[numbers], clip[numbers]
    beyond = (lon > 180) & (lon <= 360) & (np.abs(lat) <= 90)
    if beyond.any() and not (lon < 0).any():
        found = "Longitudes are between 0 and 360; above 180 they are no points"
        yield Problem(found, "Subtract 360 from those above 180", field="longitude")
    truth = benchmark.lat[clip], benchmark.lon[clip]
    as_given = _distances(truth, lat, lon)
    if _fits_better(_distances(truth, lon, lat), as_given):
        found = "The points fit far better with latitude and longitude swapped"
        yield Problem(found, "Check which is which; latitude is -90 to 90")
    if (np.abs(lat) <= np.pi / 2 + 0.01).all() and (np.abs(lon) <= np.pi + 0.01).all():
        in_degrees = _distances(truth, np.degrees(lat), np.degrees(lon))
        if _fits_better(in_degrees, as_given):
            yield Problem("The coordinates fit far better as radians", "Give them in degrees")


def doubt_of_coverage(names: Sequence[str], n_records: int, n_points: int) -> Problem | None:
    """A doubt if hardly any record has a point."""
    if n_records - n_points < _MOST_WITHOUT_POINT * n_records:
        return None
    found = f"{n_records - n_points:,} of {n_records:,} records have no point"
    unread = f". {_listed(names)}" if names else ""
    return Problem(found + unread, f"Check that this is what the model answered; {_FORMAT}")


def _listed(names: Iterable[str]) -> str:
    shown = [repr(name[:40]) for name in names]
    if not shown:
        return "The records have no other fields than the clip"
    more = f" and {len(shown) - _MOST_NAMED} more" if len(shown) > _MOST_NAMED else ""
    return f"These are not read: {', '.join(shown[:_MOST_NAMED])}{more}"


def _count(mask: npt.NDArray[np.bool_]) -> int:
    return int(np.count_nonzero(mask))


def _distances(
    truth: tuple[FloatArray, FloatArray], lat: FloatArray, lon: FloatArray
) -> FloatArray:
    """Distances on the sphere, which takes a tenth of the time of geodesics."""
    phi, theta, lat0, lon0 = np.radians((lat, lon, *truth))
    cosine = np.sin(phi) * np.sin(lat0) + np.cos(phi) * np.cos(lat0) * np.cos(theta - lon0)
    usable = (np.abs(lat) <= 90) & (np.abs(lon) <= 180)
    return np.where(usable, _EARTH_KM * np.arccos(np.clip(cosine, -1, 1)), NO_POINT_KM)


def _fits_better(other: FloatArray, as_given: FloatArray) -> bool:
    """Whether other readings are much nearer on the whole, and for most records."""
    better, worse = _count(other < as_given), _count(other > as_given)
    if not better or other.mean() > 0.8 * as_given.mean():
        return False
    n = better + worse
    as_good: int = sum(math.comb(n, k) for k in range(better, n + 1))
    return as_good * 100 < 1 << n  # a sign test at the level of 1 %

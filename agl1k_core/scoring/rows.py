"""Each record of a prediction file as a row of numbers; every metric is a mean or a quantile of
these rows (Zhang et al. 2026, appendix A.3).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import repeat
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from agl1k_core import places
from agl1k_core.answers import Status
from agl1k_core.benchmarks import Benchmark
from agl1k_core.errors import Agl1kError
from agl1k_core.places import NO_POINT_KM, geodesic_km, geoscore
from agl1k_core.predictions import Predictions
from agl1k_core.scoring import _published
from agl1k_core.scoring.protocols import THRESHOLDS_KM, Protocol

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
ObjectArray = npt.NDArray[np.object_]

T = TypeVar("T", bound=np.generic)

STATUSES = tuple(Status)
_STATUS_CODE = {status: code for code, status in enumerate(STATUSES)}
_MISSING, _REFUSED = _STATUS_CODE[Status.MISSING], _STATUS_CODE[Status.REFUSED]

LABELS = ("continent", "country", "city")
COORDINATES = ("latitude", "longitude")

#: The metrics that have a value for each record, and so for each clip; in the order of the
#: columns of ``ScoredRows.values``. The metric is the mean of these values.
CLIP_METRICS = (
    "distance_km",
    "geoscore",
    *(f"{label}_accuracy" for label in LABELS),
    "reject_rate",
    *(f"within_{threshold}km" for threshold in THRESHOLDS_KM),
    *(f"implied_{label}_accuracy" for label in LABELS),
)


@dataclass(frozen=True)
class ScoredRows:
    """One row per record, and one per missing clip if the protocol counts these.

    Parameters
    ----------
    benchmark
        The benchmark that was scored.
    clip
        Position in ``benchmark.clips``, shape ``(n,)``.
    status_code
        Position in `STATUSES`, shape ``(n,)``.
    values
        One column for each of `CLIP_METRICS`, shape ``(n, len(CLIP_METRICS))``. A value is NaN if
        the protocol leaves the record out of that column's mean.
    lat, lon
        The usable point in degrees, or NaN, shape ``(n,)``.
    labels
        The predicted names, each of shape ``(n,)``.
    cluster
        The number of each row's cluster, such as its player, shape ``(n,)``, or None for each on
        its own.
    """

    benchmark: Benchmark = field(repr=False)
    clip: IntArray
    status_code: IntArray
    values: FloatArray
    lat: FloatArray
    lon: FloatArray
    labels: dict[str, ObjectArray]
    cluster: IntArray | None = None

    def __len__(self) -> int:
        return len(self.clip)

    @property
    def status(self) -> ObjectArray:
        """The status of each row, shape ``(n,)``."""
        return np.array(STATUSES, dtype=object)[self.status_code]

    def column(self, name: str) -> FloatArray:
        """The values of one of ``CLIP_METRICS``, shape ``(n,)``."""
        return self.values[:, CLIP_METRICS.index(name)]

    def by_clip(self, metric: str) -> FloatArray:
        """A metric of each clip, shape ``(n_clips,)``; the mean of its records, NaN without any."""
        values = self.column(metric)
        counted = np.isfinite(values)
        clip, n_clips = self.clip[counted], len(self.benchmark)
        totals = np.bincount(clip, values[counted], minlength=n_clips)
        with np.errstate(invalid="ignore"):
            return totals / np.bincount(clip, minlength=n_clips)

    @property
    def has_record(self) -> BoolArray:
        """Which clips have a row, shape ``(n_clips,)``."""
        return np.bincount(self.clip, minlength=len(self.benchmark)) > 0

    @property
    def has_answer(self) -> BoolArray:
        """Which clips have a row with a usable point, shape ``(n_clips,)``."""
        answered = self.clip[np.isfinite(self.lat)]
        return np.bincount(answered, minlength=len(self.benchmark)) > 0

    @cached_property
    def fingerprint(self) -> int:
        """Equal for rows with the same answers, whatever the file's order or format."""
        order = np.lexsort((self.lon, self.lat, self.clip))
        columns = (self.clip, self.status_code, self.lat, self.lon, self.values)
        return hash(tuple(column[order].tobytes() for column in columns))

    @cached_property
    def table(self) -> pd.DataFrame:
        """The rows for users; see ``Evaluation.table``."""
        columns: dict[str, object] = {
            "key": self._of_clips("key"),
            "status": [str(status) for status in self.status],
            "latitude": self.lat,
            "longitude": self.lon,
            **{label: self.labels[label] for label in reversed(LABELS)},
            "distance_km": self.column("distance_km"),
            "geoscore": self.column("geoscore"),
        }
        for label in reversed(LABELS):
            columns[f"{label}_correct"] = self.column(f"{label}_accuracy")
        columns["true_latitude"] = self.benchmark.lat[self.clip]
        columns["true_longitude"] = self.benchmark.lon[self.clip]
        columns |= {f"true_{label}": self._of_clips(label) for label in reversed(LABELS)}
        return pd.DataFrame(columns)

    def _of_clips(self, name: str) -> ObjectArray:
        texts = [getattr(clip, name) for clip in self.benchmark.clips]
        return np.array(texts, dtype=object)[self.clip]


def score_rows(benchmark: Benchmark, predictions: Predictions, protocol: Protocol) -> ScoredRows:
    """Score every record; raises ``Agl1kError`` for an unknown clip, or one with two records."""
    benchmark.require_truth()
    records = _Records(benchmark, predictions, protocol)
    values = np.empty((len(records.clip), len(CLIP_METRICS)), order="F")  # read column by column
    for column, numbers in enumerate(records.columns()):
        values[:, column] = numbers
    return ScoredRows(
        benchmark=benchmark,
        clip=records.clip,
        status_code=records.status_code,
        values=values,
        lat=records.lat,
        lon=records.lon,
        labels=records.labels,
        cluster=records.cluster(),
    )


class _Records:
    """The file's records, then the missing clips, as columns of one length."""

    def __init__(self, benchmark: Benchmark, predictions: Predictions, protocol: Protocol) -> None:
        self.benchmark, self.predictions, self.protocol = benchmark, predictions, protocol
        present = _positions(benchmark, predictions.keys, protocol)
        self.missing = _absent(len(benchmark), present) if protocol.every_clip else present[:0]
        self.clip = np.concatenate([present, self.missing])
        self.status_code = self._extended(_status_codes(predictions.status), _MISSING)
        self.lat = self._extended(predictions.lat, np.nan)
        self.lon = self._extended(predictions.lon, np.nan)
        self.labels = {name: self._extended(getattr(predictions, name), "") for name in LABELS}

    def _extended(self, column: npt.NDArray[T], filler: object) -> npt.NDArray[T]:
        if not len(self.missing):
            return column
        tail = np.full(len(self.missing), filler, dtype=column.dtype)
        return np.concatenate([column, tail])

    def given(self, name: str) -> ObjectArray:
        return self._extended(self.predictions.given[name], None)

    def cluster(self) -> IntArray | None:
        if self.predictions.clusters is None:
            return None
        return pd.factorize(self._extended(self.predictions.clusters, ""))[0]

    def columns(self) -> list[FloatArray]:
        """The columns in the order of ``CLIP_METRICS``."""
        point_refused, refused = self._refusals()
        distance_km = self._distances(point_refused)
        counted = np.isfinite(distance_km)
        numbers = {label: _Numbers(self.benchmark, label) for label in LABELS}
        labels = [self._label_accuracy(label, numbers[label]) for label in LABELS]
        return [
            distance_km,
            geoscore(distance_km),
            *labels,
            refused.astype(np.float64),
            *(self._within(distance_km, counted, threshold) for threshold in THRESHOLDS_KM),
            *self._implied_accuracy(numbers),
        ]

    def _refusals(self) -> tuple[BoolArray, BoolArray]:
        """(the point is refused, any of the five fields is refused), each of shape ``(n,)``."""
        if self.protocol.refused_by_status:
            refused = self.status_code == _REFUSED
            return refused, refused
        words = self.protocol.refusal_words
        by_point, by_label = np.zeros((2, len(self.clip)), dtype=np.bool_)
        for name in COORDINATES:
            by_point |= _published.coordinate_refusals(self.given(name), words)
        for name in LABELS:
            by_label |= _published.text_refusals(self.given(name), words)
        return by_point, by_point | by_label

    def _distances(self, point_refused: BoolArray) -> FloatArray:
        truth_lat, truth_lon = self.benchmark.lat[self.clip], self.benchmark.lon[self.clip]
        lat, lon = self.lat, self.lon
        if not self.protocol.refused_by_status:
            lat, lon = (_published.plain_numbers(self.given(name)) for name in COORDINATES)
        distance_km = geodesic_km(truth_lat, truth_lon, lat, lon)
        if self.protocol.no_point_counts:
            distance_km[np.isnan(distance_km)] = NO_POINT_KM
        distance_km[point_refused] = NO_POINT_KM
        return distance_km

    def _within(self, distance_km: FloatArray, counted: BoolArray, threshold: int) -> FloatArray:
        inside = (distance_km < threshold).astype(np.float64)
        if threshold not in self.protocol.thresholds_over_records_km:
            inside[~counted] = np.nan
        return inside

    def _label_accuracy(self, label: str, numbers: _Numbers) -> FloatArray:
        codes, names = pd.factorize(self.labels[label])
        correct = self._correct(label, numbers.of(names)[codes])
        if self.protocol.only_labelled:
            published = np.array(
                [bool(getattr(clip, label)) for clip in self.benchmark.clips], dtype=np.bool_
            )
            may_be_empty = label == "city"
            given = np.array([_has(value, may_be_empty) for value in self.given(label)], np.bool_)
            correct[~(given & published[self.clip])] = np.nan
        return correct

    def _implied_accuracy(self, numbers: Mapping[str, _Numbers]) -> list[FloatArray]:
        implied, which = places.distinct_labels(self.lat, self.lon)
        return [
            self._correct(label, numbers[label].of([getattr(p, label) for p in implied])[which])
            for label in LABELS
        ]

    def _correct(self, label: str, predicted: IntArray) -> FloatArray:
        truth = self.benchmark.label_codes[label].of_clips[self.clip]
        return np.asarray(predicted == truth, dtype=np.float64)


class _Numbers:
    """The number of each predicted name among a benchmark's labels of one kind."""

    def __init__(self, benchmark: Benchmark, label: str) -> None:
        self._numbers = benchmark.label_codes[label].numbers
        self._canonical = {
            "continent": lambda name: places.canonical_continent(name) or "",
            "country": lambda name: benchmark.canonical_country(name) or places.fold(name),
            "city": places.canonical_city,
        }[label]
        self._known: dict[str, int] = {}

    def of(self, names: Iterable[str]) -> IntArray:
        """The number of each name's label, -2 if no clip has that label."""
        return np.array([self._number(name) for name in names], dtype=np.int64)

    def _number(self, name: str) -> int:
        found = self._known.get(name)
        if found is None:
            found = self._known[name] = self._numbers.get(self._canonical(name), -2)
        return found


def _positions(benchmark: Benchmark, keys: ObjectArray, protocol: Protocol) -> IntArray:
    found = map(benchmark.index.get, keys, repeat(-1))
    positions = np.fromiter(found, dtype=np.int64, count=len(keys))
    unknown = keys[positions < 0]
    if len(unknown):
        raise Agl1kError(
            f"{len(unknown)} records name clips that {benchmark.name} does not have, "
            f"such as {unknown[0]!r}. Read the file with read_predictions to list them all."
        )
    if not protocol.repeated_clips and np.bincount(positions).max(initial=0) > 1:
        raise Agl1kError(
            "A clip has two records. Read the file with read_predictions to see which."
        )
    return positions


def _status_codes(status: ObjectArray) -> IntArray:
    return np.fromiter(map(_STATUS_CODE.__getitem__, status), dtype=np.int64, count=len(status))


def _absent(n_clips: int, present: IntArray) -> IntArray:
    mask = np.ones(n_clips, dtype=np.bool_)
    mask[present] = False
    return np.flatnonzero(mask)


def _has(value: object, may_be_empty: bool) -> bool:
    """Whether the script behind the published numbers counts a label as given."""
    return not _published.is_null(value) and (may_be_empty or str(value).strip() != "")

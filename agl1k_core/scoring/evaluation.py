"""The metrics of audio geo-localization, all from one ``evaluate``.

Source: Zhang et al. 2026, "The Sonar Moment", appendix A.3, for distance (eq. 4), accuracies
(eq. 5), thresholds (eq. 6), reject rate (eq. 7) and the speech split (eq. 8); geoscore
``5000·exp(−d/1492.7)`` (``geodesy``).

Metrics, in order:

* ``distance_km``: mean geodesic distance, 10,000 km without a usable point. Lower is better.
* ``geoscore``: mean score of these distances, 0 to 5000.
* ``continent_accuracy``, ``country_accuracy``, ``city_accuracy``: share of right names.
* ``reject_rate``: share of refusals. Lower is better.
* ``within_1km`` … ``within_1000km``: share of clips closer than that.
* ``implied_continent_accuracy`` …: the same accuracies for the place that the coordinates lie in.
* ``distance_q25_km``, ``distance_q50_km``, ``distance_q75_km``: quartiles. Lower is better.
* ``balanced_distance_km``, ``balanced_geoscore``, ``balanced_country_accuracy``,
  ``balanced_continent_accuracy``: mean over continents, so that regions weigh alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from agl1k_core.answers import Status
from agl1k_core.benchmarks import Benchmark
from agl1k_core.errors import Agl1kError
from agl1k_core.predictions import Predictions
from agl1k_core.scoring import bootstrap as uncertainty
from agl1k_core.scoring.groups import Groups
from agl1k_core.scoring.protocols import PAPER, PEOPLE, PROTOCOLS, STRICT, Protocol
from agl1k_core.scoring.rows import COLUMNS, ScoredRows, score_rows

__all__ = [
    "LOWER_IS_BETTER", "METRICS", "PAPER", "PEOPLE", "PROTOCOLS", "SCORER_VERSION", "STRICT",
    "Evaluation", "Protocol", "compare", "evaluate",
]  # fmt: skip

#: Changes whenever a stored score would come out different.
SCORER_VERSION = "1"

QUARTILES = {"distance_q25_km": 0.25, "distance_q50_km": 0.5, "distance_q75_km": 0.75}
BALANCED = ("distance_km", "geoscore", "country_accuracy", "continent_accuracy")
METRICS = (*COLUMNS, *QUARTILES, *(f"balanced_{name}" for name in BALANCED))
LOWER_IS_BETTER = frozenset({"distance_km", "balanced_distance_km", "reject_rate", *QUARTILES})

FloatArray = npt.NDArray[np.floating]
Interval = uncertainty.Interval

T = TypeVar("T")


@dataclass(frozen=True)
class Evaluation:
    """All numbers of one prediction file under one protocol.

    ``metrics``: name -> value, NaN where no record counts; ``intervals``: name -> 95 % interval,
    empty when none were asked for; ``subsets`` and ``subset_intervals``: the same per subset of
    the benchmark; ``subset_statuses``: status -> count per subset; ``rows``: one row per record.
    """

    benchmark: str
    benchmark_hash: str
    protocol: str
    scorer_version: str
    file_sha256: str
    n_clips: int
    statuses: Mapping[str, int]
    metrics: Mapping[str, float]
    intervals: Mapping[str, Interval] = field(default_factory=dict)
    subsets: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    subset_intervals: Mapping[str, Mapping[str, Interval]] = field(default_factory=dict)
    subset_statuses: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    rows: ScoredRows | None = field(default=None, repr=False, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """Everything but the rows, ready for JSON: intervals as [low, high], NaN as None."""
        plain = asdict(self, dict_factory=lambda items: {k: v for k, v in items if k != "rows"})
        return {name: _jsonable(value) for name, value in plain.items()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Evaluation:
        """The evaluation that ``to_dict`` told of, without its rows."""
        values = dict(data)
        values["metrics"] = _numbers(values["metrics"])
        values["subsets"] = {name: _numbers(v) for name, v in values["subsets"].items()}
        values["intervals"] = _interval_map(values["intervals"])
        values["subset_intervals"] = {
            name: _interval_map(v) for name, v in values["subset_intervals"].items()
        }
        return cls(**values)


def evaluate(
    benchmark: Benchmark,
    predictions: Predictions,
    protocol: Protocol = STRICT,
    *,
    n_bootstrap: int = uncertainty.N_SAMPLES,
    seed: int = uncertainty.SEED,
) -> Evaluation:
    """Score predictions, overall and per subset; ``n_bootstrap=0`` leaves the intervals out.

    Raises ``Agl1kError`` when a record names a clip that the benchmark does not have, or a clip
    is named twice.
    """
    rows = score_rows(benchmark, predictions, protocol)
    masks = {name: mask[rows.clip] for name, mask in benchmark.subsets.items()}
    groups = Groups(np.array([np.ones(len(rows), dtype=np.bool_), *masks.values()]))
    continents = [1 + list(masks).index(name) for name in {*benchmark.continents} - {""}]
    whole, *parts = _named(_numbers_of(rows, groups, continents)[:, :, 0].tolist())
    intervals: list[dict[str, Interval]] = [{}]
    if n_bootstrap and rows.n_units > 1:  # a single player has no spread to resample
        resamples = uncertainty.Resamples(len(rows), n_bootstrap, seed, rows.cluster)
        intervals = _intervals(_numbers_of(rows, groups, continents, resamples))
    statuses, *part_statuses = _status_counts(rows, groups)
    return Evaluation(
        benchmark=benchmark.slug,
        benchmark_hash=benchmark.content_hash,
        protocol=protocol.name,
        scorer_version=SCORER_VERSION,
        file_sha256=predictions.sha256,
        n_clips=len(rows),
        statuses=statuses,
        metrics=whole,
        intervals=intervals[0],
        subsets=dict(zip(masks, parts, strict=True)),
        subset_intervals=dict(zip(masks, intervals[1:], strict=False)),
        subset_statuses=dict(zip(masks, part_statuses, strict=True)),
        rows=rows,
    )


def compare(
    a: Evaluation, b: Evaluation, *, subset: str | None = None
) -> dict[str, uncertainty.PairedDifference]:
    """First minus second, on the clips that both have, for every metric that is a mean of clips.

    ``subset``: one of the benchmark's, or None for all clips. Raises ``Agl1kError`` when the two
    belong to different benchmarks or have no rows.
    """
    if a.rows is None or b.rows is None:
        raise Agl1kError("Both models must be scored again from their files to be compared.")
    if a.benchmark_hash != b.benchmark_hash:
        raise Agl1kError("The two were scored on different benchmarks, so they share no clips.")
    first, second = a.rows.by_clip, b.rows.by_clip
    if subset is not None:
        inside = a.rows.benchmark.subsets[subset]
        first, second = first[inside], second[inside]
    return {
        name: uncertainty.paired_difference(first[:, column], second[:, column])
        for column, name in enumerate(COLUMNS)
    }


def _status_counts(rows: ScoredRows, groups: Groups) -> list[dict[str, int]]:
    code = {status: place for place, status in enumerate(Status)}
    codes = np.fromiter(map(code.__getitem__, rows.status), dtype=np.int64, count=len(rows))
    names = [str(status) for status in Status]
    return [dict(zip(names, n, strict=True)) for n in groups.count(codes, len(names)).tolist()]


def _numbers_of(
    rows: ScoredRows,
    groups: Groups,
    continents: list[int],
    resamples: uncertainty.Resamples | None = None,
) -> FloatArray:
    """All metrics of all groups, ``(n_groups, len(METRICS), n_samples)``; without resamples the
    one sample is the rows themselves."""
    distance_km, shares = rows.column("distance_km"), list(QUARTILES.values())
    if resamples is None:
        sums = groups.sums(rows.values)
        quartiles = groups.quantiles(distance_km, shares)
    else:
        sums = groups.resampled_sums(rows.values, resamples.counts)
        quartiles = groups.resampled_quantiles(distance_km, shares, resamples)
    balanced = sums.columns([COLUMNS.index(name) for name in BALANCED])
    means = sums.means(groups.members), groups.balanced_means(balanced, continents)
    parts = means[0], quartiles, means[1]
    return np.concatenate(parts, axis=1, dtype=means[0].dtype, casting="same_kind")


def _named(numbers: Iterable[Sequence[T]]) -> list[dict[str, T]]:
    return [dict(zip(METRICS, some, strict=True)) for some in numbers]


def _intervals(resampled: FloatArray) -> list[dict[str, Interval]]:
    ends = uncertainty.interval_ends(resampled).tolist()
    return _named([Interval(low, high) for low, high in group] for group in ends)


def _jsonable(value: Any) -> Any:
    if isinstance(value, dict):
        if value.keys() == {"low", "high"}:
            return [_jsonable(value["low"]), _jsonable(value["high"])]
        return {name: _jsonable(item) for name, item in value.items()}
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value


def _numbers(values: Mapping[str, float | None]) -> dict[str, float]:
    return {name: float("nan") if value is None else value for name, value in values.items()}


def _interval_map(values: Mapping[str, list[float | None]]) -> dict[str, Interval]:
    ends = {name: _numbers(dict(zip("lh", pair, strict=True))) for name, pair in values.items()}
    return {name: Interval(pair["l"], pair["h"]) for name, pair in ends.items()}

"""The metrics of audio geo-localization, all computed by `evaluate`.

Source
------
Zhang et al. 2026, "The Sonar Moment: Benchmarking Audio-Language Models in Audio
Geo-Localization", appendix A.3: distance (eq. 4), accuracies (eq. 5), thresholds (eq. 6), reject
rate (eq. 7), speech split (eq. 8). Intervals: see `agl1k_core.scoring.intervals`.

Conventions
-----------
* Distances are geodesics on the WGS-84 ellipsoid, in km. In the protocols ``strict`` and
  ``people`` a clip without a usable point counts as 10,000 km.
* Accuracies, rates and shares are from 0 to 1.
* A metric is NaN if no record counts for it.
* Lower is better for distances, their quartiles and the reject rate (`LOWER_IS_BETTER`).

Metrics
-------
* ``distance_km``: mean distance.
* ``geoscore``: mean of ``5000·exp(−distance_km/1492.7)``, 0 to 5000.
* ``continent_accuracy``, ``country_accuracy``, ``city_accuracy``: share of correct names.
* ``reject_rate``: share of refusals.
* ``within_1km`` … ``within_1000km``: share of clips closer than that.
* ``implied_continent_accuracy``, ``implied_country_accuracy``, ``implied_city_accuracy``: the
  same accuracies for the place at the coordinates.
* ``distance_q25_km``, ``distance_q50_km``, ``distance_q75_km``: quartiles of the distance.
* ``balanced_distance_km``, ``balanced_geoscore``, ``balanced_country_accuracy``,
  ``balanced_continent_accuracy``: mean over continents of the mean within each, so that all
  continents count alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from agl1k_core.benchmarks import Benchmark
from agl1k_core.errors import Agl1kError
from agl1k_core.predictions import Predictions
from agl1k_core.scoring import _display, _uncertainty
from agl1k_core.scoring._groups import CellSums, Groups, balanced_means, quantiles
from agl1k_core.scoring._uncertainty import Columns
from agl1k_core.scoring.intervals import Interval
from agl1k_core.scoring.protocols import Protocol, protocol_of
from agl1k_core.scoring.rows import CLIP_METRICS, STATUSES, ScoredRows, score_rows

#: Changes whenever a stored score would come out different.
SCORER_VERSION = "2"

QUARTILES = {"distance_q25_km": 0.25, "distance_q50_km": 0.5, "distance_q75_km": 0.75}
BALANCED = ("distance_km", "geoscore", "country_accuracy", "continent_accuracy")
METRICS = (*CLIP_METRICS, *QUARTILES, *(f"balanced_{name}" for name in BALANCED))
#: The metrics of a clip that are not 0 or 1, with their bounds: half the equator in km, and points.
MEASURED = {"distance_km": (0.0, 20_037.6), "geoscore": (0.0, 5000.0)}
_BALANCED_COLUMNS = tuple(CLIP_METRICS.index(name) for name in BALANCED)
#: What a notebook shows of an evaluation.
HEADLINE = (
    "distance_km", "geoscore", "continent_accuracy", "country_accuracy", "city_accuracy",
    "reject_rate",
)  # fmt: skip
LOWER_IS_BETTER = frozenset({"distance_km", "balanced_distance_km", "reject_rate", *QUARTILES})

FloatArray = npt.NDArray[np.float64]

T = TypeVar("T")


@dataclass(frozen=True)
class Evaluation:
    """All numbers of one prediction file under one protocol, as returned by `evaluate`.

    In a notebook it shows as a table of the main metrics.

    Parameters
    ----------
    benchmark, benchmark_hash
        Slug and content hash of the benchmark.
    protocol
        Name of the protocol.
    scorer_version
        `SCORER_VERSION` of the program that scored.
    file_sha256
        Hash of the prediction file.
    n_clips
        Number of records that count, clips without a record included if the protocol counts them.
    statuses
        Status -> number of records.
    metrics
        Metric -> value; see the module's docstring for the list. NaN if no record counts.
    intervals
        Metric -> 95 % interval, NaN if the rows do not allow one; empty if none were asked for.
    subsets, subset_intervals, subset_statuses
        The same three for each subset of the benchmark.
    rows
        One row of numbers per record, or None for an evaluation read back from JSON.

    Examples
    --------
    >>> import agl1k_core as ag
    >>> benchmark = ag.load_benchmark("demo")
    >>> evaluation = ag.evaluate(benchmark, ag.baseline(benchmark, "densest_region"))
    >>> evaluation.n_clips, evaluation.statuses["answered"]
    (24, 24)
    >>> round(evaluation.metrics["distance_km"]), round(evaluation.subsets["speech"]["distance_km"])
    (9896, 10350)
    >>> evaluation.table[["key", "distance_km", "true_city"]].round(1).head(1).values.tolist()
    [['demo_01', 3120.2, 'Salvador']]
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

    @property
    def table(self) -> pd.DataFrame:
        """One row per record, and per clip without a record if the protocol counts these.

        Columns: ``key``, ``status``; the answer's ``latitude`` and ``longitude`` in degrees (NaN
        without a usable point), ``city``, ``country``, ``continent``; ``distance_km``,
        ``geoscore``; ``city_correct``, ``country_correct``, ``continent_correct`` (1 or 0, NaN if
        it does not count); ``true_latitude``, ``true_longitude``, ``true_city``, ``true_country``,
        ``true_continent``. Raises ``Agl1kError`` for an evaluation read back from JSON.
        """
        return self.require_rows().table

    def require_rows(self) -> ScoredRows:
        """``rows``; raises ``Agl1kError`` for an evaluation read back from JSON."""
        if self.rows is None:
            raise Agl1kError(
                "This evaluation was read back from JSON, which does not contain the "
                "predictions themselves. Score the prediction file again."
            )
        return self.rows

    def __repr__(self) -> str:
        km = self.metrics["distance_km"]
        return f"<Evaluation on {self.benchmark}, protocol {self.protocol}: {km:,.1f} km>"

    def _repr_html_(self) -> str:
        clips = "clip" if self.n_clips == 1 else "clips"
        caption = f"{self.benchmark}, protocol {self.protocol}, {self.n_clips:,} {clips}"
        header = ("metric", "value", "95 % interval")
        return _display.table_html(caption, header, map(self._cells, HEADLINE))

    def _cells(self, metric: str) -> tuple[str, str, str]:
        ends = self.intervals.get(metric)
        interval = _display.interval_text(metric, ends.low, ends.high) if ends else ""
        return metric, _display.metric_text(metric, self.metrics[metric]), interval

    def to_dict(self) -> dict[str, Any]:
        """Everything but the rows, ready for JSON: intervals as [low, high], NaN as None."""
        plain = asdict(self, dict_factory=lambda items: {k: v for k, v in items if k != "rows"})
        return {name: _jsonable(value) for name, value in plain.items()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Evaluation:
        """The evaluation behind ``to_dict``, without its rows."""
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
    protocol: Protocol | str = "strict",
    *,
    intervals: bool = True,
) -> Evaluation:
    """Score predictions, overall and for each subset of the benchmark.

    The metrics are those of Zhang et al. 2026, appendix A.3; the module's docstring lists them.

    Parameters
    ----------
    benchmark
        The clips and their true places.
    predictions
        Predictions for this benchmark.
    protocol
        How predictions count: "strict", "paper", "people", or a `Protocol` of your own.
    intervals
        Whether to compute the 95 % intervals.

    Returns
    -------
    Evaluation
        Metrics, intervals and counts, and a table with one row per record.

    Raises
    ------
    Agl1kError
        If there is no such protocol, the benchmark's true places are not known, a record names a
        clip that the benchmark does not have, or a clip has two records (except under "people").

    Examples
    --------
    >>> import agl1k_core as ag
    >>> benchmark = ag.load_benchmark("demo")
    >>> predictions = ag.baseline(benchmark, "median_location")
    >>> evaluation = ag.evaluate(benchmark, predictions)
    >>> round(evaluation.metrics["geoscore"], 1)
    152.1
    >>> interval = evaluation.intervals["geoscore"]
    >>> round(interval.low, 1), round(interval.high, 1)
    (61.5, 350.0)
    """
    protocol = protocol_of(protocol)
    rows = score_rows(benchmark, predictions, protocol)
    return evaluation_of(rows, protocol.name, predictions.sha256, intervals=intervals)


def evaluation_of(
    rows: ScoredRows, protocol: str, file_sha256: str, *, intervals: bool = True
) -> Evaluation:
    """The evaluation of rows that were scored by a protocol."""
    benchmark = rows.benchmark
    subsets = benchmark.subsets
    continents = [1 + list(subsets).index(name) for name in sorted({*benchmark.continents} - {""})]
    masks = [np.ones(len(benchmark), dtype=np.bool_), *subsets.values()]
    groups = Groups(masks, rows.clip, continents)
    sums, in_order = groups.sums(rows.values), groups.in_order(rows.column("distance_km"))
    whole, *parts = _named(_metrics(groups, sums, in_order).tolist())
    ends = _intervals(rows, groups, sums, in_order) if intervals else [{}]
    statuses, *part_statuses = _status_counts(rows, groups)
    return Evaluation(
        benchmark=benchmark.slug,
        benchmark_hash=benchmark.content_hash,
        protocol=protocol,
        scorer_version=SCORER_VERSION,
        file_sha256=file_sha256,
        n_clips=len(rows),
        statuses=statuses,
        metrics=whole,
        intervals=ends[0],
        subsets=dict(zip(subsets, parts, strict=True)),
        subset_intervals=dict(zip(subsets, ends[1:], strict=False)),
        subset_statuses=dict(zip(subsets, part_statuses, strict=True)),
        rows=rows,
    )


def _status_counts(rows: ScoredRows, groups: Groups) -> list[dict[str, int]]:
    names = [str(status) for status in STATUSES]
    counts = groups.count(rows.status_code, len(names)).tolist()
    return [dict(zip(names, of_group, strict=True)) for of_group in counts]


def _metrics(groups: Groups, sums: CellSums, in_order: Sequence[FloatArray]) -> FloatArray:
    """All metrics of all groups, shape ``(n_groups, len(METRICS))``; ``in_order`` are the
    distances of each group."""
    means, _ = sums.means(groups.members)
    in_strata, _ = sums.columns(_BALANCED_COLUMNS).means(groups.crossed)
    quartiles = [quantiles(numbers, list(QUARTILES.values())) for numbers in in_order]
    return np.concatenate([means, quartiles, balanced_means(in_strata)], axis=1)


def _intervals(
    rows: ScoredRows, groups: Groups, sums: CellSums, in_order: Sequence[FloatArray]
) -> list[dict[str, Interval]]:
    """The intervals of each group; NaN if the rows do not allow one."""
    distance, shares = CLIP_METRICS.index("distance_km"), np.array(list(QUARTILES.values()))
    measured = {CLIP_METRICS.index(name): bounds for name, bounds in MEASURED.items()}
    columns = Columns(rows.values, measured, _BALANCED_COLUMNS, rows.cluster)
    means, balanced = _uncertainty.mean_ends(columns, groups, sums)
    quartiles = _uncertainty.quantile_ends(columns, groups, distance, in_order, shares)
    ends = np.concatenate([means, quartiles, balanced], axis=1).tolist()
    return _named([Interval(low, high) for low, high in of_group] for of_group in ends)


def _named(numbers: Iterable[Sequence[T]]) -> list[dict[str, T]]:
    return [dict(zip(METRICS, some, strict=True)) for some in numbers]


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

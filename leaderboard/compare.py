"""Two rows against each other: paired differences with intervals, and where they disagree."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agl1k_core import scoring
from agl1k_core.benchmarks import Benchmark
from agl1k_core.errors import Agl1kError
from agl1k_core.scoring import Evaluation, PairedDifference
from leaderboard.board import Board
from leaderboard.columns import COLUMN, RANKABLE, SUBSETS
from leaderboard.detail import answer_of, place_name
from leaderboard.export import finite
from leaderboard.ranking import BoolArray, per_clip, rows_of
from leaderboard.rows import Row

N_DISAGREEMENTS = 12
FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class MetricGap:
    """One metric of both on their common clips, first minus second, and who is clearly better."""

    metric: str
    subset: str
    first: float
    second: float
    gap: PairedDifference

    @property
    def better(self) -> str:
        """ "first", "second", or "" where the interval holds 0."""
        if not self.gap.is_clear:
            return ""
        return (
            "first"
            if (self.gap.difference < 0) == COLUMN[self.metric].lower_is_better
            else "second"
        )


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A clip on which one was near and the other far."""

    key: str
    truth: str
    first_answer: str
    second_answer: str
    first_km: float
    second_km: float


@dataclass(frozen=True)
class Comparison:
    """All of it. ``n_common`` is the number of clips that both have."""

    first: Row
    second: Row
    n_common: int
    metrics: tuple[MetricGap, ...]
    subsets: tuple[MetricGap, ...]
    disagreements: tuple[Disagreement, ...]
    distances_km: tuple[FloatArray, FloatArray]


def compare(board: Board, first_id: str, second_id: str) -> Comparison:
    """Compare two rows of a board. Raises ``Agl1kError`` for one that cannot be compared."""
    first, one = _comparable(board, first_id)
    second, two = _comparable(board, second_id)
    if first_id == second_id:
        raise Agl1kError(f"{first.model} cannot be compared with itself. Choose another row.")
    a = np.column_stack([per_clip(one, metric) for metric in RANKABLE])
    b = np.column_stack([per_clip(two, metric) for metric in RANKABLE])
    common = np.asarray(np.isfinite(np.hstack([a, b])).all(axis=1), dtype=np.bool_)
    if not common.any():
        raise Agl1kError(f"{first.model} and {second.model} have no clip in common.")
    distance = RANKABLE.index("distance_km")
    first_km, second_km = a[:, distance], b[:, distance]
    return Comparison(
        first=first,
        second=second,
        n_common=int(common.sum()),
        metrics=tuple(_gaps(a[common], b[common], RANKABLE, "all")),
        subsets=tuple(_subset_gaps(first_km, second_km, common, rows_of(one).benchmark)),
        disagreements=_disagreements(one, two, first_km, second_km),
        distances_km=(first_km[common], second_km[common]),
    )


def comparable(board: Board, besides: str = "") -> list[Row]:
    """The rows that can be compared, by name."""
    rows = [r for r in board.rows() if r.row_id != besides and board.scored(r.row_id)]
    return sorted(rows, key=lambda row: row.model.casefold())


def to_json(comparison: Comparison) -> dict[str, object]:
    """The numbers of a comparison as plain data."""
    return {
        "first": comparison.first.row_id,
        "second": comparison.second.row_id,
        "n_common": comparison.n_common,
        "metrics": {gap.metric: _gap_json(gap) for gap in comparison.metrics},
        "distance_km_by_subset": {gap.subset: _gap_json(gap) for gap in comparison.subsets},
    }


def _gap_json(gap: MetricGap) -> dict[str, object]:
    return {
        "first": finite(gap.first),
        "second": finite(gap.second),
        "difference": finite(gap.gap.difference),
        "low": finite(gap.gap.low),
        "high": finite(gap.gap.high),
        "n_common": gap.gap.n_common,
        "better": gap.better or None,
    }


def _comparable(board: Board, row_id: str) -> tuple[Row, Evaluation]:
    row = board.row(row_id)
    if row is None:
        raise Agl1kError("One of these rows is not on this board any more. Choose another.")
    scored = board.scored(row_id)
    if scored is None:
        reason = board.why_unranked(row) or "Its predictions are not here."
        raise Agl1kError(f"{row.model} cannot be compared clip by clip. {reason}")
    return row, scored


def _gaps(a: FloatArray, b: FloatArray, metrics: Sequence[str], subset: str) -> list[MetricGap]:
    """One gap per column of ``a`` and ``b``, both ``(n_clips, n_metrics)`` without NaN."""
    difference = a - b
    counts = scoring.resample_counts(len(difference))
    ends = scoring.intervals(scoring.resampled_means(counts, difference))
    columns = zip(
        metrics, a.mean(axis=0), b.mean(axis=0), difference.mean(axis=0), ends, strict=True
    )
    return [
        MetricGap(
            metric, subset, float(x), float(y),
            PairedDifference(float(gap), end.low, end.high, len(difference)),
        )
        for metric, x, y, gap, end in columns
    ]  # fmt: skip


def _subset_gaps(
    first_km: FloatArray, second_km: FloatArray, common: BoolArray, benchmark: Benchmark
) -> Iterator[MetricGap]:
    """The difference in distance on every subset that has common clips."""
    for subset in SUBSETS:
        mask = benchmark.subsets.get(subset)
        if mask is not None and (mask & common).any():
            inside = mask & common
            a, b = first_km[inside, None], second_km[inside, None]
            yield from _gaps(a, b, ("distance_km",), subset)


def _disagreements(
    one: Evaluation, two: Evaluation, first_km: FloatArray, second_km: FloatArray
) -> tuple[Disagreement, ...]:
    """The clips whose distances differ most; a clip without a point counts as 10,000 km."""
    gap = np.abs(first_km - second_km)
    order = np.argsort(-np.where(np.isfinite(gap), gap, -1), kind="stable")[:N_DISAGREEMENTS]
    clips = rows_of(one).benchmark.clips
    return tuple(
        Disagreement(
            key=clips[at].key,
            truth=place_name((clips[at].city, clips[at].country)),
            first_answer=_answer(one, at),
            second_answer=_answer(two, at),
            first_km=float(first_km[at]),
            second_km=float(second_km[at]),
        )
        for at in order
        if math.isfinite(gap[at]) and gap[at] > 0
    )


def _answer(scored: Evaluation, at: int) -> str:
    rows = rows_of(scored)
    records = np.flatnonzero(rows.clip == at)
    return answer_of(rows, records[0]) if len(records) == 1 else f"{len(records)} guesses"

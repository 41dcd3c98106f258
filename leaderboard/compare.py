"""Two rows compared: paired differences with intervals, and the clips on which they disagree."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agl1k_core import scoring
from agl1k_core.errors import Agl1kError
from agl1k_core.scoring import Comparison, Evaluation, PairedDifference, Side
from leaderboard.board import Board
from leaderboard.columns import RANKABLE, SUBSETS
from leaderboard.detail import answer_of, place_name
from leaderboard.export import finite
from leaderboard.rows import Row
from ui.names import isolated

N_DISAGREEMENTS = 12
SEALED = (
    "This benchmark is sealed: its rows are not compared clip by clip, because that could tell a "
    "clip's place. Compare their means and intervals on the board."
)
FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class MetricGap:
    """One metric of both rows on the common clips of a subset, and which row is clearly better."""

    metric: str
    subset: str
    pair: PairedDifference
    better: Side


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A clip that one placed near its true place, and the other far from it."""

    key: str
    truth: str
    first_answer: str
    second_answer: str
    first_km: float
    second_km: float


@dataclass(frozen=True)
class RowComparison:
    """Everything that the page shows about two rows.

    ``n_common`` is the number of clips compared: those for which both have a record, or, if
    ``answered``, the ``n_answered`` to which both gave a usable point. ``distances_km`` are for
    these clips.
    """

    first: Row
    second: Row
    n_common: int
    n_answered: int
    answered: bool
    metrics: tuple[MetricGap, ...]
    subsets: tuple[MetricGap, ...]
    disagreements: tuple[Disagreement, ...]
    distances_km: tuple[FloatArray, FloatArray]


def compare(
    board: Board, first_id: str, second_id: str, *, answered: bool = False
) -> RowComparison:
    """Compare two rows of a board on their common clips (`scoring.compare`).

    ``answered`` leaves out the clips that one of them did not answer with a usable point. Raises
    ``Agl1kError`` if one of them cannot be compared.
    """
    first, one = _comparable(board, first_id)
    second, two = _comparable(board, second_id)
    if first_id == second_id:
        raise Agl1kError(
            f"{isolated(first.model)} cannot be compared with itself. Choose another row."
        )
    overall = scoring.compare(one, two, metrics=RANKABLE, answered=answered)
    if not overall.n_common:
        what = "answered no common clip" if answered else "have no clip in common"
        raise Agl1kError(f"{isolated(first.model)} and {isolated(second.model)} {what}.")
    a, b = (_distances(scored, answered=answered) for scored in (one, two))
    common = np.isfinite(a) & np.isfinite(b)
    return RowComparison(
        first=first,
        second=second,
        n_common=overall.n_common,
        n_answered=int((one.require_rows().has_answer & two.require_rows().has_answer).sum()),
        answered=answered,
        metrics=tuple(_gap(overall, metric, "all") for metric in overall),
        subsets=tuple(_subset_gaps(one, two, answered=answered)),
        disagreements=_disagreements(one, two, a, b),
        distances_km=(a[common], b[common]),
    )


def comparable(board: Board, besides: str = "") -> list[Row]:
    """The rows that can be compared, by name."""
    known = board.all_scored()
    rows = [row for row in board.rows() if row.row_id != besides and row.row_id in known]
    return sorted(rows, key=lambda row: row.model.casefold())


def to_json(comparison: RowComparison) -> dict[str, object]:
    """The numbers of a comparison as plain data."""
    return {
        "first": comparison.first.row_id,
        "second": comparison.second.row_id,
        "n_common": comparison.n_common,
        "n_answered": comparison.n_answered,
        "answered_only": comparison.answered,
        "metrics": {gap.metric: _gap_json(gap) for gap in comparison.metrics},
        "distance_km_by_subset": {gap.subset: _gap_json(gap) for gap in comparison.subsets},
    }


def _gap_json(gap: MetricGap) -> dict[str, object]:
    pair = gap.pair
    numbers = ("first", "second", "difference", "low", "high")
    return {
        **{name: finite(getattr(pair, name)) for name in numbers},
        "n_common": pair.n_common,
        "better": gap.better or None,
    }


def _comparable(board: Board, row_id: str) -> tuple[Row, Evaluation]:
    row = board.row(row_id)
    if row is None:
        raise Agl1kError(
            "One of these rows is not on this board, or was withdrawn. Choose another."
        )
    if board.is_sealed:
        raise Agl1kError(SEALED)
    scored = board.scored(row_id)
    if scored is None:
        reason = board.why_unranked(row) or "Its predictions are not on this server."
        raise Agl1kError(f"{isolated(row.model)} cannot be compared clip by clip. {reason}")
    return row, scored


def _gap(comparison: Comparison, metric: str, subset: str) -> MetricGap:
    return MetricGap(metric, subset, comparison[metric], comparison.better(metric))


def _distances(scored: Evaluation, *, answered: bool) -> FloatArray:
    distances = scoring.clip_values(scored, "distance_km")
    return np.where(scored.require_rows().has_answer, distances, np.nan) if answered else distances


def _subset_gaps(one: Evaluation, two: Evaluation, *, answered: bool) -> Iterator[MetricGap]:
    """The difference in distance on every subset that has common clips."""
    known = one.require_rows().benchmark.subsets
    for subset in (name for name in SUBSETS if name in known):
        compared = scoring.compare(
            one, two, subset=subset, metrics=["distance_km"], answered=answered
        )
        if compared.n_common:
            yield _gap(compared, "distance_km", subset)


def _disagreements(
    one: Evaluation, two: Evaluation, first_km: FloatArray, second_km: FloatArray
) -> tuple[Disagreement, ...]:
    """The clips whose distances differ most."""
    gap = np.abs(first_km - second_km)
    order = np.argsort(-np.where(np.isfinite(gap), gap, -1), kind="stable")[:N_DISAGREEMENTS]
    clips = one.require_rows().benchmark.clips
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
    rows = scored.require_rows()
    records = np.flatnonzero(rows.clip == at)
    return answer_of(rows, records[0]) if len(records) == 1 else f"{len(records)} guesses"

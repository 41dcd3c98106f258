"""The details of a row: confusion of continents, distances, subsets, the hardest clips.

A benchmark's keys and true places are public. Titles and sounds are left out, since a key alone
does not reveal to a player which clip is playing.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from agl1k_core import models, places
from agl1k_core.errors import Agl1kError
from agl1k_core.scoring import Evaluation, ScoredRows
from leaderboard.board import LISTENER_ID, Board
from leaderboard.rows import Row

CONTINENTS = (
    "Africa", "Asia", "Europe", "North America", "South America", "Oceania", "Antarctica",
)  # fmt: skip
NO_NAME = "none named"
N_HARDEST = 12
#: A belief map has some 25 kB.
N_BELIEFS = 6

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Confusion:
    """``counts[i][j]``: records of true continent ``truth[i]`` answered with ``named[j]``."""

    truth: tuple[str, ...]
    named: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]

    def share(self, i: int, j: int) -> float:
        """Share of a true continent's records, 0 if it has none."""
        total = sum(self.counts[i])
        return self.counts[i][j] / total if total else 0.0


@dataclass(frozen=True, slots=True)
class HardClip:
    """A clip that was placed far from its true place."""

    key: str
    truth: str
    answer: str
    distance_km: float


@dataclass(frozen=True, slots=True)
class ErrorPoint:
    """A clip's true place and the answered one, in degrees, and the distance between them."""

    lat: float
    lon: float
    answer_lat: float
    answer_lon: float
    distance_km: float
    key: str


@dataclass(frozen=True)
class Detail:
    """A row and the details from its predictions; without predictions only the row.

    ``beliefs`` are our listener's belief maps, as SVG.
    """

    row: Row
    confusion: Confusion | None = None
    hardest: tuple[HardClip, ...] = ()
    errors: tuple[ErrorPoint, ...] = ()
    distances_km: FloatArray | None = None
    n_no_point: int = 0
    provenance: tuple[tuple[str, str], ...] = ()
    beliefs: tuple[str, ...] = ()


def make_detail(board: Board, row: Row) -> Detail:
    """Everything the page shows about a row."""
    scored = board.answers(row.row_id)
    if scored is None:  # there is no file, or the benchmark is sealed
        return Detail(row, provenance=provenance(board, row))
    rows = scored.require_rows()
    pointed = np.isfinite(rows.lat)
    return Detail(
        row=row,
        confusion=confusion(scored),
        hardest=hardest(rows),
        beliefs=beliefs(board, row),
        errors=_errors(rows),
        distances_km=rows.column("distance_km")[pointed],
        n_no_point=int((~pointed).sum()),
        provenance=provenance(board, row),
    )


def provenance(board: Board, row: Row) -> tuple[tuple[str, str], ...]:
    """How ``agl1k`` made a row's newest file, as labels and texts; empty for other files."""
    return tuple(models.provenance_facts(_provenance(board, row) or {}))


def _provenance(board: Board, row: Row) -> Mapping[str, Any] | None:
    if row.row_id == LISTENER_ID:
        listened = board.listened()
        return listened.provenance if listened else None
    if not row.files:
        return None
    try:
        return models.provenance_in(board.submissions.file(row.files[0].submission_id))
    except Agl1kError:  # withdrawn meanwhile
        return None


def beliefs(board: Board, row: Row) -> tuple[str, ...]:
    """Belief maps as SVG, if the row is our listener's."""
    listened = board.listened() if row.row_id == LISTENER_ID else None
    return listened.maps(N_BELIEFS) if listened else ()


def confusion(scored: Evaluation) -> Confusion:
    """True continents against those named in the answers."""
    rows = scored.require_rows()
    truth = np.array(rows.benchmark.continents, dtype=object)[rows.clip]
    named = [places.canonical_continent(name) or NO_NAME for name in rows.labels["continent"]]
    pairs = Counter(zip(truth, named, strict=True))
    true_names = tuple(name for name in CONTINENTS if name in set(truth))
    given_names = (*(name for name in CONTINENTS if name in {*truth, *named}), NO_NAME)
    counts = tuple(tuple(pairs[(t, n)] for n in given_names) for t in true_names)
    return Confusion(true_names, given_names, counts)


def hardest(rows: ScoredRows, n: int = N_HARDEST) -> tuple[HardClip, ...]:
    """The answered clips with the largest distances."""
    distance_km = np.where(np.isfinite(rows.lat), rows.column("distance_km"), -np.inf)
    order = np.argsort(-distance_km, kind="stable")[:n]
    return tuple(
        HardClip(
            key=rows.benchmark.clips[rows.clip[i]].key,
            truth=place_name(_truth_of(rows, i)),
            answer=answer_of(rows, i),
            distance_km=float(distance_km[i]),
        )
        for i in order
        if math.isfinite(distance_km[i])
    )


def _truth_of(rows: ScoredRows, i: int) -> Sequence[str]:
    clip = rows.benchmark.clips[rows.clip[i]]
    note = " (as the table names it)" if rows.benchmark.label_note(clip.key) else ""
    return clip.city, f"{clip.country}{note}"


def answer_of(rows: ScoredRows, i: int) -> str:
    """The answer of row ``i``: the names given, or the point, or the status."""
    if not math.isfinite(rows.lat[i]):
        return str(rows.status[i])
    named = place_name((rows.labels["city"][i], rows.labels["country"][i]))
    return named or f"{rows.lat[i]:.2f}, {rows.lon[i]:.2f}"


def place_name(parts: Sequence[str]) -> str:
    """Names of a place from small to large, with the empty ones left out."""
    return ", ".join(part[:60] for part in parts if part)


def _errors(rows: ScoredRows) -> tuple[ErrorPoint, ...]:
    distance_km = rows.column("distance_km")
    return tuple(
        ErrorPoint(
            clip.lat,
            clip.lon,
            float(rows.lat[i]),
            float(rows.lon[i]),
            float(distance_km[i]),
            clip.key,
        )
        for i, clip in ((i, rows.benchmark.clips[at]) for i, at in enumerate(rows.clip))
        if math.isfinite(rows.lat[i])
    )

"""The rows of a board that people can play against, and how far each was from every clip."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from agl1k_core.benchmarks import Benchmark
from agl1k_core.scoring import Evaluation, ScoredRows
from leaderboard.parts import Part
from leaderboard.rows import Row
from ui.model_guess import Opponent

#: A row is offered if it answered this share of the clips that are played. A row with a few
#: answers would tell which few clips a round is drawn from.
LEAST_SHARE = 0.5
#: People are asked about a clip once so many of them have answered it.
FEWEST_PEOPLE = 3
_PEOPLE_NAME = "People (median)"


class Opponents:
    """The opponents among the rows of a board, kept until those rows change."""

    def __init__(self) -> None:
        self._kept: dict[Part, list[Opponent]] = {}

    def among(self, parts: Iterable[Part], benchmark: Benchmark) -> tuple[Opponent, ...]:
        """The rows that answered enough clips, the nearest first, and our baselines after them."""
        before = self._kept
        self._kept = {part: before.get(part) or _of_part(part, benchmark) for part in parts}
        found = (one for of_part in self._kept.values() for one in of_part)
        return tuple(sorted(found, key=lambda one: (one.kind == "baseline", one.median_km)))


def _of_part(part: Part, benchmark: Benchmark) -> list[Opponent]:
    scored = {**part.scored, **part.last}
    rows = [row for row in part.rows if row.row_id in scored and not row.part_of]
    return [*filter(None, (_opponent(row, scored[row.row_id], benchmark) for row in rows))]


def _opponent(row: Row, scored: Evaluation, benchmark: Benchmark) -> Opponent | None:
    is_people = row.kind == "people"
    every = _distances(scored.require_rows(), FEWEST_PEOPLE if is_people else 1)
    distances_km = {key: every[key] for key in benchmark.in_play if key in every}
    if not distances_km or len(distances_km) < LEAST_SHARE * len(benchmark.in_play):
        return None
    name = _PEOPLE_NAME if is_people else row.model
    return Opponent(row.row_id, name, row.kind, distances_km)


def _distances(rows: ScoredRows, fewest: int) -> dict[str, float]:
    """The median distance in km of each clip with ``fewest`` usable points, by key."""
    answered = np.isfinite(rows.lat)
    by_clip = pd.Series(rows.column("distance_km")[answered]).groupby(rows.clip[answered])
    medians = by_clip.median()[by_clip.size() >= fewest]
    keys = [rows.benchmark.clips[clip].key for clip in medians.index]
    return dict(zip(keys, medians.tolist(), strict=True))

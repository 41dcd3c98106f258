"""A board of WanderBench: rows scored here, with ranks, beside the paper's rows as reported.

``data/published_results.csv`` holds Tables 3 and 5 of Learning to Wander. They are of other graphs,
and their score and recall are not defined in the paper. So they are never ranked with rows of ours.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from agl1k_core.scoring import Rank
from agl1k_core.wander.scores import RIGHT_LEVELS, WanderScores, rank_guesses

#: The columns of the board.
COLUMNS = (
    "distance_km",
    "score",
    *(f"{level}_{name}" for level in RIGHT_LEVELS for name in ("accuracy", "recall", "f1")),
)


@dataclass(frozen=True)
class ReportedRow:
    """A row of the paper's Table 3 or 5; ``acts`` if the model could act before it guessed."""

    table: int
    model: str
    acts: bool
    metrics: Mapping[str, float]


@dataclass(frozen=True)
class ScoredRow:
    """A row scored here, with its rank by distance; None with fewer than ten graphs."""

    scores: WanderScores
    rank: Rank | None


@dataclass(frozen=True)
class WanderBoard:
    """Rows scored here, the best first, and reported rows in the paper's order."""

    scored: tuple[ScoredRow, ...]
    reported: tuple[ReportedRow, ...]

    def to_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON."""
        return {
            "scored": [
                {**row.scores.to_dict(), "rank": row.rank and asdict(row.rank)}
                for row in self.scored
            ],
            "reported": [
                {"table": row.table, "model": row.model, "acts": row.acts, **row.metrics}
                for row in self.reported
            ],
        }


@cache
def reported_rows() -> tuple[ReportedRow, ...]:
    """The rows of Tables 3 and 5, as printed.

    Examples
    --------
    >>> row = reported_rows()[0]
    >>> row.table, row.model, row.metrics["distance_km"]
    (3, 'GeoCLIP', 1925.0)
    """
    text = (files("agl1k_core.wander") / "data" / "published_results.csv").read_text("utf-8")
    return tuple(
        ReportedRow(
            int(line["table"]),
            line["model"],
            line["actions"] == "yes",
            {name: float(line[name]) for name in COLUMNS},
        )
        for line in csv.DictReader(text.splitlines())
    )


def reported_gains() -> dict[str, dict[str, float]]:
    """Model -> metric -> what acting gained in Table 5: the row that acts, less the other.

    Examples
    --------
    >>> round(reported_gains()["o3"]["street_accuracy"], 3)
    0.082
    """
    rows = [row for row in reported_rows() if row.table == 5]
    acting = {row.model: row.metrics for row in rows if row.acts}
    return {
        row.model: {name: acting[row.model][name] - row.metrics[name] for name in COLUMNS}
        for row in rows
        if not row.acts
    }


def board_of(scored: Sequence[WanderScores]) -> WanderBoard:
    """A board of scores on the same graphs; raises ``Agl1kError`` if they are not."""
    ranked = zip(scored, rank_guesses(scored, "distance_km"), strict=True)
    rows = [ScoredRow(one, rank) for one, rank in ranked]
    rows.sort(key=lambda row: row.scores.metrics["distance_km"])
    return WanderBoard(tuple(rows), reported_rows())

"""Rows of one kind, with the evaluations behind them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from agl1k_core.scoring import Evaluation
from leaderboard.rows import Row


@dataclass(frozen=True, eq=False)
class Part:
    """Rows of one kind, and the evaluations behind those that were scored here.

    ``last`` are those of the last run, if a row is the mean of several.
    """

    rows: tuple[Row, ...] = ()
    scored: Mapping[str, Evaluation] = field(default_factory=dict)
    last: Mapping[str, Evaluation] = field(default_factory=dict)

    def without(self, row_ids: Collection[str]) -> Part:
        """The same without some rows."""
        scored = {name: found for name, found in self.scored.items() if name not in row_ids}
        return Part(tuple(row for row in self.rows if row.row_id not in row_ids), scored)

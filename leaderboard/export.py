"""A view of a board as CSV and as JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from agl1k_core.scoring import METRICS, SCORER_VERSION, Interval
from leaderboard.query import to_text
from leaderboard.view import Entry, View
from web.spreadsheets import Cell, write_csv

FIELDS = (
    "model", "kind", "organisation", "owner", "weights", "link", "date", "prompt", "note",
    "protocol", "published", "verified", "benchmark_hash", "scorer_version", "file_sha256",
)  # fmt: skip


def to_csv(view: View) -> str:
    """The shown rows with every metric of the view's subset and both ends of its interval."""
    header = [
        "rank",
        "best_rank",
        "worst_rank",
        "row_id",
        *FIELDS,
        "subset",
        "coverage",
        "n_guesses",
    ]
    for metric in METRICS:
        header += [metric, f"{metric}_low", f"{metric}_high"]
    return write_csv(header, [_cells(entry, view.query.subset) for entry in view.entries])


def _cells(entry: Entry, subset: str) -> list[Cell | None]:
    row, rank = entry.row, entry.rank
    places = (rank.place, rank.best, rank.worst) if rank else (None, None, None)
    cells: list[Cell | None] = [*places, row.row_id]
    cells += [getattr(row, name) for name in FIELDS]
    cells += [subset, row.coverage, row.n_guesses or None]
    for metric in METRICS:
        interval = row.interval(metric, subset)
        ends = (interval.low, interval.high) if interval else (None, None)
        cells += [row.value(metric, subset), *ends]
    return cells


def to_json(view: View) -> dict[str, Any]:
    """The view as plain data: the query, the benchmark and the matching rows."""
    benchmark = view.board.benchmark
    return {
        "board": view.board.slug,
        "name": view.board.name,
        "benchmark_version": benchmark.version if benchmark else None,
        "benchmark_hash": benchmark.content_hash if benchmark else None,
        "n_clips": len(benchmark) if benchmark else None,
        "sealed": view.board.is_sealed,
        "n_scored": view.board.n_scored if view.board.is_sealed else None,
        "scorer_version": SCORER_VERSION,
        "notice": view.board.absence,
        "query": to_text(view.query),
        "subset": view.query.subset,
        "rank_by": view.query.rank_by,
        "n_hidden": view.n_hidden,
        "rows": [row_json(entry, view.query.subset) for entry in view.entries],
    }


def row_json(entry: Entry, subset: str) -> dict[str, Any]:
    """One row: its fields, and its numbers on a subset; unknown numbers are null."""
    row = entry.row
    intervals = row.intervals.get(subset, {})
    return {
        "row_id": row.row_id,
        "rank": entry.rank.place if entry.rank else None,
        "tied": bool(entry.rank and entry.rank.tied),
        "rank_range": [entry.rank.best, entry.rank.worst] if entry.rank else None,
        "unranked_because": entry.why,
        **{name: getattr(row, name) for name in FIELDS},
        "reported_not_recomputed": not row.is_recomputed,
        "coverage": finite(row.coverage),
        "n_guesses": row.n_guesses or None,
        "n_scored": row.n_scored,
        "statuses": dict(row.statuses.get(subset, {})),
        "metrics": {name: finite(row.value(name, subset)) for name in METRICS},
        "intervals": _ends(intervals),
        "n_runs": row.n_runs,
        "run_ranges": _ends(row.ranges.get(subset, {})),
        "files": [
            {"submission_id": file.submission_id, "published": file.published,
             "sha256": file.sha256, "counts": file.counts, "is_shared": file.is_shared}
            for file in row.files
        ],
    }  # fmt: skip


def _ends(intervals: Mapping[str, Interval]) -> dict[str, list[float | None]]:
    return {name: [finite(ends.low), finite(ends.high)] for name, ends in intervals.items()}


def finite(value: float) -> float | None:
    """The value, or None if it is not finite, which JSON cannot express."""
    return float(value) if math.isfinite(value) else None

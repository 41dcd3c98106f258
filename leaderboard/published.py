"""The paper's results as rows: reported, not recomputed (Zhang et al. 2026, "The Sonar Moment").

``data/published_results.csv`` holds them, one line per model, its metrics in columns named
``subset.metric``. An empty cell is a number that the paper does not give, or gives wrongly.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files

from agl1k_core.benchmarks import PUBLISHED_SLUG
from leaderboard.rows import Row, slug

_NO_RANK = "Reported, not recomputed: a rank needs the predictions."
#: The paper's name of a baseline -> the id of the row that is computed here.
_SAME_BASELINE = {
    "RANDOM": "baseline-random",
    "Densest region": "baseline-densest-region",
    "Median location": "baseline-median-location",
}


def reported_rows(benchmark: str) -> tuple[Row, ...]:
    """The rows that belong to the board of a benchmark (its slug)."""
    return _rows() if benchmark == PUBLISHED_SLUG else ()


@cache
def _rows() -> tuple[Row, ...]:
    text = (files("leaderboard") / "data" / "published_results.csv").read_text("utf-8")
    return tuple(_row(line) for line in csv.DictReader(text.splitlines()))


def with_reported(own: Sequence[Row], reported: Sequence[Row]) -> tuple[Row, ...]:
    """Rows made here and reported ones; a baseline that is among both is one row."""
    theirs = {_SAME_BASELINE.get(row.model, ""): row for row in reported}
    merged = [_merged(row, theirs.get(row.row_id)) for row in own]
    here = {row.row_id for row in own}
    rest = (row for row in reported if _SAME_BASELINE.get(row.model, "") not in here)
    return (*merged, *rest)


def _merged(row: Row, reported: Row | None) -> Row:
    if reported is None:
        return row
    return replace(row, reported=reported.values, note=f"{row.note} Also in {reported.note}")


def _row(line: Mapping[str, str]) -> Row:
    values: dict[str, dict[str, float]] = {}
    for name, text in line.items():
        subset, dot, metric = name.partition(".")
        if dot and text:
            values.setdefault(subset, {})[metric] = float(text)
    return Row(
        row_id=f"reported-{slug(line['model'])}",
        kind="reported",
        model=line["model"],
        values=values,
        organisation=line["organisation"],
        link=line["link"],
        weights=line["weights"],
        note=" ".join(
            part for part in (f"The Sonar Moment, {line['source']}.", line["note"]) if part
        ),
        protocol="paper",
        unranked=_NO_RANK,
    )

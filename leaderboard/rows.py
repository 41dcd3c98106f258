"""A row of a board: the model, the source of its numbers, and the numbers per subset."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from agl1k_core.scoring import Evaluation, Interval

Kind = Literal["scored", "reported", "people", "baseline"]

#: Kinds of rows that are on the board for comparison with models.
NO_MODELS = frozenset({"people", "baseline"})

#: Subset -> metric -> value.
Numbers = Mapping[str, Mapping[str, float]]

#: What the page calls each kind.
KIND_NAME: Mapping[Kind, str] = {
    "scored": "scored here",
    "reported": "reported",
    "people": "people",
    "baseline": "baseline",
}

KIND_HELP: Mapping[Kind, str] = {
    "scored": "Scored here from a submitted file, which is kept and can be scored again. Who made "
    "the file, and with which model, is the submitter's word.",
    "reported": "Figures carried over from the paper: reported, not recomputed.",
    "people": "All players of this server together, scored like a model.",
    "baseline": "Made and scored here, for comparison with models.",
}


@dataclass(frozen=True)
class File:
    """A submitted file of a row, with its metrics over all clips.

    ``counts``: it is behind the row's numbers; otherwise another file has replaced it.
    """

    submission_id: str
    published: str
    sha256: str
    metrics: Mapping[str, float]
    is_shared: bool = True
    counts: bool = True


@dataclass(frozen=True)
class Row:
    """One model, baseline, or all people, on one board.

    ``values``, ``intervals`` and ``statuses`` are per subset, with "all" for the whole; unknown
    metrics are left out. ``coverage`` is the share of the benchmark's clips that have
    a record, NaN if unknown. ``owner`` is the Hub name that was signed in when it was published.
    ``unranked`` says why the row has no rank, or is empty. ``reported`` are the paper's numbers for
    a baseline that is also computed here. ``verified``: the operator confirmed that the signed-in
    ``owner`` speaks for the organisation. ``files`` are its submitted files, the newest first; of
    several runs that count, ``ranges`` has the least and the greatest value of each metric. On a
    sealed benchmark, ``n_scored`` is how many files its submitters had scored, None if unknown.
    ``part_of`` is the row in which all of this one counts, too: it is shown on request only.
    """

    row_id: str
    kind: Kind
    model: str
    values: Numbers
    intervals: Mapping[str, Mapping[str, Interval]] = field(default_factory=dict)
    statuses: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    organisation: str = ""
    owner: str = ""
    link: str = ""
    weights: str = ""
    date: str = ""
    prompt: str = ""
    note: str = ""
    protocol: str = ""
    benchmark_hash: str = ""
    scorer_version: str = ""
    file_sha256: str = ""
    published: str = ""
    coverage: float = math.nan
    n_guesses: int = 0
    unranked: str = ""
    reported: Numbers = field(default_factory=dict)
    verified: bool = False
    files: tuple[File, ...] = ()
    ranges: Mapping[str, Mapping[str, Interval]] = field(default_factory=dict)
    part_of: str = ""
    n_scored: int | None = None

    def value(self, metric: str, subset: str = "all") -> float:
        """A metric on a subset, or the coverage; NaN if unknown."""
        if metric == "coverage":
            return self.coverage
        return self.values.get(subset, {}).get(metric, math.nan)

    def interval(self, metric: str, subset: str = "all") -> Interval | None:
        """Its 95 % interval, or None."""
        found = self.intervals.get(subset, {}).get(metric)
        return found if found and math.isfinite(found.low) and math.isfinite(found.high) else None

    @property
    def n_runs(self) -> int:
        """How many runs of the model its numbers are the mean of."""
        return max(1, sum(file.counts for file in self.files))

    @property
    def is_partial(self) -> bool:
        """Whether some clips of the benchmark are known to have no record."""
        return self.coverage < 1

    @property
    def is_recomputed(self) -> bool:
        return self.kind != "reported"


def scored_row(row_id: str, kind: Kind, model: str, scored: Evaluation, **more: object) -> Row:
    """A row from an evaluation, with any other fields of ``Row``."""
    fields: dict[str, object] = {
        "values": {"all": scored.metrics, **scored.subsets},
        "intervals": {"all": scored.intervals, **scored.subset_intervals},
        "statuses": {"all": scored.statuses, **scored.subset_statuses},
        "protocol": scored.protocol,
        "benchmark_hash": scored.benchmark_hash,
        "scorer_version": scored.scorer_version,
        "file_sha256": scored.file_sha256,
        "coverage": coverage_of(scored),
    }
    return Row(row_id, kind, model, **(fields | more))  # type: ignore[arg-type]


def coverage_of(scored: Evaluation) -> float:
    """The share of the benchmark's clips that have a record; NaN if there are none."""
    missing = scored.statuses.get("missing", 0)
    return 1 - missing / scored.n_clips if scored.n_clips else math.nan


def slug(name: str) -> str:
    """A name as part of a row's id: lower-case ASCII letters, digits and hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", name.casefold()).strip("-")

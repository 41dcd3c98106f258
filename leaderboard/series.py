"""The submissions of one row: which of them count, and what they come to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from agl1k_core import scoring
from agl1k_core.scoring import Evaluation, Interval
from leaderboard.parts import Part
from leaderboard.rows import File, Row, coverage_of, scored_row
from store.moderation import Decision, Standing
from store.submissions import Submission


@dataclass(frozen=True, eq=False)
class Scored:
    """A submission, what operators decided about it, and its evaluation.

    ``found`` is None if its file cannot be scored, with the reason in ``why``.
    """

    submission: Submission
    standing: Standing
    found: Evaluation | None
    why: str = ""

    @cached_property
    def evaluation(self) -> Evaluation:
        """The numbers to show: as stored, or new ones if an older scorer made those."""
        if self.found is not None and self.is_outdated:
            return self.found
        return Evaluation.from_dict(self.submission.evaluation)

    @property
    def is_outdated(self) -> bool:
        return self.submission.scorer_version != scoring.SCORER_VERSION


@dataclass(frozen=True, eq=False)
class Submitted:
    """The submissions by row, and the rows that they are today."""

    of_rows: Mapping[str, Sequence[Scored]] = field(default_factory=dict)
    today: Part = field(default_factory=Part)

    @classmethod
    def of(cls, of_rows: Mapping[str, Sequence[Scored]]) -> Submitted:
        """From the submissions of each row."""
        return cls(of_rows, _part(of_rows.values()))

    def evaluations(self) -> dict[str, Evaluation]:
        """Those made here, by submission."""
        every = (one for of_row in self.of_rows.values() for one in of_row)
        return {one.submission.submission_id: one.found for one in every if one.found}

    def as_of(self, day: str) -> Part:
        """The rows at the end of a day, or today's."""
        if not day:
            return self.today
        return _part(filter(None, (until(of_row, day) for of_row in self.of_rows.values())))


def _part(of_rows: Iterable[Sequence[Scored]]) -> Part:
    made = [(*row_of(of_row), of_row[-1].found) for of_row in of_rows]
    scored = {row.row_id: found for row, found, _ in made if found is not None}
    runs = {row.row_id: last for row, _, last in made if row.n_runs > 1 and last is not None}
    return Part(tuple(row for row, _, _ in made), scored, runs)


def by_row(scored: Iterable[Scored]) -> dict[str, list[Scored]]:
    """The submissions of each row, in the order given, by row id."""
    found: dict[str, list[Scored]] = {}
    for one in scored:
        found.setdefault(one.submission.row_id, []).append(one)
    return found


def until(of_row: Sequence[Scored], day: str) -> list[Scored]:
    """Those that were published up to a day, YYYY-MM-DD."""
    return [one for one in of_row if _published(one.submission) <= day]


def counting(of_row: Sequence[Scored]) -> list[Scored]:
    """Those that count: the last one that replaced all before it, and the runs after it.

    A run that is of another version of the benchmark's table than the last one is left out.
    """
    last = of_row[-1].submission
    replaced = [at for at, one in enumerate(of_row) if one.submission.relation == "replaces"]
    since = of_row[replaced[-1] if replaced else 0 :]
    return [one for one in since if one.submission.benchmark_hash == last.benchmark_hash]


def row_of(of_row: Sequence[Scored]) -> tuple[Row, Evaluation | None]:
    """The row of some submissions, oldest first, and the evaluation behind it."""
    runs = counting(of_row)
    last = runs[-1]
    found = _together(runs)
    row = submission_row(last.submission, found if len(runs) > 1 and found else last.evaluation)
    row = replace(
        row,
        verified=_is_verified(of_row),
        note=" ".join(map(_told, _decisions(of_row))),
        coverage=min(coverage_of(one.evaluation) for one in runs),
        unranked=next((one.why for one in runs if one.why), ""),
        files=tuple(_file(one, one in runs) for one in reversed(of_row)),
        ranges=_ranges([one.evaluation for one in runs]),
    )
    return row, found


def _together(runs: Sequence[Scored]) -> Evaluation | None:
    found = [one.found for one in runs if one.found is not None]
    if len(found) < len(runs):
        return None
    if len(found) == 1:
        return found[0]
    is_sealed = any(one.rows is None for one in found)
    return scoring.mean_of_sealed(found) if is_sealed else scoring.mean_of_runs(found)


def _ranges(runs: Sequence[Evaluation]) -> Mapping[str, Mapping[str, Interval]]:
    """Subset -> metric -> least and greatest of several runs; empty for a single one."""
    if len(runs) == 1:
        return {}
    numbers = [{"all": run.metrics, **run.subsets} for run in runs]
    return {
        subset: {metric: _range([run[subset][metric] for run in numbers]) for metric in metrics}
        for subset, metrics in numbers[-1].items()
    }


def _range(values: Sequence[float]) -> Interval:
    return Interval(min(values), max(values))


def _published(submission: Submission) -> str:
    return f"{submission.created_utc:%Y-%m-%d}"


def _file(one: Scored, counts: bool) -> File:
    submission = one.submission
    return File(
        submission.submission_id,
        _published(submission),
        submission.file_sha256,
        one.evaluation.metrics,
        is_shared=submission.is_shared,
        counts=counts,
    )


def submission_row(submission: Submission, scored: Evaluation | None = None) -> Row:
    """A submission as a row, with its stored numbers or those of ``scored``."""
    return scored_row(
        submission.row_id,
        "scored",
        submission.model,
        scored or Evaluation.from_dict(submission.evaluation),
        organisation=submission.organisation,
        owner=submission.owner,
        link=submission.link,
        weights=submission.weights,
        date=submission.model_date,
        prompt=submission.prompt,
        file_sha256=submission.file_sha256,
        published=_published(submission),
    )


def _is_verified(of_row: Sequence[Scored]) -> bool:
    """Whether the operator confirmed who stands in the row now, and for which organisation."""
    last, decision = of_row[-1].submission, _verification(of_row)
    if decision is None or not last.owner:
        return False
    seen = [one.submission for one in of_row if one.submission.created_utc <= decision.created_utc]
    return bool(seen) and _publisher(seen[-1]) == _publisher(last)


def _verification(of_row: Sequence[Scored]) -> Decision | None:
    """The last time that the operator confirmed who publishes a row, by any of its files."""
    found = [one.standing.verified for one in of_row if one.standing.verified]
    return max(found, key=lambda decision: decision.created_utc, default=None)


def _publisher(submission: Submission) -> tuple[str, str]:
    return submission.owner, submission.organisation


def _decisions(of_row: Sequence[Scored]) -> Iterator[Decision]:
    """What the operator decided about a row; its own standing is that of its first file."""
    yield from filter(None, (_verification(of_row), of_row[0].standing.shown))


def _told(decision: Decision) -> str:
    done = {"verify": "Confirmed", "restore": "Restored"}.get(decision.action, decision.action)
    return f"{done} by the operator on {decision.created_utc:%Y-%m-%d}: {decision.reason}"

"""Tables of verdicts: what judges and people said about each miss, one row each.

A table that somebody else wrote needs only ``key``, ``judge`` and ``cause``.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from agl1k_core.benchmarks import TableRow, missing_column, read_rows
from agl1k_core.causes.model import CAUSES, REFUSAL, Miss, Misses, Outcome, Verdict
from agl1k_core.errors import Agl1kError, Problems
from agl1k_core.file_names import shown
from agl1k_core.files import write_atomically
from agl1k_core.inputs import name_of

VERDICTS, PERSON_TABLE = "verdicts.csv", "person.csv"
#: The name of the person who uses the page.
PERSON = "person"
COLUMNS = (
    "key", "judge", "outcome", "cause", "true_country", "country", "distance_km", "answer", "miss",
)  # fmt: skip
_TODO = "Correct the row"


def write_verdicts(path: Path, verdicts: Sequence[Verdict], misses: Mapping[str, Miss]) -> None:
    """Write a table of verdicts; raises ``Agl1kError``."""
    text = io.StringIO()
    # quotes around all: a bare \r in an answer would end its row
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writeheader()
    writer.writerows(_row(verdict, misses.get(verdict.key)) for verdict in verdicts)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, text.getvalue(), durable=True)
    except OSError as error:
        raise Agl1kError(f"{shown(path)} cannot be written: {error.strerror}.") from None


def _row(verdict: Verdict, miss: Miss | None) -> dict[str, object]:
    km = miss.distance_km if miss else None
    return {
        "key": verdict.key,
        "judge": verdict.judge,
        "outcome": str(verdict.outcome),
        "cause": verdict.cause,
        "true_country": miss.true_country if miss else "",
        "country": miss.country if miss else "",
        "distance_km": "" if km is None else f"{km:.3f}",
        # a table with a zero byte is taken for a binary file
        "answer": verdict.answer.replace("\0", "\N{REPLACEMENT CHARACTER}"),
        "miss": verdict.fingerprint,
    }


def read_verdicts(path: Path) -> list[Verdict]:
    """Read a table of verdicts.

    Raises
    ------
    FileRefusedError
        With all problems: a missing column, an empty key or judge, a cause that is none of the
        seven, two verdicts of a judge on one clip.
    """
    problems = Problems(name_of(path))
    verdicts = [*_verdicts(path, problems)]
    problems.raise_if_any()
    return verdicts


def _verdicts(path: Path, problems: Problems) -> Iterator[Verdict]:
    seen: set[tuple[str, str]] = set()
    for row in read_rows(path, problems, _columns):
        verdict = _verdict(row)
        if (verdict.key, verdict.judge) in seen:
            row.problem("judge", f"{verdict.judge} has already judged the clip", _TODO)
        seen.add((verdict.key, verdict.judge))
        yield verdict


def _columns(header: list[str], first_width: int, problems: Problems) -> list[str]:
    for name in ("key", "judge", "cause"):
        if name not in header:
            problems.add(missing_column(name, header, "Name the columns key, judge and cause"))
    return header


def _verdict(row: TableRow) -> Verdict:
    for name in ("key", "judge"):
        if not row.text(name):
            row.problem(name, "it is empty", _TODO)
    cause = _cause(row)
    return Verdict(
        row.text("key"), row.text("judge"), _outcome(row, cause), cause,
        row.fields.get("answer", ""), row.text("miss"),
    )  # fmt: skip


def _cause(row: TableRow) -> str:
    said = row.text("cause")
    cause = next((name for name in CAUSES if name.casefold() == said.casefold()), "")
    if said and not cause:
        row.problem("cause", f"{said!r:.60} is not a cause", f"Give one of {', '.join(CAUSES)}")
    return cause


def _outcome(row: TableRow, cause: str) -> Outcome:
    said = row.text("outcome") or (Outcome.JUDGED if cause else Outcome.UNREADABLE)
    try:
        outcome = Outcome(said)
    except ValueError:
        outcomes = ", ".join(Outcome)
        row.problem("outcome", f"{said!r:.60} is not an outcome", f"Give one of {outcomes}")
        return Outcome.UNREADABLE
    if bool(cause) != (outcome in (Outcome.JUDGED, Outcome.BY_STATUS)):
        row.problem("cause", f"{cause or 'no cause'!r} with the outcome {outcome}", _TODO)
    return outcome


def merged(
    tables: Sequence[Sequence[Verdict]], misses: Mapping[str, Miss]
) -> tuple[list[Verdict], list[Verdict]]:
    """All verdicts, one per judge and clip: those on these misses, and those on other answers.

    A later table's verdict takes the place of an earlier one, unless it failed.
    """
    found: dict[tuple[str, str], Verdict] = {}
    others: dict[tuple[str, str], Verdict] = {}
    for verdict in (verdict for table in tables for verdict in table):
        place = (verdict.judge, verdict.key)
        miss = misses.get(verdict.key)
        if miss is None or verdict.fingerprint not in ("", miss.fingerprint):
            others[place] = verdict
        elif verdict.outcome != Outcome.FAILED or place not in found:
            found[place] = replace(verdict, fingerprint=miss.fingerprint)
    return [*found.values()], [other for place, other in others.items() if place not in found]


def with_refusals(verdicts: Sequence[Verdict], misses: Misses) -> list[Verdict]:
    """The same with the refusals, whose cause is known from their status, for each judge."""
    judges = dict.fromkeys(verdict.judge for verdict in verdicts)
    known = {(verdict.judge, verdict.key) for verdict in verdicts}
    added = (
        Verdict(miss.key, judge, Outcome.BY_STATUS, REFUSAL, "", miss.fingerprint)
        for judge in judges
        for miss in misses.misses
        if miss.is_refusal and (judge, miss.key) not in known
    )
    return [*verdicts, *added]

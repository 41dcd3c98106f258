"""A person's decisions on clips, in ``review.csv``: keep or reject, and notes.

Nothing else is lost when one of them changes: decisions on clips that left the folder stay.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from agl1k_core.curation import analysis_rows
from agl1k_core.curation.pipeline import KEEP, REJECT
from agl1k_core.errors import Agl1kError
from agl1k_core.file_names import shown
from agl1k_core.files import write_atomically

REVIEW = "review.csv"


@dataclass(frozen=True)
class Decision:
    """What a person decided on a clip.

    Attributes
    ----------
    decision
        ``KEEP``, ``REJECT``, or empty if there is only a note.
    note
        What the person wrote.
    """

    decision: str = ""
    note: str = ""


def read_review(out: Path) -> dict[str, Decision]:
    """A person's decisions and notes by key; raises ``Agl1kError`` for any others."""
    path = out / REVIEW
    if not path.is_file():
        return {}
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
    except (OSError, ValueError, csv.Error) as error:
        raise Agl1kError(f"{shown(path)} cannot be read: {error}. Correct or remove it.") from None
    odd = [row for row in rows if not _is_decision(row)]
    if odd:
        raise Agl1kError(
            f"{shown(path)}: {len(odd)} lines are not decisions, such as {odd[0]}. "
            f"Write a key and {KEEP} or {REJECT}, or remove the line."
        )
    return {row["key"]: Decision(row["decision"], row.get("note") or "") for row in rows}


def _is_decision(row: Mapping[str, str | None]) -> bool:
    decision = row.get("decision")
    noted = decision == "" and bool(row.get("note"))
    return bool(row.get("key")) and (decision in (KEEP, REJECT) or noted)


def read_decisions(out: Path) -> dict[str, str]:
    """Only the decisions by key, ``KEEP`` or ``REJECT``; raises ``Agl1kError`` for others."""
    return {key: found.decision for key, found in read_review(out).items() if found.decision}


def write_review(out: Path, review: Mapping[str, Decision]) -> None:
    """Save decisions and notes; raises ``Agl1kError`` if the folder cannot be written."""
    rows = [
        {"key": key, "decision": found.decision, "note": found.note}
        for key, found in sorted(review.items())
        if found.decision or found.note
    ]
    try:
        text = analysis_rows.csv_text(rows) or "key,decision,note\n"
        write_atomically(out / REVIEW, text)
    except OSError as error:
        raise Agl1kError(
            f"{shown(out / REVIEW)} cannot be written: {error.strerror}. "
            "Free some space and try again."
        ) from None

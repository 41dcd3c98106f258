"""Analyses of recordings as rows of a CSV table."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from agl1k_core import tagging
from agl1k_core.curation.analysis import Analysis
from agl1k_core.file_names import written
from agl1k_core.inputs import as_given

_MEASURES = (
    "rms_energy", "rms_without_mean", "spectral_flatness", "clipping_ratio",
    "acoustic_complexity", "complexity_per_band", "level_variation_db", "dc_offset", "peak",
)  # fmt: skip


def filter_row(path: Path, analysis: Analysis) -> dict[str, Any]:
    """A file, its outcome, whether it passes the filters and why not, and its measures."""
    return {
        "file": written(as_given(path)),
        "outcome": analysis.outcome,
        "passes": "yes" if analysis.usable else "no",
        "reason": analysis.message or "; ".join(analysis.failures.values()),
        "notes": " ".join(analysis.notes),
        "duration_s": number(analysis.duration_s),
        "sample_rate_hz": analysis.sample_rate_hz,
        "channels": analysis.channels,
        "codec": analysis.codec,
        **{name: number(analysis.measures.get(name)) for name in _MEASURES},
    }


def tag_rows(path: Path, analysis: Analysis) -> list[dict[str, Any]]:
    """A row for each class that is present in a file; one row with empty fields if none is."""
    common = {
        "file": written(as_given(path)),
        "outcome": analysis.outcome,
        "reason": analysis.message,
    }
    rows = [
        {
            "id": class_id,
            "class": tagging.class_name(class_id),
            "roots": " ".join(tagging.class_roots(class_id)),
            "fraction": number(share),
        }
        for class_id, share in _presence(analysis).items()
    ]
    nothing = dict.fromkeys(("id", "class", "roots", "fraction"), "")
    return [{**common, **row} for row in rows or [nothing]]


def top_tags(analysis: Analysis, n: int = 6) -> str:
    """The classes that are present longest, such as ``Bird .41, Chirp .34``."""
    pairs = [*_presence(analysis).items()][:n]
    tags = (f"{tagging.class_name(class_id)} {share:.2f}" for class_id, share in pairs)
    return ", ".join(tags).replace(" 0.", " .")


def number(value: float | None) -> str:
    """A number with six digits; empty for None."""
    return "" if value is None else f"{value:.6g}"


def write_csv(file: TextIO, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows that have the same columns; at least one."""
    writer = csv.DictWriter(file, [*rows[0]], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)


def csv_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """The same as text, empty without rows."""
    text = io.StringIO()
    if rows:
        write_csv(text, rows)
    return text.getvalue()


def _presence(analysis: Analysis) -> Mapping[str, float]:
    presence: Mapping[str, float] = analysis.tags.get("presence", {})
    return presence


def recordings_in(table: Path) -> set[str]:
    """The recordings that an earlier run put beside its table, by that table."""
    if not table.is_file():
        return set()
    with table.open(encoding="utf-8", newline="") as file:
        names = {row.get("file") or "" for row in csv.DictReader(file)}
    return {name for name in names if name and "/" not in name and not name.startswith(".")}

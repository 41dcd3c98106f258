"""What was heard of files, as rows of a table and as text for a terminal."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from rich.table import Table
from rich.text import Text

from agl1k_core import tagging
from agl1k_core.curation.analysis import Analysis

_MEASURES = (
    "rms_energy", "spectral_flatness", "clipping_ratio", "acoustic_complexity",
    "complexity_per_band", "dc_offset", "peak",
)  # fmt: skip
_SHOWN = ("rms_energy", "spectral_flatness", "clipping_ratio", "complexity_per_band")
_TOP = 6


def filter_row(path: Path, heard: Analysis) -> dict[str, Any]:
    """A file, its outcome, whether it passes the filters and why not, and its measures."""
    return {
        "file": str(path),
        "outcome": heard.outcome,
        "passes": "yes" if heard.usable else "no",
        "reason": heard.message or "; ".join(heard.failures.values()),
        "notes": " ".join(heard.notes),
        "duration_s": number(heard.duration_s),
        "sample_rate_hz": heard.sample_rate_hz,
        "channels": heard.channels,
        "codec": heard.codec,
        **{name: number(heard.measures.get(name)) for name in _MEASURES},
    }


def tag_rows(path: Path, heard: Analysis) -> list[dict[str, Any]]:
    """A row for each class that sounds in a file; one row, without class, where none does."""
    presence: Mapping[str, float] = heard.tags.get("presence", {})
    common = {"file": str(path), "outcome": heard.outcome, "reason": heard.message}
    rows = [
        {
            "id": class_id,
            "class": tagging.class_name(class_id),
            "roots": " ".join(tagging.class_roots(class_id)),
            "fraction": number(share),
        }
        for class_id, share in presence.items()
    ]
    nothing = dict.fromkeys(("id", "class", "roots", "fraction"), "")
    return [{**common, **row} for row in rows or [nothing]]


def filter_table(heard: Sequence[tuple[Path, Analysis]]) -> Table:
    """A line per file: the measures, and whether it passes."""
    headings = ("seconds", "RMS energy", "flatness", "clipping", "complexity", "passes")
    table = _table(headings, "why not")
    for path, item in heard:
        measures = [_short(item.measures.get(name)) for name in _SHOWN]
        reason = item.message or "; ".join(item.failures.values())
        told = "" if item.usable else f"{item.outcome}: {reason}" if item.message else reason
        passes = "yes" if item.usable else "no"
        table.add_row(_name(path), _seconds(item), *measures, passes, Text(told))
    return table


def tag_table(heard: Sequence[tuple[Path, Analysis]]) -> Table:
    """A line per file: the classes present longest."""
    table = _table(("seconds",), "what sounds, and for which share of the time")
    for path, item in heard:
        table.add_row(_name(path), _seconds(item), Text(top_tags(item) or _told(item)))
    return table


def top_tags(heard: Analysis, n: int = _TOP) -> str:
    """``Bird .41, Chirp .34``: the classes present longest."""
    presence: Mapping[str, float] = heard.tags.get("presence", {})
    pairs = [(tagging.class_name(class_id), share) for class_id, share in presence.items()][:n]
    return ", ".join(f"{name} {share:.2f}".replace(" 0.", " .") for name, share in pairs)


def number(value: float | None) -> str:
    """Six digits; nothing for None."""
    return "" if value is None else f"{value:.6g}"


def write_csv(file: TextIO, rows: Sequence[Mapping[str, Any]]) -> None:
    """Rows of the same columns, at least one."""
    writer = csv.DictWriter(file, [*rows[0]], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)


def _told(heard: Analysis) -> str:
    return f"{heard.outcome}: {heard.message}" if heard.message else "no class is present"


def _table(numbers: Sequence[str], last: str) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("file", overflow="fold")
    for name in numbers:
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column(last, overflow="fold")
    return table


def _name(path: Path) -> Text:
    return Text(path.name)


def _seconds(heard: Analysis) -> str:
    return "" if heard.duration_s is None else f"{heard.duration_s:.1f}"


def _short(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"

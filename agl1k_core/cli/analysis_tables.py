"""Analyses of recordings as tables for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.table import Table
from rich.text import Text

from agl1k_core.curation import Analysis, top_tags

_MEASURES = ("rms_energy", "spectral_flatness", "clipping_ratio", "complexity_per_band")


def filter_table(analyses: Sequence[tuple[Path, Analysis]]) -> Table:
    """One line per file: the measures, and whether it passes the filters."""
    headings = ("seconds", "RMS energy", "flatness", "clipping", "complexity", "passes")
    table = _table(headings, "why not")
    for path, analysis in analyses:
        measures = [_short(analysis.measures.get(name)) for name in _MEASURES]
        passes = "yes" if analysis.usable else "no"
        table.add_row(_name(path), _seconds(analysis), *measures, passes, Text(_why_not(analysis)))
    return table


def tag_table(analyses: Sequence[tuple[Path, Analysis]]) -> Table:
    """One line per file: the classes that are present longest."""
    table = _table(("seconds",), "what sounds, and for which share of the time")
    for path, analysis in analyses:
        text = top_tags(analysis) or _why_not(analysis) or "no class is present"
        table.add_row(_name(path), _seconds(analysis), Text(text))
    return table


def _why_not(analysis: Analysis) -> str:
    """Why a file does not pass; empty if it does."""
    if analysis.message:
        return f"{analysis.outcome}: {analysis.message}"
    return "; ".join(analysis.failures.values())


def _table(numbers: Sequence[str], last: str) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("file", overflow="fold")
    for name in numbers:
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column(last, overflow="fold")
    return table


def _name(path: Path) -> Text:
    return Text(path.name)


def _seconds(analysis: Analysis) -> str:
    return "" if analysis.duration_s is None else f"{analysis.duration_s:.1f}"


def _short(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"

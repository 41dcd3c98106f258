"""Analyses of recordings as tables for a terminal or a pipe: one line per file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from agl1k_core.cli.console import aligned
from agl1k_core.curation import Analysis, top_tags
from agl1k_core.inputs import as_given

_MEASURES = {
    "energy": "rms_without_mean",
    "flatness": "spectral_flatness",
    "clipping": "clipping_ratio",
    "complexity": "complexity_per_band",
    "variation": "level_variation_db",
}


def filter_table(analyses: Sequence[tuple[Path, Analysis]]) -> str:
    """The measures of each file, and whether it passes the filters."""
    rows = [("passes", "seconds", *_MEASURES, "file, and why it does not pass")]
    for path, analysis in analyses:
        measures = (_short(analysis.measures.get(name)) for name in _MEASURES.values())
        passes = "yes" if analysis.usable else "no"
        about = _joined(path, why_not(analysis))
        rows.append((passes, _seconds(analysis), *measures, about))
    return aligned(rows)


def tag_table(analyses: Sequence[tuple[Path, Analysis]]) -> str:
    """The classes that are present longest in each file."""
    rows = [("seconds", "file, and the share of the time in which a class is present")]
    for path, analysis in analyses:
        sounds = top_tags(analysis) or why_not(analysis) or "no class is present"
        rows.append((_seconds(analysis), _joined(path, sounds)))
    return aligned(rows, left=())


def why_not(analysis: Analysis) -> str:
    """Why a file does not pass; empty if it does."""
    if analysis.message:
        return f"{analysis.outcome}: {analysis.message}"
    return "; ".join(analysis.failures.values())


def _joined(path: Path, text: str) -> str:
    name = str(as_given(path))
    return f"{name}  {text}" if text else name


def _seconds(analysis: Analysis) -> str:
    return "" if analysis.duration_s is None else f"{analysis.duration_s:.1f}"


def _short(value: float | None) -> str:
    return "" if value is None else f"{value:.2g}"

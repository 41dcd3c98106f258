"""CSV files that are safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence

#: Some spreadsheets treat the full-width forms like the plain ones.
_FORMULA_STARTS = (*"=+-@", *"\uff1d\uff0b\uff0d\uff20", "\t", "\r", "\n")

Cell = str | int | float


def safe_cell(value: Cell | None) -> Cell:
    """A cell that no spreadsheet reads as a formula; numbers stay numbers, NaN is empty."""
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return ""
    if isinstance(value, str) and value.lstrip(" \u00a0\ufeff").startswith(_FORMULA_STARTS):
        return f"'{value}"
    return value


def write_csv(header: Sequence[str], lines: Sequence[Sequence[Cell | None]]) -> str:
    """CSV text in which every cell is safe."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(header)
    writer.writerows([safe_cell(cell) for cell in line] for line in lines)
    return text.getvalue()

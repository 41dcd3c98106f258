"""What a benchmark reports: measured values, each with its limit, if any."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True, slots=True)
class Measured:
    """One line of the table. ``kind`` says whether the limit is a lowest or a highest value."""

    benchmark: str
    what: str
    value: float
    unit: str
    limit: float | None = None
    kind: Literal["at least", "at most"] = "at most"

    @property
    def passed(self) -> bool:
        """Whether the value is within its limit; one without a limit always passes."""
        if self.limit is None:
            return True
        return self.value >= self.limit if self.kind == "at least" else self.value <= self.limit


def show(results: Sequence[Measured]) -> None:
    """Print all results as one table."""
    table = Table(title=f"{os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f}")
    for name in ("benchmark", "what", "value", "limit", ""):
        table.add_column(name, justify="right" if name in ("value", "limit") else "left")
    for result in results:
        limit = "" if result.limit is None else f"{result.kind} {result.limit:g} {result.unit}"
        verdict = "" if result.limit is None else "pass" if result.passed else "MISSED"
        value = f"{result.value:,.4g} {result.unit}"
        if result.value >= 1000:
            value = f"{result.value:,.0f} {result.unit}"
        table.add_row(result.benchmark, result.what, value, limit, verdict)
    Console(width=None if os.isatty(1) else 120).print(table)

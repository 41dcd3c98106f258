"""Numbers as text, and small tables as HTML for notebooks."""

from __future__ import annotations

import math
from collections.abc import Iterable
from html import escape


def metric_text(metric: str, value: float | None) -> str:
    """A metric's value for people: km and scores with one digit, shares in percent, "–" for none.

    Examples
    --------
    >>> metric_text("distance_km", 5479.442), metric_text("reject_rate", 0.31067)
    ('5,479.4', '31.07 %')
    """
    if value is None or math.isnan(value):
        return "–"
    if metric.endswith(("_km", "geoscore")):
        return f"{value:,.1f}"
    return f"{100 * value:.2f} %"


def interval_text(metric: str, low: float, high: float) -> str:
    """Both ends of an interval, or "" if there is none."""
    if math.isnan(low):
        return ""
    return f"{metric_text(metric, low)} to {metric_text(metric, high)}"


def table_html(caption: str, header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """An HTML table; every text is escaped."""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in header)
    body = "".join(f"<tr>{_cells_html(row)}</tr>" for row in rows)
    return (
        f"<table><caption>{escape(caption)}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def _cells_html(row: Iterable[str]) -> str:
    first, *others = row
    cells = "".join(f"<td>{escape(text)}</td>" for text in others)
    return f'<th scope="row">{escape(first)}</th>{cells}'

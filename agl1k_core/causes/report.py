"""The distribution of causes as a figure, and as a page with the numbers beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any

import pandas as pd

from agl1k_core.causes.model import CAUSES
from agl1k_core.extras import Deferred
from agl1k_core.report_pages import COLOURS, page, paragraph, section, short, styled, table_html

if TYPE_CHECKING:
    import plotly.graph_objects as go
else:
    go = Deferred("plotly.graph_objects")


def causes_figure(summary: Mapping[str, Any]) -> go.Figure:
    """The share of each cause, with a bar for each judge (Figure 7 of "The Sonar Moment")."""
    figure = go.Figure()
    for judge, colour in zip(summary["judges"], cycle(COLOURS), strict=False):
        figure.add_bar(
            x=[100 * (judge["causes"][cause]["share"] or 0) for cause in CAUSES],
            y=[*CAUSES],
            orientation="h",
            name=f"{short(judge['judge'])}, n = {judge['n']}",
            marker_color=colour,
            text=[judge["causes"][cause]["n"] for cause in CAUSES],
            textposition="outside",
            cliponaxis=False,
            hovertemplate="%{y}: %{x:.1f} %, %{text} misses<extra></extra>",
        )
    figure.update_layout(barmode="group", legend={"orientation": "h", "y": -0.2})
    figure.update_xaxes(title_text="% of the misses", rangemode="tozero")
    figure.update_yaxes(autorange="reversed", showgrid=False)
    height = 160 + 7 * max(30, 18 * len(summary["judges"]))
    return styled(figure, height=height, legend=True)


def cause_page(summary: Mapping[str, Any], source: str) -> str:
    """The summary as one HTML page; raises ``Agl1kError`` if plotly is not installed."""
    about = ". ".join(about_lines(summary)) + "."
    figure = section(
        "Distribution",
        causes_figure(summary),
        "Share of each cause in a judge's verdicts; the numbers are misses (the paper's Figure 7).",
    )
    parts = [paragraph(about), figure, table_html(cause_table(summary)), *_agreement(summary)]
    return page(f"Why the country is wrong: {source}", parts)


def _agreement(summary: Mapping[str, Any]) -> Iterator[str]:
    if summary["agreement"]:
        yield "<h2>Agreement</h2>"
        yield paragraph(fleiss_line(summary) + ".")
        yield table_html(agreement_table(summary))


def about_lines(summary: Mapping[str, Any]) -> list[str]:
    """Sentences about what was judged, without full stops."""
    left_out = sum(summary["left_out"].values())
    tied = summary["most_named"]["tied"]
    return [
        f"{summary['n_records']:,} records: {summary['n_right']:,} with the right country, "
        f"{summary['n_misses']:,} misses" + (f", {left_out:,} left out" if left_out else ""),
        *(f"Left out: {n:,} with {reason}" for reason, n in summary["left_out"].items()),
        *([f"Misses about which judges are evenly divided: {tied:,}"] if tied else []),
    ]


def cause_table(summary: Mapping[str, Any]) -> pd.DataFrame:
    """A row per cause; for each judge, and for most of them, the misses and their share."""
    columns: dict[str, Sequence[object]] = {"cause": [*CAUSES]}
    named = [(judge["judge"], judge["causes"]) for judge in summary["judges"]]
    if len(named) > 1:
        named.append(("most named", summary["most_named"]["causes"]))
    for name, causes in named:
        columns[name] = [_with_share(causes[cause]) for cause in CAUSES]
    return pd.DataFrame(columns)


def _with_share(found: Mapping[str, Any]) -> str:
    return "–" if found["share"] is None else f"{found['n']} ({found['share']:.0%})"


def agreement_table(summary: Mapping[str, Any]) -> pd.DataFrame:
    """A row per pair of judges."""
    names = ("judge", "other_judge", "n", "same", "kappa")
    return pd.DataFrame(summary["agreement"], columns=names).astype({"same": float, "kappa": float})


def fleiss_line(summary: Mapping[str, Any]) -> str:
    """Fleiss' kappa in words, without a full stop."""
    joint = summary["fleiss"]
    kappa = "is not defined" if joint["kappa"] is None else f"is {joint['kappa']:.2f}"
    return f"Fleiss' kappa of all judges {kappa}, on the {joint['n']:,} misses that all judged"

"""Figures of distances, in plotly; ``assets/leaderboard-detail.css`` colours ink and lines."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go

from agl1k_core.scoring import THRESHOLDS_KM
from leaderboard.compare import RowComparison
from leaderboard.detail import Detail

FloatArray = npt.NDArray[np.float64]

#: Colours that can be told apart on light and dark backgrounds, also by colour-blind people.
FIRST, SECOND = "#11998e", "#d9822b"
_NEAREST_KM, _FARTHEST_KM = 1.0, 20_040.0
_BINS_PER_DECADE = 6
_TICKS_KM = (1, 10, 100, 1000, 10_000)


def error_histogram(detail: Detail) -> go.Figure | None:
    """A histogram of distances on a log scale; None if there are no distances."""
    if detail.distances_km is None or not len(detail.distances_km):
        return None
    counts, edges = histogram(detail.distances_km)
    figure = go.Figure(
        go.Bar(
            x=(edges[:-1] + edges[1:]) / 2,
            y=counts,
            width=np.diff(edges),
            marker={"color": FIRST, "line": {"width": 0}},
            customdata=np.column_stack([edges[:-1], edges[1:]]),
            hovertemplate="%{customdata[0]:.0f}–%{customdata[1]:.0f} km: %{y}<extra></extra>",
        )
    )
    for threshold in THRESHOLDS_KM:
        figure.add_vline(x=threshold, line={"width": 1, "dash": "dot", "color": "#8a9692"})
    return _styled(figure, "Answered clips")


def histogram(distances_km: FloatArray) -> tuple[npt.NDArray[np.int64], FloatArray]:
    """Counts and edges of bins of equal width in log distance; below 1 km counts as 1 km."""
    decades = np.log10(_FARTHEST_KM / _NEAREST_KM)
    edges = np.geomspace(_NEAREST_KM, _FARTHEST_KM, round(decades * _BINS_PER_DECADE) + 1)
    counts, _ = np.histogram(np.clip(distances_km, _NEAREST_KM, _FARTHEST_KM), edges)
    return counts, edges


def shares_within(distances_km: FloatArray, at_km: FloatArray) -> FloatArray:
    """Share of clips that are closer than each of ``at_km``."""
    ordered = np.sort(distances_km)
    return np.searchsorted(ordered, at_km, side="left") / max(len(ordered), 1)


def comparison_curves(comparison: RowComparison) -> go.Figure:
    """Share of the common clips that each places within a distance."""
    at_km = np.geomspace(_NEAREST_KM, _FARTHEST_KM, 160)
    lines: Sequence[tuple[str, FloatArray, str, str]] = (
        (comparison.first.model, comparison.distances_km[0], FIRST, "solid"),
        (comparison.second.model, comparison.distances_km[1], SECOND, "dash"),
    )
    figure = go.Figure()
    for name, distances_km, colour, dash in lines:
        figure.add_scatter(
            x=at_km,
            y=100 * shares_within(distances_km, at_km),
            name=plain(name),
            mode="lines",
            line={"color": colour, "width": 2.5, "dash": dash},
            hovertemplate="within %{x:.0f} km: %{y:.1f} %<extra></extra>",
        )
    figure.update_layout(legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0})
    return _styled(figure, "Share of clips within, %")


def plain(name: str) -> str:
    """A name escaped for plotly, which interprets some HTML."""
    return name.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _styled(figure: go.Figure, y_title: str) -> go.Figure:
    figure.update_layout(
        template="none",
        height=300,
        margin={"l": 56, "r": 16, "t": 32, "b": 48},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"family": "system-ui, sans-serif", "size": 13},
        bargap=0,
        dragmode=False,
        hovermode="closest",
    )
    figure.update_xaxes(
        type="log",
        range=[np.log10(_NEAREST_KM), np.log10(_FARTHEST_KM)],
        tickvals=_TICKS_KM,
        ticktext=[f"{tick:,} km" for tick in _TICKS_KM],
        title_text="Distance from the true place",
        showgrid=False,
        zeroline=False,
        fixedrange=True,
    )
    figure.update_yaxes(title_text=y_title, gridwidth=1, zeroline=False, fixedrange=True)
    return figure

"""Figures 3, 4, 10 and 11 of Zhang et al. 2026, "The Sonar Moment", in plotly.

Backgrounds are transparent and text is a middle grey, so figures suit light and dark pages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import cycle

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from agl1k_core import tagging
from agl1k_core.localizability.agreement import Agreement, by_continent
from agl1k_core.localizability.model import Localizability

POSITIVE, NEGATIVE = "#11998e", "#d9822b"
_INK, _GRID = "#7d8a86", "rgba(125,138,134,0.25)"
#: Distinguishable with all common forms of colour vision (Okabe and Ito 2008).
_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#5b5b9c")
_LONGEST_NAME = 28


def top_categories_figure(model: Localizability, n: int = 10) -> go.Figure:
    """The steepest positive and negative categories (Figure 3)."""
    sides = tuple(zip(model.top(n), (POSITIVE, NEGATIVE), strict=True))
    titles = ("Positive: reveals the place", "Negative: hides it")
    heights = [max(len(pairs), 1) for pairs, _ in sides]
    figure = make_subplots(
        rows=2,
        cols=1,
        subplot_titles=titles,
        row_heights=heights,
        shared_xaxes=True,
        vertical_spacing=0.1,
    )
    for row, (pairs, colour) in enumerate(sides, 1):
        bars = go.Bar(
            x=[slope for _, slope in pairs] or [0],
            y=[_short(name) for name, _ in pairs] or ["none"],
            orientation="h",
            marker_color=colour,
            text=[f"{slope:.2f}" for _, slope in pairs],
            textposition="outside",
            cliponaxis=False,
            hovertemplate="%{y}: %{x:.3f}<extra></extra>",
        )
        figure.add_trace(bars, row=row, col=1)
    steepest = max([0.1, *model.positive.values(), *model.negative.values()])
    figure.update_xaxes(range=[0, 1.1 * steepest])
    figure.update_xaxes(title_text="slope", row=2, col=1)
    figure.update_yaxes(autorange="reversed", showgrid=False)
    return _styled(figure, height=170 + 27 * sum(heights))


def examples_figure(
    model: Localizability, presences: Mapping[str, Mapping[str, float]], n_parts: int = 8
) -> go.Figure:
    """What makes up each recording's localizability, highest first (Figure 4).

    ``presences`` holds, by recording, the fraction of time of each AudioSet id. The ``n_parts``
    categories with the largest weight overall have a colour each; the others share one.
    """
    parts = {name: model.parts(presence) for name, presence in presences.items()}
    scores = {name: sum(part.values()) for name, part in parts.items()}
    names = sorted(scores, key=lambda name: (scores[name], name))
    labels = [f"{_short(name)}  <b>{scores[name]:.2f}</b>" for name in names]
    weight: Counter[str] = Counter()
    for part in parts.values():
        weight.update({category: abs(value) for category, value in part.items()})
    shown = [category for category, _ in weight.most_common(n_parts)]
    figure = go.Figure()
    for category, colour in zip(shown, cycle(_COLOURS), strict=False):
        values = [parts[name].get(category, 0.0) for name in names]
        label = _short(tagging.class_name(category))
        figure.add_bar(x=values, y=labels, orientation="h", name=label, marker_color=colour)
    if len(weight) > len(shown):
        for sign in (1, -1):
            rest = [_sum_of_others(parts[name], shown, sign) for name in names]
            figure.add_bar(
                x=rest,
                y=labels,
                orientation="h",
                name="others",
                marker_color=_GRID,
                legendgroup="others",
                showlegend=sign > 0,
            )
    figure.add_scatter(
        x=[scores[name] for name in names],
        y=labels,
        mode="markers",
        name="localizability",
        marker={"symbol": "diamond", "size": 11, "color": "#ffffff", "line": {"width": 2}},
    )
    figure.add_vline(x=model.theta, line={"dash": "dot", "color": _INK})
    figure.add_annotation(x=model.theta, y=1.06, yref="paper", text="θ", showarrow=False)
    figure.update_layout(barmode="relative", legend={"orientation": "h", "y": -0.25})
    figure.update_xaxes(title_text="localizability")
    return _styled(figure, height=260 + 34 * len(names), legend=True)


def _sum_of_others(parts: Mapping[str, float], shown: Sequence[str], sign: int) -> float:
    return sum(part for name, part in parts.items() if name not in shown and part * sign > 0)


def agreement_figure(agreement: Agreement) -> go.Figure:
    """How similar the judges are, by three measures (Figure 10)."""
    titles = ("Cosine per recording", "Correlation per category", "Top-10 overlap")
    figure = make_subplots(rows=1, cols=3, subplot_titles=titles, horizontal_spacing=0.06)
    labels = [_short(judge) for judge in agreement.judges]
    for column, matrix in enumerate((agreement.cosine, agreement.pearson, agreement.overlap), 1):
        text = [["–" if np.isnan(value) else f"{value:.2f}" for value in row] for row in matrix]
        heat = go.Heatmap(
            z=matrix,
            x=labels,
            y=labels,
            text=text,
            texttemplate="%{text}",
            zmin=0,
            zmax=1,
            colorscale="Teal",
            showscale=column == 3,
            xgap=2,
            ygap=2,
            hovertemplate="%{y} and %{x}: %{text}<extra></extra>",
        )
        figure.add_trace(heat, row=1, col=column)
        figure.update_yaxes(autorange="reversed", showticklabels=column == 1, row=1, col=column)
    figure.update_xaxes(showgrid=False)
    figure.update_yaxes(showgrid=False)
    return _styled(figure, height=200 + 60 * len(labels))


def continents_figure(
    scores: Mapping[str, float], continents: Mapping[str, str], theta: float = 1.0
) -> go.Figure:
    """Localizability by continent, highest mean first (Figure 11).

    Both mappings are by recording; a recording without a score or a continent is left out.
    """
    keys = [key for key in scores if continents.get(key) and not np.isnan(scores[key])]
    table = by_continent([scores[key] for key in keys], [continents[key] for key in keys])
    figure = go.Figure()
    for row in table.itertuples():
        values = [scores[key] for key in keys if continents[key] == row.continent]
        figure.add_box(
            y=values,
            name=f"{row.continent}<br>n = {row.n}",
            boxmean=True,
            boxpoints="outliers",
            marker={"color": POSITIVE, "size": 4},
            line={"width": 1.5},
        )
    figure.add_hline(y=theta, line={"dash": "dot", "color": _INK}, annotation_text="θ")
    figure.update_yaxes(title_text="localizability")
    figure.update_xaxes(showgrid=False)
    return _styled(figure, height=420)


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"


def _styled(figure: go.Figure, *, height: int, legend: bool = False) -> go.Figure:
    figure.update_layout(
        height=height,
        showlegend=legend,
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"color": _INK, "family": "system-ui, sans-serif", "size": 13},
        margin={"l": 10, "r": 40, "t": 50, "b": 50},
    )
    figure.update_xaxes(gridcolor=_GRID, zerolinecolor=_INK, automargin=True)
    figure.update_yaxes(gridcolor=_GRID, zerolinecolor=_INK, automargin=True)
    return figure

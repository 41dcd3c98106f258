"""Figures 3, 4, 10 and 11 of Zhang et al. 2026, "The Sonar Moment", in plotly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np

from agl1k_core import tagging
from agl1k_core.extras import Deferred
from agl1k_core.localizability.agreement import Agreement, by_continent
from agl1k_core.localizability.model import Localizability
from agl1k_core.report_pages import COLOURS, GRID, INK, short, styled

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import plotly.subplots as subplots
else:
    go, subplots = Deferred("plotly.graph_objects"), Deferred("plotly.subplots")

POSITIVE, NEGATIVE = "#11998e", "#d9822b"

Parts = Mapping[str, Mapping[str, float]]


def top_categories_figure(model: Localizability, n: int = 10) -> go.Figure:
    """The steepest positive and negative categories (Figure 3)."""
    sides = tuple(zip(model.top(n), (POSITIVE, NEGATIVE), strict=True))
    heights = [max(len(pairs), 1) for pairs, _ in sides]
    figure = subplots.make_subplots(
        rows=2,
        cols=1,
        subplot_titles=("Positive: reveals the place", "Negative: hides it"),
        row_heights=heights,
        shared_xaxes=True,
        vertical_spacing=0.1,
    )
    for row, (pairs, colour) in enumerate(sides, 1):
        figure.add_trace(_slopes(pairs, colour), row=row, col=1)
    steepest = max([0.1, *model.positive.values(), *model.negative.values()])
    figure.update_xaxes(range=[0, 1.1 * steepest])
    figure.update_xaxes(title_text="slope", row=2, col=1)
    figure.update_yaxes(autorange="reversed", showgrid=False)
    return styled(figure, height=170 + 27 * sum(heights))


def _slopes(pairs: Sequence[tuple[str, float]], colour: str) -> go.Bar:
    return go.Bar(
        x=[slope for _, slope in pairs] or [0],
        y=[short(name) for name, _ in pairs] or ["none"],
        orientation="h",
        marker_color=colour,
        text=[f"{slope:.2f}" for _, slope in pairs],
        textposition="outside",
        cliponaxis=False,
        hovertemplate="%{y}: %{x:.3f}<extra></extra>",
    )


def examples_figure(
    model: Localizability, presences: Mapping[str, Mapping[str, float]], n_parts: int = 8
) -> go.Figure:
    """What makes up each recording's localizability, highest first (Figure 4).

    ``presences`` holds, by recording, the fraction of time of each AudioSet id. The ``n_parts``
    categories with the largest weight overall have a colour each; the others share one.
    """
    parts = {name: model.parts(presence) for name, presence in presences.items()}
    scores = {name: sum(part.values()) for name, part in parts.items()}
    parts = {name: parts[name] for name in sorted(scores, key=lambda name: (scores[name], name))}
    labels = [f"{short(name)}  <b>{scores[name]:.2f}</b>" for name in parts]
    figure = go.Figure(list(_part_bars(parts, labels, n_parts)))
    figure.add_scatter(
        x=[scores[name] for name in parts],
        y=labels,
        mode="markers",
        name="localizability",
        marker={"symbol": "diamond", "size": 11, "color": "#ffffff", "line": {"width": 2}},
    )
    figure.add_vline(x=model.theta, line={"dash": "dot", "color": INK})
    figure.add_annotation(x=model.theta, y=1.06, yref="paper", text="θ", showarrow=False)
    figure.update_layout(barmode="relative", legend={"orientation": "h", "y": -0.25})
    figure.update_xaxes(title_text="localizability")
    return styled(figure, height=260 + 34 * len(labels), legend=True)


def _part_bars(parts: Parts, labels: Sequence[str], n_parts: int) -> Iterator[go.Bar]:
    weight: Counter[str] = Counter()
    for part in parts.values():
        weight.update({category: abs(value) for category, value in part.items()})
    shown = [category for category, _ in weight.most_common(n_parts)]
    for category, colour in zip(shown, cycle(COLOURS), strict=False):
        values = [part.get(category, 0.0) for part in parts.values()]
        yield _part_bar(values, labels, short(tagging.class_name(category)), colour)
    if len(weight) > len(shown):
        for sign in (1, -1):
            values = [_sum_of_others(part, shown, sign) for part in parts.values()]
            yield _part_bar(values, labels, "others", GRID, showlegend=sign > 0)


def _part_bar(
    values: Sequence[float], labels: Sequence[str], name: str, colour: str, **more: Any
) -> go.Bar:
    return go.Bar(
        x=values,
        y=labels,
        orientation="h",
        name=name,
        legendgroup=name,
        marker_color=colour,
        **more,
    )


def _sum_of_others(parts: Mapping[str, float], shown: Sequence[str], sign: int) -> float:
    return sum(part for name, part in parts.items() if name not in shown and part * sign > 0)


def agreement_figure(agreement: Agreement) -> go.Figure:
    """How similar the judges are, by three measures (Figure 10)."""
    titles = ("Cosine per recording", "Correlation per category", "Top-10 overlap")
    figure = subplots.make_subplots(rows=1, cols=3, subplot_titles=titles, horizontal_spacing=0.06)
    labels = [short(judge) for judge in agreement.judges]
    for column, matrix in enumerate((agreement.cosine, agreement.pearson, agreement.overlap), 1):
        figure.add_trace(_heatmap(matrix, labels, showscale=column == 3), row=1, col=column)
        figure.update_yaxes(autorange="reversed", showticklabels=column == 1, row=1, col=column)
    figure.update_xaxes(showgrid=False)
    figure.update_yaxes(showgrid=False)
    return styled(figure, height=200 + 60 * len(labels))


def _heatmap(matrix: Any, labels: Sequence[str], *, showscale: bool) -> go.Heatmap:
    return go.Heatmap(
        z=matrix,
        x=labels,
        y=labels,
        text=[["–" if np.isnan(value) else f"{value:.2f}" for value in row] for row in matrix],
        texttemplate="%{text}",
        zmin=0,
        zmax=1,
        colorscale="Teal",
        showscale=showscale,
        xgap=2,
        ygap=2,
        hovertemplate="%{y} and %{x}: %{text}<extra></extra>",
    )


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
        figure.add_box(
            y=[scores[key] for key in keys if continents[key] == row.continent],
            name=f"{row.continent}<br>n = {row.n}",
            boxmean=True,
            boxpoints="outliers",
            marker={"color": POSITIVE, "size": 4},
            line={"width": 1.5},
        )
    figure.add_hline(y=theta, line={"dash": "dot", "color": INK}, annotation_text="θ")
    figure.update_yaxes(title_text="localizability")
    figure.update_xaxes(showgrid=False)
    return styled(figure, height=420)

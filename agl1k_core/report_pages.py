"""Pages of plotly's figures that need no network, and the look of the figures.

Backgrounds are transparent and text is a middle grey, so figures suit light and dark pages.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from agl1k_core.extras import need

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

INK, GRID = "#7d8a86", "rgba(125,138,134,0.25)"
#: Distinguishable with all common forms of colour vision (Okabe and Ito 2008).
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#5b5b9c")
_LONGEST_NAME = 28
_STYLE = """
:root { color-scheme: light dark; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif;
  background: light-dark(#f6f5f1, #111615); color: light-dark(#1c2422, #e6ebe9); }
h1 { font-size: 1.5625rem; } h2 { font-size: 1.25rem; margin-top: 2.5rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .75rem .25rem 0; border-top: 1px solid #7d8a8655; text-align: left; }
td + td, th + th { text-align: right; }
.wide { overflow-x: auto; }
.wide > div { min-width: 36rem; }
"""


def page(title: str, parts: Sequence[str]) -> str:
    """An HTML page with plotly's script; raises ``Agl1kError`` if plotly is not installed."""
    script = f"<script>{need('plotly.offline').get_plotlyjs()}</script>"
    body = "".join([f"<h1>{html.escape(title)}</h1>", script, *parts])
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(title)}</title><style>{_STYLE}</style></head>"
        f"<body><main>{body}</main></body></html>\n"
    )


def paragraph(text: str) -> str:
    """A paragraph of plain text."""
    return f"<p>{html.escape(text)}</p>"


def section(heading: str, figure: Any, text: str) -> str:
    """A figure with its heading and a text about it."""
    drawn = figure.to_html(full_html=False, include_plotlyjs=False)
    return f'<h2>{heading}</h2><p>{text}</p><div class="wide">{drawn}</div>'


def table_html(frame: pd.DataFrame) -> str:
    """A data frame as a table; its cells are escaped."""
    shown = frame.to_html(index=False, border=0, float_format="{:.2f}".format, na_rep="–")
    return f'<div class="wide">{shown}</div>'


def short(name: str) -> str:
    """A name that fits beside a figure."""
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"


def styled(figure: go.Figure, *, height: int, legend: bool = False) -> go.Figure:
    """A figure in the look of all: set its height in pixels, and whether it has a legend."""
    figure.update_layout(
        height=height,
        showlegend=legend,
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"color": INK, "family": "system-ui, sans-serif", "size": 13},
        margin={"l": 10, "r": 40, "t": 50, "b": 50},
    )
    figure.update_xaxes(gridcolor=GRID, zerolinecolor=INK, automargin=True)
    figure.update_yaxes(gridcolor=GRID, zerolinecolor=INK, automargin=True)
    return figure

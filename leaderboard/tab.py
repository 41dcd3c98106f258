"""The board's tab: an HTML table and, below it, the details of a row."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr

from agl1k_core.errors import Agl1kError, UnavailableError
from leaderboard import figures, render
from leaderboard.api import Boards
from leaderboard.board import Board
from leaderboard.compare import compare
from leaderboard.detail import Detail, ErrorPoint, make_detail
from ui.names import isolated
from ui.worldmap import Command, MapPoint, WorldMap, points_command, reset_command
from web.page import QUIET
from web.static import static_url
from web.threads import reading

#: Components and their new values.
Shown = dict[Any, Any]

MAX_LINES = 400
_FARTHEST_KM = 20_040.0
#: Needs no server: hides the details, and empties them and the comparison.
_CLOSE = """() => {
  const update = (values) => ({ __type__: "update", ...values });
  return [update({ visible: false }), "", update({ value: "", visible: false })];
}"""
_HOST = '<div class="agl-board-host"><p class="agl-muted">Loading the board…</p></div>'


@dataclass(frozen=True)
class Opened:
    """What the page shows about a row: HTML, a plotly figure or None, a map command."""

    html: str
    figure: Any
    map_command: Command
    has_map: bool


@dataclass(frozen=True)
class Compared:
    """What the page shows about a comparison; empty without one."""

    html: str = ""
    figure: Any = None


def script(function: str, *names: str, of: str = "leaderboard.js") -> str:
    """``js_on_load`` that calls a function of an asset with parts of its component."""
    url = static_url(of)
    return (
        f"import(new URL('{url}', document.baseURI)).then("
        f"(board) => board.{function}({{ {', '.join(names)} }})); // 'select' 'submit' 'clear'"
    )


def open_row(boards: Boards, asked: Mapping[str, Any]) -> Opened:
    """The details of the row that a visitor opened, given by ``board`` and ``row_id``."""
    board, row_id = _board(boards, asked), str(asked.get("row_id", ""))
    row = board.row(row_id) if board else None
    if board is None or row is None:
        why = board.absent(row_id) if board else ""
        error = Agl1kError(why or "It was withdrawn, or the link is misspelt. Choose another row.")
        page = render.problems_page(error, "This row is not on the board")
        return Opened(page, None, reset_command(), False)
    detail = make_detail(board, row)
    return Opened(
        html=render.row_detail(detail, board),
        figure=figures.error_histogram(detail),
        map_command=error_map(detail),
        has_map=bool(detail.errors),
    )


def compare_rows(boards: Boards, asked: Mapping[str, Any]) -> Compared:
    """Two rows compared, given by ``board``, ``row_id``, ``other`` and ``answered``."""
    board, other = _board(boards, asked), str(asked.get("other") or "")
    if board is None or not other:
        return Compared()
    try:
        answered = asked.get("answered") is True
        comparison = compare(board, str(asked.get("row_id", "")), other, answered=answered)
    except UnavailableError:
        raise
    except Agl1kError as error:
        return Compared(render.problems_page(error, "These two cannot be compared"))
    return Compared(render.comparison_page(comparison), figures.comparison_curves(comparison))


def error_map(detail: Detail) -> Command:
    """Lines from true to answered places; if there are many clips, for some at even steps."""
    shown = thinned(detail.errors, MAX_LINES)
    points = [
        MapPoint(
            latitude=error.lat,
            longitude=error.lon,
            to_latitude=error.answer_lat,
            to_longitude=error.answer_lon,
            label=f"{error.key}: {error.distance_km:.0f} km off",
            colour_value=math.log1p(error.distance_km) / math.log1p(_FARTHEST_KM),
        )
        for error in shown
    ]
    text = f"{len(points)} lines from true to answered places of {isolated(detail.row.model)}."
    return points_command(points, text=text)


def thinned(errors: Sequence[ErrorPoint], most: int) -> Sequence[ErrorPoint]:
    """At most ``most`` of them, at even steps."""
    step = math.ceil(len(errors) / most) if errors else 1
    return errors[::step]


def _asked(event: gr.EventData) -> Mapping[str, Any]:
    """The data that the page sent; other callers may send anything."""
    return event._data if isinstance(event._data, dict) else {}


def _board(boards: Boards, asked: Mapping[str, Any]) -> Board | None:
    return boards.get(str(asked.get("board", "")))


def build_leaderboard(boards: Boards, *, tiles: str = "") -> None:
    """The tab's components and wiring; call it inside ``gr.Blocks``."""
    table = gr.HTML(
        value="",
        html_template=_HOST,
        js_on_load=script("attachBoard", "element", "trigger"),
        apply_default_css=False,
        elem_id="agl-board",
    )
    with gr.Column(visible=False, elem_classes="agl-behind") as behind:
        detail_js = script("attachDetail", "element", "trigger", "watch")
        detail = gr.HTML(js_on_load=detail_js, apply_default_css=False, elem_id="agl-detail")
        histogram = gr.Plot(show_label=False, elem_classes="agl-figure", visible=False)
        error_lines = WorldMap(
            readonly=True, label="Map of errors", height="440px", tiles=tiles, visible=False
        )
        comparison = gr.HTML(
            js_on_load=detail_js, apply_default_css=False, elem_id="agl-comparison", visible=False
        )
        curves = gr.Plot(show_label=False, elem_classes="agl-figure", visible=False)

    def show_comparison(asked: Mapping[str, Any]) -> Shown:
        compared = compare_rows(boards, asked)
        return {
            comparison: gr.update(value=compared.html, visible=bool(compared.html)),
            curves: gr.update(value=compared.figure, visible=compared.figure is not None),
        }

    @reading
    def on_open(event: gr.EventData) -> Shown:
        asked = _asked(event)
        opened = open_row(boards, asked)
        return {
            behind: gr.update(visible=True),
            detail: opened.html,
            histogram: gr.update(value=opened.figure, visible=opened.figure is not None),
            error_lines: gr.update(cmd=opened.map_command, visible=opened.has_map),
            **show_comparison(asked),
        }

    @reading
    def on_compare(event: gr.EventData) -> Shown:
        return show_comparison(_asked(event))

    everything = [behind, detail, histogram, error_lines, comparison, curves]
    # the latest row counts, also while an earlier one is awaited
    table.select(on_open, None, everything, trigger_mode="multiple", **QUIET)
    detail.submit(on_compare, None, [comparison, curves], trigger_mode="multiple", **QUIET)
    for closing in (table.clear, detail.clear):
        closing(None, None, [behind, detail, comparison], js=_CLOSE, **QUIET)

"""The board's data as HTML; the templates escape all values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from agl1k_core.errors import FileRefusedError
from leaderboard.board import Board
from leaderboard.columns import COLUMN, DEFAULT_COLUMNS, RANKABLE, SUBSETS, Column
from leaderboard.compare import RowComparison, comparable
from leaderboard.detail import Detail
from leaderboard.field import make_field
from leaderboard.query import KINDS, Query, to_text
from leaderboard.reports import Report
from leaderboard.rows import KIND_HELP, KIND_NAME, NO_MODELS, Row
from leaderboard.sealed import SEALED_NOTE
from leaderboard.submit import Published
from leaderboard.view import View, subset_sizes
from ui.names import isolated

STATUSES = ("answered", "refused", "unparseable", "error", "missing")
STATUS_HELP = {
    "answered": "a usable point",
    "refused": "the model declined to answer",
    "unparseable": "an answer without a usable point",
    "error": "no answer from the model",
    "missing": "no record in the file",
}
#: What the details of a row, a dry run and a comparison show for each subset.
SUMMARY_COLUMNS = DEFAULT_COLUMNS


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("leaderboard"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(
        COLUMN=COLUMN, DEFAULT_COLUMNS=DEFAULT_COLUMNS, KINDS=KINDS, KIND_HELP=KIND_HELP,
        KIND_NAME=KIND_NAME, RANKABLE=RANKABLE, SUBSETS=SUBSETS, STATUSES=STATUSES,
        STATUS_HELP=STATUS_HELP, SUMMARY_COLUMNS=SUMMARY_COLUMNS, cell=cell, compact=compact,
        to_text=to_text, signed=signed, NO_MODELS=NO_MODELS, SEALED_NOTE=SEALED_NOTE, nan=math.nan,
    )  # fmt: skip
    environment.filters["grouped"] = "{:,.0f}".format
    environment.filters["isolated"] = isolated
    return environment


def _render(template: str, **values: Any) -> str:
    return _environment().get_template(template).render(**values)


def board_page(view: View, boards: Mapping[str, Board]) -> str:
    """Controls and table of a board."""
    return _render(
        "board.html",
        view=view,
        query=view.query,
        board=view.board,
        boards=boards,
        sizes=subset_sizes(view.board),
        field=make_field(view),
        columns=[COLUMN[name] for name in view.columns],
        sort_state=lambda name: sort_state(view.query, name),
        plain=replace(Query(), board=view.query.board, subset=view.query.subset),
    )


def row_detail(detail: Detail, board: Board) -> str:
    """The details of a row, except figure and map."""
    row = detail.row
    ranks = board.ranks(Query().rank_by, Query().subset)
    return _render(
        "detail.html",
        detail=detail,
        row=row,
        board=board,
        sizes=subset_sizes(board),
        subsets=[name for name in SUBSETS if row.values.get(name)],
        rank_note="" if row.row_id in ranks or row.kind == "people" else board.why_unranked(row),
        others=comparable(board, row.row_id) if board.scored(row.row_id) else [],
    )


def comparison_page(comparison: RowComparison) -> str:
    """Two rows compared, except the figure."""
    return _render("compare.html", comparison=comparison)


def report_page(report: Report, board: Board) -> str:
    """The report of a dry run."""
    subsets = [name for name in SUBSETS if report.strict and report.strict.subsets.get(name)]
    return _render(
        "report.html",
        report=report,
        board=board,
        subsets=subsets,
        sizes=subset_sizes(board),
        paper_columns=[COLUMN[n] for n in (*SUMMARY_COLUMNS, "within_1km", "within_100km")],
    )


def question_page(report: Report) -> str:
    """The warnings of a file once more, before it is published."""
    return _render("question.html", report=report)


def published_page(published: Published, board: Board) -> str:
    """The receipt, with the key, which is shown only once."""
    link = to_text(Query(board=board.slug, row=published.submission.row_id))
    return _render(
        "published.html", published=published, submission=published.submission, link=link
    )


def problems_page(error: Exception, title: str) -> str:
    """Everything that is wrong, as a list."""
    problems = error.problems if isinstance(error, FileRefusedError) else ()
    total = error.total if isinstance(error, FileRefusedError) else 1
    return _render("problems.html", title=title, message=str(error), problems=problems, total=total)


def limits_page(board: Board, max_bytes: int) -> str:
    """Which files are accepted, shown before one is dropped."""
    return _render("limits.html", board=board, benchmark=board.benchmark, max_bytes=max_bytes)


def note_page(text: str) -> str:
    """A sentence about a success."""
    return _render("note.html", text=text)


def cell(row: Row, column: Column, subset: str, intervals: bool) -> dict[str, str]:
    """A number and its interval, as the table shows them."""
    value = row.value(column.name, subset)
    interval = row.interval(column.name, subset) if intervals else None
    text = column.text(value, coarse=row.kind == "reported")
    ends = f"{compact(column, interval.low)}–{compact(column, interval.high)}" if interval else ""
    reported = row.reported.get(subset, {}).get(column.name, math.nan)
    paper = "" if math.isnan(reported) else f"paper {compact(column, reported)}"
    range_ = row.ranges.get(subset, {}).get(column.name)
    runs = f"runs {compact(column, range_.low)}–{compact(column, range_.high)}" if range_ else ""
    return {"text": text, "interval": ends, "paper": paper, "runs": runs}


def compact(column: Column, value: float) -> str:
    """A value without decimals, for ends of intervals and differences."""
    text = column.text(value)
    return text if column.unit == "share" or text == "–" else f"{value:,.0f}"


def signed(column: Column, value: float) -> str:
    """A difference of two values of a column, with its sign; "–" if there is none."""
    text = compact(column, abs(value))
    return text if text == "–" else f"{'−' if value < 0 else '+'}{text}"


def sort_state(query: Query, name: str) -> str:
    """The ``aria-sort`` of a column, or ""."""
    if query.sort_column != name:
        return ""
    column = COLUMN.get(name)
    descending = bool(column and column.unit != "text" and not column.lower_is_better)
    return "descending" if descending != query.reverse else "ascending"

"""The board over plain GET requests; ``docs/leaderboard-api.md`` documents them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import HTMLResponse, PlainTextResponse, Response

from agl1k_core.errors import Agl1kError, UnavailableError
from leaderboard import export, render
from leaderboard.board import Board
from leaderboard.compare import compare, to_json
from leaderboard.examples import example_csv, example_json
from leaderboard.files import submitted_file
from leaderboard.query import Query, complaints, parse
from leaderboard.view import View, make_view, subset_sizes
from web.threads import reading

Boards = Mapping[str, Board]

_FRESH = {"Cache-Control": "no-cache"}


def leaderboard_router(boards: Boards) -> APIRouter:
    """Routes under ``/api/leaderboard``; the first of ``boards`` is the default."""
    router = APIRouter(prefix="/api/leaderboard", tags=["leaderboard"])

    @router.get("", summary="Rows of a board as JSON")
    @reading
    def as_json(request: Request) -> dict[str, Any]:
        query = _strict_query(boards, request)
        return export.to_json(make_view(boards[query.board], query))

    @router.get(".csv", summary="Rows of a board as CSV", response_class=PlainTextResponse)
    @reading
    def as_csv(request: Request) -> Response:
        query = _strict_query(boards, request)
        text = export.to_csv(make_view(boards[query.board], query))
        return _file(text, f"{query.board}-leaderboard.csv", "text/csv")

    @router.get("/compare", summary="Paired differences of two rows")
    @reading
    def as_comparison(
        board: str, first: str, second: str, answered: bool = False
    ) -> dict[str, Any]:
        with _problems_as_404():
            return to_json(compare(_board(boards, board), first, second, answered=answered))

    @router.get("/file", summary="A submitted prediction file")
    @reading
    def as_submitted(board: str, submission: str) -> Response:
        with _problems_as_404():
            found = submitted_file(_board(boards, board), submission)
        return _download(found.content, found.name)

    @router.get("/example.csv", summary="An example prediction file in CSV")
    @reading
    def as_example_csv(board: str = "") -> Response:
        chosen = _board(boards, board)
        return _file(example_csv(chosen.benchmark), f"example-{chosen.slug}.csv", "text/csv")

    @router.get("/example.json", summary="An example prediction file in JSON")
    @reading
    def as_example_json(board: str = "") -> Response:
        chosen = _board(boards, board)
        text = example_json(chosen.benchmark)
        return _file(text, f"example-{chosen.slug}.json", "application/json")

    @router.get("/page", include_in_schema=False)
    @reading
    def as_page(request: Request) -> HTMLResponse:
        return HTMLResponse(board_page(boards, request.url.query), headers=_FRESH)

    return router


@contextmanager
def _problems_as_404() -> Iterator[None]:
    try:
        yield
    except UnavailableError:
        raise
    except Agl1kError as error:
        raise HTTPException(404, str(error)) from None


def board_page(boards: Boards, query_text: str) -> str:
    """The board's HTML for an address's query; invalid parts of it are ignored."""
    return render.board_page(view_of(boards, parse(query_text)), boards)


def view_of(boards: Boards, query: Query) -> View:
    """The view of a query, on the first board if the query's board is unknown."""
    board = boards.get(query.board) or next(iter(boards.values()))
    subset = query.subset if query.subset in subset_sizes(board) else "all"
    return make_view(board, replace(query, board=board.slug, subset=subset))


def _strict_query(boards: Boards, request: Request) -> Query:
    """The query of an address; raises ``HTTPException`` with everything invalid in it."""
    query = parse(request.url.query)
    board = _board(boards, request.query_params.get("board", ""))
    given = request.query_params
    twice = [name for name in given if len(given.getlist(name)) > 1]
    wrong = complaints(given) + [f"{name[:40]!r} is given twice" for name in twice]
    if not wrong and query.subset not in subset_sizes(board):
        wrong = [f"{board.name} has no subset {query.subset!r}"]
    if wrong:
        raise HTTPException(422, ". ".join(wrong) + ".")
    return replace(query, board=board.slug)


def _board(boards: Boards, slug: str) -> Board:
    if not slug:
        return next(iter(boards.values()))
    if slug not in boards:
        known = ", ".join(boards)
        raise HTTPException(404, f"There is no board {slug[:40]!r}. The boards are: {known}.")
    return boards[slug]


def _download(content: bytes, name: str) -> Response:
    """A file as it was submitted; browsers save it and never show it."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "_", name)[-100:]
    headers = _FRESH | {
        "Content-Disposition": f'attachment; filename="{plain}"',
        "X-Content-Type-Options": "nosniff",
    }
    return Response(content, media_type="application/octet-stream", headers=headers)


def _file(text: str, name: str, media_type: str) -> Response:
    headers = _FRESH | {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(text, media_type=f"{media_type}; charset=utf-8", headers=headers)

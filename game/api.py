"""The play API, ``/api/play``: the game's moves as JSON; ``docs/play-api.md`` documents it.

Thin: ``calls`` names the moves, ``moves`` makes them, ``answers`` arranges what they return.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from agl1k_core.errors import Agl1kError, UnavailableError
from game import api_description
from game.answers import Carried, CarryCode, OwnData, answer_of, days_of, rivals_of
from game.calls import ROUTES, Call, CarryCall, CodeCall, Playables, Refused, Route
from game.moves import Moves
from game.own_data import own_csv
from game.refusals import (
    ConflictError,
    NoPlayerError,
    NotFoundError,
    NothingToPlayError,
    NotYoursError,
)
from store.rooms import RoomError
from web.quota import QuotaError
from web.threads import Threads, reading, writing

PREFIX = "/api/play"
#: A body is a few hundred bytes.
MOST_BYTES = 16 * 2**10
_FRESH = {"Cache-Control": "no-store"}
_NOTHING_AGAIN_S = 30

_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]

_NOT_JSON = "Send a JSON object with the header Content-Type: application/json."
_TOO_LARGE = f"The body is too large: send at most {MOST_BYTES // 2**10} kB."
_NO_TOKEN = (
    "Send the player's token, which POST /api/play/open answers, in the header "
    "Authorization: Bearer TOKEN."
)
_NO_ADDRESS = "There is no such address in the play API. GET /api/play/docs lists them all."

_STATUSES: Mapping[type[Agl1kError], int] = {
    NoPlayerError: 401,
    NotYoursError: 403,
    NotFoundError: 404,
    ConflictError: 409,
    RoomError: 409,
    QuotaError: 429,
    NothingToPlayError: 503,
    UnavailableError: 503,
}


class _BadCallError(Agl1kError):
    """The call itself is wrong, whatever the state of the game."""

    def __init__(self, sentence: str, status: int) -> None:
        super().__init__(sentence)
        self.status = status


def play_router(moves: Moves) -> APIRouter:
    """The routes under ``/api/play``."""
    router = APIRouter()
    for name, route in ROUTES.items():
        _add_move(router, moves, name, route)
    _add_questions(router, moves)
    _add_past(router, moves)
    _add_carrying(router, moves)
    _add_description(router)
    return router


def _add_move(router: APIRouter, moves: Moves, name: str, route: Route) -> None:
    def act(call: Any, fragments: bool) -> Any:
        href = getattr(call, "href", "")
        return answer_of(route.act(moves, call), href, fragments=fragments)

    _add_call(router, name, route.body, act)


def _add_call(
    router: APIRouter, name: str, kind: type[Call], act: Callable[[Any, bool], Any]
) -> None:
    """A POST with a body of this kind; ``act`` gets it, and whether the page wants fragments."""
    decoder = msgspec.json.Decoder(kind)
    answered = _answering(writing, lambda body, *wants: act(_decoded(decoder, body), *wants))

    async def called(request: Request) -> Response:
        try:
            body = await _body(request)
        except _BadCallError as error:
            return refused(error)
        response: Response = await answered(body, _wants_fragments(request))
        return response

    _add(router, name, called, ["POST"])


def _add_questions(router: APIRouter, moves: Moves) -> None:
    """The routes that only look something up."""

    def current(request: Request) -> Any:
        outcome = moves.state(_player(request))
        return answer_of(outcome, fragments=_wants_fragments(request))

    def days(request: Request) -> Any:
        month = request.query_params.get("month", "")[:300]
        dailies = moves.dailies(_player(request), _benchmark(request), month)
        return days_of(dailies, fragments=_wants_fragments(request))

    def opponents(request: Request) -> Any:
        return rivals_of(moves.opponents(_benchmark(request)))

    def standings(request: Request) -> Any:
        asked = request.query_params
        found = moves.standings(_player(request), asked.get("code", ""), _game(asked.get("game")))
        return _unless_known(request, found)

    def played(_: Request) -> Any:
        return Playables(moves.playable())

    for name, threads, look_up in (
        ("state", writing, current),
        ("dailies", reading, days),
        ("benchmarks", reading, played),
        ("opponents", reading, opponents),
        ("room", reading, standings),
    ):
        _add(router, name, _answering(threads, look_up))


def _add_past(router: APIRouter, moves: Moves) -> None:
    """The routes that look back."""

    def rounds(request: Request) -> Any:
        return moves.past(_player(request))

    def one(request: Request) -> Any:
        code = request.path_params["id"]
        outcome = moves.past_round(_player(request), code)
        return answer_of(outcome, fragments=_wants_fragments(request))

    def others(request: Request) -> Any:
        return moves.others(_player(request), request.query_params.get("round", ""))

    def table(request: Request) -> Any:
        rows = moves.own_data(_player(request))
        return _download(own_csv(rows), "csv", "text/csv; charset=utf-8")

    def data(request: Request) -> Any:
        packed = msgspec.json.encode(OwnData(moves.own_data(_player(request))))
        return _download(packed, "json", "application/json")

    for name, threads, look_up in (
        ("rounds", reading, rounds),
        ("rounds/{id}", writing, one),
        ("others", reading, others),
        ("export.csv", reading, table),
        ("export.json", reading, data),
    ):
        _add(router, name, _answering(threads, look_up))


def _download(content: str | bytes, ending: str, media_type: str) -> Response:
    named = {"Content-Disposition": f'attachment; filename="agl1k-my-rounds.{ending}"'}
    return Response(content, headers={**_FRESH, **named}, media_type=media_type)


def _add_carrying(router: APIRouter, moves: Moves) -> None:
    """Codes that carry a player to another device; not moves in a round."""

    def code(call: CodeCall, _: bool) -> Any:
        return CarryCode(*moves.carry_code(call.player))

    def carry(call: CarryCall, _: bool) -> Any:
        return Carried(moves.carry(call.code))

    _add_call(router, "code", CodeCall, code)
    _add_call(router, "carry", CarryCall, carry)


def _add_description(router: APIRouter) -> None:
    """OpenAPI, its page, and answers to whoever guesses at addresses."""

    async def described(_: Request) -> Response:
        return _json(api_description.openapi())

    async def explained(_: Request) -> Response:
        return HTMLResponse(api_description.page())

    async def beginning(_: Request) -> Response:
        return RedirectResponse("play/docs")

    async def elsewhere(request: Request) -> Response:
        if (name := request.path_params["other"]) in (*ROUTES, "code", "carry"):
            return refused(_BadCallError(f"Send POST to {PREFIX}/{name}.", 405))
        return refused(_BadCallError(_NO_ADDRESS, 404))

    _add(router, "openapi.json", described)
    _add(router, "docs", explained)
    router.add_route(PREFIX, beginning, ["GET"], include_in_schema=False)
    _add(router, "{other:path}", elsewhere, _METHODS)


def _add(
    router: APIRouter, name: str, ask: Callable[..., Any], methods: Sequence[str] = ("GET",)
) -> None:
    """A plain route: FastAPI would spend as long on a call as the game does."""
    router.add_route(f"{PREFIX}/{name}", ask, [*methods], include_in_schema=False)


def _answering(threads: Threads, act: Callable[..., Any]) -> Callable[..., Any]:
    """``act`` in a thread; what it returns as JSON, what it refuses as a sentence."""

    def answered(*arguments: Any) -> Response:
        try:
            found = act(*arguments)
            return found if isinstance(found, Response) else _json(found)
        except Agl1kError as error:
            return refused(error)

    return threads(answered)


def _json(content: object, status: int = 200, headers: Mapping[str, str] = _FRESH) -> Response:
    packed = msgspec.json.encode(content)
    return Response(packed, status, headers, media_type="application/json")


def _unless_known(request: Request, content: object) -> Response:
    """``content`` as JSON with a tag; without it, if the client has the same already."""
    packed = msgspec.json.encode(content)
    tag = f'"{hashlib.blake2b(packed, digest_size=8).hexdigest()}"'
    headers = {**_FRESH, "ETag": tag}
    if tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(packed, headers=headers, media_type="application/json")


def refused(error: Agl1kError) -> Response:
    """A refusal as ``{"error": sentence}`` with its status, and when to try again."""
    headers = dict(_FRESH)
    status = _status_of(error)
    if status in (429, 503):
        again_s = getattr(error, "retry_after_s", _NOTHING_AGAIN_S)
        headers["Retry-After"] = str(again_s)
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    return _json(Refused(str(error)), status, headers)


def _status_of(error: Agl1kError) -> int:
    if isinstance(error, _BadCallError):
        return error.status
    found = (status for kind, status in _STATUSES.items() if isinstance(error, kind))
    return next(found, 422)


async def _body(request: Request) -> bytes:
    """The body of a call; other sites' forms cannot send this type."""
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/json":
        raise _BadCallError(_NOT_JSON, 415)
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST_BYTES:
            raise _BadCallError(_TOO_LARGE, 413)
    return body


def _decoded(decoder: msgspec.json.Decoder[Any], body: bytes) -> Any:
    try:
        return decoder.decode(body)
    except msgspec.ValidationError as error:
        raise _BadCallError(_field_problem(str(error)), 422) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise _BadCallError(f"The body is not valid JSON. {_NOT_JSON}", 400) from None


def _field_problem(found: str) -> str:
    """msgspec's message, which names the field as ``$.latitude``, as a sentence."""
    what, _, path = found.partition(" - at `$")
    field = path.rstrip("`").lstrip(".")
    if field:
        return f"The field {field!r} cannot be used: {what.replace('`', '')}."
    return f"The body cannot be used: {what.replace('`', '')}."


def _wants_fragments(request: Request) -> bool:
    return request.query_params.get("fragments") == "1"


def _benchmark(request: Request) -> str:
    return request.query_params.get("benchmark", "")[:300]


def _game(asked: str | None) -> int | None:
    if asked is None:
        return None
    if not re.fullmatch("[1-9][0-9]{0,5}", asked):
        raise NotFoundError("This room has no such round: count from 1.")
    return int(asked)


def _player(request: Request) -> str:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise NoPlayerError(_NO_TOKEN)
    return token.strip()

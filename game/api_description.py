"""The play API described: an OpenAPI document, and a page for people that loads nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import msgspec

from agl1k_core import __version__
from game.answers import Answer, Carried, CarryCode, Days, OwnData, Rivals
from game.calls import ROUTES, Call, CarryCall, CodeCall, Playables, Refused
from game.past import Others, PastRounds
from game.screens import api_html
from game.views import Standings

_SCHEMAS = "#/components/schemas/"
_STATUSES: Mapping[str, str] = {
    "400": "The body is not JSON",
    "401": "The player's token is missing or was not signed here",
    "403": "The round is another player's",
    "404": "There is no such round, benchmark or challenge here",
    "409": "The round has moved on, or the clip is not answered yet",
    "413": "The body is too large",
    "415": "The body's type is not application/json",
    "422": "A field cannot be used, for example a pin that is not on the map",
    "429": "Too many rounds were started; Retry-After says when to try again",
    "503": "The server cannot do this at the moment; try again after Retry-After",
}
_FRAGMENTS = {
    "name": "fragments",
    "in": "query",
    "description": "1: HTML and map commands for the page instead of the outcomes as data.",
    "schema": {"type": "string", "enum": ["1"]},
}
_BENCHMARK = {
    "name": "benchmark",
    "in": "query",
    "description": "The benchmark; the default if it is left out.",
    "schema": {"type": "string"},
}
_CODE = {
    "name": "code",
    "in": "query",
    "required": True,
    "description": "The room's code.",
    "schema": {"type": "string"},
}
_GAME = {
    "name": "game",
    "in": "query",
    "description": "Which of its rounds, from 1; the latest that you joined if it is left out.",
    "schema": {"type": "integer", "minimum": 1},
}
_ID = {
    "name": "id",
    "in": "path",
    "required": True,
    "description": "The round's id, from GET rounds.",
    "schema": {"type": "string"},
}
_ROUND = {
    "name": "round",
    "in": "query",
    "required": True,
    "description": "The round's id, from GET rounds or the code of its summary.",
    "schema": {"type": "string"},
}
_MONTH = {
    "name": "month",
    "in": "query",
    "description": "Days of this month, like 2026-11; the last 366 if it is left out.",
    "schema": {"type": "string"},
}


@cache
def openapi() -> dict[str, Any]:
    """The OpenAPI document."""
    bodies = [*(route.body for route in ROUTES.values()), CodeCall, CarryCall]
    answers = [Answer, Days, Rivals, Standings, Playables, PastRounds, Others, OwnData]
    types = [*dict.fromkeys([*bodies, *answers, CarryCode, Carried, Refused])]
    _, schemas = msgspec.json.schema_components(types, ref_template=f"{_SCHEMAS}{{name}}")
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "AGL1K play API",
            "version": __version__,
            "description": "Hear a place, find it on the map: the game as JSON. "
            "docs/play-api.md explains it, with a bot in 30 lines.",
        },
        "paths": {**{f"/api/play/{name}": _move(name) for name in ROUTES}, **_others(), **_gets()},
        "components": {
            "schemas": schemas,
            "securitySchemes": {"player": {"type": "http", "scheme": "bearer"}},
        },
    }


@cache
def page() -> str:
    """The document as a page for people."""
    return api_html(openapi())


def _move(name: str) -> dict[str, Any]:
    route = ROUTES[name]
    move = _post(name, route.summary, route.body, Answer)
    move["post"]["parameters"] = [_FRAGMENTS]
    return move


def _others() -> dict[str, Any]:
    """The calls that are no moves in a round."""
    offer = "A code that makes another device yours, for 10 minutes and once"
    take = "Become the player who asked for a code"
    return {
        "/api/play/code": _post("code", offer, CodeCall, CarryCode),
        "/api/play/carry": _post("carry", take, CarryCall, Carried),
    }


def _post(name: str, summary: str, body: type[Call], answer: type) -> dict[str, Any]:
    return {
        "post": {
            "operationId": name,
            "summary": summary,
            "requestBody": {"required": True, "content": _json(body)},
            "responses": _answers(answer, *_STATUSES),
        }
    }


def _gets() -> dict[str, Any]:
    state = _get("state", "The round that the player started last", Answer, "401", "404", "503")
    days = _get(
        "dailies", "The daily fives, newest first, and the streak", Days, "401", "404", "422", "503"
    )
    played = _get("benchmarks", "What can be played, the default first", Playables)
    rivals = _get("opponents", "Whom a round can be played against", Rivals, "404", "503")
    rivals["get"]["parameters"] = [_BENCHMARK]
    room = _get("room", "How everybody in your room stands", Standings, "401", "403", "404", "503")
    room["get"]["responses"]["304"] = {"description": "The same as If-None-Match has"}
    known = "401", "403", "404", "422", "503"
    past = _get("rounds", "Your latest rounds, finished and unfinished", PastRounds, "401", "503")
    one = _get("past_round", "One of your rounds once more", Answer, *known)
    others = _get("others", "How others did in a round of yours", Others, *known)
    data = _get("export", "All your answers; export.csv has them as CSV", OwnData, "401", "503")
    for asked, parameters in (
        (past, []),
        (one, [_ID, _FRAGMENTS]),
        (others, [_ROUND]),
        (data, []),
        (state, [_FRAGMENTS]),
        (days, [_BENCHMARK, _MONTH, _FRAGMENTS]),
        (room, [_CODE, _GAME]),
    ):
        asked["get"] |= {"parameters": parameters, "security": [{"player": []}]}
    return {
        "/api/play/state": state,
        "/api/play/dailies": days,
        "/api/play/benchmarks": played,
        "/api/play/opponents": rivals,
        "/api/play/room": room,
        "/api/play/rounds": past,
        "/api/play/rounds/{id}": one,
        "/api/play/others": others,
        "/api/play/export.json": data,
    }


def _get(name: str, summary: str, answer: type, *statuses: str) -> dict[str, Any]:
    responses = _answers(answer, *statuses)
    return {"get": {"operationId": name, "summary": summary, "responses": responses}}


def _answers(answer: type, *statuses: str) -> dict[str, Any]:
    refused = {
        status: {"description": _STATUSES[status], "content": _json(Refused)} for status in statuses
    }
    return {"200": {"description": "OK", "content": _json(answer)}, **refused}


def _json(kind: type) -> dict[str, Any]:
    return {"application/json": {"schema": {"$ref": f"{_SCHEMAS}{kind.__name__}"}}}

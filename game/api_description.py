"""The play API described: an OpenAPI document, and a page for people that loads nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import msgspec

from agl1k_core import __version__
from game.answers import Answer, Days, Rivals
from game.calls import ROUTES, Playables, Refused
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
_MONTH = {
    "name": "month",
    "in": "query",
    "description": "Days of this month, like 2026-11; the last 366 if it is left out.",
    "schema": {"type": "string"},
}


@cache
def openapi() -> dict[str, Any]:
    """The OpenAPI document."""
    bodies = [route.body for route in ROUTES.values()]
    types = [*dict.fromkeys([*bodies, Answer, Days, Rivals, Standings, Playables, Refused])]
    _, schemas = msgspec.json.schema_components(types, ref_template=f"{_SCHEMAS}{{name}}")
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "AGL1K play API",
            "version": __version__,
            "description": "Hear a place, find it on the map: the game as JSON. "
            "docs/play-api.md explains it, with a bot in 30 lines.",
        },
        "paths": {**{f"/api/play/{name}": _post(name) for name in ROUTES}, **_gets()},
        "components": {
            "schemas": schemas,
            "securitySchemes": {"player": {"type": "http", "scheme": "bearer"}},
        },
    }


@cache
def page() -> str:
    """The document as a page for people."""
    return api_html(openapi())


def _post(name: str) -> dict[str, Any]:
    route = ROUTES[name]
    body = {"required": True, "content": _json(route.body)}
    answers = _answers(Answer, *_STATUSES)
    return {
        "post": {
            "operationId": name,
            "summary": route.summary,
            "parameters": [_FRAGMENTS],
            "requestBody": body,
            "responses": answers,
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
    for asked, parameters in (
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

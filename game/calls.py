"""The play API's calls: what each takes, and the move that it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from agl1k_core.errors import Agl1kError
from game.guessing import Details
from game.moves import Moves, Outcome, Playable, Wish
from game.starting import TIMERS_S
from store.tools import TOOLS, Tool, stored_tools
from ui.worldmap import Point, pin_at

Word = Annotated[str, Meta(max_length=300)]

_HALF_PIN = "A pin needs both a latitude and a longitude."


class Call(Struct, frozen=True, forbid_unknown_fields=True):
    """The body of a call: a JSON object with these fields and no others."""


class OpenCall(Call, frozen=True):
    """``player``: the token of an earlier answer, or nothing for a new player.

    ``href``: the page's address; its ``?challenge=`` or ``?daily=`` is opened.
    """

    player: str | None = None
    href: str = ""


class StartCall(Call, frozen=True):
    """The new round: empty fields take the default; ``timer_s`` 0 is no timer.

    ``opponent``, for the mode ``model``, is the id of one of ``GET opponents``. The mode ``room``
    joins the room with the ``code``, or opens one; others see the ``nickname``.
    """

    player: str
    mode: Literal["free", "daily", "challenge", "model", "room"] = "free"
    benchmark: Word = ""
    speech: Word = "any"
    continent: Word = ""
    timer_s: Annotated[int, Meta(ge=0, le=3600)] | None = None
    day: Word = ""
    code: Word = ""
    opponent: Word = ""
    nickname: str = ""


class RoundCall(Call, frozen=True):
    """``round``: the token of the latest answer."""

    player: str
    round: str = ""


class TakeUpCall(Call, frozen=True):
    """``id``: of one of the unfinished rounds of ``GET rounds``."""

    player: str
    id: Word


class CodeCall(Call, frozen=True):
    """The player who wants to play on another device."""

    player: str


class CarryCall(Call, frozen=True):
    """``code``: what the other device shows."""

    code: Word


class NextCall(RoundCall, frozen=True):
    """``href``: the page that the text to share links to."""

    href: str = ""


class AnswerCall(RoundCall, frozen=True):
    """``nickname`` is shown to those who accept the player's challenge.

    ``tools`` are those that helped to listen; without the field, nobody knows.
    """

    nickname: str = ""
    tools: Annotated[list[Tool], Meta(max_length=len(TOOLS))] | None = None

    @property
    def details(self) -> Details:
        """What is stored with the answer."""
        return Details(self.nickname, stored_tools(self.tools))


class PinCall(AnswerCall, frozen=True):
    """The pin, in degrees."""

    latitude: float | None = None
    longitude: float | None = None

    @property
    def pin(self) -> Point | None:
        """The point; None if there is none. Raises ``Agl1kError`` if it is not on the map."""
        if self.latitude is None and self.longitude is None:
            return None
        if self.latitude is None or self.longitude is None:
            raise Agl1kError(_HALF_PIN)
        return pin_at(self.latitude, self.longitude)


class Playables(Struct, frozen=True):
    """What can be played, the default first, and the timers to choose from."""

    benchmarks: list[Playable]
    timers_s: tuple[int, ...] = TIMERS_S


class Refused(Struct, frozen=True):
    """What was wrong and what to do, in one sentence or a few; the round is as it was before."""

    error: str


@dataclass(frozen=True)
class Route:
    """One address of the API: the type of its body, its move, and what it does in a sentence."""

    body: type[Call]
    act: Callable[[Moves, Any], Outcome]
    summary: str


def _start(moves: Moves, call: StartCall) -> Outcome:
    wish = Wish(
        call.mode,
        call.benchmark,
        call.speech or "any",
        call.continent,
        call.timer_s or None,
        call.day.strip(),
        call.code,
        call.opponent,
        call.nickname,
    )
    return moves.start(call.player, wish)


ROUTES: Mapping[str, Route] = {
    "open": Route(
        OpenCall,
        lambda moves, call: moves.open(call.player, call.href),
        "Begin: the round that an address links to, the one started last, or a new free round",
    ),
    "start": Route(StartCall, _start, "Start a round; its timer runs from now"),
    "guess": Route(
        PinCall,
        lambda moves, call: moves.guess(call.player, call.round, call.pin, call.details),
        "Answer the clip with a pin, which is final; the answer reveals the place",
    ),
    "timeup": Route(
        PinCall,
        lambda moves, call: moves.time_up(call.player, call.round, call.pin, call.details),
        "The time of a clip is up; the pin counts if there is one",
    ),
    "skip": Route(
        AnswerCall,
        lambda moves, call: moves.skip(call.player, call.round, call.details),
        "Give up the clip for 0 points",
    ),
    "broken": Route(
        AnswerCall,
        lambda moves, call: moves.broken(call.player, call.round, call.details),
        "Report a clip that cannot be heard; it does not count",
    ),
    "next": Route(
        NextCall,
        lambda moves, call: moves.go_on(call.player, call.round),
        "Go on from a revealed clip to the next one, or to the summary",
    ),
    "again": Route(
        RoundCall,
        lambda moves, call: moves.again(call.player, call.round),
        "Start a free round with the settings of another",
    ),
    "takeup": Route(
        TakeUpCall,
        lambda moves, call: moves.take_up(call.player, call.id),
        "Go on with a round that was left",
    ),
    "rematch": Route(
        RoundCall,
        lambda moves, call: moves.next_in_room(call.player, call.round),
        "Begin the next round of a room, by the player who opened it",
    ),
}  # fmt: skip

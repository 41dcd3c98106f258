"""The play API's answers: frozen structs of plain values, which msgspec encodes.

What they may contain is decided by ``presenter``; here it is only named and arranged.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType

from game.map_commands import command_of
from game.moves import Outcome
from game.reveal import share_text
from game.screens import result_html, status_html, streak_html
from game.views import (
    Challenger,
    Credit,
    Dailies,
    DailyEntry,
    InRoom,
    Outline,
    Phase,
    Reveal,
    RoundView,
    Sounds,
    Streak,
    Summary,
    Versus,
    clip_address,
)
from ui.model_guess import Opponent


class Sound(Struct, frozen=True):
    """A clip's sound: ``url`` is relative to the page, ``peaks`` (0 to 1) draw its waveform.

    ``duration_s`` is a whole number. Without a waveform, ``peaks`` is empty and ``duration_s`` is
    0: the sound is not available now.
    """

    url: str
    duration_s: float
    peaks: tuple[float, ...]
    label: str


class Place(Struct, frozen=True):
    """A point in degrees."""

    latitude: float
    longitude: float


class ModelPlace(Struct, frozen=True):
    """Where a model placed the clip."""

    name: str
    latitude: float
    longitude: float
    distance_km: float


class Outcomes(Struct, frozen=True):
    """The outcome of an answered clip. ``action``: guess, skip, broken or timeout.

    ``pin``, ``distance_km`` and ``direction`` exist for a guess only; ``total`` and ``max_total``
    count this clip and those before it. Of a broken clip the place is null, and all that would
    tell it is empty.
    """

    position: int
    action: str
    key: str
    title: str
    label: str
    latitude: float | None
    longitude: float | None
    pin: Place | None
    distance_km: float | None
    direction: str
    points: int
    max_points: int
    total: int
    max_total: int
    seconds: float | None
    clip_url: str
    label_note: str
    credit: Credit
    sounds: Sounds


class Revealed(Outcomes, frozen=True):
    """The outcome of the clip that was just answered.

    ``line`` runs from the pin to the true place as [latitude, longitude]; its longitudes are
    continuous across ±180°. ``models`` are a few models' guesses, nearest first.
    """

    line: list[tuple[float, float]]
    models: list[ModelPlace]


class Result(Struct, frozen=True):
    """A finished round; ``code`` gives others the same clips."""

    finished_utc: str
    total: int
    max_total: int
    points: list[int]
    code: str
    streak: Streak | None


class Fragments(Struct, frozen=True):
    """Small pieces of HTML for the page."""

    status: str
    result: str


class DayFragments(Struct, frozen=True):
    """For the page: the streak as HTML."""

    streak: str


class Days(Struct, frozen=True):
    """A player's daily fives on one benchmark, newest first, and the current streak.

    ``today`` is the UTC day, ``first`` the first day that has a daily five. With ``?fragments=1``,
    also how the page shows the streak.
    """

    entries: tuple[DailyEntry, ...]
    streak: Streak
    today: str
    first: str
    fragments: DayFragments | UnsetType = UNSET


class CarryCode(Struct, frozen=True):
    """A code to enter on another device, once, within ``valid_s`` seconds."""

    code: str
    valid_s: int


class Carried(Struct, frozen=True):
    """The token of the player who asked for the code, for all further calls."""

    player: str


class OwnData(Struct, frozen=True):
    """All answers of a player, the oldest first; the columns of ``export.csv``."""

    answers: list[dict[str, Any]]


class Rival(Struct, frozen=True):
    """Whom a round can be played against: ``id`` is for ``start``, ``kind`` scored, baseline or
    people. ``median_km`` is the median distance of its answers, on ``n_clips`` clips.
    """

    id: str
    name: str
    kind: str
    n_clips: int
    median_km: float


class Rivals(Struct, frozen=True):
    """The rows of a benchmark's board that answered enough clips, the nearest first."""

    opponents: list[Rival]


class Answer(Struct, frozen=True):
    """The state of a round. Send ``player`` and ``round`` with the next call.

    In the phase ``playing``, the clip at ``position`` (from 0) waits for an answer; ``revealed``
    has its outcome in ``reveal``; ``finished`` has a ``summary`` and a text to ``share``.
    ``reveals`` are the outcomes so far. A round with a timer gives no ``next_clip_url``.
    With ``?fragments=1``, ``fragments``, ``map`` and ``history_entry`` replace ``reveals``,
    ``reveal`` and ``summary``.
    """

    player: str
    round: str
    phase: Phase
    mode: Literal["free", "daily", "challenge", "model", "room"]
    label: str
    benchmark: str
    benchmark_name: str
    filters: dict[str, str]
    position: int
    n_clips: int
    total: int
    max_total: int
    timer_s: int | None
    remaining_s: float | None
    clip: Sound | None
    next_clip_url: str | None
    notes: list[str]
    notice: str
    challenger: Challenger | None
    versus: Versus | None
    room: InRoom | None
    share: str
    reveals: list[Outcomes] | UnsetType = UNSET
    reveal: Revealed | UnsetType | None = UNSET
    summary: Result | UnsetType | None = UNSET
    fragments: Fragments | UnsetType = UNSET
    map: dict[str, Any] | UnsetType = UNSET
    history_entry: dict[str, Any] | UnsetType | None = UNSET


def answer_of(outcome: Outcome, href: str = "", *, fragments: bool = False) -> Answer:
    """What the API answers to a move; ``href`` is the page that the shared text links to."""
    view = outcome.view
    more = _for_the_page(view) if fragments else _as_data(view)
    return Answer(
        player=outcome.player,
        round=view.token,
        phase=view.phase,
        mode=view.mode,  # type: ignore[arg-type]
        label=view.label,
        benchmark=view.benchmark,
        benchmark_name=view.benchmark_name,
        filters={**view.filters},
        position=view.position,
        n_clips=view.n_clips,
        total=view.total,
        max_total=view.max_total,
        timer_s=view.timer_s,
        remaining_s=view.remaining_s,
        clip=_sound(view),
        next_clip_url=view.next_clip_token and clip_address(view.next_clip_token),
        notes=[*outcome.problems.splitlines(), *view.notes],
        notice=view.notice,
        challenger=view.challenger,
        versus=view.versus,
        room=view.room,
        share=share_text(view.summary, href) if view.summary else "",
        **more,
    )


def rivals_of(opponents: Sequence[Opponent]) -> Rivals:
    """What the API answers about a benchmark's opponents: nothing about single clips."""
    return Rivals(
        [
            Rival(one.row_id, one.name, one.kind, len(one.distances_km), round(one.median_km, 1))
            for one in opponents
        ]
    )


def days_of(dailies: Dailies, *, fragments: bool = False) -> Days:
    """What the API answers about a player's dailies."""
    content = dailies.entries, dailies.streak, dailies.today, dailies.first
    if not fragments:
        return Days(*content)
    return Days(*content, DayFragments(streak_html(dailies.streak)))


def _as_data(view: RoundView) -> dict[str, Any]:
    return {
        "reveals": [Outcomes(**_outcome(reveal)) for reveal in view.reveals],
        "reveal": _revealed(view.reveal) if view.reveal and not view.summary else None,
        "summary": _result(view.summary) if view.summary else None,
    }


def _for_the_page(view: RoundView) -> dict[str, Any]:
    return {
        "fragments": Fragments(status_html(view), result_html(view)),
        "map": command_of(view),
        "history_entry": view.summary.history_entry() if view.summary else None,
    }


def _sound(view: RoundView) -> Sound | None:
    if view.clip_token is None:
        return None
    outline = view.outline or Outline((), 0.0)
    peaks = _rounded(outline.peaks)
    return Sound(clip_address(view.clip_token), outline.duration_s, peaks, view.clip_label)


@lru_cache(1024)
def _rounded(peaks: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(round(peak, 3) for peak in peaks)


def _outcome(reveal: Reveal) -> dict[str, Any]:
    pin = None
    if reveal.pin_lat is not None and reveal.pin_lon is not None:
        pin = Place(reveal.pin_lat, reveal.pin_lon)
    alike = (
        "position", "action", "key", "title", "label", "distance_km", "direction", "points",
        "max_points", "total", "max_total", "seconds", "label_note", "credit", "sounds",
    )  # fmt: skip
    return {
        **{name: getattr(reveal, name) for name in alike},
        "latitude": reveal.lat,
        "longitude": reveal.lon,
        "pin": pin,
        "clip_url": clip_address(reveal.clip_token),
    }


def _revealed(reveal: Reveal) -> Revealed:
    return Revealed(
        **_outcome(reveal),
        line=[(round(lat, 4), round(lon, 4)) for lat, lon in reveal.line],
        models=[ModelPlace(one.name, one.lat, one.lon, one.distance_km) for one in reveal.models],
    )


def _result(summary: Summary) -> Result:
    return Result(
        finished_utc=summary.finished_utc,
        total=summary.total,
        max_total=summary.max_total,
        points=[reveal.points for reveal in summary.reveals],
        code=summary.code,
        streak=summary.streak,
    )

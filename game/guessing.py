"""Turns a player's action into the stored row: the pin, whether it was in time, and its score."""

from __future__ import annotations

import math
import uuid
from dataclasses import dataclass
from datetime import datetime

from agl1k_core import __version__
from agl1k_core.benchmarks import Benchmark, Clip
from agl1k_core.places import MAX_GEOSCORE, geoscore, pair_km
from game.nicknames import clean_nickname
from game.refusals import ConflictError
from store.guesses import Action, Guess, Round
from ui.worldmap import Point

MAX_POINTS = round(MAX_GEOSCORE)
#: How long after the time is up an answer may still arrive, for slow connections.
GRACE_S = 3.0
_GUESS_IDS = uuid.UUID("5d1a3c52-6e0f-5b7e-9c64-0c2f3e7a9b11")


@dataclass(frozen=True, slots=True)
class Details:
    """What a player says beside the answer: a nickname, and ``tools`` as `store.tools` has them."""

    nickname: object = ""
    tools: str | None = None


#: Of a player who says nothing else.
NO_DETAILS = Details()


def new_guess(
    round_: Round,
    position: int,
    benchmark: Benchmark,
    action: Action,
    pin: Point | None,
    details: Details = NO_DETAILS,
    *,
    now: datetime,
    heard: bool = True,
) -> Guess:
    """The row for an answer; the same round and position always give the same id.

    If the clip was not ``heard``, the row has no time, and does not count for people.
    It is scored against the current benchmark and has its hash. A pin that arrives after the time
    and the grace period becomes a timeout. Raises ``Agl1kError`` if a timeout is reported too
    early, or the benchmark no longer has the clip.
    """
    key = round_.clip_keys[position]
    if key not in benchmark:
        raise ConflictError(f"{benchmark.name} has changed since this round. Start a new one.")
    clip = benchmark.clip(key)
    seconds = seconds_since(round_.clip_started_utc, now)
    action = _in_time(action, round_.timer_s, seconds)
    counted = pin if action == "guess" else None
    lat, lon = counted or (None, None)
    distance_km, score = _worth(clip, action, counted)
    return Guess(
        guess_id=str(uuid.uuid5(_GUESS_IDS, f"{round_.round_id}/{position}")),
        round_id=round_.round_id,
        position=position,
        player_id=round_.player_id,
        nickname=clean_nickname(details.nickname),
        benchmark=round_.benchmark,
        benchmark_hash=benchmark.content_hash,
        clip_key=clip.key,
        action=action,
        latitude=lat,
        longitude=lon,
        distance_km=distance_km,
        score=score,
        seconds=seconds if heard else None,
        mode=round_.mode,
        app_version=__version__,
        created_utc=now,
        tools=details.tools,
    )


def seconds_since(started: datetime | None, now: datetime) -> float | None:
    """Seconds since a clip was sent, never negative; None if it was not."""
    return None if started is None else max(0.0, (now - started).total_seconds())


def points_of(guess: Guess) -> int:
    """Whole points, 0 to 5000; only a guess has any."""
    return points_for(guess.action, guess.score)


def points_for(action: Action, score: float | None) -> int:
    """As ``points_of``, from a stored answer's action and score."""
    return round(score or 0.0) if action == "guess" else 0


def max_points_of(guess: Guess) -> int:
    """The points that were possible: 0 for a clip that was reported as broken."""
    return 0 if guess.action == "broken" else MAX_POINTS


def points_at(distance_km: float) -> int:
    """Whole points for a pin this far from the true place."""
    return round(float(geoscore(distance_km)))


def _worth(clip: Clip, action: Action, pin: Point | None) -> tuple[float | None, float | None]:
    """The geodesic distance in km from the pin to the true place, and the geoscore of it."""
    if pin is not None:
        distance_km = pair_km(*pin, clip.lat, clip.lon)
        return distance_km, float(geoscore(distance_km))
    return None, None if action == "broken" else 0.0


def _in_time(action: Action, timer_s: int | None, seconds: float | None) -> Action:
    left_s = math.inf if timer_s is None or seconds is None else timer_s - seconds
    if action == "timeout" and left_s > GRACE_S:
        raise ConflictError("The time is not up yet. Place a pin and submit it, or skip the clip.")
    return "timeout" if action == "guess" and left_s < -GRACE_S else action

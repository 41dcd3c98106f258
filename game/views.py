"""What a page may know: frozen dataclasses of plain values, ready for JSON.

Texts are not escaped for HTML. Of a clip that has not been answered, a ``RoundView`` holds only its
opaque token and the outline of its sound.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from ui.model_guess import ModelGuess

Phase = Literal["playing", "revealed", "finished"]


@dataclass(frozen=True, slots=True)
class Outline:
    """How a clip's sound is drawn: its length, and its peaks (0 to 1) in order of time."""

    peaks: tuple[float, ...]
    duration_s: float


@dataclass(frozen=True, slots=True)
class Sounds:
    """The sounds in a clip: (name, share of the time), the longest first.

    ``tagger`` is the name of the model that found them, "" if they come from the benchmark's table.
    ``localizability`` and its threshold ``theta`` are None if they are unknown.
    """

    shares: tuple[tuple[str, float], ...] = ()
    tagger: str = ""
    localizability: float | None = None
    theta: float | None = None


@dataclass(frozen=True, slots=True)
class Credit:
    """Whose recording a clip is; ``licence_url`` and ``url`` are addresses, or empty."""

    author: str = ""
    licence: str = ""
    licence_url: str = ""
    source: str = ""
    url: str = ""
    recorded: str = ""


@dataclass(frozen=True, slots=True)
class Reveal:
    """The outcome of one clip.

    ``lat, lon`` is the true place. ``action`` is guess, skip, broken or timeout; the pin, the
    distance and the line exist for a guess only. A broken clip has no place, no key and nothing
    else that would tell the place. ``line`` runs from the pin to the true place as
    (lat, lon), its longitudes continuous across ±180°. ``total`` and ``max_total`` count this clip
    and the ones before it.
    """

    position: int
    action: str
    key: str
    title: str
    label: str
    lat: float | None
    lon: float | None
    pin_lat: float | None
    pin_lon: float | None
    distance_km: float | None
    direction: str
    points: int
    max_points: int
    total: int
    max_total: int
    seconds: float | None
    line: tuple[tuple[float, float], ...]
    models: tuple[ModelGuess, ...]
    clip_token: str
    sounds: Sounds
    label_note: str
    credit: Credit


@dataclass(frozen=True, slots=True)
class Challenger:
    """Who made the challenge, and their score. The nickname may be empty."""

    nickname: str
    total: int
    max_total: int


@dataclass(frozen=True, slots=True)
class Versus:
    """The row of the board that a round is played against, as far as the player has answered.

    ``points`` has one entry per answered clip, None for one that does not count; ``total`` is their
    sum. If the row cannot be compared, ``name`` is empty, ``total`` None, and ``note`` says why.
    """

    opponent: str
    name: str = ""
    points: tuple[int | None, ...] = ()
    total: int | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class InRoom:
    """The room that a round is played in: its code, and which of its rounds this is, from 1."""

    code: str
    game: int


@dataclass(frozen=True, slots=True)
class Standing:
    """Somebody in a room. ``answered`` counts all clips, ``total`` those that you answered too.

    ``name`` is empty if an operator has hidden it.
    """

    name: str
    is_you: bool
    is_host: bool
    answered: int
    total: int
    max_total: int


@dataclass(frozen=True, slots=True)
class Standings:
    """Everybody in a round of a room, the highest total first.

    ``is_host``: you opened the room, and may begin its next round. ``has_newer``: a later round has
    begun, which you can join. ``is_over``: everybody has answered all clips.
    """

    code: str
    game: int
    n_clips: int
    players: tuple[Standing, ...]
    is_host: bool
    has_newer: bool
    is_over: bool


@dataclass(frozen=True, slots=True)
class Streak:
    """Daily fives in a row: ``days`` up to today or yesterday, whether today is in, and why."""

    days: int
    played_today: bool
    explanation: str


@dataclass(frozen=True, slots=True)
class Summary:
    """A finished round. ``code`` gives friends the same clips: ``?challenge=<code>``."""

    mode: str
    label: str
    benchmark: str
    benchmark_name: str
    finished_utc: str
    reveals: tuple[Reveal, ...]
    total: int
    max_total: int
    code: str
    challenger: Challenger | None = None
    streak: Streak | None = None
    filters: dict[str, str] = field(default_factory=dict)
    timer_s: int | None = None
    versus: Versus | None = None

    def history_entry(self) -> dict[str, object]:
        """The entry for the round in the browser's own history."""
        return {
            "finished_utc": self.finished_utc,
            "benchmark": self.benchmark,
            "mode": self.mode,
            "label": self.label,
            "total": self.total,
            "max_total": self.max_total,
            "points": [reveal.points for reveal in self.reveals],
            "code": self.code,
            **self._against(),
        }

    def _against(self) -> dict[str, object]:
        versus = self.versus
        if versus is None or versus.total is None:
            return {}
        return {"versus": {"name": versus.name, "total": versus.total}}


@dataclass(frozen=True, slots=True)
class RoundView:
    """The state of a round.

    ``token`` is sent with the next call, whatever it is. In the phase ``playing`` the clip at
    ``position`` (from 0) waits for an answer; ``revealed`` shows ``reveals[position]``;
    ``finished`` has all reveals and a summary. ``clip_token`` names the sound of ``position``,
    ``next_clip_token`` the one to load ahead, which a round with a timer does not give.
    ``remaining_s`` is None without a timer, and the full time before the clip has started.
    ``label`` is the day of a daily or the code of a challenge, ``challenger`` is whom to beat,
    ``versus`` the row of the board that it is played against; ``notice`` is what players must know
    about the benchmark, of which ``n_in_play`` clips are played. ``outline`` is None if the sound
    is not available, ``summary`` until the round is finished.
    """

    token: str
    phase: Phase
    mode: str
    label: str
    benchmark: str
    benchmark_name: str
    filters: Mapping[str, str]
    position: int
    n_clips: int
    total: int
    max_total: int
    timer_s: int | None
    remaining_s: float | None
    started: bool
    clip_token: str | None
    next_clip_token: str | None
    outline: Outline | None
    reveals: tuple[Reveal, ...]
    notes: tuple[str, ...] = ()
    notice: str = ""
    n_in_play: int = 0
    challenger: Challenger | None = None
    versus: Versus | None = None
    room: InRoom | None = None
    summary: Summary | None = None

    @property
    def clip_label(self) -> str:
        """What the clip is called: "Clip 2 of 5"."""
        return f"Clip {self.position + 1} of {self.n_clips}"

    @property
    def reveal(self) -> Reveal | None:
        """The outcome of the clip that was just answered; None while a clip is playing."""
        return None if self.phase == "playing" or not self.reveals else self.reveals[-1]


def clip_address(clip_token: str) -> str:
    """Where a clip's sound is, relative to the page."""
    return f"clip/{clip_token}"


@dataclass(frozen=True, slots=True)
class DailyEntry:
    """One day in the list of dailies: ``state`` is new, started or finished."""

    day: str
    state: str
    total: int | None = None


@dataclass(frozen=True, slots=True)
class Dailies:
    """A player's dailies on one benchmark, newest first, and the current streak.

    ``today`` is the UTC day, ``first`` the first day that has a daily five, as ISO dates.
    """

    entries: tuple[DailyEntry, ...]
    streak: Streak
    today: str
    first: str

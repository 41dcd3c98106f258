"""Looking back: a player's rounds, how others did, and all answers of the player as data.

Of a clip, others' pins are told only once the player has answered it, only in cells of the map, and
only if enough others did. They name nobody.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time
from typing import Any

from agl1k_core.benchmarks import Benchmark
from game.dependencies import Clock, Content
from game.guessing import MAX_POINTS, max_points_of, points_for, points_of
from game.open_round import OpenRound
from game.picking import Filters
from game.presenter import RoundPresenter, mode_of
from game.refusals import NotFoundError, NotYoursError
from game.starting import room_of
from game.tokens import Tokens
from game.views import RoundView
from store.guesses import Guess, GuessStore, Round, RoundAndAnswers
from store.past import PastStore, Total

#: Fewer others than this could be told apart.
FEWEST_OTHERS = 5
#: How many unfinished rounds are listed.
MOST_OPEN = 20
CELL_DEG = 5
N_BARS = 10


@dataclass(frozen=True, slots=True)
class PastRound:
    """One round: ``id`` names it in other calls; ``finished_utc`` is None if clips are left."""

    id: str
    mode: str
    label: str
    benchmark: str
    benchmark_name: str
    begun_utc: str
    finished_utc: str | None
    answered: int
    n_clips: int
    total: int
    max_total: int


@dataclass(frozen=True, slots=True)
class PastRounds:
    """A player's latest rounds, the latest first; ``unfinished`` ones can be taken up again."""

    finished: tuple[PastRound, ...]
    unfinished: tuple[PastRound, ...]


@dataclass(frozen=True, slots=True)
class Bar:
    """How many others have from ``low`` to ``high`` points; whether the player's are there, too."""

    low: int
    high: int
    n_others: int
    is_yours: bool


@dataclass(frozen=True, slots=True)
class Scores:
    """The round beside others': ``among`` is "daily" or "today". ``better_than`` is a percentage.

    It and ``bars`` are empty with too few others, or if a clip of the round was broken, or the
    player chose its continent.
    """

    among: str
    n_others: int
    better_than: int | None
    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True)
class Cell:
    """A part of the map, in degrees: its south-west corner, and how many pins it has."""

    south: float
    west: float
    n_pins: int


@dataclass(frozen=True, slots=True)
class Crowd:
    """Others' pins of a clip in cells of ``size_deg``, and their mean on the sphere.

    All is empty with too few others. The mean is null if the pins lie all around the globe.
    """

    position: int
    n_others: int
    size_deg: int
    cells: tuple[Cell, ...]
    mean: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Others:
    """How others did in a finished round of the player's."""

    scores: Scores
    clips: tuple[Crowd, ...]


class Past:
    """What a player can look back at."""

    def __init__(
        self,
        content: Content,
        store: GuessStore,
        past: PastStore,
        presenter: RoundPresenter,
        tokens: Tokens,
        clock: Clock,
    ) -> None:
        self._content = content
        self._store = store
        self._past = past
        self._presenter = presenter
        self._tokens = tokens
        self._clock = clock

    def rounds(self, player_id: str) -> PastRounds:
        """The player's rounds, without those that were only opened."""
        found = [self._entry(*one) for one in self._past.rounds(player_id) if one[1]]
        left = [one for one in found if one.finished_utc is None and self._is_played(one)]
        return PastRounds(tuple(one for one in found if one.finished_utc), tuple(left[:MOST_OPEN]))

    def _is_played(self, entry: PastRound) -> bool:
        return entry.benchmark in self._content.benchmarks

    def _entry(self, row: Round, answers: Sequence[Guess]) -> PastRound:
        source = self._content.benchmarks.get(row.benchmark)
        is_over = len(answers) >= len(row.clip_keys)
        room = room_of(row)
        return PastRound(
            id=self._tokens.challenge_code(row.round_id),
            mode=mode_of(row),
            label=room[0] if room else row.label,
            benchmark=row.benchmark,
            benchmark_name=source.name if source else row.benchmark,
            begun_utc=_told(row.created_utc),
            finished_utc=_told(answers[-1].created_utc) if is_over else None,
            answered=len(answers),
            n_clips=len(row.clip_keys),
            total=sum(map(points_of, answers)),
            max_total=sum(map(max_points_of, answers)),
        )

    def view(self, player_id: str, code: str) -> RoundView:
        """A round of the player as it is: its result, if it is finished."""
        opened = self._opened(player_id, code)
        is_over = len(opened.answers) >= opened.n_clips
        return self._presenter.at(opened, opened.n_clips) if is_over else self._now(opened)

    def take_up(self, player_id: str, code: str) -> RoundView:
        """Go on with a round, which becomes the player's latest."""
        opened = self._opened(player_id, code)
        self._past.take_up(opened.row.round_id, player_id)
        return self._now(opened, begin=True)

    def _now(self, opened: OpenRound, *, begin: bool = False) -> RoundView:
        return self._presenter.now(opened, begin=begin)

    def others(self, player_id: str, code: str) -> Others:
        """How others did, of the clips that the player has answered."""
        opened = self._opened(player_id, code)
        source = opened.benchmark
        told = [] if source.sealed else [*opened.answers.values()]
        clips = [self._crowd(source, one) for one in told if one.action != "broken"]
        return Others(self._scores(opened), tuple(clips))

    def _scores(self, opened: OpenRound) -> Scores:
        row, answers = opened.row, [*opened.answers.values()]
        among = "daily" if row.mode == "daily" else "today"
        is_whole = len(answers) >= opened.n_clips and all(map(max_points_of, answers))
        knew_continent = bool(Filters.of(row.filters).continent)
        if not is_whole or knew_continent or opened.benchmark.sealed:
            return Scores(among, 0, None, ())
        others = [one for one in self._totals(row) if one.n_clips == opened.n_clips]
        return scores_of(among, sum(map(points_of, answers)), others)

    def _totals(self, row: Round) -> list[Total]:
        if row.mode == "daily":
            content = row.benchmark, row.benchmark_hash
            return self._past.totals_of_day(*content, row.label, row.player_id)
        today = datetime.combine(self._clock().astimezone(UTC).date(), time(), UTC)
        return self._past.totals_since(row.benchmark, today, row.player_id)

    def _crowd(self, source: Benchmark, answer: Guess) -> Crowd:
        pins = self._past.pins(source.slug, answer.clip_key, answer.player_id)
        return crowd_of(answer.position, pins)

    def answers(self, player_id: str) -> list[dict[str, Any]]:
        """All of the player's answers, the oldest first, as rows of plain values."""
        return [self._row(answer) for answer in self._past.answers(player_id)]

    def _row(self, answer: Any) -> dict[str, Any]:
        """A clip that was reported as broken has no key, which would tell its place."""
        source = self._content.benchmarks.get(answer.benchmark)
        is_told = source is not None and not source.sealed and answer.action != "broken"
        known = source is not None and is_told and answer.clip_key in source
        clip = source.clip(answer.clip_key) if source is not None and known else None
        return {
            "round": self._tokens.challenge_code(answer.round_id),
            "position": answer.position + 1,
            "mode": answer.mode,
            "benchmark": answer.benchmark,
            "clip": answer.clip_key if is_told else None,
            "answered_utc": _told(answer.created_utc),
            "action": answer.action,
            "pin_latitude": answer.latitude,
            "pin_longitude": answer.longitude,
            "true_latitude": clip.lat if clip else None,
            "true_longitude": clip.lon if clip else None,
            "distance_km": answer.distance_km,
            "points": points_for(answer.action, answer.score),
            "seconds": answer.seconds,
            "nickname": answer.nickname,
        }

    def _opened(self, player_id: str, code: str) -> OpenRound:
        row, answers = self._owned(player_id, code)
        return OpenRound(self._store, self._content.benchmark(row.benchmark), row, answers)

    def _owned(self, player_id: str, code: str) -> RoundAndAnswers:
        found = self._store.open_round(self._tokens.read_listed_id(code))
        if found is None:
            raise NotFoundError("This round is no longer known here. Start a new one.")
        if found[0].player_id != player_id:
            raise NotYoursError("This is another player's round. Start one of your own.")
        return found


def scores_of(among: str, own: int, others: Sequence[Total]) -> Scores:
    """A round of ``own`` points beside ``others``, who played as many clips."""
    n_others = len(others)
    if n_others < FEWEST_OTHERS:
        return Scores(among, 0, None, ())
    worse = sum(one.points < own for one in others)
    width = others[0].n_clips * MAX_POINTS // N_BARS
    counts = Counter(_bar(one.points, width) for one in others)
    bars = [
        Bar(number * width, (number + 1) * width, counts[number], number == _bar(own, width))
        for number in range(N_BARS)
    ]
    return Scores(among, n_others, 100 * worse // n_others, tuple(bars))


def _bar(points: int, width: int) -> int:
    return min(points // width, N_BARS - 1)


def crowd_of(position: int, pins: Sequence[tuple[float, float]]) -> Crowd:
    """Others' pins (latitude, longitude) as cells of the map and their mean."""
    if len(pins) < FEWEST_OTHERS:
        return Crowd(position, 0, CELL_DEG, (), None)
    counts = Counter((_corner(lat, 90), _corner(lon, 180)) for lat, lon in pins)
    cells = [Cell(south, west, n) for (south, west), n in sorted(counts.items())]
    return Crowd(position, len(pins), CELL_DEG, tuple(cells), spherical_mean(pins))


def _corner(degrees: float, end: int) -> int:
    return min(math.floor(degrees / CELL_DEG) * CELL_DEG, end - CELL_DEG)


def spherical_mean(points: Sequence[tuple[float, float]]) -> tuple[float, float] | None:
    """The direction of the mean vector of points (latitude, longitude), to a tenth of a degree.

    None if the vectors cancel each other out.

    Examples
    --------
    >>> spherical_mean([(0.0, 170.0), (0.0, -170.0)])
    (0.0, 180.0)
    >>> spherical_mean([(90.0, 0.0), (-90.0, 0.0)])
    """
    x, y, z = (sum(part) / len(points) for part in zip(*map(_vector, points), strict=True))
    if math.hypot(x, y, z) < 1e-6:
        return None
    lat, lon = math.degrees(math.atan2(z, math.hypot(x, y))), math.degrees(math.atan2(y, x))
    return round(lat, 1), abs(round(lon, 1)) if abs(lon) > 179.95 else round(lon, 1)


def _vector(point: tuple[float, float]) -> tuple[float, float, float]:
    lat, lon = map(math.radians, point)
    return math.cos(lat) * math.cos(lon), math.cos(lat) * math.sin(lon), math.sin(lat)


def _told(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds")

"""The daily five: one set of clips per UTC day, the same for everybody, and streaks of days."""

from __future__ import annotations

import hashlib
import hmac
import random
from collections.abc import Collection, Iterable, Sequence
from datetime import date, timedelta
from threading import Lock

from agl1k_core.benchmarks import Benchmark
from agl1k_core.errors import Agl1kError
from game.guessing import points_of
from game.picking import CLIPS_PER_ROUND, country_of, take_distinct
from game.views import DailyEntry, Streak
from store.guesses import GuessStore, Round

#: The first day that has a daily five.
DAILY_EPOCH = date(2026, 1, 1)
#: A clip of a daily is not repeated for this many days, if the benchmark is large enough.
DAILY_REST_DAYS = 100


class DailySchedule:
    """The five of each UTC day, the same on all servers with the same secret and benchmark content.

    Without the secret nobody can compute a day that is still to come.

    Five distinct countries on two continents or more; a clip rests for ``rest_days`` days. If the
    benchmark is too small, these rules are relaxed in this order: the rest, the continents, the
    countries. Each day depends on the ones before, so days are computed once, from the epoch on.
    """

    def __init__(self, benchmark: Benchmark, secret: bytes, epoch: date = DAILY_EPOCH) -> None:
        self._secret = secret
        self.epoch = epoch
        self.rest_days = min(DAILY_REST_DAYS, len(benchmark.in_play) // (2 * CLIPS_PER_ROUND))
        self._benchmark = benchmark
        self._keys = sorted(benchmark.in_play)
        homes = zip(self._keys, map(self._home, self._keys), strict=True)
        self._homes = {key: home for key, home in homes if all(home)}
        self._days: list[tuple[str, ...]] = []
        self._lock = Lock()

    def five(self, day: date) -> tuple[str, ...]:
        """The keys of a day's clips; raises ``Agl1kError`` before the epoch."""
        number = (day - self.epoch).days
        if number < 0:
            raise Agl1kError(
                f"The daily five began on {self.epoch.isoformat()}; "
                f"there is none for {day.isoformat()}. Choose a later day."
            )
        with self._lock:
            while len(self._days) <= number:
                self._days.append(self._pick(self.epoch + timedelta(days=len(self._days))))
            return self._days[number]

    def order(self, day: date) -> list[str]:
        """The five, then all other clips in the day's own order, for replacements."""
        five = self.five(day)
        order = _shuffled(self._keys, self._seeded(day, "reserve"))
        return [*five, *(key for key in order if key not in five)]

    def _seeded(self, day: date, purpose: str) -> random.Random:
        text = f"daily|{self._benchmark.content_hash}|{day.isoformat()}|{purpose}"
        seed = hmac.digest(self._secret, text.encode(), hashlib.sha256)
        return random.Random(int.from_bytes(seed))

    def _home(self, key: str) -> tuple[str, str]:
        """(country, continent) of a clip, empty if unknown."""
        continent = self._benchmark.continents[self._benchmark.index[key]]
        return country_of(self._benchmark, key), continent

    def _pick(self, day: date) -> tuple[str, ...]:
        rng = self._seeded(day, "five")
        recent = self._days[max(0, len(self._days) - self.rest_days) :]
        resting = dict.fromkeys(key for five in recent for key in five)
        rested = [key for key in _shuffled(self._keys, rng) if key not in resting]
        tired = [*rested, *resting]
        five = self._five_apart(rested) or self._five_apart(tired) or self._five_any(tired)
        return tuple(_shuffled(five, rng))

    def _five_apart(self, order: Sequence[str]) -> list[str]:
        """Distinct countries on two continents, taken in ``order``; empty if impossible."""
        placed = [key for key in order if key in self._homes]
        for first in placed:
            elsewhere = (key for key in placed if self._are_apart(first, key))
            if (second := next(elsewhere, None)) is not None:
                chosen = [first, second]
                take_distinct(self._benchmark, placed, chosen)
                return chosen if len(chosen) == CLIPS_PER_ROUND else []
        return []

    def _five_any(self, order: Sequence[str]) -> list[str]:
        chosen: list[str] = []
        take_distinct(self._benchmark, order, chosen)
        return chosen + [key for key in order if key not in chosen][: CLIPS_PER_ROUND - len(chosen)]

    def _are_apart(self, key: str, other: str) -> bool:
        return all(a != b for a, b in zip(self._homes[key], self._homes[other], strict=True))


def _shuffled(items: Sequence[str], rng: random.Random) -> list[str]:
    # Only ``random()`` is guaranteed to give the same numbers in later versions of Python.
    shuffled = list(items)
    for last in range(len(shuffled) - 1, 0, -1):
        other = int(rng.random() * (last + 1))
        shuffled[last], shuffled[other] = shuffled[other], shuffled[last]
    return shuffled


STREAK_RULE = (
    "A streak counts days in a row (UTC) on which you started and finished that day's five. "
    "Missing a whole day ends it; playing past days does not add to it."
)


def streak(days: Collection[date], today: date) -> Streak:
    """The run of days that ends today, or yesterday if today's daily has not been played yet."""
    played_today = today in days
    end = today if played_today else today - timedelta(days=1)
    length = 0
    while end - timedelta(days=length) in days:
        length += 1
    return Streak(length, played_today, STREAK_RULE)


def days_until(last: date, first: date, limit: int) -> list[date]:
    """The days from ``last`` back to ``first``, at most ``limit`` of them."""
    return [last - timedelta(days=back) for back in range(min(limit, (last - first).days + 1))]


def days_of_month(month: str, first: date, last: date) -> list[date]:
    """The days of a month like "2026-11" from ``first`` to ``last``, the latest first."""
    try:
        begins = date.fromisoformat(f"{month}-01")
    except ValueError:
        raise Agl1kError(f"{month!r:.30} is not a month. Write it like {last:%Y-%m}.") from None
    days = (begins + timedelta(days=number) for number in range(31))
    inside = [day for day in days if day.month == begins.month and first <= day <= last]
    return inside[::-1]


class DailyRecord:
    """One player's dailies on one benchmark, read from the store once."""

    def __init__(self, store: GuessStore, player_id: str, benchmark: str) -> None:
        found = store.daily_rounds(player_id, benchmark)
        self._rounds = [round_ for round_, _ in found]
        self._guesses = {round_.round_id: answers for round_, answers in found}

    def entries(self, days: Iterable[date]) -> tuple[DailyEntry, ...]:
        """One entry per day, in the order given."""
        played = {round_.label: round_ for round_ in self._rounds}
        return tuple(self._entry(day.isoformat(), played.get(day.isoformat())) for day in days)

    def streak(self, today: date) -> Streak:
        """The player's current streak."""
        on_the_day = {
            date.fromisoformat(round_.label)
            for round_ in self._rounds
            if round_.created_utc.date().isoformat() == round_.label and self._is_over(round_)
        }
        return streak(on_the_day, today)

    def _entry(self, day: str, round_: Round | None) -> DailyEntry:
        if round_ is None:
            return DailyEntry(day, "new")
        guesses = self._guesses[round_.round_id]
        if len(guesses) < len(round_.clip_keys):
            return DailyEntry(day, "started")
        return DailyEntry(day, "finished", sum(map(points_of, guesses)))

    def _is_over(self, round_: Round) -> bool:
        n_clips = len(round_.clip_keys)
        return round_.position >= n_clips or len(self._guesses[round_.round_id]) >= n_clips

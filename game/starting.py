"""Which round a player gets: free, the daily five, or somebody's challenge."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime

from agl1k_core.benchmarks import Benchmark
from agl1k_core.errors import Agl1kError
from game.daily import DailySchedule
from game.picking import CLIPS_PER_ROUND, Filters, candidates, fitting, order_free
from game.replacement import ClipReplacement
from game.tokens import Tokens, challenge_code, new_round_id
from store.guesses import GuessStore, Mode, Round

TIMERS_S = (30, 60, 120)


class RoundFactory:
    """Makes rounds and keeps them in the store; knows nothing of tokens that players hold.

    A daily and a challenge have an id derived from the player and what is played, so that each
    player has one try, however many tabs begin it.
    """

    def __init__(
        self,
        benchmarks: Mapping[str, Benchmark],
        store: GuessStore,
        tokens: Tokens,
        sound: ClipReplacement,
        *,
        clock: Callable[[], datetime],
        rng: random.Random,
        epoch: date,
        admit: Callable[[str], None],
    ) -> None:
        self._benchmarks = benchmarks
        self._store = store
        self._tokens = tokens
        self._sound = sound
        self._clock = clock
        self._rng = rng
        self._epoch = epoch
        self._admit = admit
        self._schedules: dict[str, DailySchedule] = {}

    def benchmark(self, slug: str) -> Benchmark:
        """The benchmark of this name; raises ``Agl1kError`` when it is not played here."""
        if slug not in self._benchmarks:
            names = ", ".join(sorted(self._benchmarks))
            raise Agl1kError(f"The benchmark {slug!r} is not played here. Choose one of: {names}.")
        return self._benchmarks[slug]

    def free(self, player_id: str, slug: str, filters: Filters, timer_s: int | None) -> Round:
        """Five clips that fit, or all where fewer do, unheard ones first."""
        source = self.benchmark(slug)
        if timer_s is not None and timer_s not in TIMERS_S:
            choices = ", ".join(map(str, TIMERS_S))
            raise Agl1kError(
                f"There is no timer of {timer_s!r} seconds. Choose {choices}, or none."
            )
        keys = self._sound.audible(source, candidates(source, filters))
        seen = self._store.seen_clips(player_id, slug)
        five = order_free(source, keys, seen, self._rng)[:CLIPS_PER_ROUND]
        round_id = new_round_id(self._rng)
        return self._keep(round_id, player_id, source, "free", "", five, filters.to_dict(), timer_s)

    def daily(
        self, player_id: str, slug: str, day: date | str | None, *, challenge: str = ""
    ) -> Round:
        """The daily five of a UTC day, today's by default."""
        source, date_ = self.benchmark(slug), self._past_day(day)
        if len(source) < CLIPS_PER_ROUND:
            raise Agl1kError(
                f"{source.name} has too few clips for a daily five: {len(source)}. "
                "Play a free round, or choose another benchmark."
            )
        five, label = self.schedule(source).five(date_), date_.isoformat()
        round_id = self._tokens.derived_round_id("daily", player_id, slug, label)
        link = {"challenge": challenge} if challenge else {}
        return self._keep(round_id, player_id, source, "daily", label, five, link, None)

    def challenge(self, player_id: str, round_id: str) -> Round:
        """The clips of a finished round; the player's own round when it is, or was, that one.

        The challenge of a daily is that daily: there is no second try by a detour.
        """
        offered = self._finished(round_id)
        root = self._root_of(offered)
        if root.player_id == player_id:
            return root
        if root.mode == "daily":
            return self.daily(player_id, root.benchmark, root.label, challenge=round_id)
        source = self.benchmark(root.benchmark)
        own_id = self._tokens.derived_round_id("challenge", player_id, root.round_id)
        label = challenge_code(round_id)
        keys, link = offered.clip_keys, {**offered.filters, "challenge": round_id}
        return self._keep(
            own_id, player_id, source, "challenge", label, keys, link, offered.timer_s
        )

    def stand_ins(self, round_: Round) -> list[str]:
        """Who may replace a clip of a round, best first; the same for all who play the same."""
        source = self.benchmark(round_.benchmark)
        if round_.mode == "daily":
            return self.schedule(source).order(date.fromisoformat(round_.label))
        keys = sorted(fitting(source, Filters.of(round_.filters)))
        seen = self._store.seen_clips(round_.player_id, source.slug)
        shared = random.Random(round_.label or round_.round_id)
        return order_free(source, keys, [] if round_.label else seen, shared)

    def schedule(self, source: Benchmark) -> DailySchedule:
        """The dailies of a benchmark's present content."""
        if source.content_hash not in self._schedules:
            self._schedules[source.content_hash] = DailySchedule(source, self._epoch)
        return self._schedules[source.content_hash]

    def _keep(
        self,
        round_id: str,
        player_id: str,
        source: Benchmark,
        mode: Mode,
        label: str,
        keys: Sequence[str],
        filters: Mapping[str, object],
        timer_s: int | None,
    ) -> Round:
        if mode == "free" or self._store.round(round_id) is None:
            self._admit(player_id)
        new = Round(
            round_id=round_id,
            player_id=player_id,
            benchmark=source.slug,
            benchmark_hash=source.content_hash,
            mode=mode,
            label=label,
            clip_keys=tuple(keys),
            filters=filters,
            timer_s=timer_s,
            position=0,
            clip_started_utc=None,
            created_utc=self._clock(),
        )
        return self._store.add_round(new)

    def today(self) -> date:
        """The present UTC day."""
        return self._clock().astimezone(UTC).date()

    def _past_day(self, day: date | str | None) -> date:
        today = self.today()
        try:
            chosen = date.fromisoformat(day) if isinstance(day, str) else day or today
        except ValueError:
            raise Agl1kError(f"{day!r:.30} is no date. Write it like {today}.") from None
        if chosen > today:
            raise Agl1kError(
                f"The daily five of {chosen} comes out on that day at 00:00 UTC. "
                f"Today is {today} (UTC)."
            )
        return chosen

    def _finished(self, round_id: str) -> Round:
        offered = self._store.round(round_id)
        if offered is None:
            raise Agl1kError(
                "There is no such challenge here. It may come from another server: "
                "open the whole link that you were given."
            )
        if len(self._store.of_round(round_id)) < len(offered.clip_keys):
            raise Agl1kError(
                "Whoever made this challenge has not finished the round yet. Try again later."
            )
        return offered

    def _root_of(self, offered: Round) -> Round:
        """The round that a chain of challenges goes back to: all of them have its clips."""
        while offered.mode == "challenge":
            before = self._store.round(str(offered.filters["challenge"]))
            if before is None:
                break
            offered = before
        return offered

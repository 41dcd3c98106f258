"""Creates the round that a player gets: free, the daily five, or somebody's challenge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date

from agl1k_core.benchmarks import Benchmark
from agl1k_core.errors import Agl1kError, UnavailableError
from game.daily import DailySchedule
from game.dependencies import Content, Surroundings
from game.open_round import OpenRound
from game.picking import (
    ALL_SEEN,
    CLIPS_PER_ROUND,
    Filters,
    candidates,
    fitting,
    new_ones,
    order_free,
)
from game.refusals import ConflictError, NotFoundError
from game.replacement import ClipReplacement
from game.tokens import Tokens, new_round_id
from game.versus import OPPONENT, answered, chosen, opponent_of
from store.guesses import Guess, GuessStore, Round
from store.rooms import Room

TIMERS_S = (30, 60, 120)
#: A room's code, and which of its rounds, among the stored filters of a round that is played there.
ROOM, GAME = "room", "game"


def room_of(row: Round) -> tuple[str, int] | None:
    """The code of the room that a round is played in, and which of its rounds; None without."""
    code = row.filters.get(ROOM)
    return (str(code), int(str(row.filters[GAME]))) if code else None


class RoundFactory:
    """Makes rounds and stores them.

    The id of a daily or a challenge is derived from the player and the clips, so that each
    player has one try, in however many tabs it is started.
    """

    def __init__(
        self,
        content: Content,
        store: GuessStore,
        tokens: Tokens,
        replacement: ClipReplacement,
        surroundings: Surroundings,
        secret: bytes,
    ) -> None:
        self._content = content
        self._store = store
        self._tokens = tokens
        self._replacement = replacement
        self._surroundings = surroundings
        self._secret = secret
        self._schedules: dict[str, DailySchedule] = {}
        self._fives: dict[tuple[str, str, date], tuple[str, ...]] = {}

    def free(
        self,
        player_id: str,
        slug: str,
        filters: Filters,
        timer_s: int | None,
        *,
        opponent: str = "",
    ) -> OpenRound:
        """Five clips that fit and are new to the player, or all if fewer are.

        If the player has seen all that fit, those seen longest ago come again.

        ``opponent`` is a row of the board that has answered them.
        """
        source = self._content.benchmark(slug)
        five, seen = self._drawn(player_id, source, timer_s, filters, opponent)
        new = new_ones(five, seen)
        again = {ALL_SEEN: True} if new[0] in seen else {}
        against = {OPPONENT: opponent} if opponent else {}
        stored = {**filters.to_dict(), **against, **again}
        round_id = new_round_id(self._surroundings.rng)
        return self._begin(source, self._draft(round_id, player_id, source, new, timer_s, stored))

    def clips(self, player_id: str, slug: str, timer_s: int | None) -> tuple[str, ...]:
        """The clips of a new round in a room, those first that this player has not met."""
        source = self._content.benchmark(slug)
        return tuple(self._drawn(player_id, source, timer_s, Filters(), "")[0])

    def _drawn(
        self, player_id: str, source: Benchmark, timer_s: int | None, filters: Filters, rival: str
    ) -> tuple[list[str], Sequence[str]]:
        """The clips of a round, and those that the player has met, the oldest first."""
        if timer_s is not None and timer_s not in TIMERS_S:
            choices = ", ".join(map(str, TIMERS_S))
            raise Agl1kError(
                f"There is no timer of {timer_s!r} seconds. Choose {choices}, or none."
            )
        fit = candidates(source, filters)
        if rival:
            fit = answered(chosen(self._content.opponents, source, rival), fit, filters)
        keys = self._replacement.playable(source, fit)
        seen = self._store.seen_clips(player_id, source.slug)
        return order_free(source, keys, seen, self._surroundings.rng)[:CLIPS_PER_ROUND], seen

    def room_round_id(self, player_id: str, code: str, game: int) -> str:
        """The id of the only round that a player can have in a round of a room."""
        return self._tokens.derived_round_id("room", player_id, code, str(game))

    def in_room(self, player_id: str, room: Room) -> OpenRound:
        """The player's round in the latest round of a room."""
        source = self._content.benchmark(room.benchmark)
        round_id = self.room_round_id(player_id, room.code, room.game)
        place = {ROOM: room.code, GAME: room.game}
        draft = self._draft(round_id, player_id, source, room.clip_keys, room.timer_s, place)
        return self._once(source, replace(draft, mode="challenge", label=room.code))

    def daily(
        self, player_id: str, slug: str, day: date | str | None, *, challenge: str = ""
    ) -> OpenRound:
        """The daily five of a UTC day, today's by default."""
        source, date_ = self._content.benchmark(slug), self._past_day(day)
        if len(source.in_play) < CLIPS_PER_ROUND:
            raise Agl1kError(
                f"{source.name} has too few clips for a daily five: {len(source.in_play)}. "
                "Play a free round, or choose another benchmark."
            )
        five, label = self._five(source, date_), date_.isoformat()
        round_id = self._tokens.derived_round_id("daily", player_id, slug, label)
        link = {"challenge": challenge} if challenge else {}
        draft = self._draft(round_id, player_id, source, five, None, link)
        return self._once(source, replace(draft, mode="daily", label=label))

    def challenge(self, player_id: str, round_id: str) -> OpenRound:
        """The clips of a finished round, or the player's own round if it was made from theirs.

        The challenge of a daily is that daily, so that it gives no second try.
        """
        offered, answers = self._finished(round_id)
        root = self._root_of(offered)
        source = self._content.benchmark(root.benchmark)
        if own := self._own(player_id, root):
            return OpenRound(self._store, source, own)
        if root.mode == "daily":
            opened = self.daily(player_id, root.benchmark, root.label, challenge=round_id)
        else:
            opened = self._once(source, self._challenge_draft(player_id, source, offered, root))
        if opened.row.filters.get("challenge") == round_id:
            opened.challenger_answers = answers
        return opened

    def _own(self, player_id: str, root: Round) -> Round | None:
        """The player's own round with the clips of ``root``: that one, or one in the same room."""
        if root.player_id == player_id:
            return root
        place = room_of(root)
        return self._store.round(self.room_round_id(player_id, *place)) if place else None

    def _challenge_id(self, player_id: str, root_id: str) -> str:
        return self._tokens.derived_round_id("challenge", player_id, root_id)

    def has_challenged(self, player_id: str, round_ids: Iterable[str]) -> bool:
        """Whether the player has answered a challenge that was made from one of some rounds."""
        own = (self._challenge_id(player_id, one) for one in round_ids)
        return any(self._store.of_round(one) for one in own)

    def _challenge_draft(
        self, player_id: str, source: Benchmark, offered: Round, root: Round
    ) -> Round:
        own_id = self._challenge_id(player_id, root.round_id)
        dropped = (ROOM, GAME, ALL_SEEN)
        kept = {name: offered.filters[name] for name in offered.filters if name not in dropped}
        link = {**kept, "challenge": offered.round_id}
        draft = self._draft(own_id, player_id, source, offered.clip_keys, offered.timer_s, link)
        code = self._tokens.challenge_code(offered.round_id)
        return replace(draft, mode="challenge", label=code)

    def stand_ins(self, opened: OpenRound) -> list[str]:
        """The clips that may replace one of a round, best first; the same for all who play it."""
        source, row = opened.benchmark, opened.row
        if row.mode == "daily":
            return self.schedule(source).order(date.fromisoformat(row.label))
        keys = self._answered_too(source, row, sorted(fitting(source, Filters.of(row.filters))))
        seen = self._store.seen_clips(row.player_id, source.slug)
        shared = self._tokens.shared_rng("stand-ins", row.label or row.round_id)
        return order_free(source, keys, [] if row.label else seen, shared)

    def _answered_too(self, source: Benchmark, row: Round, keys: list[str]) -> list[str]:
        """Those of ``keys`` that the round's opponent answered, or all without one."""
        known = self._content.opponents(source, fresh=False) or ()
        found = next((one for one in known if one.row_id == opponent_of(row)), None)
        return [key for key in keys if key in found.distances_km] if found else keys

    def schedule(self, source: Benchmark) -> DailySchedule:
        """The dailies of a benchmark's current content."""
        if source.content_hash not in self._schedules:
            self._schedules[source.content_hash] = DailySchedule(source, self._secret)
        return self._schedules[source.content_hash]

    def _five(self, source: Benchmark, day: date) -> tuple[str, ...]:
        """A day's clips: those that were played first, so that a day stays what it was."""
        scheduled = self.schedule(source).five(day)
        content = source.slug, source.content_hash
        if (*content, day) not in self._fives:
            played = self._store.daily_clips(*content, day.isoformat())
            self._fives[*content, day] = played or scheduled
        return self._fives[*content, day]

    def today(self) -> date:
        """The current UTC day."""
        return self._surroundings.clock().astimezone(UTC).date()

    def _draft(
        self,
        round_id: str,
        player_id: str,
        source: Benchmark,
        keys: Sequence[str],
        timer_s: int | None,
        filters: Mapping[str, object],
    ) -> Round:
        """A free round at its beginning."""
        return Round(
            round_id=round_id,
            player_id=player_id,
            benchmark=source.slug,
            benchmark_hash=source.content_hash,
            mode="free",
            label="",
            clip_keys=tuple(keys),
            filters=filters,
            timer_s=timer_s,
            position=0,
            clip_started_utc=None,
            created_utc=self._surroundings.clock(),
        )

    def _once(self, source: Benchmark, draft: Round) -> OpenRound:
        """The player's only round with the draft's id, started now if there is none."""
        begun = self._store.round(draft.round_id)
        return OpenRound(self._store, source, begun) if begun else self._begin(source, draft)

    def _begin(self, source: Benchmark, draft: Round) -> OpenRound:
        self._surroundings.admit(draft.player_id)
        try:
            return OpenRound.begin(self._store, source, draft)
        except UnavailableError:
            self._surroundings.give_back(draft.player_id)
            raise

    def _past_day(self, day: date | str | None) -> date:
        today = self.today()
        try:
            chosen = date.fromisoformat(day) if isinstance(day, str) else day or today
        except ValueError:
            raise Agl1kError(f"{day!r:.30} is not a date. Write it like {today}.") from None
        if chosen > today:
            raise Agl1kError(
                f"The daily five of {chosen} comes out on that day at 00:00 UTC. "
                f"Today is {today} (UTC)."
            )
        return chosen

    def _finished(self, round_id: str) -> tuple[Round, Sequence[Guess]]:
        offered = self._store.round(round_id)
        if offered is None:
            raise NotFoundError(
                "There is no such challenge here. It may come from another server: "
                "open the whole link that you were given."
            )
        answers = self._store.of_round(round_id)
        if len(answers) < len(offered.clip_keys):
            raise ConflictError(
                "The player who made this challenge has not finished the round yet. "
                "Try again later."
            )
        return offered, answers

    def _root_of(self, offered: Round) -> Round:
        """The round at the start of a chain of challenges: all of them have its clips."""
        while "challenge" in offered.filters and offered.mode == "challenge":
            before = self._store.round(str(offered.filters["challenge"]))
            if before is None:
                break
            offered = before
        return offered

"""The state of a round, as the views that a page shows.

The only module that decides what a browser may know: of a clip without a stored answer, its token
and the outline of its sound.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from agl1k_core.errors import Agl1kError
from game.daily import DailyRecord
from game.dependencies import Clock, Content, PreparedSound
from game.guessing import max_points_of, points_of, seconds_since
from game.open_round import OpenRound
from game.picking import ALL_SEEN, Filters
from game.replacement import ClipReplacement, Settled
from game.reveal import build_reveals
from game.starting import RoundFactory, room_of
from game.tokens import Tokens
from game.versus import opponent_of, versus
from game.views import (
    Challenger,
    InRoom,
    Outline,
    Phase,
    Reveal,
    RoundView,
    Streak,
    Summary,
    Versus,
)
from store.guesses import Guess, GuessStore, Round

DOES_NOT_COUNT = "Rounds with clips that you have heard before do not count for the people’s row."
CONTINENT_TOLD = (
    "You know the continent of these clips, so this round does not count for the people’s row."
)


def last_audible(round_: Round) -> int:
    """The last position that may be heard: the next one too, unless that would cheat a timer."""
    ahead = 0 if round_.timer_s is not None else 1
    return min(round_.position + ahead, len(round_.clip_keys) - 1)


class RoundPresenter:
    """Builds views of open rounds."""

    def __init__(
        self,
        content: Content,
        store: GuessStore,
        tokens: Tokens,
        factory: RoundFactory,
        replacement: ClipReplacement,
        clock: Clock,
    ) -> None:
        self._content = content
        self._store = store
        self._tokens = tokens
        self._factory = factory
        self._replacement = replacement
        self._clock = clock

    def now(self, opened: OpenRound, *, begin: bool = False) -> RoundView:
        """The round at its current clip, which is prepared if it has to be played.

        The timer of the clip starts if ``begin``. Without a timer, the time is only recorded, and
        runs from the clip's first view.
        """
        if not opened.awaits_answer:
            return self.at(opened, opened.row.position)
        settled = self._settled(opened, opened.row.position)
        if begin or opened.row.timer_s is None:
            opened.start_clip(self._clock())
        return self._at(opened, opened.row.position, settled.notes, settled.sound)

    def following(self, opened: OpenRound, *, begin: bool = False) -> RoundView:
        """Move a round on to its next clip, once that can be played, or to its end."""
        position = opened.row.position + 1
        is_over = position == opened.n_clips
        settled = Settled(None) if is_over else self._settled(opened, position)
        begins = not is_over and (begin or opened.row.timer_s is None)
        if not opened.advance(self._clock() if begins else None):
            return self.now(opened, begin=begin)
        return self._at(opened, position, settled.notes, settled.sound)

    def _settled(self, opened: OpenRound, position: int) -> Settled:
        """Have a clip ready, and the next ones prepared in the background."""
        settled = self._replacement.settle(
            opened, position, partial(self._factory.stand_ins, opened)
        )
        self._content.clips.prefetch(opened.benchmark, opened.row.clip_keys[position + 1 :])
        return settled

    def at(self, opened: OpenRound, position: int, *notes: str) -> RoundView:
        """The round at a clip that has been answered, or at its end."""
        return self._at(opened, position, notes, self._sound(opened, position))

    def _sound(self, opened: OpenRound, position: int) -> PreparedSound | None:
        if position > last_audible(opened.row):
            return None
        try:
            return self._content.clips.prepare(opened.benchmark, opened.row.clip_keys[position])
        except (Agl1kError, OSError):
            return None  # the page's player shows that, with a button to try again

    def _at(
        self,
        opened: OpenRound,
        position: int,
        notes: tuple[str, ...],
        sound: PreparedSound | None,
    ) -> RoundView:
        row, benchmark = opened.row, opened.benchmark
        shown = [guess for guess in opened.answers.values() if guess.position <= position]
        phase = _phase(opened, position)
        against = versus(self._content.opponents, benchmark, row, shown)
        reveals = self._reveals(opened, shown, phase)
        return RoundView(
            token=self._tokens.step(row.round_id, position),
            phase=phase,
            mode=mode_of(row),
            label=row.label,
            benchmark=benchmark.slug,
            benchmark_name=benchmark.name,
            notice=benchmark.notice,
            n_in_play=len(benchmark.in_play),
            filters=Filters.of(row.filters).to_dict(),
            position=position,
            n_clips=opened.n_clips,
            total=sum(map(points_of, shown)),
            max_total=sum(map(max_points_of, shown)),
            timer_s=row.timer_s,
            remaining_s=self._remaining_s(row) if phase == "playing" else None,
            started=phase == "playing" and row.clip_started_utc is not None,
            clip_token=self._clip_token(row, position),
            next_clip_token=self._clip_token(row, position + 1),
            outline=Outline(tuple(sound.peaks), sound.duration_s) if sound else None,
            reveals=reveals,
            notes=(*_round_notes(row, phase), *notes),
            challenger=_challenger(opened),
            versus=against,
            room=_room(row),
            summary=self._summary(opened, reveals, against) if phase == "finished" else None,
        )

    def _remaining_s(self, row: Round) -> float | None:
        if row.timer_s is None:
            return None
        elapsed_s = seconds_since(row.clip_started_utc, self._clock()) or 0.0
        return max(0.0, row.timer_s - elapsed_s)

    def _clip_token(self, row: Round, position: int) -> str | None:
        if position > last_audible(row):
            return None
        return self._tokens.clip(row.round_id, position, row.clip_keys[position])

    def _reveals(
        self, opened: OpenRound, guesses: Sequence[Guess], phase: Phase
    ) -> tuple[Reveal, ...]:
        """The places of the clips to which ``guesses``, which are stored, belong.

        Only those that the map shows have their lines, and only a single one models' guesses.
        """
        benchmark = opened.benchmark
        drawn = {"playing": 0, "revealed": 1, "finished": len(guesses)}[phase]
        shows_models = phase == "revealed" and guesses[-1].action != "broken"
        keys = [guesses[-1].clip_key] if shows_models else []
        return build_reveals(
            benchmark,
            guesses,
            [self._clip_token(opened.row, guess.position) or "" for guess in guesses],
            self._content.models(benchmark, keys) if keys else {},
            self._content.tags.get(benchmark.slug),
            n_drawn=drawn,
        )

    def _summary(
        self, opened: OpenRound, reveals: tuple[Reveal, ...], against: Versus | None
    ) -> Summary:
        row, benchmark, guesses = opened.row, opened.benchmark, [*opened.answers.values()]
        left = opened.n_clips - len(guesses)
        if left:
            raise Agl1kError(f"This round is not finished: {left} of its clips have no answer yet.")
        return Summary(
            mode=mode_of(row),
            label=row.label,
            benchmark=benchmark.slug,
            benchmark_name=benchmark.name,
            finished_utc=guesses[-1].created_utc.isoformat(timespec="seconds"),
            reveals=reveals,
            total=sum(map(points_of, guesses)),
            max_total=sum(map(max_points_of, guesses)),
            code=self._tokens.challenge_code(row.round_id),
            challenger=_challenger(opened),
            streak=self._streak(row) if row.mode == "daily" else None,
            filters=Filters.of(row.filters).to_dict(),
            timer_s=row.timer_s,
            versus=against,
        )

    def _streak(self, row: Round) -> Streak:
        record = DailyRecord(self._store, row.player_id, row.benchmark)
        return record.streak(self._factory.today())


def mode_of(row: Round) -> str:
    """The mode as players know it: also "model" and "room", which are stored as other modes."""
    if room_of(row):
        return "room"
    return "model" if row.mode == "free" and opponent_of(row) else row.mode


def _room(row: Round) -> InRoom | None:
    place = room_of(row)
    return InRoom(*place) if place else None


def _phase(opened: OpenRound, position: int) -> Phase:
    if position >= opened.n_clips:
        return "finished"
    return "revealed" if position in opened.answers else "playing"


def _round_notes(row: Round, phase: Phase) -> tuple[str, ...]:
    """Tells at the beginning and the end of a round why it does not count for people."""
    tells = phase == "finished" or (phase == "playing" and row.position == 0)
    if not tells:
        return ()
    filters = Filters.of(row.filters)
    if row.filters.get(ALL_SEEN):
        fitting = " that fit your filters" if str(filters) else ""
        return (f"You have heard all clips of this benchmark{fitting}. {DOES_NOT_COUNT}",)
    return (CONTINENT_TOLD,) if filters.continent else ()


def _challenger(opened: OpenRound) -> Challenger | None:
    guesses = opened.challenger_answers
    if not guesses:
        return None
    total, max_total = sum(map(points_of, guesses)), sum(map(max_points_of, guesses))
    return Challenger(guesses[-1].nickname, total, max_total)

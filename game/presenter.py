"""Where a round stands, as the views that a page shows.

The one place that decides what a browser may know: of a clip without a stored answer, its token.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial

from agl1k_core.benchmarks import Benchmark, FolderTags
from agl1k_core.errors import Agl1kError
from game.daily import DailyRecord
from game.guessing import max_points_of, points_of, seconds_since
from game.picking import Filters
from game.replacement import ClipReplacement
from game.reveal import ModelAnswer, build_reveals
from game.starting import RoundFactory
from game.tokens import Tokens, challenge_code
from game.views import Challenger, Phase, Reveal, RoundView, Summary
from store.guesses import Guess, GuessStore, Round

Prefetch = Callable[[Benchmark, Sequence[str]], object]
ModelGuesses = Callable[[Benchmark, str], Iterable[ModelAnswer]]


def last_audible(round_: Round) -> int:
    """The last position that may be heard: the next one too, unless a timer would be cheated."""
    ahead = 0 if round_.timer_s is not None else 1
    return min(round_.position + ahead, len(round_.clip_keys) - 1)


class RoundPresenter:
    """Builds views from what the store holds."""

    def __init__(
        self,
        store: GuessStore,
        tokens: Tokens,
        maker: RoundFactory,
        sound: ClipReplacement,
        record: DailyRecord,
        *,
        clock: Callable[[], datetime],
        prefetch: Prefetch,
        model_guesses: ModelGuesses,
        tags: Mapping[str, FolderTags],
    ) -> None:
        self._store = store
        self._tokens = tokens
        self._maker = maker
        self._sound = sound
        self._record = record
        self._clock = clock
        self._prefetch = prefetch
        self._model_guesses = model_guesses
        self._tags = tags

    def now(self, round_: Round, *notes: str) -> RoundView:
        """The round at its present clip, which is made ready to be heard if it is to be played."""
        guesses = self._store.of_round(round_.round_id)
        if len(guesses) <= round_.position < len(round_.clip_keys):
            benchmark = self._maker.benchmark(round_.benchmark)
            order = partial(self._maker.stand_ins, round_)
            round_, told = self._sound.settle(benchmark, round_, order)
            notes = (*notes, *told)
            self._prefetch(benchmark, round_.clip_keys[round_.position + 1 :])
            round_ = self._given_out(round_)
        return self._at(round_, round_.position, guesses, notes)

    def at(self, round_: Round, position: int, guesses: Sequence[Guess], *notes: str) -> RoundView:
        """The round at a clip that is answered; ``guesses`` are its stored ones, by position."""
        return self._at(round_, position, guesses, notes)

    def _given_out(self, round_: Round) -> Round:
        """Without a timer the time of a clip, which is only noted, runs from its first view."""
        if round_.timer_s is not None or round_.clip_started_utc is not None:
            return round_
        started = self._store.start_clip(round_.round_id, round_.position, self._clock())
        return replace(round_, clip_started_utc=started)

    def _at(
        self, round_: Round, position: int, guesses: Sequence[Guess], notes: tuple[str, ...]
    ) -> RoundView:
        told = [guess for guess in guesses if guess.position <= position]
        phase = _phase(round_, position, told)
        return RoundView(
            token=self._tokens.step(round_.round_id, position),
            phase=phase,
            mode=round_.mode,
            label=round_.label,
            benchmark=round_.benchmark,
            benchmark_name=self._maker.benchmark(round_.benchmark).name,
            notice=self._maker.benchmark(round_.benchmark).notice,
            filters=Filters.of(round_.filters).to_dict(),
            position=position,
            n_clips=len(round_.clip_keys),
            total=sum(map(points_of, told)),
            max_total=sum(map(max_points_of, told)),
            timer_s=round_.timer_s,
            remaining_s=self._remaining_s(round_) if phase == "playing" else None,
            started=phase == "playing" and round_.clip_started_utc is not None,
            clip_token=self._clip_token(round_, position),
            next_clip_token=self._clip_token(round_, position + 1),
            reveals=self._reveals(round_, told),
            notes=notes,
            challenger=self._challenger(round_),
        )

    def _remaining_s(self, round_: Round) -> float | None:
        if round_.timer_s is None:
            return None
        gone_s = seconds_since(round_.clip_started_utc, self._clock()) or 0.0
        return max(0.0, round_.timer_s - gone_s)

    def _clip_token(self, round_: Round, position: int) -> str | None:
        if position > last_audible(round_):
            return None
        return self._tokens.clip(round_.round_id, position, round_.clip_keys[position])

    def _reveals(self, round_: Round, guesses: Sequence[Guess]) -> tuple[Reveal, ...]:
        benchmark = self._maker.benchmark(round_.benchmark)
        models = [self._model_guesses(benchmark, guess.clip_key) for guess in guesses]
        tokens = [self._clip_token(round_, guess.position) or "" for guess in guesses]
        return build_reveals(benchmark, guesses, tokens, models, self._tags.get(benchmark.slug))

    def summary(self, round_: Round) -> Summary:
        """A round whose clips are all answered; raises ``Agl1kError`` before that."""
        guesses = self._store.of_round(round_.round_id)
        left = len(round_.clip_keys) - len(guesses)
        if left:
            raise Agl1kError(f"This round is not finished: {left} of its clips have no answer yet.")
        benchmark = self._maker.benchmark(round_.benchmark)
        is_daily, player_id = round_.mode == "daily", round_.player_id
        today = self._maker.today()
        return Summary(
            mode=round_.mode,
            label=round_.label,
            benchmark=benchmark.slug,
            benchmark_name=benchmark.name,
            finished_utc=guesses[-1].created_utc.isoformat(timespec="seconds"),
            reveals=self._reveals(round_, guesses),
            total=sum(map(points_of, guesses)),
            max_total=sum(map(max_points_of, guesses)),
            code=challenge_code(round_.round_id),
            challenger=self._challenger(round_),
            streak=self._record.streak(player_id, benchmark.slug, today) if is_daily else None,
            filters=Filters.of(round_.filters).to_dict(),
            timer_s=round_.timer_s,
        )

    def _challenger(self, round_: Round) -> Challenger | None:
        offered = str(round_.filters.get("challenge", ""))
        guesses = self._store.of_round(offered) if offered else []
        if not guesses:
            return None
        total, max_total = sum(map(points_of, guesses)), sum(map(max_points_of, guesses))
        return Challenger(guesses[-1].nickname, total, max_total)


def _phase(round_: Round, position: int, told: Sequence[Guess]) -> Phase:
    if position >= len(round_.clip_keys):
        return "finished"
    return "revealed" if any(guess.position == position for guess in told) else "playing"

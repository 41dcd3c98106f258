"""The rules: which clips, one answer each, and only then the truth. No Gradio, no HTTP.

Everything a browser may do goes through ``Game``. A player is a random id signed by the server;
each step of a round has a token that only that player can use, once. What stands is what the
store says, so a reload, a second tab or a restart of the server changes nothing.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

from agl1k_core import __version__
from agl1k_core.benchmarks import Benchmark, FolderTags
from agl1k_core.errors import Agl1kError
from game.daily import DAILY_EPOCH, DailyRecord
from game.guessing import is_pin_of, new_guess
from game.nicknames import clean_nickname
from game.picking import Filters, round_continents
from game.presenter import RoundPresenter, last_audible
from game.replacement import AtHand, ClipReady, ClipReplacement
from game.reveal import ModelAnswer
from game.starting import RoundFactory
from game.tokens import Tokens, read_challenge_code
from game.views import DailyEntry, RoundView, Streak, Summary
from store.guesses import Action, Guess, GuessStore, Round

ANSWERED = "This clip was answered before; the first answer stands."
TOO_LATE = "The time was up before your pin arrived: this clip scores 0."
OWN_ROUND = "You have played these clips before: here is your own round."

#: For how long a reload shows the result of a finished round.
RESULT_STAYS = timedelta(hours=1)

Pin = tuple[object, object] | None


def _utc_now() -> datetime:
    return datetime.now(UTC)


def _always_ready(benchmark: Benchmark, key: str) -> bool:
    return True


def _any_clip(benchmark: Benchmark) -> None:
    return None


def _no_prefetch(benchmark: Benchmark, keys: Sequence[str]) -> None:
    return None


def _any_round(player_id: str) -> None:
    return None


def _no_models(benchmark: Benchmark, key: str) -> Iterable[ModelAnswer]:
    return ()


class Game:
    """Rounds over some benchmarks (by slug), kept in a store.

    ``clip_ready(benchmark, key)`` makes a recording ready to be served; False, an ``Agl1kError``
    or an ``OSError`` mean that it cannot be had. ``clips_at_hand(benchmark)`` tells which need
    no network, or None where any may be had. ``prefetch(benchmark, keys)`` may fetch clips
    ahead and must return at once. ``model_guesses(benchmark, key)`` tells what models answered,
    as (name, (latitude, longitude) or None). ``tags`` are what sounds in the clips of a benchmark,
    by its slug; they are told with the place. ``admit_round(player_id)`` raises ``Agl1kError``
    when a player may begin no more rounds for now. Every method that takes a token or an option
    raises ``Agl1kError`` with a sentence for the player when it cannot be used.
    """

    def __init__(
        self,
        benchmarks: Mapping[str, Benchmark],
        store: GuessStore,
        secret: bytes,
        *,
        clock: Callable[[], datetime] = _utc_now,
        rng: random.Random | None = None,
        clip_ready: ClipReady = _always_ready,
        clips_at_hand: AtHand = _any_clip,
        prefetch: Callable[[Benchmark, Sequence[str]], None] = _no_prefetch,
        model_guesses: Callable[[Benchmark, str], Iterable[ModelAnswer]] = _no_models,
        tags: Mapping[str, FolderTags] | None = None,
        admit_round: Callable[[str], None] = _any_round,
        epoch: date = DAILY_EPOCH,
        app_version: str = __version__,
    ) -> None:
        self._store = store
        self._tokens = Tokens(secret)
        self._clock = clock
        self._rng = rng or random.SystemRandom()
        self._sound = ClipReplacement(store, clip_ready, clock, clips_at_hand)
        self._maker = RoundFactory(
            benchmarks, store, self._tokens, self._sound,
            clock=clock, rng=self._rng, epoch=epoch, admit=admit_round,
        )  # fmt: skip
        self._record = DailyRecord(store)
        self._standing = RoundPresenter(
            store,
            self._tokens,
            self._maker,
            self._sound,
            self._record,
            clock=clock,
            prefetch=prefetch,
            model_guesses=model_guesses,
            tags=tags or {},
        )
        self._app_version = app_version

    def new_player(self) -> str:
        """A signed token for a new player, for the browser to keep."""
        return self._tokens.new_player(self._rng)

    def player_id(self, player_token: object) -> str | None:
        """The id in a player's token; None when it was not signed here."""
        return self._tokens.player_id(player_token)

    def continents(self, benchmark: str) -> dict[str, int]:
        """The continents of a benchmark, and how many clips each has."""
        return round_continents(self._maker.benchmark(benchmark))

    def about(self, benchmark: str) -> tuple[str, str]:
        """The name of a benchmark, and what a player must be told of it."""
        source = self._maker.benchmark(benchmark)
        return source.name, source.notice

    # Starting

    def start_free(
        self,
        player_token: object,
        benchmark: str,
        filters: Filters = Filters(),  # noqa: B008 - frozen
        timer_s: int | None = None,
    ) -> RoundView:
        """Begin a round of five clips that fit, preferring those the player has not heard.

        Where fewer fit, the round is as short as that.
        ``timer_s`` is one of ``starting.TIMERS_S`` or None.
        """
        player_id = self._player(player_token)
        return self._standing.now(self._maker.free(player_id, benchmark, filters, timer_s))

    def start_daily(
        self, player_token: object, benchmark: str, day: date | str | None = None
    ) -> RoundView:
        """The daily five of a UTC day, today's by default; one begun before goes on."""
        return self._standing.now(self._maker.daily(self._player(player_token), benchmark, day))

    def start_challenge(self, player_token: object, code: object) -> RoundView:
        """The clips, timer and filters of somebody's finished round; one try per player."""
        player_id = self._player(player_token)
        view = self._standing.now(self._maker.challenge(player_id, read_challenge_code(code)))
        return replace(view, notes=(OWN_ROUND, *view.notes)) if view.reveals else view

    def play_again(self, token: object, player_token: object) -> RoundView:
        """Begin a free round with the benchmark, the filters and the timer of a round."""
        played, _ = self._open(token, player_token)
        filters = Filters.of(played.filters)
        return self.start_free(player_token, played.benchmark, filters, played.timer_s)

    # Playing

    def resume(self, player_token: object) -> RoundView | None:
        """The round that a player began last, where it stands; None when it is gone or long over.

        The result of a round just finished is shown again to whoever reloads the page.
        """
        player_id = self.player_id(player_token)
        last = self._store.latest_round(player_id) if player_id else None
        if last is None or self._is_long_over(last):
            return None
        with suppress(Agl1kError):
            return self._standing.now(last)
        return None

    def _is_long_over(self, round_: Round) -> bool:
        if round_.position < len(round_.clip_keys):
            return False
        guesses = self._store.of_round(round_.round_id)
        return not guesses or self._clock() - guesses[-1].created_utc > RESULT_STAYS

    def view(self, token: object, player_token: object) -> RoundView:
        """Where a round stands now, whichever of its tokens is given."""
        return self._standing.now(self._open(token, player_token)[0])

    def start_clip(self, token: object, player_token: object) -> RoundView:
        """The clip begins to sound: the timer runs from the first such call."""
        round_, position = self._open(token, player_token)
        if position == round_.position < len(round_.clip_keys):
            self._store.start_clip(round_.round_id, position, self._clock())
        return self.view(token, player_token)

    def guess(
        self, token: object, player_token: object, lat: object, lon: object, nickname: object = ""
    ) -> RoundView:
        """Store a pin (degrees; longitudes wrap) and reveal the place."""
        return self._answer(token, player_token, "guess", (lat, lon), nickname)

    def skip(self, token: object, player_token: object, nickname: object = "") -> RoundView:
        """Give a clip up for 0 points and reveal its place."""
        return self._answer(token, player_token, "skip", None, nickname)

    def report_broken(
        self, token: object, player_token: object, nickname: object = ""
    ) -> RoundView:
        """Report a clip that cannot be heard: it counts neither for the total nor its maximum."""
        return self._answer(token, player_token, "broken", None, nickname)

    def time_out(self, token: object, player_token: object, nickname: object = "") -> RoundView:
        """The time is up and there is no pin: 0 points."""
        return self._answer(token, player_token, "timeout", None, nickname)

    def next_clip(self, token: object, player_token: object) -> RoundView:
        """Go on from a revealed clip; after the last one the round is finished."""
        round_, position = self._open(token, player_token)
        if position == round_.position < len(round_.clip_keys):
            if position not in self._answers(round_):
                raise Agl1kError("Answer this clip first, or skip it.")
            self._store.advance(round_.round_id, position)
        return self.view(token, player_token)

    def summary(self, token: object, player_token: object) -> Summary:
        """A round whose clips are all answered."""
        return self._standing.summary(self._open(token, player_token)[0])

    def resolve(self, clip_token: object) -> tuple[Benchmark, str] | None:
        """The benchmark and key behind a clip's token; None unless it may be heard now.

        That is: the current clip, the answered ones and, where no timer runs, the next one. The
        first request for the current clip starts its time.
        """
        found = self._audible(clip_token)
        if found is None:
            return None
        round_, position = found
        if position == round_.position and round_.clip_started_utc is None:
            with suppress(Agl1kError):  # another tab has just moved on
                self._store.start_clip(round_.round_id, position, self._clock())
        return self._recording(round_, position)

    def behind(self, clip_token: object) -> tuple[Benchmark, str] | None:
        """As ``resolve``, for the page that draws the clip's outline: no time starts."""
        found = self._audible(clip_token)
        return self._recording(*found) if found else None

    def _audible(self, clip_token: object) -> tuple[Round, int] | None:
        claimed = self._tokens.read_clip(clip_token)
        round_ = self._store.round(claimed[0]) if claimed else None
        if claimed is None or round_ is None or claimed[1] > last_audible(round_):
            return None
        key = round_.clip_keys[claimed[1]]
        genuine = self._tokens.clip_matches(str(clip_token), round_.round_id, claimed[1], key)
        return (round_, claimed[1]) if genuine else None

    def _recording(self, round_: Round, position: int) -> tuple[Benchmark, str] | None:
        key = round_.clip_keys[position]
        with suppress(Agl1kError):
            benchmark = self._maker.benchmark(round_.benchmark)
            return (benchmark, key) if key in benchmark else None
        return None

    # Dailies

    def streak(self, player_token: object, benchmark: str) -> Streak:
        """How many days in a row a player has finished the daily five of a benchmark."""
        player_id, source = self._player(player_token), self._maker.benchmark(benchmark)
        return self._record.streak(player_id, source.slug, self._maker.today())

    def dailies(
        self, player_token: object, benchmark: str, limit: int = 31
    ) -> tuple[DailyEntry, ...]:
        """Today's daily and the ones before it, newest first, with what the player did."""
        player_id, source = self._player(player_token), self._maker.benchmark(benchmark)
        schedule, today = self._maker.schedule(source), self._maker.today()
        n_days = min(limit, (today - schedule.epoch).days + 1)
        days = [today - timedelta(days=back) for back in range(n_days)]
        return self._record.entries(player_id, source.slug, days)

    # Behind the scenes

    def _player(self, player_token: object) -> str:
        player_id = self._tokens.player_id(player_token)
        if player_id is None:
            raise Agl1kError("This page has lost its player. Reload it to go on.")
        return player_id

    def _open(self, token: object, player_token: object) -> tuple[Round, int]:
        """The round and the position of a step token, if it is this player's."""
        player_id, step = self._player(player_token), self._tokens.read_step(token)
        if step is None:
            raise Agl1kError(
                "This round cannot be opened: its token is not valid. Reload the page."
            )
        round_ = self._store.round(step[0])
        if round_ is None:
            raise Agl1kError("This round is not known here any more. Start a new one.")
        if round_.player_id != player_id:
            raise Agl1kError("This is another player's round. Start one of your own.")
        return round_, step[1]

    def _answers(self, round_: Round) -> dict[int, Guess]:
        return {guess.position: guess for guess in self._store.of_round(round_.round_id)}

    def _answer(
        self, token: object, player_token: object, action: Action, pin: Pin, nickname: object
    ) -> RoundView:
        round_, position = self._open(token, player_token)
        answers = self._answers(round_)
        kept, note = answers.get(position), ANSWERED
        if kept is None:
            new = self._new_guess(round_, position, action, pin, nickname)
            answers[position] = kept = self._store.record(new)
            note = (TOO_LATE if kept.action != action else "") if kept == new else ANSWERED
        if note == ANSWERED and kept.action == action and (pin is None or is_pin_of(kept, *pin)):
            note = ""  # the same answer once more, after a lost connection or a double click
        return self._standing.at(round_, position, [*answers.values()], *filter(None, [note]))

    def _new_guess(
        self, round_: Round, position: int, action: Action, pin: Pin, nickname: object
    ) -> Guess:
        if position != round_.position or position >= len(round_.clip_keys):
            raise Agl1kError("This round has moved on. Reload the page to see where it stands.")
        return new_guess(
            round_,
            position,
            self._maker.benchmark(round_.benchmark),
            action,
            pin,
            nickname=clean_nickname(nickname),
            now=self._clock(),
            app_version=self._app_version,
        )

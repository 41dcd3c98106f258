"""The rules: the choice of clips, one answer each, and only then the truth. No Gradio, no HTTP.

Everything a browser may do goes through ``Game``. A player is a random id signed by the server;
each step of a round has a token that only that player can use, once. The store holds the state, so
a reload, a second tab or a restart of the server changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date, timedelta

from agl1k_core.benchmarks import Benchmark
from agl1k_core.errors import Agl1kError, UnavailableError
from game.carrying import Carrying
from game.daily import DailyRecord, days_of_month, days_until
from game.dependencies import Content, Surroundings
from game.guessing import NO_DETAILS, Details, new_guess
from game.open_round import OpenRound
from game.past import Past
from game.picking import Filters, round_continents
from game.presenter import RoundPresenter, last_audible
from game.refusals import ConflictError, NoPlayerError, NotFoundError, NotYoursError
from game.replacement import ClipReplacement
from game.rooms import Rooms
from game.starting import RoundFactory
from game.tokens import Tokens
from game.versus import offered, opponent_of
from game.views import Dailies, RoundView, Standings
from store.guesses import Action, Guess, GuessStore, Round
from store.past import PastStore
from store.rooms import RoomStore
from ui.model_guess import Opponent
from ui.worldmap import Point

ANSWERED = "You have already answered this clip; the first answer counts."
TOO_LATE = "The time was up before your pin arrived: this clip scores 0."
NOT_HEARD = (
    "The sound of this clip was never loaded, so this answer does not count for the people’s row."
)
OWN_ROUND = "You have played these clips before: here is your own round."

#: How long a reload shows the result of a finished round.
RESULT_STAYS = timedelta(hours=1)


class Game:
    """Rounds over some benchmarks, kept in a store.

    Every method that takes a token or an option raises ``Agl1kError`` with a sentence for the
    player if that is invalid. ``begin``: the player asked for the clip with a click, so its
    timer starts now; otherwise it starts when the sound is fetched.
    """

    def __init__(
        self,
        content: Content,
        store: GuessStore,
        rooms: RoomStore,
        secret: bytes,
        surroundings: Surroundings = Surroundings(),  # noqa: B008 - frozen
    ) -> None:
        self._content = content
        self._store = store
        #: Signs what players keep, and makes codes.
        self.tokens = Tokens(secret)
        self._clock, self._rng = surroundings.clock, surroundings.rng
        self._heard = surroundings.heard
        replacement = ClipReplacement(content.clips, self._clock)
        self._factory = RoundFactory(content, store, self.tokens, replacement, surroundings, secret)
        self._rooms = Rooms(rooms, self._factory, surroundings)
        self._presenter = RoundPresenter(
            content, store, self.tokens, self._factory, replacement, self._clock
        )
        past = PastStore(store.database)
        #: Both take the id of a player, not the token.
        self.past = Past(content, store, past, self._presenter, self.tokens, self._clock)
        self.carrying = Carrying(past, self.tokens, self._clock, self._rng, surroundings.admit_code)

    def new_player(self) -> str:
        """A signed token for a new player, for the browser to keep."""
        return self.tokens.new_player(self._rng)

    def player_id(self, player_token: object) -> str | None:
        """The id in a player's token; None if it was not signed here."""
        return self.tokens.player_id(player_token)

    def require_player(self, player_token: object) -> str:
        """The id in a player's token; raises ``NoPlayerError`` if it was not signed here."""
        player_id = self.player_id(player_token)
        if player_id is None:
            raise NoPlayerError("This page has lost its player. Reload it to continue.")
        return player_id

    def n_clips(self, benchmark: str) -> int:
        """The number of clips of a benchmark that are played."""
        return len(self._content.benchmark(benchmark).in_play)

    def continents(self, benchmark: str) -> dict[str, int]:
        """The continents of a benchmark, and how many clips each has."""
        return round_continents(self._content.benchmark(benchmark))

    def about(self, benchmark: str) -> tuple[str, str]:
        """The name of a benchmark, and its notice for players."""
        source = self._content.benchmark(benchmark)
        return source.name, source.notice

    # Starting

    def start_free(
        self,
        player_token: object,
        benchmark: str,
        filters: Filters = Filters(),  # noqa: B008 - frozen
        timer_s: int | None = None,
        *,
        opponent: str = "",
        begin: bool = False,
    ) -> RoundView:
        """Start a round of five clips that fit and that the player has not seen.

        If fewer are left, the round is that short; if none is, those that fit are played again.
        ``timer_s`` is one of ``starting.TIMERS_S`` or None.
        ``opponent`` is the id of one of ``opponents``, who has answered these clips.
        """
        player_id = self.require_player(player_token)
        opened = self._factory.free(player_id, benchmark, filters, timer_s, opponent=opponent)
        return self._presenter.now(opened, begin=begin)

    def start_daily(
        self,
        player_token: object,
        benchmark: str,
        day: date | str | None = None,
        *,
        begin: bool = False,
    ) -> RoundView:
        """The daily five of a UTC day, today's by default; a started one is continued."""
        opened = self._factory.daily(self.require_player(player_token), benchmark, day)
        return self._presenter.now(opened, begin=begin)

    def start_challenge(
        self, player_token: object, code: object, *, begin: bool = False
    ) -> RoundView:
        """The clips, timer and filters of a finished round; one try per player."""
        opened = self._factory.challenge(
            self.require_player(player_token), self.tokens.read_challenge_code(code)
        )
        view = self._presenter.now(opened, begin=begin)
        return replace(view, notes=(OWN_ROUND, *view.notes)) if view.reveals else view

    def play_again(self, token: object, player_token: object, *, begin: bool = False) -> RoundView:
        """Start a free round with the benchmark, filters, timer and opponent of a round."""
        played = self._open(token, player_token)[0].row
        filters, against = Filters.of(played.filters), opponent_of(played)
        return self.start_free(
            player_token, played.benchmark, filters, played.timer_s, opponent=against, begin=begin
        )

    def opponents(self, benchmark: str) -> Sequence[Opponent]:
        """Whom a round on a benchmark can be played against, the nearest first, then baselines."""
        return offered(self._content.opponents, self._content.benchmark(benchmark))

    def open_room(
        self,
        player_token: object,
        benchmark: str,
        nickname: object,
        timer_s: int | None = None,
        *,
        begin: bool = False,
    ) -> RoundView:
        """Open a room, and start the player's round in it."""
        player_id = self.require_player(player_token)
        opened = self._rooms.open(player_id, benchmark, nickname, timer_s)
        return self._presenter.now(opened, begin=begin)

    def join_room(
        self, player_token: object, code: object, nickname: object = "", *, begin: bool = False
    ) -> RoundView:
        """The player's round in the latest round of a room; a name is needed the first time."""
        opened = self._rooms.join(self.require_player(player_token), code, nickname)
        return self._presenter.now(opened, begin=begin)

    def next_in_room(
        self, token: object, player_token: object, *, begin: bool = False
    ) -> RoundView:
        """Begin the next round of the room of a round, which only the room's host can."""
        played = self._open(token, player_token)[0].row
        opened = self._rooms.next_game(played.player_id, played)
        return self._presenter.now(opened, begin=begin)

    def standings(self, player_token: object, code: object, game: int | None = None) -> Standings:
        """How everybody in a room stands, as far as this player may know."""
        return self._rooms.standings(self.require_player(player_token), code, game)

    # Playing

    def resume(self, player_token: object) -> RoundView | None:
        """The round that a player started last, at the clip where they left it.

        None if it is gone, or was finished more than ``RESULT_STAYS`` ago: until then a reload
        shows its result again.
        """
        player_id = self.player_id(player_token)
        last = self._store.latest_round(player_id) if player_id else None
        if last is None:
            return None
        try:
            opened = self._opened(last)
            return None if self._is_long_over(opened) else self._presenter.now(opened)
        except UnavailableError:
            raise  # the round is still there
        except Agl1kError:
            return None

    def _is_long_over(self, opened: OpenRound) -> bool:
        if not opened.is_over:
            return False
        guesses = [*opened.answers.values()]
        return not guesses or self._clock() - guesses[-1].created_utc > RESULT_STAYS

    def view(self, token: object, player_token: object) -> RoundView:
        """The current state of a round, whichever of its tokens is given."""
        return self._presenter.now(self._open(token, player_token)[0])

    def guess(
        self,
        token: object,
        player_token: object,
        lat: float,
        lon: float,
        details: Details = NO_DETAILS,
    ) -> RoundView:
        """Store a pin, as ``worldmap.pin_at`` gives it, and reveal the place."""
        return self._answer(token, player_token, "guess", (lat, lon), details)

    def skip(self, token: object, player_token: object, details: Details = NO_DETAILS) -> RoundView:
        """Give up a clip for 0 points and reveal its place."""
        return self._answer(token, player_token, "skip", None, details)

    def report_broken(
        self, token: object, player_token: object, details: Details = NO_DETAILS
    ) -> RoundView:
        """Report a clip that cannot be heard: it does not count, and its place stays hidden."""
        return self._answer(token, player_token, "broken", None, details)

    def time_out(
        self, token: object, player_token: object, details: Details = NO_DETAILS
    ) -> RoundView:
        """The time is up and there is no pin: 0 points."""
        return self._answer(token, player_token, "timeout", None, details)

    def next_clip(self, token: object, player_token: object, *, begin: bool = False) -> RoundView:
        """Move on from a revealed clip; after the last one the round is finished."""
        opened, position = self._open(token, player_token)
        if position == opened.row.position and not opened.is_over:
            if position not in opened.answers:
                raise ConflictError("Answer this clip first, or skip it.")
            return self._presenter.following(opened, begin=begin)
        return self._presenter.now(opened, begin=begin)

    def resolve(self, clip_token: object) -> tuple[Benchmark, str] | None:
        """The benchmark and key of a clip's token; None unless the clip may be heard now.

        These are the current clip, the answered ones and, unless a timer runs, the next one. The
        first request for the current clip starts its time.
        """
        found = self._audible(clip_token)
        if found is None:
            return None
        round_, position = found
        if position == round_.position and round_.clip_started_utc is None:
            self._start_clip(round_.round_id, position)
        return self._recording(round_, position)

    def _start_clip(self, round_id: str, position: int) -> None:
        try:
            self._store.start_clip(round_id, position, self._clock())
        except UnavailableError:
            raise  # otherwise the clip could be heard before its time runs
        except Agl1kError:
            pass  # another tab has just moved on

    def _audible(self, clip_token: object) -> tuple[Round, int] | None:
        claimed = self.tokens.read_clip(clip_token)
        round_ = self._store.round(claimed[0]) if claimed else None
        if claimed is None or round_ is None or claimed[1] > last_audible(round_):
            return None
        key = round_.clip_keys[claimed[1]]
        genuine = self.tokens.clip_matches(str(clip_token), round_.round_id, claimed[1], key)
        return (round_, claimed[1]) if genuine else None

    def _recording(self, round_: Round, position: int) -> tuple[Benchmark, str] | None:
        key = round_.clip_keys[position]
        with suppress(Agl1kError):
            benchmark = self._content.benchmark(round_.benchmark)
            return (benchmark, key) if key in benchmark else None
        return None

    # Dailies

    def dailies(
        self, player_token: object, benchmark: str, limit: int = 31, month: str = ""
    ) -> Dailies:
        """Today's daily and those before it, or those of a month; and the current streak."""
        player_id, source = self.require_player(player_token), self._content.benchmark(benchmark)
        record = DailyRecord(self._store, player_id, source.slug)
        first, today = self._factory.schedule(source).epoch, self._factory.today()
        days = days_of_month(month, first, today) if month else days_until(today, first, limit)
        names = today.isoformat(), first.isoformat()
        return Dailies(record.entries(days), record.streak(today), *names)

    # Behind the scenes

    def _open(self, token: object, player_token: object) -> tuple[OpenRound, int]:
        """The round and the position of a step token, if it is this player's."""
        player_id, step = self.require_player(player_token), self.tokens.read_step(token)
        if step is None:
            raise NotFoundError(
                "This round cannot be opened: its token is not valid. Reload the page."
            )
        found = self._store.open_round(step[0])
        if found is None:
            raise NotFoundError("This round is no longer known here. Start a new one.")
        row, answers = found
        if row.player_id != player_id:
            raise NotYoursError("This is another player's round. Start one of your own.")
        return self._opened(row, answers), step[1]

    def _opened(self, row: Round, answers: Sequence[Guess] | None = None) -> OpenRound:
        return OpenRound(self._store, self._content.benchmark(row.benchmark), row, answers)

    def _answer(
        self,
        token: object,
        player_token: object,
        action: Action,
        pin: Point | None,
        details: Details,
    ) -> RoundView:
        opened, position = self._open(token, player_token)
        kept, note = opened.answers.get(position), ANSWERED
        if kept is None:
            new = self._new_guess(opened, position, action, pin, details)
            kept = opened.record(new)
            note = (TOO_LATE if kept.action != action else "") if kept == new else ANSWERED
        if note == ANSWERED and _is_same(kept, action, pin):
            note = ""  # the same answer once more, after a lost connection or a double click
        unheard = NOT_HEARD if kept.seconds is None and kept.action != "broken" else ""
        return self._presenter.at(opened, position, *filter(None, [note, unheard]))

    def _new_guess(
        self, opened: OpenRound, position: int, action: Action, pin: Point | None, details: Details
    ) -> Guess:
        if position != opened.row.position or opened.is_over:
            raise ConflictError("This round has moved on. Reload the page to see its current clip.")
        return new_guess(
            opened.row,
            position,
            opened.benchmark,
            action,
            pin,
            details,
            now=self._clock(),
            heard=self._heard(opened.row, position),
        )


def _is_same(kept: Guess, action: Action, pin: Point | None) -> bool:
    return kept.action == action and pin in (None, (kept.latitude, kept.longitude))

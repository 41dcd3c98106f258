"""A player's moves: tokens in, the state of the round out. No Gradio, no HTTP, no HTML."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agl1k_core.errors import Agl1kError, UnavailableError
from game.guessing import NO_DETAILS, Details
from game.past import Others, PastRounds
from game.picking import Filters
from game.refusals import ConflictError, NotFoundError, NothingToPlayError
from game.rounds import Game
from game.views import Dailies, RoundView, Standings
from ui.model_guess import Opponent
from ui.worldmap import Point
from web.addresses import query_of
from web.quota import QuotaError

NO_PIN = (
    "There is no pin yet. Click or tap the map, or press Enter in it to drop the pin "
    "at the crosshair; then submit."
)

NO_OPPONENT = "Choose an opponent: a model, a baseline or people."

_DAYS_LISTED = 366


@dataclass(frozen=True, slots=True)
class Wish:
    """What a player chose for a new round."""

    mode: str = "free"
    benchmark: str = ""
    speech: str = "any"
    continent: str = ""
    timer_s: int | None = None
    day: str = ""
    code: str = ""
    opponent: str = ""
    nickname: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a move led to: the round, and what did not work on the way, one sentence a line."""

    player: str
    view: RoundView
    problems: str = ""


@dataclass(frozen=True, slots=True)
class Playable:
    """A benchmark that can be played: ``continents`` has the number of clips of each."""

    slug: str
    name: str
    notice: str
    n_clips: int
    continents: Mapping[str, int]


class Moves:
    """What a player can do in one ``Game``. Tokens are kept by the player.

    Every method raises ``Agl1kError`` with a sentence for the player if a move is not possible;
    the round is then as before. ``benchmarks``: slugs, the default first; the others are played
    if its recordings are not available.
    """

    def __init__(self, game: Game, benchmarks: Sequence[str]) -> None:
        self._game = game
        self.default, self._benchmarks = benchmarks[0], [*dict.fromkeys(benchmarks)]

    def knows(self, player: object) -> bool:
        """Whether a player's token was signed here."""
        return self._game.player_id(player) is not None

    def open(self, player: object, href: str = "") -> Outcome:
        """The round that the address ``href`` links to, the one started last, or a new free one."""
        token = str(player) if self.knows(player) else self._game.new_player()
        try:
            return Outcome(token, self._opened(token, href))
        except UnavailableError:
            raise  # another round would not work either, and this one is still there
        except Agl1kError as error:
            return self._fallback(token, str(error))

    def _opened(self, player: str, href: str) -> RoundView:
        query = query_of(href)
        if "challenge" in query:
            return self._game.start_challenge(player, query["challenge"][0])
        if "room" in query:
            return self._game.join_room(player, query["room"][0])
        if "daily" in query:
            day = query["daily"][0]
            return self._game.start_daily(player, self.default, None if day == "today" else day)
        return self._game.resume(player) or self._game.start_free(player, self.default)

    def _fallback(self, player: str, problem: str) -> Outcome:
        """Start another round after a bad link, or if a source cannot be reached."""
        problems = [problem]
        for benchmark in self._benchmarks:
            try:
                view = self._game.resume(player) or self._game.start_free(player, benchmark)
                return Outcome(player, view, _lines(problems))
            except (UnavailableError, QuotaError):
                raise  # no other benchmark would help
            except Agl1kError as error:
                problems.append(str(error))
        raise NothingToPlayError(_lines(problems))

    def state(self, player: str) -> Outcome:
        """The round that the player started last."""
        self._game.require_player(player)
        view = self._game.resume(player)
        if view is None:
            raise NotFoundError("No round is under way. Start a new one.")
        return Outcome(player, view)

    def start(self, player: str, wish: Wish) -> Outcome:
        """Begin the round that was chosen; its timer runs from now."""
        return Outcome(player, self._started(player, wish))

    def _started(self, player: str, wish: Wish) -> RoundView:
        benchmark = wish.benchmark or self.default
        if wish.mode == "daily":
            return self._game.start_daily(player, benchmark, wish.day or None, begin=True)
        if wish.mode == "challenge":
            return self._game.start_challenge(player, wish.code, begin=True)
        if wish.mode == "room" and wish.code.strip():
            return self._game.join_room(player, wish.code, wish.nickname, begin=True)
        if wish.mode == "room":
            return self._game.open_room(player, benchmark, wish.nickname, wish.timer_s, begin=True)
        filters = Filters(wish.speech, wish.continent)
        opponent = self._opponent(wish) if wish.mode == "model" else ""
        return self._game.start_free(
            player, benchmark, filters, wish.timer_s, opponent=opponent, begin=True
        )

    def _opponent(self, wish: Wish) -> str:
        if not wish.opponent:
            raise Agl1kError(NO_OPPONENT)
        return wish.opponent

    def again(self, player: str, round_token: str) -> Outcome:
        """A new free round with the same settings."""
        return Outcome(player, self._game.play_again(round_token, player, begin=True))

    def next_in_room(self, player: str, round_token: str) -> Outcome:
        """The next round of the room, by the player who opened it."""
        return Outcome(player, self._game.next_in_room(round_token, player, begin=True))

    def standings(self, player: str, code: str, game: int | None = None) -> Standings:
        """How everybody in a room stands."""
        return self._game.standings(player, code, game)

    def guess(
        self, player: str, round_token: str, pin: Point | None, details: Details = NO_DETAILS
    ) -> Outcome:
        """The pin is final: store it, then reveal the place."""
        if pin is None:
            raise Agl1kError(NO_PIN)
        token = self._token(player, round_token)
        return Outcome(player, self._game.guess(token, player, *pin, details))

    def time_up(
        self, player: str, round_token: str, pin: Point | None, details: Details = NO_DETAILS
    ) -> Outcome:
        """The countdown ended: the pin counts if there is one."""
        if pin is not None:
            return self.guess(player, round_token, pin, details)
        token = self._token(player, round_token)
        return Outcome(player, self._game.time_out(token, player, details))

    def skip(self, player: str, round_token: str, details: Details = NO_DETAILS) -> Outcome:
        """Give up the clip."""
        token = self._token(player, round_token)
        return Outcome(player, self._game.skip(token, player, details))

    def broken(self, player: str, round_token: str, details: Details = NO_DETAILS) -> Outcome:
        """Report that the clip cannot be heard."""
        token = self._token(player, round_token)
        return Outcome(player, self._game.report_broken(token, player, details))

    def go_on(self, player: str, round_token: str) -> Outcome:
        """From a revealed clip to the next one, or to the summary."""
        token = self._token(player, round_token)
        return Outcome(player, self._game.next_clip(token, player, begin=True))

    def dailies(self, player: str, benchmark: str = "", month: str = "") -> Dailies:
        """The days of the last year or of a month, newest first, and the streak."""
        return self._game.dailies(player, benchmark or self.default, _DAYS_LISTED, month)

    def past(self, player: str) -> PastRounds:
        """The player's rounds: the finished ones, and those that can be taken up again."""
        return self._game.past.rounds(self._game.require_player(player))

    def past_round(self, player: str, code: str) -> Outcome:
        """One of the player's rounds once more."""
        return Outcome(player, self._game.past.view(self._game.require_player(player), code))

    def take_up(self, player: str, code: str) -> Outcome:
        """Go on with a round that was left; the timer of its clip runs from now."""
        return Outcome(player, self._game.past.take_up(self._game.require_player(player), code))

    def others(self, player: str, code: str) -> Others:
        """How others did with the clips of a round that the player has answered."""
        return self._game.past.others(self._game.require_player(player), code)

    def own_data(self, player: str) -> list[dict[str, Any]]:
        """All answers of the player, the oldest first."""
        return self._game.past.answers(self._game.require_player(player))

    def carry_code(self, player: str) -> tuple[str, int]:
        """A code that makes another device the player's, and how many seconds it is valid."""
        return self._game.carrying.offer(self._game.require_player(player))

    def carry(self, code: str) -> str:
        """The token of the player who asked for a code."""
        return self._game.carrying.redeem(code)

    def continents(self, benchmark: str) -> dict[str, int]:
        """The continents that a round on this benchmark can be limited to, and their clips."""
        return self._game.continents(benchmark)

    def opponents(self, benchmark: str = "") -> Sequence[Opponent]:
        """Whom a round on a benchmark can be played against."""
        return self._game.opponents(benchmark or self.default)

    def about(self, benchmark: str = "") -> tuple[str, str]:
        """The name of a benchmark and its notice for players."""
        return self._game.about(benchmark or self.default)

    def n_clips(self, benchmark: str = "") -> int:
        """The number of clips of a benchmark that are played."""
        return self._game.n_clips(benchmark or self.default)

    def playable(self) -> list[Playable]:
        """The benchmarks, the default first."""
        return [self._playable(slug) for slug in self._benchmarks]

    def _playable(self, slug: str) -> Playable:
        continents = self._game.continents(slug)
        return Playable(slug, *self._game.about(slug), self.n_clips(slug), continents)

    def _token(self, player: str, round_token: str) -> str:
        """The step token; a page that has lost it continues the player's open round."""
        if round_token:
            return round_token
        self._game.require_player(player)
        view = self._game.resume(player)
        if view is None:
            raise ConflictError("This page has lost its round. Start a new one.")
        return view.token


def _lines(problems: Iterable[str]) -> str:
    """Each problem once, one a line."""
    return "\n".join(dict.fromkeys(problem for problem in problems if problem))

"""The player's actions: tokens and texts in, a ``Screen`` out. No Gradio."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from agl1k_core.errors import Agl1kError, UnavailableError
from game.picking import CLIPS_PER_ROUND, Filters
from game.reveal import outcome_in_words, share_text
from game.rounds import Game
from game.screens import (
    Screen,
    Sound,
    help_html,
    reveal_html,
    status_html,
    summary_html,
    waiting_html,
)
from game.views import Dailies, Outline, Reveal, RoundView, Summary
from ui import worldmap
from web.addresses import query_of

NO_PIN = (
    "There is no pin yet. Click or tap the map, or press Enter in it to drop the pin "
    "at the crosshair; then submit."
)

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


class Play:
    """The handlers of the play tab over one ``Game``.

    Tokens are kept by the browser. A problem that a player can act on becomes the ``message``
    of a ``Screen`` that leaves the rest of the page unchanged; ``UnavailableError`` is raised.
    ``benchmarks``: slugs, the default first; the others are played if its recordings are not
    available.
    """

    def __init__(self, game: Game, benchmarks: Sequence[str]) -> None:
        self._game = game
        self._default, self._benchmarks = benchmarks[0], [*dict.fromkeys(benchmarks)]

    def open(self, player: object, href: str = "") -> Screen:
        """The page was loaded: the linked round, the one started before, or a new free one."""
        known = self._game.player_id(player) is not None
        token = str(player) if known else self._game.new_player()
        try:
            return _screen(token, self._opened(token, href), href)
        except UnavailableError:
            raise  # another round would not work either, and this one is still there
        except Agl1kError as error:
            return self._fallback(token, str(error), href)

    def _opened(self, player: str, href: str) -> RoundView:
        query = query_of(href)
        if "challenge" in query:
            return self._game.start_challenge(player, query["challenge"][0])
        if "daily" in query:
            day = query["daily"][0]
            return self._game.start_daily(player, self._default, None if day == "today" else day)
        return self._game.resume(player) or self._game.start_free(player, self._default)

    def _fallback(self, player: str, message: str, href: str) -> Screen:
        """Start another round after a bad link, or if a source cannot be reached."""
        messages = [message]
        for benchmark in self._benchmarks:
            try:
                view = self._game.resume(player) or self._game.start_free(player, benchmark)
                screen = _screen(player, view, href)
                return replace(screen, message=_lines([*messages, screen.message]))
            except UnavailableError:
                raise
            except Agl1kError as error:
                messages.append(str(error))
        return Screen(player, stage="none", message=_lines(messages))

    def start(self, player: str, wish: Wish) -> Screen:
        """Begin the round that was chosen; its timer runs from now."""
        return self._guarded(player, lambda: self._started(player, wish))

    def _started(self, player: str, wish: Wish) -> RoundView:
        benchmark = wish.benchmark or self._default
        if wish.mode == "daily":
            return self._game.start_daily(player, benchmark, wish.day or None, begin=True)
        if wish.mode == "challenge":
            return self._game.start_challenge(player, wish.code, begin=True)
        filters = Filters(wish.speech, wish.continent)
        return self._game.start_free(player, benchmark, filters, wish.timer_s, begin=True)

    def play_again(self, player: str, round_token: str) -> Screen:
        """A new free round with the same settings."""
        return self._guarded(player, lambda: self._game.play_again(round_token, player, begin=True))

    def submit(self, player: str, round_token: str, pin: str | None, nickname: str = "") -> Screen:
        """The pin is final: store it, then show the place."""

        def guess() -> RoundView:
            point = worldmap.parse_pin(pin)
            if point is None:
                raise Agl1kError(NO_PIN)
            return self._game.guess(self._token(player, round_token), player, *point, nickname)

        return self._guarded(player, guess)

    def time_up(self, player: str, round_token: str, pin: str | None, nickname: str = "") -> Screen:
        """The countdown ended: the pin counts if there is one."""

        def end() -> RoundView:
            point = worldmap.parse_pin(pin)
            token = self._token(player, round_token)
            if point is None:
                return self._game.time_out(token, player, nickname)
            return self._game.guess(token, player, *point, nickname)

        return self._guarded(player, end)

    def skip(self, player: str, round_token: str, nickname: str = "") -> Screen:
        """Give up the clip."""
        return self._guarded(
            player, lambda: self._game.skip(self._token(player, round_token), player, nickname)
        )

    def broken(self, player: str, round_token: str, nickname: str = "") -> Screen:
        """Report that the clip cannot be heard."""
        return self._guarded(
            player,
            lambda: self._game.report_broken(self._token(player, round_token), player, nickname),
        )

    def go_on(self, player: str, round_token: str, href: str = "") -> Screen:
        """From a revealed clip to the next one, or to the summary, which links to ``href``."""

        def next_clip() -> RoundView:
            return self._game.next_clip(self._token(player, round_token), player, begin=True)

        return self._guarded(player, next_clip, href)

    def continents(self, benchmark: str) -> dict[str, int]:
        """The continents that a round on this benchmark can be limited to, and their clips."""
        return self._game.continents(benchmark)

    def waiting(self) -> tuple[str, str]:
        """Status and result of a page whose round is still loading."""
        name, notice = self._game.about(self._default)
        return waiting_html(name, notice, CLIPS_PER_ROUND), help_html()

    def dailies(self, player: str, benchmark: str) -> Dailies | None:
        """The days to choose from and the streak; None for an unknown player."""
        try:
            return self._game.dailies(player, benchmark, limit=_DAYS_LISTED)
        except UnavailableError:
            raise
        except Agl1kError:
            return None

    def _token(self, player: str, round_token: str) -> str:
        """The step token; a page that has lost it continues the player's open round."""
        if round_token:
            return round_token
        view = self._game.resume(player)
        if view is None:
            raise Agl1kError("This page has lost its round. Start a new one.")
        return view.token

    def _guarded(self, player: str, act: Callable[[], RoundView], href: str = "") -> Screen:
        try:
            return _screen(player, act(), href)
        except UnavailableError:
            raise  # the page stays as it is, with its pin
        except Agl1kError as error:
            # only a valid player token is sent back: anything else may contain anything
            known = self._game.player_id(player) is not None
            return Screen(player if known else "", message=str(error))


def _screen(player: str, view: RoundView, href: str = "") -> Screen:
    """What the tab shows for a view; the text to share names the page at ``href``."""
    screen = Screen(
        player,
        round=view.token,
        stage=view.phase,
        status=status_html(view),
        sound=_sound(view),
        message="\n".join(view.notes),
        mode=view.mode,
        is_last=view.position >= view.n_clips - 1,
        share="",
    )
    if view.summary is not None:
        return _with_summary(screen, view.summary, href)
    if view.reveal is not None:
        return replace(
            screen, result=reveal_html(view.reveal), map_command=reveal_command(view.reveal)
        )
    return replace(
        screen,
        result=help_html(),
        map_command=worldmap.reset_command(pin_of=view.clip_token or ""),
        remaining_s=view.remaining_s,
    )


def _with_summary(screen: Screen, summary: Summary, href: str) -> Screen:
    return replace(
        screen,
        result=summary_html(summary),
        map_command=summary_command(summary.reveals),
        share=share_text(summary, href),
        history_entry=summary.history_entry(),
    )


def _sound(view: RoundView) -> Sound | None:
    """The clip's address and outline; without an outline, the player offers to try again."""
    if view.clip_token is None:
        return None
    outline = view.outline or Outline((), 0.0)
    label = f"Clip {view.position + 1} of {view.n_clips}"
    next_url = _address(view.next_clip_token) if view.next_clip_token else ""
    return Sound(_address(view.clip_token), outline.peaks, outline.duration_s, label, next_url)


def _lines(messages: Iterable[str]) -> str:
    """Each message once, one a line."""
    return "\n".join(dict.fromkeys(message for message in messages if message))


def _address(clip_token: str) -> str:
    return f"clip/{clip_token}"


def reveal_command(reveal: Reveal) -> worldmap.Command:
    """The map command that shows one outcome."""
    return worldmap.reveal_command(
        guess=_pin(reveal),
        truth=(reveal.lat, reveal.lon),
        label=reveal.label,
        line=reveal.line,
        models=reveal.models,
        text=outcome_in_words(reveal),
    )


def summary_command(reveals: Sequence[Reveal]) -> worldmap.Command:
    """The map command that shows a whole round."""
    rounds = [
        worldmap.RoundShown(
            number, _pin(reveal), (reveal.lat, reveal.lon), reveal.label, reveal.line
        )
        for number, reveal in enumerate(reveals, 1)
    ]
    return worldmap.summary_command(rounds, text="All clips of the round are on the map.")


def _pin(reveal: Reveal) -> worldmap.Point | None:
    if reveal.pin_lat is None or reveal.pin_lon is None:
        return None
    return reveal.pin_lat, reveal.pin_lon

"""What happens when a player does something: tokens and texts in, a ``Screen`` out. No Gradio."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from agl1k_core.errors import Agl1kError
from game.clips import PreparedClip
from game.picking import CLIPS_PER_ROUND, Filters
from game.reveal import share_text, tell
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
from game.views import DailyEntry, Reveal, RoundView, Streak, Summary
from ui import worldmap
from web.addresses import query_of

NO_PIN = (
    "There is no pin yet. Click or tap the map, or press Enter in it to drop the pin "
    "at the crosshair; then submit."
)

_DAYS_LISTED = 366

#: The prepared sound behind a clip's token; raises ``Agl1kError`` when it can't be had.
SoundOf = Callable[[str], PreparedClip]


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

    Tokens are what the browser holds. A problem that a player can act on becomes the ``message``
    of a ``Screen`` that leaves the rest of the page as it was. ``benchmarks``: slugs, the default
    first; the others are played when its recordings cannot be had.
    """

    def __init__(self, game: Game, sound_of: SoundOf, benchmarks: Sequence[str]) -> None:
        self._game = game
        self._sound_of = sound_of
        self._default, self._benchmarks = benchmarks[0], [*dict.fromkeys(benchmarks)]

    def open(self, player: object, round_token: object, href: str = "") -> Screen:
        """The page was loaded: the linked round, the one begun before, or a new free one."""
        known = self._game.player_id(player) is not None
        token = str(player) if known else self._game.new_player()
        try:
            return self._linked(self._screen(token, self._opened(token, round_token, href)), href)
        except Agl1kError as error:
            return self._fallback(token, str(error))

    def _opened(self, player: str, round_token: object, href: str) -> RoundView:
        query = query_of(href)
        if "challenge" in query:
            return self._game.start_challenge(player, query["challenge"][0])
        if "daily" in query:
            day = query["daily"][0]
            return self._game.start_daily(player, self._default, None if day == "today" else day)
        return self._game.resume(player) or self._game.start_free(player, self._default)

    def _fallback(self, player: str, message: str) -> Screen:
        """A link that leads nowhere, or a source out of reach, still leaves something to play."""
        messages = [message]
        for benchmark in self._benchmarks:
            try:
                view = self._game.resume(player) or self._game.start_free(player, benchmark)
                screen = self._screen(player, view)
                return replace(screen, message=_lines([*messages, screen.message]))
            except Agl1kError as error:
                messages.append(str(error))
        return Screen(player, stage="none", message=_lines(messages))

    def start(self, player: str, wish: Wish) -> Screen:
        """Begin the round that was wished for; its timer runs from now."""
        return self._guarded(player, lambda: self._begun(player, self._started(player, wish)))

    def _started(self, player: str, wish: Wish) -> RoundView:
        benchmark = wish.benchmark or self._default
        if wish.mode == "daily":
            return self._game.start_daily(player, benchmark, wish.day or None)
        if wish.mode == "challenge":
            return self._game.start_challenge(player, wish.code)
        filters = Filters(wish.speech, wish.continent)
        return self._game.start_free(player, benchmark, filters, wish.timer_s)

    def play_again(self, player: str, round_token: str) -> Screen:
        """A new free round with the same settings."""
        return self._guarded(
            player, lambda: self._begun(player, self._game.play_again(round_token, player))
        )

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
        """Give the clip up."""
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
            token = self._token(player, round_token)
            return self._begun(player, self._game.next_clip(token, player))

        return self._linked(self._guarded(player, next_clip), href)

    def _linked(self, screen: Screen, href: str) -> Screen:
        """The text to share names the page at ``href``."""
        if not (href and screen.share and screen.round):
            return screen
        summary = self._game.summary(screen.round, screen.player)
        return replace(screen, share=share_text(summary, href))

    def continents(self, benchmark: str) -> dict[str, int]:
        """The continents that a round on this benchmark can be limited to, and their clips."""
        return self._game.continents(benchmark)

    def waiting(self) -> tuple[str, str]:
        """Status and result of a page whose round is still to come."""
        name, notice = self._game.about(self._default)
        return waiting_html(name, notice, CLIPS_PER_ROUND), help_html()

    def dailies(self, player: str, benchmark: str) -> tuple[Sequence[DailyEntry], Streak | None]:
        """The days to choose from, newest first, and the streak; nothing for an unknown player."""
        try:
            entries = self._game.dailies(player, benchmark, limit=_DAYS_LISTED)
            return entries, self._game.streak(player, benchmark)
        except Agl1kError:
            return (), None

    def _begun(self, player: str, view: RoundView) -> RoundView:
        """The player asked for this clip by a click, so that its time runs from now."""
        return self._game.start_clip(view.token, player) if view.phase == "playing" else view

    def _token(self, player: str, round_token: str) -> str:
        """The step token; a page that has lost it goes on with the player's open round."""
        if round_token:
            return round_token
        view = self._game.resume(player)
        if view is None:
            raise Agl1kError("This page has lost its round. Start a new one.")
        return view.token

    def _guarded(self, player: str, act: Callable[[], RoundView]) -> Screen:
        try:
            return self._screen(player, act())
        except Agl1kError as error:
            # what is no player's token is not sent back: it may be anything
            known = self._game.player_id(player) is not None
            return Screen(player if known else "", message=str(error))

    # --- a view -> a screen -------------------------------------------------------------------

    def _screen(self, player: str, view: RoundView) -> Screen:
        screen = Screen(
            player,
            round=view.token,
            stage=view.phase,
            status=status_html(view),
            message="\n".join(view.notes),
            mode=view.mode,
            is_last=view.position >= view.n_clips - 1,
            share="",
        )
        if view.phase == "finished":
            return self._finished(screen, self._game.summary(view.token, player))
        screen = self._with_sound(screen, view)
        if view.reveal is not None:
            return replace(
                screen,
                result=reveal_html(view.reveal),
                map_command=reveal_command(view.reveal),
            )
        return replace(
            screen,
            result=help_html(),
            map_command=worldmap.reset_command(pin_of=view.clip_token or ""),
            remaining_s=view.remaining_s,
        )

    def _with_sound(self, screen: Screen, view: RoundView) -> Screen:
        if view.clip_token is None:
            return screen
        label = f"Clip {view.position + 1} of {view.n_clips}"
        next_url = _address(view.next_clip_token) if view.next_clip_token else ""
        try:
            prepared = self._sound_of(view.clip_token)
            outline = prepared.peaks, prepared.duration_s
        except Agl1kError:
            # the player component tells of it, with a button to try again
            outline = (), 0.0
        return replace(screen, sound=Sound(_address(view.clip_token), *outline, label, next_url))

    def _finished(self, screen: Screen, summary: Summary) -> Screen:
        return replace(
            screen,
            result=summary_html(summary),
            map_command=summary_command(summary.reveals),
            share=share_text(summary),
            history_entry=summary.history_entry(),
        )


def _lines(messages: Iterable[str]) -> str:
    """Each message once, one a line."""
    return "\n".join(dict.fromkeys(message for message in messages if message))


def _address(clip_token: str) -> str:
    return f"clip/{clip_token}"


def reveal_command(reveal: Reveal) -> worldmap.Command:
    """The map command that shows one outcome."""
    models = [
        worldmap.ModelGuess(model.name, model.lat, model.lon, model.distance_km)
        for model in reveal.models
        if model.lat is not None and model.lon is not None and model.distance_km is not None
    ]
    return worldmap.reveal_command(
        guess=_pin(reveal),
        truth=(reveal.lat, reveal.lon),
        label=reveal.label,
        line=reveal.line,
        models=models,
        text=tell(reveal),
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

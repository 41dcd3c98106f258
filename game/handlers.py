"""The play tab's handlers: tokens and texts in, a ``Screen`` out. No Gradio."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from agl1k_core.errors import Agl1kError, UnavailableError
from game.moves import Moves, Outcome, Wish
from game.picking import CLIPS_PER_ROUND
from game.refusals import NothingToPlayError
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
from game.views import Dailies, Outline, Reveal, RoundView, Summary, clip_address
from ui import worldmap


class Play:
    """The handlers of the play tab: the moves in one ``Game``, as screens.

    A problem that a player can act on becomes the ``message`` of a ``Screen`` that leaves the rest
    of the page unchanged; ``UnavailableError`` is raised. ``benchmarks`` as for ``Moves``.
    """

    def __init__(self, game: Game, benchmarks: Sequence[str]) -> None:
        self.moves = Moves(game, benchmarks)

    def open(self, player: object, href: str = "") -> Screen:
        """The page was loaded: the linked round, the one started before, or a new free one."""
        try:
            return screen_of(self.moves.open(player, href), href)
        except NothingToPlayError as error:
            return Screen(self._known(player), stage="none", message=str(error))

    def start(self, player: str, wish: Wish) -> Screen:
        """Begin the round that was chosen; its timer runs from now."""
        return self._guarded(player, lambda: self.moves.start(player, wish))

    def play_again(self, player: str, round_token: str) -> Screen:
        """A new free round with the same settings."""
        return self._guarded(player, lambda: self.moves.again(player, round_token))

    def submit(self, player: str, round_token: str, pin: str | None, nickname: str = "") -> Screen:
        """The pin is final: store it, then show the place."""

        def guess() -> Outcome:
            return self.moves.guess(player, round_token, worldmap.parse_pin(pin), nickname)

        return self._guarded(player, guess)

    def time_up(self, player: str, round_token: str, pin: str | None, nickname: str = "") -> Screen:
        """The countdown ended: the pin counts if there is one."""

        def end() -> Outcome:
            return self.moves.time_up(player, round_token, worldmap.parse_pin(pin), nickname)

        return self._guarded(player, end)

    def skip(self, player: str, round_token: str, nickname: str = "") -> Screen:
        """Give up the clip."""
        return self._guarded(player, lambda: self.moves.skip(player, round_token, nickname))

    def broken(self, player: str, round_token: str, nickname: str = "") -> Screen:
        """Report that the clip cannot be heard."""
        return self._guarded(player, lambda: self.moves.broken(player, round_token, nickname))

    def go_on(self, player: str, round_token: str, href: str = "") -> Screen:
        """From a revealed clip to the next one, or to the summary, which links to ``href``."""
        return self._guarded(player, lambda: self.moves.go_on(player, round_token), href)

    def continents(self, benchmark: str) -> dict[str, int]:
        """The continents that a round on this benchmark can be limited to, and their clips."""
        return self.moves.continents(benchmark)

    def waiting(self) -> tuple[str, str]:
        """Status and result of a page whose round is still loading."""
        name, notice = self.moves.about()
        return waiting_html(name, notice, CLIPS_PER_ROUND), help_html()

    def dailies(self, player: str, benchmark: str) -> Dailies | None:
        """The days to choose from and the streak; None for an unknown player."""
        try:
            return self.moves.dailies(player, benchmark)
        except UnavailableError:
            raise
        except Agl1kError:
            return None

    def _known(self, player: object) -> str:
        """A player's token if it is valid: anything else may contain anything."""
        return str(player) if self.moves.knows(player) else ""

    def _guarded(self, player: str, act: Callable[[], Outcome], href: str = "") -> Screen:
        try:
            return screen_of(act(), href)
        except UnavailableError:
            raise  # the page stays as it is, with its pin
        except Agl1kError as error:
            return Screen(self._known(player), message=str(error))


def screen_of(outcome: Outcome, href: str = "") -> Screen:
    """What the tab shows after a move; the text to share names the page at ``href``."""
    screen = _screen(outcome.player, outcome.view, href)
    lines = [line for line in (outcome.problems, screen.message) if line]
    return replace(screen, message="\n".join(lines))


def _screen(player: str, view: RoundView, href: str = "") -> Screen:
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
    next_url = clip_address(view.next_clip_token) if view.next_clip_token else ""
    return Sound(
        clip_address(view.clip_token), outline.peaks, outline.duration_s, view.clip_label, next_url
    )


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

"""What the map shows for a view of a round: nothing, one outcome, or the whole round."""

from __future__ import annotations

from collections.abc import Sequence

from agl1k_core import places
from game.reveal import outcome_in_words
from game.views import Reveal, RoundView
from ui import worldmap


def command_of(view: RoundView) -> worldmap.Command:
    """The map's command for a view."""
    if view.summary is not None:
        return _summary(view.summary.reveals)
    if view.reveal is not None:
        return _reveal(view.reveal)
    return worldmap.reset_command(pin_of=view.clip_token or "")


def _reveal(reveal: Reveal) -> worldmap.Command:
    truth = _truth(reveal)
    if truth is None:
        return worldmap.lock_command(text=outcome_in_words(reveal))
    return worldmap.reveal_command(
        guess=_pin(reveal),
        truth=truth,
        label=reveal.label,
        line=reveal.line,
        models=reveal.models,
        text=outcome_in_words(reveal),
        around=places.surroundings(*truth),
    )


def _summary(reveals: Sequence[Reveal]) -> worldmap.Command:
    rounds = [
        worldmap.RoundShown(number, _pin(reveal), truth, reveal.label, reveal.line)
        for number, reveal in enumerate(reveals, 1)
        if (truth := _truth(reveal)) is not None
    ]
    all_shown = len(rounds) == len(reveals)
    which = "All clips" if all_shown else "All clips that were not reported as broken"
    return worldmap.summary_command(rounds, text=f"{which} of the round are on the map.")


def _truth(reveal: Reveal) -> worldmap.Point | None:
    """The true place; None for a clip that was reported as broken."""
    return None if reveal.lat is None or reveal.lon is None else (reveal.lat, reveal.lon)


def _pin(reveal: Reveal) -> worldmap.Point | None:
    if reveal.pin_lat is None or reveal.pin_lon is None:
        return None
    return reveal.pin_lat, reveal.pin_lon

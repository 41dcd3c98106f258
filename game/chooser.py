"""The panel in which a player chooses the next round."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import gradio as gr

from game.handlers import Play
from game.moves import Wish
from game.picking import CLIPS_PER_ROUND
from game.screens import day_choices, streak_html
from game.starting import TIMERS_S
from web.page import QUIET
from web.threads import reading

MODES = [("Free play", "free"), ("Daily five", "daily"), ("Challenge", "challenge")]
SPEECH = [("Any sound", "any"), ("With speech", "speech"), ("Without speech", "non_speech")]
TIMERS = [("No timer", 0), *((f"{seconds} s a clip", seconds) for seconds in TIMERS_S)]


@dataclass(frozen=True)
class Chooser:
    """The panel's components."""

    frame: gr.Accordion
    mode: gr.Radio
    benchmark: gr.Dropdown
    free_options: gr.Row
    speech: gr.Dropdown
    continent: gr.Dropdown
    timer: gr.Dropdown
    daily_options: gr.Column
    day: gr.Dropdown
    streak: gr.HTML
    code: gr.Textbox
    nickname: gr.Textbox
    message: gr.HTML
    start: gr.Button

    @property
    def wish(self) -> list[Any]:
        """The inputs of ``wish_of``, in its order."""
        return [
            self.benchmark, self.mode, self.speech, self.continent, self.timer, self.day, self.code
        ]  # fmt: skip


def wish_of(
    slug: str, mode: str, speech: str, continent: str, timer: int, day: object, code: str
) -> Wish:
    """The choice that the panel's values express."""
    chosen_day = day.strip() if isinstance(day, str) else ""
    return Wish(mode, slug, speech, continent, timer or None, chosen_day, code or "")


def build_chooser(play: Play, benchmarks: Mapping[str, str], default: str) -> Chooser:
    """Lay the panel out inside the current Blocks. ``benchmarks``: names by slug."""
    title = "New round: daily five, challenge, filters, timer"
    with gr.Accordion(title, open=False, elem_id="agl-new-round") as frame:
        with gr.Row():
            mode = gr.Radio(MODES, value="free", label="Mode", elem_id="agl-mode")
            benchmark = gr.Dropdown(
                [(name, slug) for slug, name in benchmarks.items()],
                value=default,
                label="Clips from",
                visible=len(benchmarks) > 1,
                elem_id="agl-benchmark",
            )
        options = _free_options(play.continents(default))
        daily = _daily_options()
        with gr.Row():
            code = gr.Textbox(
                label="Challenge code or link",
                info="Play the clips that somebody else has played.",
                max_length=300,
                visible=False,
                elem_id="agl-code",
            )
            nickname = gr.Textbox(
                label="Nickname",
                info="Optional. Shown to those who accept your challenge.",
                max_length=24,
                elem_id="agl-nickname",
            )
        message = gr.HTML(padding=False, elem_id="agl-chooser-message")
        start = gr.Button("Start round", variant="primary", elem_id="agl-start")
    return Chooser(frame, mode, benchmark, *options, *daily, code, nickname, message, start)


def _free_options(continents: Mapping[str, int]) -> tuple[Any, Any, Any, Any]:
    with gr.Row(elem_id="agl-free-options") as row:
        speech = gr.Dropdown(SPEECH, value="any", label="Sound", elem_id="agl-speech")
        continent = gr.Dropdown(
            continent_choices(continents), value="", label="Continent", elem_id="agl-continent"
        )
        timer = gr.Dropdown(TIMERS, value=0, label="Timer", elem_id="agl-timer")
    return row, speech, continent, timer


def _daily_options() -> tuple[Any, Any, Any]:
    with gr.Column(visible=False, elem_id="agl-daily-options") as column:
        day = gr.Dropdown(
            [],
            label="Day (UTC)",
            info="Five clips a day, the same for everybody, new at 00:00 UTC. "
            "Past days can be played too.",
            elem_id="agl-day",
        )
        streak = gr.HTML(padding=False, elem_id="agl-streak")
    return column, day, streak


def wire_chooser(play: Play, chooser: Chooser, player: gr.BrowserState) -> None:
    """Show the options of the chosen mode, and the days and continents of the benchmark."""
    by_mode: dict[str, Any] = {
        "free": chooser.free_options,
        "daily": chooser.daily_options,
        "challenge": chooser.code,
    }

    def chosen(mode: str) -> dict[Any, Any]:
        return {part: gr.update(visible=mode == name) for name, part in by_mode.items()}

    def other_benchmark(slug: str) -> Any:
        return gr.update(choices=continent_choices(play.continents(slug)), value="")

    @reading
    def days(token: str, slug: str) -> dict[Any, Any]:
        dailies = play.dailies(token, slug)
        choices = day_choices(dailies.entries if dailies else ())
        today = choices[0][1] if choices else None
        return {
            chooser.day: gr.update(choices=choices, value=today),
            chooser.streak: streak_html(dailies.streak) if dailies else "",
        }

    chooser.mode.change(chosen, chooser.mode, [*by_mode.values()], **QUIET)
    chooser.benchmark.change(other_benchmark, chooser.benchmark, chooser.continent, **QUIET)
    for event in (chooser.mode.change, chooser.benchmark.change, chooser.frame.expand):
        event(days, [player, chooser.benchmark], [chooser.day, chooser.streak], **QUIET)


def continent_choices(continents: Mapping[str, int]) -> list[tuple[str, str]]:
    """(label, value) of each continent; one with too few clips for a full round shows how many."""
    choices = [("Anywhere", "")]
    for continent, n_clips in continents.items():
        count = f" ({n_clips} clip{'' if n_clips == 1 else 's'})"
        choices.append((continent + (count if n_clips < CLIPS_PER_ROUND else ""), continent))
    return choices

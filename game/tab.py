"""The play tab: components and their wiring to ``handlers``; nothing is decided here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr

from game.countdown import Countdown, running
from game.handlers import Play, Wish
from game.screens import Screen, Sound, history_html, message_html
from game.starting import TIMERS_S
from ui.player import ClipPlayer, clip_value
from ui.worldmap import WorldMap

#: Not a secret: a browser can read it anyway, and what must not be forged is signed.
_BROWSER_KEY = "agl1k"
_MAX_HISTORY = 200

QUIET: Mapping[str, Any] = {
    "queue": False,
    "show_progress": "hidden",
    "api_visibility": "private",
}

#: The page's own address goes in place of the last input.
_WITH_ADDRESS = "(...inputs) => [...inputs.slice(0, -1), location.href]"

#: The button that was pressed may be gone: the focus goes to the next one, and on a small screen
#: the result comes into view.
_FOLLOW = """() => setTimeout(() => {
  const shown = (css) => [...document.querySelectorAll(css)].find((found) => found.offsetParent);
  const lost = !document.activeElement || document.activeElement === document.body;
  const target = shown('#agl-next, #agl-again') || shown('#agl-sound .agl-play');
  if (lost && target) target.focus({ preventScroll: true });
  const result = shown('.agl-reveal, .agl-summary') || shown('#agl-sound');
  if (matchMedia('(max-width: 860px)').matches) result.scrollIntoView({ block: 'center' });
}, 50)"""

MODES = [("Free play", "free"), ("Daily five", "daily"), ("Challenge", "challenge")]
SPEECH = [("Any sound", "any"), ("With speech", "speech"), ("Without speech", "non_speech")]
TIMERS = [("No timer", 0), *((f"{seconds} s a clip", seconds) for seconds in TIMERS_S)]


@dataclass(frozen=True)
class PlayTab:
    """What the page needs to know of the tab: its load event's function, inputs and outputs."""

    open: Callable[..., list[Any]]
    inputs: list[Any]
    outputs: list[Any]


@dataclass(frozen=True)
class _Parts:
    """The components that handlers change, in the order of ``_updates``."""

    player: gr.BrowserState
    round: gr.BrowserState
    status: gr.HTML
    sound: ClipPlayer
    world: WorldMap
    result: gr.HTML
    message: gr.HTML
    clock: Countdown
    submit: gr.Button
    skip: gr.Button
    broken: gr.Button
    go_on: gr.Button
    again: gr.Button
    share: gr.Textbox
    history: gr.BrowserState
    history_list: gr.HTML

    def all(self) -> list[Any]:
        return [*vars(self).values()]


def build_play(
    play: Play, benchmarks: Mapping[str, str], default: str, *, tiles: str = ""
) -> PlayTab:
    """Lay the tab out inside the current Blocks. ``benchmarks``: slug -> name."""
    nickname = gr.BrowserState("", storage_key="agl1k-nickname", secret=_BROWSER_KEY)
    chooser = _new_round(play, benchmarks, default)
    with gr.Column(elem_classes="agl-stage", elem_id="agl-play"):
        parts = _lay_out(tiles)
    with gr.Accordion("Your rounds", open=False, elem_id="agl-history"):
        parts.history_list.render()  # type: ignore[no-untyped-call]
    _wire(play, parts, nickname)
    _wire_chooser(play, chooser, parts, nickname)
    state = [parts.player, parts.round, parts.history]

    def opened(player: object, token: object, history: object, href: object) -> list[Any]:
        return _updates(play.open(player, token, str(href or "")), history)

    return PlayTab(opened, state, parts.all())


def _lay_out(tiles: str) -> _Parts:
    state = {
        name: gr.BrowserState(default, storage_key=f"agl1k-{name}", secret=_BROWSER_KEY)
        for name, default in (("player", ""), ("round", ""))
    }
    history = gr.BrowserState([], storage_key="agl1k-history", secret=_BROWSER_KEY)
    status = gr.HTML(padding=False, elem_classes="agl-area-status", elem_id="agl-status")
    sound = ClipPlayer(padding=False, elem_classes="agl-area-sound", elem_id="agl-sound")
    world = WorldMap(padding=False, elem_classes="agl-area-map", elem_id="agl-map", tiles=tiles)
    message = gr.HTML(padding=False, elem_classes="agl-area-message", elem_id="agl-message")
    result = gr.HTML(padding=False, elem_classes="agl-area-result", elem_id="agl-result")
    with gr.Row(elem_classes="agl-area-actions", elem_id="agl-actions"):
        clock = Countdown(padding=False, elem_id="agl-clock")
        submit = gr.Button("Submit guess", variant="primary", elem_id="agl-submit")
        go_on = gr.Button("Next clip", variant="primary", visible=False, elem_id="agl-next")
        again = gr.Button("Play again", variant="primary", visible=False, elem_id="agl-again")
        skip = gr.Button("Skip", elem_id="agl-skip", min_width=80)
        broken = gr.Button("Clip is broken", elem_id="agl-broken", min_width=80)
    share = gr.Textbox(
        label="Share your result",
        info="No place is told. Friends who open the link hear the same clips.",
        lines=8,
        interactive=False,
        visible=False,
        buttons=["copy"],
        elem_id="agl-share",
        elem_classes="agl-area-share",
    )
    history_list = gr.HTML(render=False, padding=False, elem_id="agl-history-list")
    return _Parts(
        state["player"], state["round"], status, sound, world, result, message, clock,
        submit, skip, broken, go_on, again, share, history, history_list,
    )  # fmt: skip


def _wire(play: Play, parts: _Parts, nickname: gr.BrowserState) -> None:
    tokens = [parts.player, parts.round]
    answer = [*tokens, parts.world, nickname, parts.history]

    def with_pin(act: Callable[..., Screen]) -> Callable[..., list[Any]]:
        def handler(
            player: str, token: str, pin: str | None, name: str, history: object
        ) -> list[Any]:
            return _updates(act(player, token, pin, name), history)

        return handler

    def without_pin(act: Callable[..., Screen]) -> Callable[..., list[Any]]:
        def handler(player: str, token: str, _: object, name: str, history: object) -> list[Any]:
            return _updates(act(player, token, name), history)

        return handler

    def next_clip(player: str, token: str, history: object, href: object) -> list[Any]:
        return _updates(play.go_on(player, token, str(href or "")), history)

    def play_again(player: str, token: str, history: object) -> list[Any]:
        return _updates(play.play_again(player, token), history)

    everything = parts.all()
    href = gr.Textbox(visible=False)
    going_on = [*tokens, parts.history]
    events = [
        parts.submit.click(with_pin(play.submit), answer, everything, **QUIET),
        parts.clock.submit(with_pin(play.time_up), answer, everything, **QUIET),
        parts.skip.click(without_pin(play.skip), answer, everything, **QUIET),
        parts.broken.click(without_pin(play.broken), answer, everything, **QUIET),
        parts.go_on.click(next_clip, [*going_on, href], everything, js=_WITH_ADDRESS, **QUIET),
        parts.again.click(play_again, going_on, everything, **QUIET),
    ]
    for event in events:
        event.then(None, js=_FOLLOW)


@dataclass(frozen=True)
class _Chooser:
    """The components that say what the next round is to be."""

    mode: gr.Radio
    benchmark: gr.Dropdown
    free_options: gr.Row
    speech: gr.Dropdown
    continent: gr.Dropdown
    timer: gr.Dropdown
    day: gr.Textbox
    code: gr.Textbox
    nickname: gr.Textbox
    start: gr.Button


def _new_round(play: Play, benchmarks: Mapping[str, str], default: str) -> _Chooser:
    title = "New round: daily five, challenge, filters, timer"
    with gr.Accordion(title, open=False, elem_id="agl-new-round"):
        with gr.Row():
            mode = gr.Radio(MODES, value="free", label="Mode", elem_id="agl-mode")
            benchmark = gr.Dropdown(
                [(name, slug) for slug, name in benchmarks.items()],
                value=default,
                label="Clips from",
                visible=len(benchmarks) > 1,
                elem_id="agl-benchmark",
            )
        with gr.Row(elem_id="agl-free-options") as free_options:
            speech = gr.Dropdown(SPEECH, value="any", label="Sound", elem_id="agl-speech")
            continents = _continent_choices(play.continents(default))
            continent = gr.Dropdown(
                continents, value="", label="Continent", elem_id="agl-continent"
            )
            timer = gr.Dropdown(TIMERS, value=0, label="Timer", elem_id="agl-timer")
        with gr.Row():
            day = gr.Textbox(
                label="Day",
                info="Five clips a day, the same for everybody, new at 00:00 UTC. "
                "Leave it empty for today, or give a past day.",
                placeholder="YYYY-MM-DD",
                max_length=10,
                visible=False,
                elem_id="agl-day",
            )
            code = gr.Textbox(
                label="Challenge code or link",
                info="Play the clips that somebody else has played.",
                max_length=300,
                visible=False,
                elem_id="agl-code",
            )
            nickname = gr.Textbox(
                label="Nickname",
                info="Optional. Shown to those who take up your challenge.",
                max_length=24,
                elem_id="agl-nickname",
            )
        start = gr.Button("Start round", variant="primary", elem_id="agl-start")
    return _Chooser(
        mode, benchmark, free_options, speech, continent, timer, day, code, nickname, start
    )


def _wire_chooser(play: Play, chooser: _Chooser, parts: _Parts, nickname: gr.BrowserState) -> None:
    def chosen(mode: str) -> list[Any]:
        return [gr.update(visible=mode == shown) for shown in ("free", "daily", "challenge")]

    def other_benchmark(slug: str) -> Any:
        return gr.update(choices=_continent_choices(play.continents(slug)), value="")

    def begun(
        player: str, slug: str, mode: str, speech: str, continent: str, timer: int, day: str,
        code: str, history: object,
    ) -> list[Any]:  # fmt: skip
        wish = Wish(mode, slug, speech, continent, timer or None, (day or "").strip(), code or "")
        return _updates(play.start(player, wish), history)

    by_mode = [chooser.free_options, chooser.day, chooser.code]
    chooser.mode.change(chosen, chooser.mode, by_mode, **QUIET)
    chooser.benchmark.change(other_benchmark, chooser.benchmark, chooser.continent, **QUIET)
    chooser.nickname.blur(lambda text: text, chooser.nickname, nickname, **QUIET)
    wish = [
        parts.player, chooser.benchmark, chooser.mode, chooser.speech, chooser.continent,
        chooser.timer, chooser.day, chooser.code, parts.history,
    ]  # fmt: skip
    chooser.start.click(begun, wish, parts.all(), **QUIET)


def _continent_choices(continents: Sequence[str]) -> list[tuple[str, str]]:
    return [("Anywhere", ""), *((continent, continent) for continent in continents)]


def _updates(screen: Screen, history: object) -> list[Any]:
    """The screen as updates, in the order of ``_Parts``."""
    entries = _remembered(history, screen.history_entry)
    return [
        screen.player,
        gr.skip() if screen.round is None else screen.round,
        gr.skip() if screen.status is None else screen.status,
        gr.skip() if screen.sound is None else _play(screen.sound),
        gr.skip() if screen.map_command is None else gr.update(cmd=screen.map_command),
        gr.skip() if screen.result is None else screen.result,
        message_html(screen.message, is_error=screen.stage in (None, "none")),
        gr.skip() if screen.stage is None else running(screen.remaining_s),
        *_buttons(screen),
        gr.skip() if screen.share is None else _share(screen.share),
        entries,
        history_html(entries),
    ]


def _play(sound: Sound) -> Any:
    value = clip_value(sound.url, sound.peaks, sound.duration_s, sound.label)
    return gr.update(value=value, next_url=sound.next_url)


def _buttons(screen: Screen) -> list[Any]:
    """Submit, skip, broken, next, again."""
    if screen.stage is None:
        return [gr.skip()] * 5
    playing, revealed = screen.stage == "playing", screen.stage == "revealed"
    next_name = "See the result" if screen.is_last else "Next clip"
    return [
        *(gr.update(visible=playing) for _ in range(3)),
        gr.update(visible=revealed, value=next_name),
        gr.update(visible=screen.stage == "finished"),
    ]


def _share(text: str) -> Any:
    return gr.update(value=text, visible=bool(text))


def _remembered(history: object, entry: Mapping[str, object] | None) -> list[Any]:
    """The browser's history with a finished round, once; whatever else is in there is kept out."""
    kept = [item for item in history if isinstance(item, dict)] if isinstance(history, list) else []
    if entry is not None and all(item.get("code") != entry["code"] for item in kept):
        kept.append(dict(entry))
    return kept[-_MAX_HISTORY:]

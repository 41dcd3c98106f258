"""The play tab: components and their wiring to ``handlers``; nothing is decided here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import gradio as gr

from game.chooser import Chooser, build_chooser, wire_chooser, wish_of
from game.countdown import Countdown, running
from game.handlers import Play
from game.screens import Screen, Sound, history_html, message_html
from ui.player import ClipPlayer, clip_value
from ui.worldmap import WorldMap
from web.page import QUIET

#: Not a secret: a browser can read it anyway, and what must not be forged is signed.
_BROWSER_KEY = "agl1k"
_MAX_HISTORY = 200
#: What stands above the map leaves this much of the window to it.
_MAP_HEIGHT = "clamp(300px, 100vh - 400px, 900px)"

_MARK_BUSY = "document.querySelector('#agl-play').setAttribute('aria-busy', 'true')"
#: Until the answer is there, the buttons show that it is under way; ``_FOLLOW`` ends it.
_BUSY = f"(...inputs) => {{ {_MARK_BUSY}; return inputs; }}"
#: The same, and the page's own address goes in place of the last input.
_BUSY_WITH_ADDRESS = (
    f"(...inputs) => {{ {_MARK_BUSY}; return [...inputs.slice(0, -1), location.href]; }}"
)

#: The button that was pressed may be gone: the focus goes to the next one, and on a small screen
#: what came of it moves into view.
_FOLLOW = """() => setTimeout(() => {
  const shown = (css) => [...document.querySelectorAll(css)].find((found) => found.offsetParent);
  document.querySelector('#agl-play').removeAttribute('aria-busy');
  if (shown('#agl-again')) document.querySelector('#agl-sound audio')?.pause();
  const alarm = shown('#agl-message [role=alert], #agl-chooser-message [role=alert]');
  if (alarm) return alarm.scrollIntoView({ block: 'nearest' });
  const lost = !document.activeElement || document.activeElement === document.body;
  const target = shown('#agl-next, #agl-again') || shown('#agl-sound .agl-play');
  if (lost && target) target.focus({ preventScroll: true });
  const result = shown('.agl-reveal, .agl-summary') || shown('#agl-sound');
  if (matchMedia('(max-width: 860px)').matches) result?.scrollIntoView({ block: 'center' });
}, 50)"""

#: A link has done its work once its round is open: a reload then goes on with the latest round.
FORGET_LINK = """() => {
  const address = new URL(location.href);
  for (const name of ['challenge', 'daily']) address.searchParams.delete(name);
  if (address.href !== location.href) history.replaceState(history.state, '', address);
}"""


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
    chooser = build_chooser(play, benchmarks, default)
    with gr.Column(elem_classes="agl-stage", elem_id="agl-play"):
        parts = _lay_out(tiles, *play.waiting())
    with gr.Accordion("Your rounds", open=False, elem_id="agl-history"):
        parts.history_list.render()  # type: ignore[no-untyped-call]
    _wire(play, parts, nickname)
    _wire_chooser(play, chooser, parts, nickname)
    state = [parts.player, parts.round, parts.history]

    def opened(player: object, token: object, history: object, href: object) -> list[Any]:
        return _updates(play.open(player, token, str(href or "")), history)

    return PlayTab(opened, state, parts.all())


def _lay_out(tiles: str, waiting_status: str, waiting_result: str) -> _Parts:
    state = {
        name: gr.BrowserState(default, storage_key=f"agl1k-{name}", secret=_BROWSER_KEY)
        for name, default in (("player", ""), ("round", ""))
    }
    history = gr.BrowserState([], storage_key="agl1k-history", secret=_BROWSER_KEY)
    status = gr.HTML(
        waiting_status, padding=False, elem_classes="agl-area-status", elem_id="agl-status"
    )
    sound = ClipPlayer(padding=False, elem_classes="agl-area-sound", elem_id="agl-sound")
    world = WorldMap(
        padding=False,
        elem_classes="agl-area-map",
        elem_id="agl-map",
        tiles=tiles,
        height=_MAP_HEIGHT,
    )
    message = gr.HTML(padding=False, elem_classes="agl-area-message", elem_id="agl-message")
    result = gr.HTML(
        waiting_result, padding=False, elem_classes="agl-area-result", elem_id="agl-result"
    )
    with gr.Row(elem_classes="agl-area-actions", elem_id="agl-actions"):
        clock = Countdown(padding=False, elem_id="agl-clock")
        submit = gr.Button("Submit guess", variant="primary", elem_id="agl-submit")
        go_on = gr.Button("Next clip", variant="primary", visible=False, elem_id="agl-next")
        again = gr.Button("Play again", variant="primary", visible=False, elem_id="agl-again")
        # until the first clip is there, there is nothing to skip
        waiting: dict[str, Any] = {"min_width": 80, "interactive": False}
        skip = gr.Button("Skip", elem_id="agl-skip", **waiting)
        broken = gr.Button("Clip is broken", elem_id="agl-broken", **waiting)
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
        parts.submit.click(with_pin(play.submit), answer, everything, js=_BUSY, **QUIET),
        parts.clock.submit(with_pin(play.time_up), answer, everything, js=_BUSY, **QUIET),
        parts.skip.click(without_pin(play.skip), answer, everything, js=_BUSY, **QUIET),
        parts.broken.click(without_pin(play.broken), answer, everything, js=_BUSY, **QUIET),
        parts.go_on.click(next_clip, [*going_on, href], everything, js=_BUSY_WITH_ADDRESS, **QUIET),
        parts.again.click(play_again, going_on, everything, js=_BUSY, **QUIET),
    ]
    for event in events:
        event.then(None, js=_FOLLOW)


def _wire_chooser(play: Play, chooser: Chooser, parts: _Parts, nickname: gr.BrowserState) -> None:
    def begun(player: str, history: object, *wished: Any) -> list[Any]:
        screen = play.start(player, wish_of(*wished))
        refused = screen.stage is None
        told = message_html(screen.message) if refused else ""
        shown = replace(screen, message="") if refused else screen
        closed = gr.skip() if refused else gr.update(open=False)
        return [*_updates(shown, history), told, closed]

    wire_chooser(play, chooser, parts.player)
    chooser.nickname.blur(lambda text: text, chooser.nickname, nickname, **QUIET)
    started = chooser.start.click(
        begun,
        [parts.player, parts.history, *chooser.wish],
        [*parts.all(), chooser.message, chooser.frame],
        **QUIET,
    )
    started.then(None, js=_FOLLOW)


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
    again_name = "Play again" if screen.mode == "free" else "Play a free round"
    return [
        *(gr.update(visible=playing, interactive=True) for _ in range(3)),
        gr.update(visible=revealed, value=next_name),
        gr.update(visible=screen.stage == "finished", value=again_name),
    ]


def _share(text: str) -> Any:
    return gr.update(value=text, visible=bool(text))


def _remembered(history: object, entry: Mapping[str, object] | None) -> list[Any]:
    """The browser's history with a finished round, once; whatever else is in there is kept out."""
    kept = [item for item in history if isinstance(item, dict)] if isinstance(history, list) else []
    if entry is not None and all(item.get("code") != entry["code"] for item in kept):
        kept.append(dict(entry))
    return kept[-_MAX_HISTORY:]

"""The play tab: components and their wiring to ``handlers``; nothing is decided here."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
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
from web.threads import writing

#: Not a secret: a browser can read it anyway, and everything that must not be forged is signed.
_BROWSER_KEY = "agl1k"
_MAX_HISTORY = 200
#: Leaves room in the window for what is above the map.
_MAP_HEIGHT = "clamp(300px, 100vh - 400px, 900px)"

_MARK_BUSY = "document.querySelector('#agl-play').setAttribute('aria-busy', 'true')"
#: The buttons look busy until the answer arrives; ``_FOLLOW`` ends that.
_BUSY = f"(...inputs) => {{ {_MARK_BUSY}; return inputs; }}"
#: The same, with the page's own address as the last input.
_BUSY_WITH_ADDRESS = (
    f"(...inputs) => {{ {_MARK_BUSY}; return [...inputs.slice(0, -1), location.href]; }}"
)

#: The button that was pressed may be hidden now: the focus moves to the next one, and on a small
#: screen the result scrolls into view.
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

#: A link is used once; a reload then continues the latest round.
FORGET_LINK = """() => {
  const address = new URL(location.href);
  for (const name of ['challenge', 'daily']) address.searchParams.delete(name);
  if (address.href !== location.href) history.replaceState(history.state, '', address);
}"""


#: New values by component; a component that does not change is left out.
Updates = dict[Any, Any]


@dataclass(frozen=True)
class PlayTab:
    """What the page needs from the tab: the function, inputs and outputs of its load event."""

    open: Callable[..., Awaitable[Updates]]
    inputs: list[Any]
    outputs: list[Any]


@dataclass(frozen=True)
class Parts:
    """The components that handlers change."""

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
    """Lay the tab out inside the current Blocks. ``benchmarks``: names by slug."""
    nickname = gr.BrowserState("", storage_key="agl1k-nickname", secret=_BROWSER_KEY)
    chooser = build_chooser(play, benchmarks, default)
    with gr.Column(elem_classes="agl-stage", elem_id="agl-play"):
        parts = lay_out(tiles, *play.waiting())
    with gr.Accordion("Your rounds", open=False, elem_id="agl-history"):
        parts.history_list.render()  # type: ignore[no-untyped-call]
    _wire(play, parts, nickname)
    _wire_chooser(play, chooser, parts, nickname)

    @writing
    def opened(player: object, _: object, history: object, href: object) -> Updates:
        screen = play.open(player, str(href or ""))
        kept = remembered(history, screen.history_entry)
        return {**updates(parts, screen, history), **_history(parts, kept)}

    return PlayTab(opened, [parts.player, parts.round, parts.history], parts.all())


def lay_out(tiles: str, waiting_status: str, waiting_result: str) -> Parts:
    """The tab's components in the current Blocks, in their state before the first clip."""
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
        info="It does not reveal any place. Friends who open the link hear the same clips.",
        lines=8,
        interactive=False,
        visible=False,
        buttons=["copy"],
        elem_id="agl-share",
        elem_classes="agl-area-share",
    )
    history_list = gr.HTML(render=False, padding=False, elem_id="agl-history-list")
    return Parts(
        state["player"], state["round"], status, sound, world, result, message, clock,
        submit, skip, broken, go_on, again, share, history, history_list,
    )  # fmt: skip


def _wire(play: Play, parts: Parts, nickname: gr.BrowserState) -> None:
    def answered(act: Callable[..., Screen]) -> Callable[..., Awaitable[Updates]]:
        return writing(lambda *inputs: updates(parts, act(*inputs)))

    @writing
    def next_clip(player: str, token: str, history: object, href: object) -> Updates:
        return updates(parts, play.go_on(player, token, str(href or "")), history)

    tokens, everything = [parts.player, parts.round], parts.all()
    pinned, unpinned = [*tokens, parts.world, nickname], [*tokens, nickname]
    going_on = [*tokens, parts.history, gr.Textbox(visible=False)]
    events = [
        parts.submit.click(answered(play.submit), pinned, everything, js=_BUSY, **QUIET),
        parts.clock.submit(answered(play.time_up), pinned, everything, js=_BUSY, **QUIET),
        parts.skip.click(answered(play.skip), unpinned, everything, js=_BUSY, **QUIET),
        parts.broken.click(answered(play.broken), unpinned, everything, js=_BUSY, **QUIET),
        parts.go_on.click(next_clip, going_on, everything, js=_BUSY_WITH_ADDRESS, **QUIET),
        parts.again.click(answered(play.play_again), tokens, everything, js=_BUSY, **QUIET),
    ]
    for event in events:
        event.then(None, js=_FOLLOW)


def _wire_chooser(play: Play, chooser: Chooser, parts: Parts, nickname: gr.BrowserState) -> None:
    @writing
    def begun(player: str, history: object, *wished: Any) -> Updates:
        screen = play.start(player, wish_of(*wished))
        if screen.stage is None:
            shown = updates(parts, replace(screen, message=""))
            return {**shown, chooser.message: message_html(screen.message)}
        shown = updates(parts, screen, history)
        return {**shown, chooser.message: "", chooser.frame: gr.update(open=False)}

    wire_chooser(play, chooser, parts.player)
    chooser.nickname.blur(lambda text: text, chooser.nickname, nickname, **QUIET)
    started = chooser.start.click(
        begun,
        [parts.player, parts.history, *chooser.wish],
        [*parts.all(), chooser.message, chooser.frame],
        **QUIET,
    )
    started.then(None, js=_FOLLOW)


def updates(parts: Parts, screen: Screen, history: object = None) -> Updates:
    """What a screen changes; ``history`` is what the browser remembers so far."""
    found: Updates = {
        parts.player: screen.player,
        parts.message: message_html(screen.message, is_error=screen.stage in (None, "none")),
    }
    for part, text in (
        (parts.round, screen.round), (parts.status, screen.status), (parts.result, screen.result)
    ):  # fmt: skip
        if text is not None:
            found[part] = text
    if screen.sound is not None:
        found[parts.sound] = _play(screen.sound)
    if screen.map_command is not None:
        found[parts.world] = gr.update(cmd=screen.map_command)
    if screen.stage is not None:
        found |= {parts.clock: running(screen.remaining_s), **_buttons(parts, screen)}
    if screen.share is not None:
        found[parts.share] = gr.update(value=screen.share, visible=bool(screen.share))
    if screen.history_entry is not None:
        found |= _history(parts, remembered(history, screen.history_entry))
    return found


def _play(sound: Sound) -> Any:
    value = clip_value(sound.url, sound.peaks, sound.duration_s, sound.label)
    return gr.update(value=value, next_url=sound.next_url)


def _buttons(parts: Parts, screen: Screen) -> Updates:
    next_name = "See the result" if screen.is_last else "Next clip"
    again_name = "Play again" if screen.mode == "free" else "Play a free round"
    answers = gr.update(visible=screen.stage == "playing", interactive=True)
    return {
        **dict.fromkeys((parts.submit, parts.skip, parts.broken), answers),
        parts.go_on: gr.update(visible=screen.stage == "revealed", value=next_name),
        parts.again: gr.update(visible=screen.stage == "finished", value=again_name),
    }


def _history(parts: Parts, entries: Sequence[object]) -> Updates:
    return {parts.history: [*entries], parts.history_list: history_html(entries)}


def remembered(history: object, entry: Mapping[str, object] | None) -> list[Any]:
    """The browser's history with a finished round, once; anything else is dropped."""
    kept = [item for item in history if isinstance(item, dict)] if isinstance(history, list) else []
    if entry is not None and all(item.get("code") != entry["code"] for item in kept):
        kept.append(dict(entry))
    return kept[-_MAX_HISTORY:]

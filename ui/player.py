"""The player, which lets people hear a clip without revealing where it comes from.

    player = ClipPlayer()
    gr.update(value=clip_value("clip/tHn3…", peaks, 31.2, "Clip 2 of 5"), next_url="clip/Xk0…")

A new value loads the clip and plays it, or asks for a click if the browser forbids that. The clip
at ``next_url`` is fetched as soon as the current one is loaded: its response must allow caching.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import gradio as gr

from web.static import static_url


def _icon(name: str, paths: str) -> str:
    names = f"agl-icon agl-icon-{name}"
    return f'<svg class="{names}" viewBox="0 0 24 24" aria-hidden="true">{paths}</svg>'


_PLAY = _icon("play", '<path d="M8 5.2v13.6L19 12z"/>')
_PAUSE = _icon("pause", '<path d="M7 5h3.6v14H7zM13.4 5H17v14h-3.6z"/>')
_REPLAY = _icon("replay", '<path class="agl-stroke" d="M5 5v5h5M5.6 10a7.5 7.5 0 1 1-1 4"/>')
_SPEAKER = '<path d="M4 9.5h3.5L12 5.5v13l-4.5-4H4z"/>'
_LOUD = _icon(
    "loud",
    f'{_SPEAKER}<path class="agl-stroke" d="M15 9a4.2 4.2 0 0 1 0 6M17.5 6.5a7.8 7.8 0 0 1 0 11"/>',
)
_MUTED = _icon("muted", f'{_SPEAKER}<path class="agl-stroke" d="M15.5 9.5l5 5M20.5 9.5l-5 5"/>')

#: The elements of a player without a clip.
PLAYER_HTML = f"""\
<div class="agl-player" role="group" data-state="empty">
  <audio preload="auto"></audio>
  <button type="button" class="agl-play" aria-label="Play">
    {_PLAY}{_PAUSE}<span class="agl-spinner"></span>
  </button>
  <div class="agl-wave" role="slider" tabindex="0" aria-label="Position in the clip"
       aria-valuemin="0" aria-valuemax="0" aria-valuenow="0" aria-valuetext="0 of 0 seconds">
    <svg aria-hidden="true"><path class="agl-wave-rest"/><path class="agl-wave-done"/></svg>
  </div>
  <span class="agl-time"></span>
  <button type="button" class="agl-replay" aria-label="Back to the start">{_REPLAY}</button>
  <button type="button" class="agl-mute" aria-label="Mute" aria-pressed="false">
    {_LOUD}{_MUTED}
  </button>
  <input type="range" class="agl-volume" aria-label="Volume" min="0" max="1" step="0.05" value="1">
  <p class="agl-note" role="status"></p>
  <button type="button" class="agl-retry" hidden>Try again</button>
</div>"""


def _script() -> str:
    return (
        f"import(new URL('{static_url('player.js')}', document.baseURI))"
        ".then(({ attach }) => attach({ element, props, watch }))"
        ".catch((error) => { console.error(error); element.querySelector('.agl-note').textContent ="
        " 'The player could not be loaded. Reload the page to try again.'; });"
    )


class ClipPlayer(gr.HTML):
    """Plays the clip in its value, a string from `clip_value`, or nothing if it is None.

    In the page, the events ``agl-clip-playing`` and ``agl-clip-failed`` bubble from it.
    """

    def __init__(
        self,
        value: str | None = None,
        *,
        next_url: str = "",
        label: str = "Clip",
        **kwargs: Any,
    ) -> None:
        super().__init__(
            value=value,
            label=label,
            html_template=PLAYER_HTML,
            js_on_load=_script(),
            head=page_head(),
            apply_default_css=False,
            next_url=next_url,
            **kwargs,
        )

    def get_block_name(self) -> str:
        return "html"


def page_head() -> str:
    """Tags that load the player's files; in the head of the page they are loaded earlier."""
    return f'<link rel="stylesheet" href="{static_url("player.css")}">'


def clip_value(url: str, peaks: Sequence[float], duration_s: float, label: str) -> str:
    """The value with which a `ClipPlayer` plays the clip at ``url``, relative to the page.

    ``peaks`` draw the waveform: about 200 of them, from 0 (silence) to 1. ``label`` names the clip
    to screen readers and must not reveal its place.
    """
    heights = [round(min(1.0, max(0.0, float(peak))), 3) for peak in peaks]
    content = {"url": url, "peaks": heights, "duration_s": duration_s, "label": label}
    return json.dumps(content)

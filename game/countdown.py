"""The clock of a round with a timer. The server measures the time; this only shows it."""

from __future__ import annotations

import secrets
from typing import Any

import gradio as gr

_TEMPLATE = (
    '<div class="agl-countdown" hidden><span></span><p class="agl-sr-only" role="timer"></p></div>'
)

_SCRIPT = """
const box = element.querySelector('.agl-countdown');
const digits = box.querySelector('span');
const spoken = box.querySelector('[role=timer]');
let ticking = null;

function stop() {
  clearInterval(ticking);
  ticking = null;
}

function run(seconds) {
  stop();
  box.hidden = seconds === null;
  if (seconds === null) return;
  const end = performance.now() + 1000 * seconds;
  const warnings = [30, 10, 5].filter((mark) => mark < seconds);
  const tick = () => {
    const left = Math.max(0, (end - performance.now()) / 1000);
    digits.textContent = `${Math.ceil(left)} s`;
    box.classList.toggle('is-short', left <= 10);
    if (left <= warnings[0]) spoken.textContent = `${warnings.shift()} seconds left`;
    if (left > 0) return;
    stop();
    spoken.textContent = 'The time is up';
    trigger('submit');
  };
  tick();
  ticking = setInterval(tick, 200);
}

watch('value', () => run(props.value ? props.value.seconds : null));
"""


class Countdown(gr.HTML):
    """Counts down to 0 and then fires ``submit``. ``running`` makes its value."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(
            html_template=_TEMPLATE, js_on_load=_SCRIPT, apply_default_css=False, **kwargs
        )

    def get_block_name(self) -> str:
        """The component of Gradio's frontend that displays it."""
        return "html"


def running(remaining_s: float | None) -> dict[str, object]:
    """The value that starts a countdown, or hides it for None."""
    return {"seconds": remaining_s, "nonce": secrets.token_hex(4)}

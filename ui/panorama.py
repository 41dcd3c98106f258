"""A panorama that one can look around in, with arrows where one can go.

    panorama = Panorama()
    panorama.click(on_way, [state], [panorama])      # a handler gets the way as event.way
    gr.update(value=panorama_value("panorama/tHn3…", 123.0, [ShownWay("red", "#e5252a", 40.0)]))

The picture is drawn by Pannellum, which is in ``assets/``. The browser learns nothing but the
picture's address, bearings, and the names of the ways.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr

from web.static import static_url

_TEMPLATE = """\
<div class="agl-pano" role="group" aria-label="Panorama">
  <div class="agl-pano-frame"><div class="agl-pano-picture"></div>
    <div class="agl-pano-turn">
      <button type="button" class="agl-pano-left" aria-label="Turn left by 45 degrees">↺</button>
      <button type="button" class="agl-pano-right" aria-label="Turn right by 45 degrees">↻</button>
      <button type="button" class="agl-pano-in" aria-label="Zoom in">+</button>
      <button type="button" class="agl-pano-out" aria-label="Zoom out">−</button>
    </div>
    <p class="agl-pano-note" role="status">The panorama is being fetched…</p>
  </div>
  <ul class="agl-pano-ways" aria-label="Ways"></ul>
</div>"""


@dataclass(frozen=True, slots=True)
class ShownWay:
    """A way: its name, the colour of its arrow in CSS, and its bearing."""

    name: str
    colour: str
    direction_deg: float


def _script() -> str:
    return (
        f"import(new URL('{static_url('panorama.js')}', document.baseURI))"
        ".then(({ attach }) => attach({ element, props, trigger, watch }))"
        ".catch((error) => { console.error(error);"
        " element.querySelector('.agl-pano-note').textContent ="
        " 'The panorama could not be shown. Reload the page to try again.'; });"
    )


class Panorama(gr.HTML):
    """Shows the panorama in its value, a string from `panorama_value`, or nothing if it is None.

    ``click`` is triggered when a way is taken; its event has the attribute ``way``, a name.
    """

    def __init__(self, value: str | None = None, **kwargs: Any) -> None:
        super().__init__(
            value=value,
            label="Panorama",
            html_template=_TEMPLATE,
            js_on_load=_script(),
            apply_default_css=False,
            viewer=static_url("pannellum.js"),
            **kwargs,
        )

    def get_block_name(self) -> str:
        return "html"


def page_head() -> str:
    """Tags for the head of a page with panoramas."""
    names = ("pannellum.css", "panorama.css")
    return "".join(f'<link rel="stylesheet" href="{static_url(name)}">' for name in names)


def panorama_value(
    url: str, middle_deg: float, ways: Sequence[ShownWay] = (), *, keeps_looking: bool = True
) -> str:
    """The value with which a `Panorama` shows the picture at ``url``, relative to the page.

    ``middle_deg`` is the bearing of the picture's middle. With ``keeps_looking``, the view goes on
    to look in the direction in which it looks now, otherwise it looks at the middle.
    """
    content = {
        "url": url,
        "middle_deg": middle_deg,
        "ways": [[way.name, way.colour, way.direction_deg] for way in ways],
        "keeps_looking": keeps_looking,
        "nonce": secrets.token_hex(8),  # Gradio only passes on what has changed
    }
    return json.dumps(content)

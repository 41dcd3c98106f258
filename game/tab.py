"""The play tab: one component, whose elements are drawn here and whose scripts ask the play API.

Its elements begin in the first view, `ui.early`. Gradio only shows them later: what happens in a
round does not pass through Gradio's events.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gradio as gr
from markupsafe import Markup

from game.moves import Moves
from game.picking import CLIPS_PER_ROUND
from game.screens import help_html, stage_html, waiting_html
from game.starting import TIMERS_S
from ui.player import PLAYER_HTML
from ui.worldmap import map_html, map_options
from web.static import static_url

Choices = list[tuple[str, str]]  # label, value

SPEECH: Choices = [
    ("Any sound", "any"), ("With speech", "speech"), ("Without speech", "non_speech")
]  # fmt: skip
TIMERS: Choices = [("No timer", ""), *((f"{s} s a clip", str(s)) for s in TIMERS_S)]

#: For an event of the page whose input is the token of the browser's player, "" if it has none.
PLAYER_OF_BROWSER = (
    f"async () => (await import(new URL('{static_url('play/stage.js')}', document.baseURI)))"
    ".playerOfBrowser()"
)


def build_play() -> gr.HTML:
    """The tab's component, in the current Blocks; its elements come from the first view."""
    return gr.HTML("<div></div>", js_on_load=_script(), apply_default_css=False, padding=False)


def stage_options(tiles: str = "") -> dict[str, Any]:
    """What the tab's scripts need to know; ``tiles`` as in `ui.worldmap.map_options`."""
    return {"map": map_options("World map", tiles)}


def tab_html(moves: Moves, benchmarks: Mapping[str, str], default: str) -> str:
    """The elements of the tab while its first round is loading."""
    status = waiting_html(*moves.about(), moves.n_clips(), CLIPS_PER_ROUND)
    slugs = [default, *(slug for slug in benchmarks if slug != default)]
    return stage_html(
        status=Markup(status),
        result=Markup(help_html()),
        player=Markup(PLAYER_HTML),
        map=Markup(map_html()),
        benchmarks=[
            (f"{benchmarks[slug]} ({moves.n_clips(slug):,} clips)", slug) for slug in slugs
        ],
        continents=[(slug, continent_choices(moves.continents(slug))) for slug in slugs],
        speech=SPEECH,
        timers=TIMERS,
    )


def _script() -> str:
    return (
        f"import(new URL('{static_url('play/stage.js')}', document.baseURI))"
        ".then(({ attach }) => attach(element))"
        ".catch((error) => { console.error(error);"
        " element.textContent = 'The game could not be loaded. Reload the page to try again.'; });"
    )


def continent_choices(continents: Mapping[str, int]) -> Choices:
    """(label, value) of each continent; one with too few clips for a full round shows how many."""
    choices = [("Anywhere", "")]
    for continent, n_clips in continents.items():
        count = f" ({n_clips} clip{'' if n_clips == 1 else 's'})"
        choices.append((continent + (count if n_clips < CLIPS_PER_ROUND else ""), continent))
    return choices

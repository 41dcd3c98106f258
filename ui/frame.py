"""What surrounds every tab: the head of the page, its header, and the text about AGL1K."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from markupsafe import Markup

from ui import early, player, worldmap
from ui.card import Card
from ui.theme import theme
from web.static import asset, modules, static_url

#: Linked from the head of the page, in the order in which they build on each other.
STYLE_SHEETS = ("style.css", "controls.css", "game.css")
#: The same for tabs that are not seen first.
LATER_SHEETS = (
    "leaderboard.css",
    "leaderboard-controls.css",
    "leaderboard-detail.css",
    "forced-colours.css",
)
LATER_SCRIPTS = ("tabs.js", "unavailable.js")
#: Asks for the round while the page is built.
OPENING = "play/opening.js"

_DESCRIPTION = (
    "Hear a place, find it on the map: the open arena for audio geo-localization, "
    "for people and for models."
)

#: How a link to the site is shown elsewhere.
HOME_CARD = Card(
    title="AGL1K: hear a place, find it on the map",
    text=_DESCRIPTION,
    kind="Audio geo-localization",
    headline="Hear a place, find it on the map",
    line="The open arena, for people and for models.",
    n_pins=5,
)

_LOGO = Markup(
    '<svg viewBox="0 0 36 36" aria-hidden="true" fill="none" stroke="currentColor" '
    'stroke-width="2.5" stroke-linecap="round">'
    '<path d="M18 33s10-9.6 10-18A10 10 0 0 0 8 15c0 8.4 10 18 10 18Z"/>'
    '<path d="M13.5 13.5v3M18 10.5v9M22.5 13.5v3"/></svg>'
)


def header_html(tagline: str = "Given only a sound: where on Earth was it made?") -> str:
    """The name of the site, and what it is."""
    return Markup(
        '<header class="agl-header"><h1 class="agl-brand">{} <span>AGL1K</span></h1>'
        '<p class="agl-tagline">{}</p></header>'
    ).format(_LOGO, tagline)


def notice_html(sentence: str) -> str:
    """A notice to everybody; "" if there is none."""
    if not sentence:
        return ""
    return Markup('<p class="agl-notice" role="status">{}</p>').format(sentence)


def look(head: str) -> dict[str, Any]:
    """How a page looks, as options of `web.page.mount`; ``head`` contains `page_head`."""
    return {"theme": theme(), "head": head, "favicon_path": str(asset("favicon.svg"))}


def whole_head() -> str:
    """Tags for the head of a page without a first view."""
    return page_head() + later_head()


def page_head() -> str:
    """Tags for the head of every page: a description, the map's files, and the style sheets."""
    tags = [f'<meta name="description" content="{_DESCRIPTION}">']
    tags.append(f"<script>{asset('loading.js').read_text('utf-8')}</script>")
    sheets = [f'<link rel="stylesheet" href="{static_url(name)}">' for name in STYLE_SHEETS]
    return "".join([*tags, worldmap.page_head(), *sheets, player.page_head()])


def first_head() -> str:
    """Tags for the head of the page with the first view: the round is asked for before all else."""
    of_round, of_map = modules(OPENING), modules("worldmap.js")
    rest = [name for name in modules(early.SCRIPT) if name not in (*of_round, *of_map)]
    return "".join(
        [_run(OPENING, at_once=True), *map(_preload, of_round), page_head(), *map(_preload, rest),
         _run(early.SCRIPT, at_once=False)]
    )  # fmt: skip


def _run(name: str, *, at_once: bool) -> str:
    """A module that runs as soon as it is here, or else once the page's HTML is here, too."""
    when = " async" if at_once else ""
    return f'<script type="module"{when} src="{static_url(name)}"></script>'


def _preload(name: str) -> str:
    return f'<link rel="modulepreload" href="{static_url(name)}">'


def later_head() -> str:
    """Tags for what only Gradio's components need; beside a first view, they come with Gradio."""
    tags = [f'<link rel="stylesheet" href="{static_url(name)}">' for name in LATER_SHEETS]
    tags += [f'<script type="module" src="{static_url(name)}"></script>' for name in LATER_SCRIPTS]
    return "".join(tags)


def own_id_markdown(player_id: str | None) -> str:
    """A player's id in the published data, needed to have the rows deleted."""
    return "" if player_id is None else f"Your player id in this browser: `{player_id}`"


def about_markdown() -> str:
    """The text of the About tab."""
    return Path(__file__).with_name("about.md").read_text("utf-8")

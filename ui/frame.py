"""What surrounds every tab: the head of the page, its header, and the text about AGL1K."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from markupsafe import Markup

from ui import player, worldmap
from ui.card import Card
from ui.theme import theme
from web.static import asset, modules, static_url

#: Linked from the head of the page, in the order in which they build on each other.
STYLE_SHEETS = ("style.css", "controls.css", "game.css")
#: The same for tabs that are not seen first: the page is drawn without waiting for them.
LATER_SHEETS = (
    "leaderboard.css",
    "leaderboard-controls.css",
    "leaderboard-detail.css",
    "forced-colours.css",
)
#: The play tab's script, and the one that asks for the round while the page is built.
STAGE, OPENING = "play/stage.js", "play/opening.js"

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


def look() -> dict[str, Any]:
    """How every page looks, as options of `web.page.mount`."""
    return {
        "theme": theme(),
        "head": page_head(),
        "favicon_path": str(asset("favicon.svg")),
    }


def page_head() -> str:
    """Tags for the page's head: a description, the style sheets, and what the first tab needs."""
    tags = [f'<meta name="description" content="{_DESCRIPTION}">']
    tags.append(f"<script>{asset('loading.js').read_text('utf-8')}</script>")
    tags.append(f'<script type="module" async src="{static_url(OPENING)}"></script>')
    tags += [f'<link rel="stylesheet" href="{static_url(name)}">' for name in STYLE_SHEETS]
    later = 'media="print" onload="this.media=\'all\'"'
    tags += [f'<link rel="stylesheet" href="{static_url(name)}" {later}>' for name in LATER_SHEETS]
    for script in ("tabs.js", "unavailable.js"):
        tags.append(f'<script src="{static_url(script)}" defer></script>')
    of_map = modules("worldmap.js")  # in the map's own tags
    scripts = [static_url(name) for name in modules(STAGE) if name not in of_map]
    tags += [f'<link rel="modulepreload" href="{address}">' for address in scripts]
    return "".join([*tags, worldmap.page_head(), player.page_head()])


def own_id_markdown(player_id: str | None) -> str:
    """A player's id in the published data, needed to have the rows deleted."""
    return "" if player_id is None else f"Your player id in this browser: `{player_id}`"


def about_markdown() -> str:
    """The text of the About tab."""
    return Path(__file__).with_name("about.md").read_text("utf-8")

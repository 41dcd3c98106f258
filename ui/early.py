"""The first view: header, tabs and the play tab as plain HTML, before Gradio has built the page.

Over a slow line, Gradio's scripts take longer than all that a first round needs. So the round
begins without them; they are loaded once its map and sound are here, or when another tab is opened.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from web.static import asset

#: The module that begins the round in this view.
SCRIPT = "play/early.js"

_TAB = Markup('<button type="button" role="tab" data-tab-id="{}" aria-selected="{}"{}>{}</button>')
_VIEW = Markup(
    '<div id="agl-early" class="gradio-container" data-options="{options}"><main>{header}'
    '<div class="agl-early-tabs" role="tablist">{tabs}</div>'
    '<div id="agl-early-panel" role="tabpanel" aria-label="{first}">{stage}</div>'
    "</main></div><script>{script}</script>"
)


def early_html(header: str, tabs: Mapping[str, str], stage: str, options: Mapping[str, Any]) -> str:
    """The view, and the script that shows or hides it; ``tabs`` are labels by name.

    ``stage`` is the content of the first tab, ``options`` what its scripts need to know.
    """
    first = next(iter(tabs))
    return _VIEW.format(
        options=json.dumps(options),
        header=Markup(header),
        tabs=Markup().join(_tab(name, label, name == first) for name, label in tabs.items()),
        first=tabs[first],
        stage=Markup(stage),
        script=Markup(asset("early.js").read_text("utf-8")),
    )


def _tab(name: str, label: str, is_first: bool) -> str:
    controls = Markup(' aria-controls="agl-early-panel"') if is_first else ""
    return _TAB.format(name, str(is_first).lower(), controls, label)

"""The HTML of the first view."""

from __future__ import annotations

import html
import json
import re

from markupsafe import Markup

from ui import frame
from ui.early import SCRIPT, early_html
from web.static import modules, static_url

TABS = {"play": "Play", "other": "Other & more"}


def view(**options: object) -> str:
    return early_html(Markup("<h1>Name</h1>"), TABS, Markup("<div id=agl-play></div>"), options)


def test_it_has_the_header_the_tabs_and_the_stage() -> None:
    found = view()
    assert "<h1>Name</h1>" in found
    assert re.search(r'id="agl-early-panel"[^>]*><div id=agl-play></div></div>', found)
    assert re.findall(r'data-tab-id="(\w+)" aria-selected="(\w+)"', found) == [
        ("play", "true"), ("other", "false"),
    ]  # fmt: skip
    assert "Other &amp; more" in found


def test_the_options_can_be_read_whatever_they_hold() -> None:
    options = {"map": {"tiles": "https://a.example/{z}?x=\"'<b>&y"}}
    read = re.search(r'data-options="([^"]*)"', view(**options))
    assert read
    assert json.loads(html.unescape(read[1])) == options


def test_its_script_is_in_the_page() -> None:
    assert re.search(r"<script>// Written into the page.*agl-gradio.*</script>$", view(), re.DOTALL)


def test_the_head_loads_all_that_a_round_needs_and_nothing_twice() -> None:
    head = frame.first_head()
    for name in modules(SCRIPT):
        assert head.count(f'"{static_url(name)}"') == (2 if name in (SCRIPT, frame.OPENING) else 1)
    # an asynchronous script could run before there is a first view
    assert f'<script type="module" src="{static_url(SCRIPT)}"></script>' in head
    named = [name for name in frame.LATER_SHEETS if static_url(name) in head]
    assert named == []
    assert all(static_url(name) in frame.later_head() for name in frame.LATER_SHEETS)

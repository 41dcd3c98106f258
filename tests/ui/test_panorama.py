"""What the panorama component gives to the page."""

from __future__ import annotations

import json

from ui.panorama import Panorama, ShownWay, page_head, panorama_value
from web.static import static_url


def test_a_value_has_the_address_the_bearings_and_a_nonce() -> None:
    first, again = (
        json.loads(panorama_value("panorama/x", 30.0, [ShownWay("red", "#e5252a", 200.0)]))
        for _ in range(2)
    )
    assert first.pop("nonce") != again.pop("nonce"), "Gradio would not pass on the same value"
    assert first == again
    assert first == {
        "url": "panorama/x",
        "middle_deg": 30.0,
        "ways": [["red", "#e5252a", 200.0]],
        "keeps_looking": True,
    }


def test_the_viewer_is_served_by_us() -> None:
    assert Panorama().props["viewer"] == static_url("pannellum.js")
    assert static_url("pannellum.css") in page_head()
    assert "//" not in page_head()

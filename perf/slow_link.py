"""The first load over a slow line, in Chromium with an empty cache.

All connections share 400 kbit/s down; a way there and back takes 400 ms, and so does opening a
connection.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from playwright.sync_api import Browser, Page, sync_playwright

from perf.first_load import FLAGS, GRADIO, PATIENCE_MS
from perf.servers import OUR_APP, serving
from perf.table import Measured
from tests.support.faulty_proxy import Delivered, FaultyProxy, Link, faulty_proxy

_DOWN_BYTES_S = 400_000 / 8
_WAY_S = 0.2
_ROUNDS = 3
_LIMITS_S = {"map": 6, "sound": 8}
_WHAT = {"map": "until the map can be used", "sound": "until the sound can be played"}
#: Notes when the map is drawn, when it takes a pin, and when the sound can be played.
_NOTE_TIMES = """
window.seen = {};
const shows = {
  outline: () => document.querySelector('#agl-map [data-outline]'),
  map: () => document.querySelector('#agl-map .agl-pin-guess'),
  sound: () => document.querySelector('#agl-sound audio')?.readyState >= 3,
};
setInterval(() => {
  for (const [name, isThere] of Object.entries(shows)) {
    if (!window.seen[name] && isThere()) window.seen[name] = performance.now();
  }
}, 20);
"""


@dataclass(frozen=True)
class Visit:
    """A first load: seconds until each thing was there, and what had arrived by then."""

    seconds: dict[str, float]
    began_s: float
    delivered: Sequence[Delivered]

    def kilobytes(self, until: str, parts: Sequence[str] = ("",)) -> float:
        """The bytes of addresses that contain one of ``parts``, headers included."""
        end = self.began_s + self.seconds[until]
        return (
            sum(
                packet.size
                for packet in self.delivered
                if packet.at_s <= end and any(part in packet.path for part in parts)
            )
            / 1000
        )


def run() -> Iterator[Measured]:
    """The median of some visits, after two over a fast line that fill the server's caches."""
    chromium = shutil.which("chromium")
    if chromium is None:
        print("slow_link: skipped, chromium is not installed")
        return
    with serving(OUR_APP, "/healthz") as our_app, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        for _ in range(2):
            visit(browser, our_app.url, Link())
        slow = [visit(browser, our_app.url, Link(_DOWN_BYTES_S, _WAY_S)) for _ in range(_ROUNDS)]
        browser.close()
    for name, limit in _LIMITS_S.items():
        yield from _measured(name, limit, slow)


def _measured(name: str, limit: float, visits: Sequence[Visit]) -> Iterator[Measured]:
    def kilobytes(*parts: str) -> float:
        return median(each.kilobytes(name, parts) for each in visits)

    seconds = median(each.seconds[name] for each in visits)
    yield Measured("slow_link", _WHAT[name], seconds, "s", limit)
    yield Measured("slow_link", "… received by then", kilobytes(""), "kB")
    yield Measured("slow_link", "… of Gradio's scripts and styles", kilobytes(*GRADIO), "kB")
    yield Measured("slow_link", "… of the map's data", kilobytes("/map/"), "kB")
    yield Measured("slow_link", "… of clips", kilobytes("/clip/"), "kB")


def visit(browser: Browser, url: str, link: Link) -> Visit:
    """Open the page at ``url`` over ``link`` with an empty cache, and drop a pin on its map."""
    with faulty_proxy(url, link) as proxy:
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        context.set_default_timeout(PATIENCE_MS)
        try:
            return _seen(context.new_page(), proxy)
        finally:
            context.close()


def _seen(page: Page, proxy: FaultyProxy) -> Visit:
    page.add_init_script(_NOTE_TIMES)
    page.goto(proxy.url, wait_until="commit")
    page.wait_for_function("window.seen.outline")
    while not page.evaluate("window.seen.map"):
        box = page.locator("#agl-map .leaflet-container").bounding_box()
        assert box is not None
        page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.wait_for_timeout(50)
    page.wait_for_function("window.seen.sound")
    times: dict[str, float] = page.evaluate("window.seen")
    began_s: float = page.evaluate("performance.timeOrigin") / 1000
    seconds = {name: milliseconds / 1000 for name, milliseconds in times.items()}
    return Visit(seconds, began_s, [*proxy.delivered])

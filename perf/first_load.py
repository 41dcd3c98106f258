"""First load of the page in Chromium with an empty cache, next to an empty Gradio page.

The page can be used once the map is drawn; "before the map" is what had arrived by then.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Browser, sync_playwright

from perf.servers import EMPTY_GRADIO, OUR_APP, serving
from perf.table import Measured

FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update",
]  # fmt: skip
_ROUNDS = 3
PATIENCE_MS = 120_000
_QUIET_MS = 4000
#: At most so much of ours may be needed before the map can be used.
_MOST_KB = 250
#: Addresses of Gradio's own files.
GRADIO = ("/assets/", "/theme.css", "/static/js/")
#: Notes when what a player waits for is ready. These events do not bubble, but can be captured.
_NOTE_TIMES = """
window.loaded = {};
const note = (name) => () => { window.loaded[name] ??= performance.now(); };
addEventListener('agl-map-ready', note('map'), true);
addEventListener('canplaythrough', note('clip'), true);
const main = () => document.querySelector('gradio-app .gradio-container main');
new MutationObserver(() => main() && note('page')())
  .observe(document, { childList: true, subtree: true });
"""


@dataclass(frozen=True)
class Load:
    """One load: seconds until each thing was there; by address, compressed bytes and seconds."""

    seconds: dict[str, float]
    sizes: dict[str, int]
    arrived: dict[str, float]

    def kilobytes(self, part: str = "", before: str = "") -> float:
        """The bytes from addresses that contain ``part``, if so until a thing was there."""
        until = self.seconds.get(before, math.inf)
        return (
            sum(
                size
                for url, size in self.sizes.items()
                if part in url and self.arrived[url] <= until
            )
            / 1000
        )

    def gradio_kilobytes(self, before: str = "") -> float:
        """The bytes of Gradio's own scripts and styles."""
        return sum(self.kilobytes(part, before) for part in GRADIO)


def run() -> Iterator[Measured]:
    """Both pages in turn; times are the best of some rounds, bytes hardly differ between them."""
    chromium = shutil.which("chromium")
    if chromium is None:
        print("first_load: skipped, chromium is not installed")
        return
    with (
        serving(OUR_APP, "/healthz") as our_app,
        serving(EMPTY_GRADIO) as empty_page,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        ours, empty = [], []
        for _ in range(_ROUNDS):
            ours.append(load(browser, our_app.url, ["page", "map", "clip"]))
            empty.append(load(browser, empty_page.url, ["page"]))
        browser.close()
    yield from _sizes(ours[-1], empty[-1])
    yield from _times(ours, empty)


def _sizes(ours: Load, empty: Load) -> Iterator[Measured]:
    sounds, gradio = ours.kilobytes("/clip/", "map"), ours.gradio_kilobytes("map")
    own = ours.kilobytes(before="map") - sounds - gradio
    yield Measured("first_load", "before the map, ours", own, "kB", _MOST_KB)
    yield Measured("first_load", "before the map, Gradio's scripts and styles", gradio, "kB")
    yield Measured("first_load", "before the map, of clips", sounds, "kB")
    yield Measured("first_load", "an empty Gradio page", empty.kilobytes(), "kB")
    yield Measured("first_load", "in the end, all", ours.kilobytes(), "kB")
    yield Measured("first_load", "… the map's data", ours.kilobytes("/map/"), "kB")
    yield Measured("first_load", "… this clip and the next", ours.kilobytes("/clip/"), "kB")
    yield Measured("first_load", "… Gradio's scripts and styles", ours.gradio_kilobytes(), "kB")


def _times(ours: list[Load], empty: list[Load]) -> Iterator[Measured]:
    best = {name: min(load.seconds[name] for load in ours) for name in ("page", "map", "clip")}
    page = min(load.seconds["page"] for load in empty)
    yield Measured("first_load", "until Gradio has laid out the page", best["page"], "s")
    yield Measured("first_load", "until the map is drawn", best["map"], "s")
    yield Measured("first_load", "until the clip can be heard", best["clip"], "s")
    yield Measured("first_load", "an empty Gradio page laid out", page, "s")
    ratio = max(best["map"], best["clip"]) / page
    yield Measured("first_load", "map and clip / empty", ratio, "×")


def load(browser: Browser, url: str, wanted: list[str]) -> Load:
    """Open ``url`` with an empty cache, wait for what is ``wanted``, then for an idle network."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    urls: dict[str, str] = {}
    clocks: list[float] = []  # of the first request: the time of day less that of the events
    sizes: dict[str, int] = {}
    arrived: dict[str, float] = {}

    def asked(event: dict[str, Any]) -> None:
        urls[event["requestId"]] = event["request"]["url"]
        clocks.append(event["wallTime"] - event["timestamp"])

    def came(event: dict[str, Any]) -> None:
        address = urls.get(event["requestId"], "")
        sizes[address] = sizes.get(address, 0) + int(event["encodedDataLength"])
        arrived[address] = event["timestamp"] + clocks[0]

    session = context.new_cdp_session(page)
    session.on("Network.requestWillBeSent", asked)
    session.on("Network.loadingFinished", came)
    session.send("Network.enable")
    page.add_init_script(_NOTE_TIMES)
    page.goto(url, timeout=PATIENCE_MS)
    condition = f"{wanted!r}.every((name) => window.loaded[name])"
    page.wait_for_function(condition, timeout=PATIENCE_MS)
    page.wait_for_timeout(_QUIET_MS)
    times: dict[str, float] = page.evaluate("window.loaded")
    began: float = page.evaluate("performance.timeOrigin") / 1000
    context.close()
    seconds = {name: times[name] / 1000 for name in wanted}
    return Load(seconds, sizes, {url: at - began for url, at in arrived.items()})

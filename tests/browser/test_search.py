"""Finding a place on the map by its name, with the keyboard and with a finger."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

import app as app_module
from agl1k_core import places
from tests.browser.conftest import NewPage, running, unfaded
from tests.support.waiting import PATIENCE_S
from web.settings import Settings

FIELD, OPTION = "#agl-search input", "#agl-search [role=option]"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder: Path = tmp_path_factory.mktemp("app")
    with running(app_module.create_app(Settings.from_env({"AGL1K_DATA": str(folder)}))) as address:
        # the names are read by the first search, for which the page waits 20 s
        httpx.get(f"{address}api/places?q=a", timeout=PATIENCE_S).raise_for_status()
        yield address


def opened(page: Page, url: str) -> Page:
    page.goto(url)
    expect(page.locator("#agl-map [data-outline]")).to_be_visible()
    expect(page.locator("gradio-app #agl-play")).to_be_visible()  # the page is complete
    return page


def test_by_keyboard_to_a_pin(new_page: NewPage, url: str) -> None:
    page = opened(new_page(reduced_motion="reduce"), url)
    page.focus(FIELD)
    page.keyboard.type("cologne")
    expect(page.locator(OPTION).first).to_contain_text("Köln")
    expect(page.locator(FIELD)).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(page.locator(OPTION).nth(1)).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(page.locator(OPTION).first).to_be_hidden()
    expect(page.locator("#agl-map .agl-world")).to_be_focused()
    expect(page.locator("#agl-map .agl-map-status")).to_contain_text("Press Enter to drop the pin")
    page.keyboard.press("Enter")
    expect(page.locator("#agl-map .agl-map-status")).to_contain_text("Pin at")
    with page.expect_request("**/api/play/guess*") as asked:
        page.click("#agl-submit")
    pin = json.loads(asked.value.post_data or "")
    assert places.pair_km(pin["latitude"], pin["longitude"], 50.9375, 6.9603) < 20


def test_by_touch_and_with_nothing_found(new_page: NewPage, url: str) -> None:
    page = opened(new_page(width=390, height=844, touch=True), url)
    page.tap(FIELD)
    page.keyboard.type("qqqq")
    told = page.locator("#agl-search [role=status]")
    expect(told).to_have_text("No place is called “qqqq”.")
    expect(told).to_be_visible()
    page.fill(FIELD, "lima")
    expect(page.locator(OPTION).first).to_contain_text("Peru")
    box = page.locator("#agl-search ul").bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    page.locator(OPTION).first.tap()
    expect(page.locator(FIELD)).to_have_value("Lima, Peru")
    expect(page.locator("#agl-map .agl-map-pinned, #agl-map.agl-map-pinned")).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_escape_closes_and_then_empties(new_page: NewPage, url: str) -> None:
    page = opened(new_page(), url)
    page.fill(FIELD, "rome")
    expect(page.locator(OPTION).first).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(OPTION).first).to_be_hidden()
    page.keyboard.press("Escape")
    expect(page.locator(FIELD)).to_have_value("")


def test_without_the_server_it_says_so(new_page: NewPage, url: str) -> None:
    page = opened(new_page(), url)
    page.route("**/api/places*", lambda route: route.abort())
    page.fill(FIELD, "rome")
    expect(page.locator("#agl-search [role=status]")).to_contain_text("cannot be reached")


def test_axe_finds_nothing_in_the_open_list(new_page: NewPage, url: str) -> None:
    page = opened(new_page(dark=True), url)
    page.fill(FIELD, "san")
    expect(page.locator(OPTION).first).to_be_visible()
    found = Axe().run(unfaded(page), context="#agl-search")
    assert found.violations_count == 0, found.generate_report()


def test_coasts_become_detailed_where_one_looks(new_page: NewPage, url: str) -> None:
    page = opened(new_page(reduced_motion="reduce"), url)
    with page.expect_response("**/coasts/18-11.json") as fetched:
        page.fill(FIELD, "istanbul")
        expect(page.locator(OPTION).first).to_be_visible()
        page.keyboard.press("Enter")
    assert fetched.value.ok
    assert fetched.value.headers["content-encoding"] == "gzip"

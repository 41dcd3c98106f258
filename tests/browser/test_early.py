"""The first view: a round begins, and goes on, before Gradio has built the page around it."""

from __future__ import annotations

import re

import pytest
from fastapi import FastAPI
from playwright.sync_api import Page, Route, expect

import app as app_module
from tests.browser.conftest import NewPage
from tests.browser.test_play import NEXT, SUBMIT, drop_pin, steps_done
from web.settings import Settings

GRADIO = re.compile(r"/assets/index-")
VIEW = "#agl-early"
IN_GRADIO = "gradio-app #agl-tab-play #agl-play"
#: Begins the sound, and notes whether it stops.
WATCH = """
window.audio = document.querySelector('#agl-sound audio');
Object.assign(audio, { muted: true, currentTime: 0 });
audio.play();
audio.addEventListener('pause', () => { window.hasStopped = true; });
"""
#: Where things are, in whole pixels.
PLACES = """
() => ['.agl-brand', '.agl-brand svg', '[role=tab]', '[role=tab]:last-child', '#agl-map',
  '#agl-modes', '.agl-status-mode', '#agl-sound', '.agl-wave', '#agl-tools', '#agl-result',
  '#agl-submit', '#agl-skip', '#agl-history'].map((css) => {
    const seen = (node) => node.checkVisibility({ visibilityProperty: true });
    const first = [...document.querySelectorAll(css)].find(seen).getBoundingClientRect();
    return [css, ...[first.x, first.y, first.width, first.height].map(Math.round)].join(' ');
  })
"""
#: The colours of what Gradio's own styles could reach: lines of the logo, texts of the bar.
COLOURS = """
() => ['.agl-brand path', '.agl-brand', '.agl-tagline', '[role=tab]', '[role=tab]:last-child',
  '#agl-map input'].map((css) => {
    const seen = (node) => node.checkVisibility({ visibilityProperty: true });
    const first = getComputedStyle([...document.querySelectorAll(css)].find(seen));
    return [css, first.color, first.stroke].join(' ');
  })
"""


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> FastAPI:
    env = {"AGL1K_DATA": str(tmp_path_factory.mktemp("early"))}
    return app_module.create_app(Settings.from_env(env))


class Gate:
    """Holds back Gradio's first files, although they are asked for, until it is opened."""

    def __init__(self, page: Page) -> None:
        self.held: list[Route] = []
        self.is_open = False
        page.route(GRADIO, self._meet)

    def _meet(self, route: Route) -> None:
        if self.is_open:
            route.continue_()
        else:
            self.held.append(route)

    def open(self) -> None:
        self.is_open = True
        for route in self.held:
            route.continue_()


def open_early(page: Page, url: str) -> None:
    page.goto(url, wait_until="commit")
    expect(page.locator(f"{VIEW} #agl-map [data-outline]")).to_be_visible()
    expect(page.locator("#agl-skip:enabled")).to_be_visible()


def test_a_round_begins_before_gradio_and_goes_on_in_its_tab(page: Page, url: str) -> None:
    gate = Gate(page)
    open_early(page, url)
    drop_pin(page)
    page.click(SUBMIT)
    expect(page.locator(f"{VIEW} .agl-reveal h2")).not_to_be_empty()
    expect(page.locator(NEXT)).to_be_focused()
    sound = page.locator("#agl-sound audio").get_attribute("src")
    gate.open()
    expect(page.locator(f"{IN_GRADIO} .agl-reveal h2")).to_be_visible()
    expect(page.locator(VIEW)).to_have_count(0)
    expect(page.locator("#agl-play")).to_have_count(1)
    expect(page.locator(NEXT)).to_be_focused()
    assert page.locator("#agl-sound audio").get_attribute("src") == sound
    page.keyboard.press("Enter")
    expect(page.locator(".agl-help")).to_be_visible()
    assert steps_done(page) == 1
    drop_pin(page, 0.6)
    page.click(SUBMIT)
    expect(page.locator(".agl-reveal h2")).not_to_be_empty()


def test_the_sound_plays_on_while_gradio_takes_over(page: Page, url: str) -> None:
    gate = Gate(page)
    open_early(page, url)
    page.evaluate(f"() => {{ {WATCH} }}")
    page.wait_for_function("window.audio.currentTime > 0")
    before = page.evaluate("window.audio.currentTime")
    gate.open()
    expect(page.locator(IN_GRADIO)).to_be_visible()
    page.wait_for_function(f"window.audio.currentTime > {before} || window.audio.ended")
    assert page.evaluate("window.audio === document.querySelector('#agl-sound audio')")
    assert not page.evaluate("Boolean(window.hasStopped && !window.audio.ended)")


@pytest.mark.parametrize(
    ("width", "height", "touch"),
    [(320, 640, True), (390, 844, True), (844, 390, True), (1280, 900, False), (1920, 1080, False)],
)
def test_nothing_moves_when_gradio_takes_over(
    new_page: NewPage, url: str, width: int, height: int, touch: bool
) -> None:
    page = new_page(width=width, height=height, touch=touch)
    gate = Gate(page)
    open_early(page, url)
    before = page.evaluate(PLACES)
    gate.open()
    expect(page.locator(IN_GRADIO)).to_be_visible()
    expect(page.get_by_role("tab", name="About")).to_be_visible()
    assert page.evaluate(PLACES) == before


@pytest.mark.parametrize("dark", [False, True])
def test_colours_stay_when_gradio_takes_over(new_page: NewPage, url: str, dark: bool) -> None:
    page = new_page(dark=dark, reduced_motion="reduce")
    gate = Gate(page)
    open_early(page, url)
    before = page.evaluate(COLOURS)
    gate.open()
    expect(page.locator(IN_GRADIO)).to_be_visible()
    expect(page.get_by_role("tab", name="About")).to_be_visible()
    assert page.evaluate(COLOURS) == before


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("theme", ["", "light", "dark"])
def test_the_theme_is_that_of_gradio(new_page: NewPage, url: str, dark: bool, theme: str) -> None:
    page = new_page(dark=dark)
    gate = Gate(page)
    open_early(page, f"{url}?__theme={theme}" if theme else url)
    is_dark = "document.body.classList.contains('dark')"
    early = page.evaluate(is_dark)
    assert early is (theme == "dark" if theme else dark)
    gate.open()
    expect(page.locator(IN_GRADIO)).to_be_visible()
    assert page.evaluate(is_dark) is early


def test_another_tab_opens_from_the_first_view(page: Page, url: str) -> None:
    open_early_without_sound(page, url)
    page.get_by_role("tab", name="About").click()
    expect(page.get_by_role("tab", name="About")).to_have_attribute("aria-selected", "true")
    expect(page.locator(".agl-about").first).to_contain_text("AGL1K")
    assert "tab=about" in page.url
    page.go_back()
    expect(page.locator(f"{IN_GRADIO} #agl-map [data-outline]")).to_be_visible()
    drop_pin(page)
    page.click(SUBMIT)
    expect(page.locator(".agl-reveal h2")).not_to_be_empty()


def open_early_without_sound(page: Page, url: str) -> None:
    """So that Gradio is not asked for yet."""
    page.route("**/clip/*", lambda _: None)
    open_early(page, url)
    page.unroute("**/clip/*")


def test_gradio_waits_for_the_sound_but_not_for_ever(page: Page, url: str) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.route("**/clip/*", lambda _: None)
    open_early(page, url)
    expect(page.locator(IN_GRADIO)).to_be_visible()  # after some seconds
    of_gradio = [n for n, address in enumerate(asked) if GRADIO.search(address)]
    clip = next(n for n, address in enumerate(asked) if "/clip/" in address)
    assert clip < min(of_gradio)


def test_names_come_before_gradio_and_fine_outlines_after_it(page: Page, url: str) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    gate = Gate(page)
    with page.expect_response("**/cities-large.json"):
        open_early(page, url)
    assert not any("world-fine" in address for address in asked)
    with page.expect_response("**/world-fine.json"):
        gate.open()
    expect(page.locator('#agl-map [data-outline="world-fine.json"]')).to_be_visible()
    expect(page.locator(VIEW)).to_have_count(0)


def test_a_link_to_another_tab_shows_no_game(page: Page, url: str) -> None:
    page.goto(f"{url}?tab=leaderboard")
    expect(page.locator("#agl-board table").first).to_be_visible()
    expect(page.locator("#agl-play")).to_be_hidden()
    page.get_by_role("tab", name="Play").click()
    expect(page.locator(f"{IN_GRADIO} #agl-map [data-outline]")).to_be_visible()
    expect(page.locator("#agl-skip:enabled")).to_be_visible()
    expect(page.locator(VIEW)).to_have_count(0)


def test_the_first_view_works_with_the_keyboard_and_has_names(page: Page, url: str) -> None:
    gate = Gate(page)
    open_early(page, url)
    expect(page.get_by_role("tab")).to_have_count(4)
    expect(page.get_by_role("tab", name="Play")).to_have_attribute("aria-selected", "true")
    expect(page.get_by_role("tabpanel", name="Play")).to_be_visible()
    page.get_by_role("tab", name="Submit").focus()
    gate.open()
    expect(page.locator(IN_GRADIO)).to_be_visible()
    expect(page.get_by_role("tab", name="Submit")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("tab", name="Submit")).to_have_attribute("aria-selected", "true")
    expect(page.get_by_role("tab")).to_have_count(4)


def test_a_tab_pressed_before_gradio_opens_when_it_is_there(page: Page, url: str) -> None:
    gate = Gate(page)
    open_early(page, url)
    page.get_by_role("tab", name="Submit").focus()
    page.keyboard.press("Enter")
    expect(page.locator(VIEW)).to_be_hidden()
    gate.open()
    expect(page.get_by_role("tab", name="Submit")).to_have_attribute("aria-selected", "true")


def test_a_pin_dropped_before_the_round_is_there_stays(page: Page, url: str) -> None:
    held: list[Route] = []
    page.route("**/api/play/open*", lambda route: held.append(route))
    page.goto(url, wait_until="commit")
    expect(page.locator("#agl-map [data-outline]")).to_be_visible()
    page.locator("#agl-map .leaflet-control-zoom-in").click()
    drop_pin(page, 0.4, 0.4)
    where = page.locator("#agl-map .agl-pin-guess").bounding_box()
    for route in held:
        route.continue_()
    expect(page.locator("#agl-skip:enabled")).to_be_visible()
    expect(page.locator("#agl-map .agl-pin-guess")).to_be_visible()
    assert page.locator("#agl-map .agl-pin-guess").bounding_box() == where
    page.click(SUBMIT)
    expect(page.locator(".agl-reveal h2")).not_to_be_empty()
    page.click(NEXT)
    expect(page.locator(".agl-help")).to_be_visible()
    expect(page.locator("#agl-map .agl-pin-guess")).to_have_count(0)

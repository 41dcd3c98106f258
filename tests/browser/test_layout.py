"""The map as the board: its share of windows, what it shows first, the whole window, and tabs."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from itertools import pairwise

import pytest
from fastapi import FastAPI
from playwright.sync_api import Locator, Page, expect

import app as app_module
from tests.browser.conftest import NewPage, running
from tests.browser.test_play import SUBMIT, drop_pin, open_game, serious
from web.settings import Settings

#: Where people live, to the edges of the first view.
PLACES = {
    "Nome": (64.5, -165.4), "Kamchatka": (53.0, 158.7), "Fiji": (-18.1, 178.4),
    "Invercargill": (-46.4, 168.4), "Punta Arenas": (-53.2, -70.9), "Tromso": (69.6, 19.0),
    "Honolulu": (21.3, -157.9), "Tokyo": (35.7, 139.7), "Sydney": (-33.9, 151.2),
}  # fmt: skip
WINDOWS = [(320, 568), (390, 844), (768, 1024), (844, 390), (1366, 768), (1920, 1080)]
ZOOMED = (683, 384)  # 1366 by 768 at 200 %


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("layout")
    app: FastAPI = app_module.create_app(Settings.from_env({"AGL1K_DATA": str(folder)}))
    with running(app) as address:
        yield address


def open_at(new_page: NewPage, url: str, width: int, height: int) -> Page:
    page = new_page(width=width, height=height, touch=min(width, height) < 400)
    open_game(page, url)
    return page


def mercator(latitude: float) -> float:
    """South of the pole's end of the map, in turns of the world."""
    return 0.5 - math.asinh(math.tan(math.radians(latitude))) / (2 * math.pi)


def world_at(page: Page) -> tuple[float, float, float]:
    """Pixels of a whole world, and where 0° N, 180° W is on the screen: read from the land's tiles,
    the squares of a world that is cut into 2**z of them."""
    tile = page.evaluate(
        """() => {
          const tile = [...document.querySelectorAll('#agl-map canvas.leaflet-tile')]
            .filter(({ coords }) => coords).sort((a, b) => b.coords.z - a.coords.z)[0];
          const { left, top, width } = tile.getBoundingClientRect();
          return [left, top, width, tile.coords.x, tile.coords.y, tile.coords.z];
        }"""
    )
    left, top, width, x, y, z = tile
    world = width * 2**z / 2  # a tile has 512 px where Leaflet counts 256
    return world, left - x * width, top - y * width + world / 2


def on_screen(page: Page, place: tuple[float, float]) -> tuple[float, float]:
    world, left, equator = world_at(page)
    latitude, longitude = place
    from_cut = (longitude + 170) % 360 - 170 + 180  # the view is cut in the Bering Strait
    return left + world * from_cut / 360, equator + world * (mercator(latitude) - 0.5)


@pytest.mark.parametrize(("width", "height"), [*WINDOWS, ZOOMED])
def test_the_first_view_is_the_whole_inhabited_world(
    new_page: NewPage, url: str, width: int, height: int
) -> None:
    page = open_at(new_page, url, width, height)
    frame = page.locator("#agl-map .agl-world").bounding_box()
    assert frame is not None
    bottom = min(frame["y"] + frame["height"], height)
    if width < 700 and height > width:  # the buttons stick to the bottom
        buttons = page.locator("#agl-actions").bounding_box()
        assert buttons is not None
        bottom = min(bottom, buttons["y"])
    for name, place in PLACES.items():
        x, y = on_screen(page, place)
        assert frame["x"] <= x <= frame["x"] + frame["width"], name
        assert frame["y"] <= y <= bottom, name
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize(("width", "height"), [(1366, 768), (1920, 1080)])
def test_the_map_has_most_of_a_desktop(
    new_page: NewPage, url: str, width: int, height: int
) -> None:
    page = open_at(new_page, url, width, height)
    box = page.locator("#agl-map .agl-world").bounding_box()
    sound = page.locator("#agl-sound").bounding_box()
    assert box is not None
    assert sound is not None
    assert box["y"] + box["height"] <= height
    assert box["width"] * box["height"] >= 0.6 * width * height
    assert box["y"] <= 56
    assert sound["x"] >= box["x"] + box["width"]
    expect(page.locator(SUBMIT)).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize(("width", "height"), [(1366, 768), (844, 390)])
def test_the_buttons_stay_in_view_however_long_the_column_is(
    new_page: NewPage, url: str, width: int, height: int
) -> None:
    page = open_at(new_page, url, width, height)
    buttons = [page.locator(css) for css in (SUBMIT, "#agl-skip", "#agl-broken")]
    page.get_by_text("Listen closer").click()
    expect(page.get_by_role("button", name="Everything as recorded")).to_be_visible()
    page.get_by_role("button", name="Free round").click()
    for end in (0, 10_000):
        page.evaluate("y => scrollTo(0, y)", end)
        for button in buttons:
            expect(button).to_be_in_viewport(ratio=1)
        expect(page.locator("#agl-map .agl-world")).to_be_in_viewport(ratio=0.95)
    # a field that is reached with Tab is not behind them
    page.evaluate("scrollTo(0, 0)")
    page.get_by_label("Nothing below (Hz)").focus()
    field = page.get_by_label("Nothing below (Hz)").bounding_box()
    bar = page.locator("#agl-actions").bounding_box()
    assert field is not None
    assert bar is not None
    assert field["y"] + field["height"] <= bar["y"]


def test_a_phone_on_its_side_has_map_and_sound_at_once(new_page: NewPage, url: str) -> None:
    page = open_at(new_page, url, 844, 390)
    expect(page.locator("#agl-map .agl-world")).to_be_in_viewport(ratio=0.95)
    for css in ("#agl-sound .agl-play", SUBMIT):
        expect(page.locator(css)).to_be_in_viewport(ratio=1)


def test_the_map_takes_the_whole_window_and_gives_it_back(page: Page, url: str) -> None:
    open_game(page, url)
    world = page.locator("#agl-map .agl-world")
    before = world.bounding_box()
    button = page.get_by_role("button", name="Map in the whole window")
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    whole = {"x": 0, "y": 0, "width": 1280, "height": 900}
    assert world.bounding_box() == whole
    drop_pin(page, 0.3)
    page.click(SUBMIT)
    expect(page.locator(".agl-reveal")).to_be_in_viewport()
    assert serious(page) == []
    page.keyboard.press("Escape")
    assert world.bounding_box() == before
    page.keyboard.press("f")
    assert world.bounding_box() == whole
    page.keyboard.press("f")
    assert world.bounding_box() == before
    page.get_by_role("button", name="Challenge").click()
    page.get_by_label("Challenge code or link").press_sequentially("f")
    assert world.bounding_box() == before


def test_on_a_phone_nothing_covers_buttons_and_search(new_page: NewPage, url: str) -> None:
    page = new_page(width=320, height=640, touch=True)
    open_game(page, url)
    page.get_by_role("button", name="Room").tap()
    search, submit = page.get_by_label("Find a place"), page.locator(SUBMIT)
    search.evaluate(  # just where the buttons stick to the bottom
        "(e) => scrollBy(0, e.getBoundingClientRect().top"
        " - document.querySelector('#agl-submit').getBoundingClientRect().top)"
    )
    assert is_on_top(submit)
    drop_pin(page, 0.7)
    submit.tap()
    expect(page.locator(".agl-reveal")).to_be_visible()
    page.get_by_role("button", name="Map in the whole window").tap()
    assert is_on_top(search)
    assert is_on_top(page.locator("#agl-next"))
    assert serious(page) == []
    card = page.locator("#agl-result")  # it scrolls here, so the keyboard must reach it
    card.focus()
    expect(card).to_be_focused()


def is_on_top(control: Locator) -> bool:
    found: bool = control.evaluate(
        """(e) => {
          const { x, y, width, height } = e.getBoundingClientRect();
          return [0.1, 0.5, 0.9].every((part) =>
            e.contains(document.elementFromPoint(x + part * width, y + height / 2)));
        }"""
    )
    return found


@pytest.mark.parametrize(("width", "height"), [(320, 640), (844, 390), ZOOMED])
def test_tables_fit_a_small_screen(new_page: NewPage, url: str, width: int, height: int) -> None:
    page = open_at(new_page, url, width, height)
    drop_pin(page)
    page.click(SUBMIT)
    for _ in range(4):
        page.click("#agl-next")
        page.click("#agl-skip")
    page.click("#agl-next")
    expect(page.locator(".agl-summary [data-clip]")).to_have_count(5)
    page.locator("#agl-history > summary").click()
    expect(page.get_by_role("button", name="Open:")).to_be_visible()
    assert page.evaluate(
        "[...document.querySelectorAll('.agl-summary, .agl-summary table, #agl-own .agl-scroll')]"
        ".filter(e => e.scrollWidth > e.parentElement.clientWidth || e.scrollWidth > e.clientWidth)"
        ".map(e => e.className)"
    ) == []  # fmt: skip
    assert serious(page) == []


def test_the_calendar_by_keyboard(page: Page, url: str) -> None:
    open_game(page, url)
    expect(page.locator("#agl-daily")).to_contain_text(re.compile(r"next in (\d+ h|\d+ min)"))
    page.get_by_role("button", name="Calendar").click()
    today = page.locator(".agl-day[aria-current=date]")
    today.focus()
    day = today.get_attribute("data-day")
    page.keyboard.press("PageUp")
    focused = page.locator(".agl-day:focus")
    expect(focused).not_to_have_attribute("data-day", re.compile(f"^{str(day)[:7]}"))
    page.keyboard.press("PageDown")
    page.keyboard.press("ArrowRight")  # there is none after today
    expect(today).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(".agl-status-mode")).to_contain_text("Daily five of")
    for _ in range(5):
        page.click("#agl-skip")
        page.click("#agl-next")
        expect(page.locator(".agl-reveal")).to_have_count(0)
    expect(page.locator("#agl-daily")).to_contain_text("Today’s five: 0 points")
    expect(page.locator("#agl-daily")).to_contain_text("streak 1 · next in")
    page.get_by_role("button", name="Calendar").click()
    expect(today).to_have_accessible_name(re.compile(": 0 points$"))


def test_back_returns_to_the_tab_before(page: Page, url: str) -> None:
    open_game(page, url)
    for name in ("Leaderboard", "About"):
        page.get_by_role("tab", name=name).click()
        expect(page).to_have_url(re.compile(f"tab={name.lower()}$"))
    page.go_back()
    expect(page.get_by_role("tab", name="Leaderboard")).to_have_attribute("aria-selected", "true")
    page.go_back()
    play = page.get_by_role("tab", name="Play")
    expect(play).to_have_attribute("aria-selected", "true")
    expect(page.locator("#agl-map .agl-world")).to_be_visible()
    page.go_forward()
    expect(page.get_by_role("tab", name="Leaderboard")).to_have_attribute("aria-selected", "true")
    page.get_by_role("tab", name="Leaderboard").press("ArrowLeft")
    expect(play).to_have_attribute("aria-selected", "true")
    panel = play.get_attribute("aria-controls")
    expect(page.locator(f"#{panel}[role=tabpanel]")).to_be_visible()


def test_headings_are_in_order_and_targets_large(page: Page, url: str) -> None:
    open_game(page, url)
    drop_pin(page)
    page.click(SUBMIT)
    expect(page.locator(".agl-reveal")).to_be_visible()
    page.get_by_role("button", name="Calendar").click()
    expect(page.locator(".agl-day").first).to_be_visible()
    levels = page.evaluate(
        "[...document.querySelectorAll('h1,h2,h3,h4,h5,h6')].filter(h => h.offsetParent)"
        ".map(h => Number(h.tagName[1]))"
    )
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    small = page.evaluate(
        "[...document.querySelectorAll('button, input, select, summary')]"
        ".filter(e => e.checkVisibility()).map(e => [e.outerHTML.slice(0, 90), "
        "e.getBoundingClientRect()]).filter(([, box]) => Math.min(box.width, box.height) < 24)"
        ".map(([html]) => html)"
    )
    assert small == []
    assert page.evaluate("document.documentElement.lang") == "en"


def test_joined_emoji_of_a_nickname_stay_whole(page: Page, url: str) -> None:
    open_game(page, url)
    family = "👩\u200d👩\u200d👧\u200d👦"
    page.get_by_role("button", name="Free round").click()
    name = page.get_by_label("Your nickname (optional)")
    name.fill(family * 30)
    name.blur()
    expect(name).to_have_value(family * 24)

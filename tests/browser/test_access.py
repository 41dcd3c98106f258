"""All tabs in all states: names, headings, targets, forced colours, Back and Forward."""

from __future__ import annotations

import io
import itertools
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

from axe_playwright_python.sync_playwright import Axe
from fastapi import FastAPI
from PIL import Image
from playwright.sync_api import Locator, Page, expect

import app as app_module
from tests.browser.conftest import NewPage, Serve, unfaded
from tests.support.toy_board import add_model
from web.settings import Settings

FAMILY = "👩\u200d👩\u200d👧\u200d👦"
RIGHT_TO_LEFT = "דגם"

CONTROLS = "a[href], button, input:not([type=file]), select, textarea, summary, [role=slider]"

#: The boxes in which a control can be hit: a label's is that of its field. Links within a sentence
#: may be as high as its line. ``inSight`` leaves out what is scrolled away in a box of its own.
BOXES = """([css, inSight]) => [...document.querySelectorAll(css)].filter((one) => {
  const words = one.parentElement.innerText.trim();
  const inSentence = one.matches('a') && getComputedStyle(one).display === 'inline'
    && words.length > one.innerText.trim().length;
  const whole = (one.matches('input') && one.closest('label')) || one;
  one.hit = whole.getBoundingClientRect();
  const around = (up) => up && (getComputedStyle(up).overflowY === 'auto'
    ? [up.getBoundingClientRect(), ...around(up.parentElement)] : around(up.parentElement)) || [];
  const isAway = inSight && around(one.parentElement).some((box) => one.hit.bottom > box.bottom
    || one.hit.top < box.top || one.hit.right > box.right || one.hit.left < box.left);
  return !inSentence && !isAway && one.hit.width > 1 && one.hit.height > 1
    && one.checkVisibility({ opacityProperty: true, visibilityProperty: true });
}).map((one) => [one.outerHTML.slice(0, 150), one.hit.left + scrollX, one.hit.top + scrollY,
  one.hit.width, one.hit.height])"""

HEADINGS = """() => [...document.querySelectorAll('h1, h2, h3, h4, h5, h6')]
  .filter((one) => one.checkVisibility({ visibilityProperty: true }))
  .map((one) => Number(one.tagName[1]))"""


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> FastAPI:
    folder = tmp_path_factory.mktemp("data")
    app = app_module.create_app(Settings.from_env({"AGL1K_DATA": str(folder)}))
    board = next(iter(app.state.services.boards.values()))
    add_model(board, "Near", 0.5, weights="closed", prompt="Where?", link="https://example.org/")
    add_model(board, RIGHT_TO_LEFT, 8.0, organisation="מעבדה")
    add_model(board, FAMILY * 20, 9.0, organisation="W" * 80)
    return app


@pytest.fixture(scope="module")
def url(app: FastAPI, serve_module: Serve) -> str:
    return serve_module(app)


def open_tab(page: Page, url: str, tab: str) -> None:
    page.goto(f"{url}?tab={tab}")
    expect(page.get_by_role("tab", name=tab.capitalize())).to_have_attribute(
        "aria-selected", "true"
    )
    page.wait_for_load_state("networkidle")


def play(page: Page, url: str, tmp_path: Path) -> Iterator[str]:
    page.goto(url)
    expect(page.locator("#agl-map [data-outline]")).to_be_visible()
    expect(page.locator("#agl-skip")).to_be_enabled()
    yield "play"
    for name in ("Free round", "Challenge", "Room", "Against a model"):
        page.get_by_role("button", name=name, exact=True).click()
        yield name
    page.locator("#agl-skip").click()
    expect(page.locator(".agl-reveal")).to_be_visible()
    yield "reveal"


def leaderboard(page: Page, url: str, tmp_path: Path) -> Iterator[str]:
    open_tab(page, url, "leaderboard")
    page.get_by_text("Speech against no speech").click()
    yield "board"
    for panel in ("Filters", "Columns"):
        page.get_by_text(panel, exact=True).click()
        yield panel
    page.keyboard.press("Escape")
    page.locator(".agl-board-table").get_by_role("button", name="Near", exact=True).click()
    figures = page.locator(".agl-figure .js-plotly-plot")
    expect(page.locator(".agl-behind .agl-map [data-outline]")).to_be_visible()
    expect(figures).to_have_count(1)
    yield "row"
    page.get_by_role("button", name="Compare").click()
    expect(page.locator(".agl-comparison h2")).to_be_visible()
    expect(figures).to_have_count(2)
    yield "comparison"


def submit(page: Page, url: str, tmp_path: Path) -> Iterator[str]:
    open_tab(page, url, "submit")
    yield "submit"
    bad, good = tmp_path / "bad.json", tmp_path / "good.json"
    bad.write_text('[{"key": "nobody"}]')
    good.write_text(page.request.get(f"{url}api/leaderboard/example.json").text())
    page.set_input_files("#agl-file input[type=file]", bad)
    expect(page.locator(".agl-problems li")).to_have_count(1)
    yield "refused"
    page.get_by_label("Remove").or_(page.get_by_label("Clear")).first.click()
    expect(page.locator(".agl-problems")).to_have_count(0)
    page.set_input_files("#agl-file input[type=file]", good)
    expect(page.locator(".agl-report")).to_be_visible()
    page.get_by_role("button", name="Add it to a row of yours").click()
    page.get_by_role("button", name="Withdraw a submission").click()
    page.locator("#agl-publish").click()
    expect(page.locator("#agl-unpublished .agl-problems li")).to_have_count(2)
    yield "dry run with problems"


def about(page: Page, url: str, tmp_path: Path) -> Iterator[str]:
    open_tab(page, url, "about")
    yield "about"
    page.goto(f"{url}api/play/docs")
    yield "the play API's page"


TABS = [play, leaderboard, submit, about]
Tab = Callable[[Page, str, Path], Iterator[str]]
#: Left, top, width and height in pixels of the page, by the control's HTML.
Boxes = dict[str, tuple[float, float, float, float]]


def boxes(page: Page, *, in_sight: bool = False) -> Boxes:
    """The boxes of visible controls on the whole page, by their HTML."""
    return {html: tuple(box) for html, *box in page.evaluate(BOXES, [CONTROLS, in_sight])}


@pytest.mark.parametrize("tab", TABS)
@pytest.mark.parametrize("width", [390, 1366])
def test_targets_headings_and_names(
    new_page: NewPage, url: str, tab: Tab, width: int, tmp_path: Path
) -> None:
    page = new_page(width=width)
    for state in tab(page, url, tmp_path):
        small = [html for html, (*_, wide, high) in boxes(page).items() if min(wide, high) < 23.9]
        assert small == [], state
        levels = page.evaluate(HEADINGS)
        assert levels[0] == 1, state
        assert levels.count(1) == 1, state
        assert 2 in levels, state
        assert all(b <= a + 1 for a, b in itertools.pairwise(levels)), (state, levels)
        found = Axe().run(unfaded(page)).response["violations"]
        assert [(one["id"], one["nodes"][0]["html"]) for one in found] == [], state


def picture(of: Page | Locator, **options: Any) -> Image.Image:
    return Image.open(io.BytesIO(of.screenshot(**options))).convert("RGB")


def is_drawn(image: Image.Image) -> bool:
    """Whether there is anything to see in it."""
    colours = image.getcolors(image.width * image.height)
    return colours is None or len(colours) > 1


def at_rest(page: Page) -> tuple[Image.Image, Boxes]:
    """The whole page, and the boxes of its controls, once nothing moves."""
    found = boxes(page, in_sight=True)
    while True:
        before, whole = found, picture(page, full_page=True)
        found = boxes(page, in_sight=True)
        if list(found.values()) == list(before.values()):
            return whole, found


@pytest.mark.parametrize("tab", TABS)
@pytest.mark.parametrize("dark", [False, True])
def test_forced_colours_hide_no_control(
    new_page: NewPage, url: str, tab: Tab, dark: bool, tmp_path: Path
) -> None:
    page = new_page(width=1366, dark=dark, forced_colors="active")
    for state in tab(page, url, tmp_path):
        page.evaluate("scrollTo({ top: 0, behavior: 'instant' })")
        whole, controls = at_rest(page)
        for html, (left, top, wide, high) in controls.items():
            part = whole.crop((int(left), int(top), int(left + wide), int(top + high)))
            assert is_drawn(part), (state, html)


@pytest.mark.parametrize("dark", [False, True])
def test_forced_colours_tell_states(
    new_page: NewPage, url: str, dark: bool, tmp_path: Path
) -> None:
    page = new_page(width=1366, dark=dark, forced_colors="active")
    open_tab(page, url, "leaderboard")
    tabs = page.locator("#agl-tabs [role=tablist] [role=tab]")
    page.mouse.move(0, 700)
    chosen = picture(tabs.nth(1))
    page.locator("th[aria-sort]").wait_for()
    for arrow in page.locator(".agl-arrow").all():
        sorts = arrow.evaluate("one => one.closest('th').hasAttribute('aria-sort')")
        assert is_drawn(picture(arrow)) is sorts
    track = page.locator(".agl-field > ol .agl-track").last
    for part in (".agl-reach", ".agl-dot"):
        with_it = picture(track)
        track.locator(part).evaluate("one => { one.style.visibility = 'hidden'; }")
        assert picture(track).tobytes() != with_it.tobytes(), part
    assert is_drawn(picture(track))  # the line
    tabs.nth(0).click()
    page.mouse.move(0, 700)
    page.evaluate("document.activeElement.blur()")
    assert picture(tabs.nth(1)).tobytes() != chosen.tobytes()
    *_, _state = submit(page, url, tmp_path)
    for box in (page.get_by_role("checkbox"), page.get_by_role("radio", name="closed")):
        before = picture(box)
        box.set_checked(not box.is_checked())
        page.evaluate("document.activeElement.blur()")
        page.mouse.move(0, 700)
        assert picture(box).tobytes() != before.tobytes()


def test_gradios_parts_have_names_and_states(page: Page, url: str, tmp_path: Path) -> None:
    open_tab(page, url, "submit")
    expect(page.get_by_role("tabpanel", name="Submit")).to_be_visible()
    withdraw = page.get_by_role("button", name="Withdraw a submission", exact=True)
    expect(withdraw).to_have_attribute("aria-expanded", "false")
    withdraw.press("Enter")
    expect(withdraw).to_have_attribute("aria-expanded", "true")
    upload = page.get_by_role("button", name="Prediction file: drop it here, or click to upload it")
    expect(upload).to_be_visible()
    *_, _state = submit(page, url, tmp_path)
    weights = page.get_by_role("radiogroup", name="Weights")
    weights.get_by_role("radio", name="open").press("ArrowRight")
    expect(weights.get_by_role("radio", name="closed")).to_be_checked()


def test_problems_are_tied_to_their_fields(page: Page, url: str, tmp_path: Path) -> None:
    *_, _state = submit(page, url, tmp_path)
    model = page.get_by_role("textbox", name="Model", exact=True)
    weights = page.get_by_role("radiogroup", name="Weights")
    expect(model).to_have_attribute("aria-invalid", "true")
    expect(model).to_have_accessible_description(re.compile("model: it is empty"))
    expect(weights).to_have_accessible_description(re.compile("neither is chosen"))
    model.fill("Named")
    expect(model).not_to_have_attribute("aria-invalid", "true")
    expect(weights).to_have_attribute("aria-invalid", "true")
    page.get_by_role("textbox", name="Date of the model").fill("yesterday")
    page.locator("#agl-publish").click()
    date = page.get_by_role("textbox", name="Date of the model")
    expect(date).to_have_accessible_description(re.compile("yesterday"))
    expect(model).to_have_accessible_description("")


def selected(page: Page, name: str) -> None:
    tab = page.get_by_role("tab", name=name)
    expect(tab).to_have_attribute("aria-selected", "true")


def test_back_and_forward_walk_through_tabs_and_rows(page: Page, url: str) -> None:
    page.goto(url)
    selected(page, "Play")
    expect(page.locator("#agl-skip")).to_be_enabled()
    page.get_by_role("tab", name="Leaderboard").click()
    page.locator(".agl-board-table").get_by_role("button", name="Near", exact=True).click()
    title = page.locator(".agl-detail h2")
    expect(title).to_have_text("Near")
    page.get_by_role("tab", name="Submit").click()
    page.get_by_role("tab", name="Submit").press("End")
    selected(page, "About")
    page.go_back()
    selected(page, "Submit")
    page.go_back()
    selected(page, "Leaderboard")
    expect(title).to_have_text("Near")
    page.go_back()
    expect(page.locator(".agl-board-table")).to_be_visible()
    selected(page, "Leaderboard")
    page.go_back()
    selected(page, "Play")
    for _ in range(2):
        page.go_forward()
    selected(page, "Leaderboard")
    expect(title).to_have_text("Near")
    page.reload()
    selected(page, "Leaderboard")
    expect(title).to_have_text("Near")
    page.go_forward()
    selected(page, "Submit")


def test_on_a_narrow_board_the_sorting_buttons_are_seen_with_the_keyboard(
    new_page: NewPage, url: str
) -> None:
    page = new_page(width=390)
    open_tab(page, url, "leaderboard")
    button = page.locator(".agl-board-table thead").get_by_role("button", name="Geoscore")
    assert not is_seen(button)
    button.focus()
    assert is_seen(button)
    page.keyboard.press("Enter")
    expect(page.locator("th[aria-sort]")).to_have_text("Geoscore")
    assert is_seen(button)
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def is_seen(one: Locator) -> bool:
    """Whether a click in its middle would hit it."""
    return (
        one.evaluate(
            """(one) => { const { x, y, width, height } = one.getBoundingClientRect();
          return one.contains(document.elementFromPoint(x + width / 2, y + height / 2)); }"""
        )
        is True
    )


@pytest.mark.parametrize("width", [390, 1366])
def test_the_focus_on_the_map_is_seen_on_all_sides(new_page: NewPage, url: str, width: int) -> None:
    page = new_page(width=width)
    open_tab(page, url, "play")
    expect(page.locator("#agl-map [data-outline]")).to_be_visible()
    world = page.locator("#agl-map .agl-world")
    world.press("ArrowRight")
    seen = picture(page.locator("#agl-map .agl-map"))
    accent = world.evaluate(
        """(one) => { one.style.color = 'var(--map-accent)';
          return getComputedStyle(one).color.match(/\\d+/g).map(Number); }"""
    )
    right, bottom = seen.width - 3, seen.height - 3
    for at in ((2, bottom // 2), (right, bottom // 2), (right // 2, 2), (right // 2, bottom)):
        assert list(seen.getpixel(at)) == accent, at  # type: ignore[arg-type]


@pytest.mark.parametrize("dark", [False, True])
def test_what_the_browser_draws_in_controls_is_as_dark_as_the_page(
    new_page: NewPage, url: str, dark: bool
) -> None:
    """Steppers of numbers, calendars of dates, scrollbars within the page."""
    page = new_page(dark=dark)
    open_tab(page, url, "leaderboard")
    page.get_by_text("Filters", exact=True).click()
    for kind in ("number", "date", "checkbox"):
        field = page.locator(f".agl-controls [type={kind}]").first
        expect(field).to_have_css("color-scheme", "dark" if dark else "normal")


def test_no_scrollbar_covers_the_line_below_the_open_tab(new_page: NewPage, url: str) -> None:
    page = new_page(width=320)
    open_tab(page, url, "leaderboard")
    expect(page.locator("#agl-tabs [role=tablist]").first).to_have_css("scrollbar-width", "none")


LARGE_TEXT = """addEventListener('DOMContentLoaded',
  () => document.documentElement.style.setProperty('font-size', '200%', 'important'))"""


@pytest.mark.parametrize("width", [320, 640, 1366])
def test_large_text_fits(new_page: NewPage, url: str, width: int) -> None:
    page = new_page(width=width)
    page.add_init_script(LARGE_TEXT)
    page.goto(url)
    for name in ("Leaderboard", "Submit", "About", "Play"):
        page.get_by_role("tab", name=name).click()
        selected(page, name)
        assert is_seen(page.get_by_role("tab", name=name))
        assert page.evaluate("document.documentElement.scrollWidth") == width
    page.goto(f"{url}api/play/docs")
    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_long_names_are_taken_whole(page: Page, url: str, tmp_path: Path) -> None:
    *_, _state = submit(page, url, tmp_path)
    page.get_by_role("textbox", name="Model", exact=True).fill(FAMILY * 80)
    page.get_by_role("radio", name="closed").check()
    page.locator("#agl-publish").click()
    publish = page.get_by_role("button", name="Publish anyway")
    publish.click()
    expect(page.locator(".agl-receipts bdi")).to_have_text(FAMILY * 80)
    open_tab(page, url, "leaderboard")
    page.get_by_role("searchbox").fill(FAMILY * 80)
    expect(page.locator(".agl-board-table tbody tr")).to_have_count(1)
    open_tab(page, url, "play")
    page.get_by_role("button", name="Room", exact=True).click()
    page.get_by_label("Your name in the room").fill(FAMILY * 24)
    page.get_by_role("button", name="Open a new room").click()
    expect(page.locator(".agl-room-players th bdi")).to_have_text(FAMILY * 24)


def test_a_name_from_right_to_left_leaves_the_points_behind_it(page: Page, url: str) -> None:
    open_tab(page, url, "play")
    page.get_by_role("button", name="Against a model").click()
    opponents = page.locator("#agl-opponent select")
    expect(opponents.locator("option", has_text=RIGHT_TO_LEFT)).to_have_count(1)
    label = opponents.locator("option", has_text=RIGHT_TO_LEFT).inner_text()
    opponents.select_option(label=label)
    page.get_by_role("button", name="Play against it").click()
    expect(page.locator(".agl-status-mode")).to_contain_text(RIGHT_TO_LEFT)
    page.locator("#agl-skip").click()
    standing = page.locator("p.agl-versus")
    expect(standing.locator("bdi")).to_be_visible()
    expect(page.locator(".agl-reveal")).to_be_visible()
    ends = standing.evaluate(
        """(one) => [one.querySelector('bdi').getBoundingClientRect().right,
          [...one.querySelectorAll('strong')].at(-1).getBoundingClientRect().left]"""
    )
    assert ends == sorted(ends)


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("Free round", "speech"),
        ("Challenge", "code"),
        ("Room", "code"),
        ("Against a model", "opponent"),
        ("Calendar of past days", ""),
    ],
)
def test_a_panel_gets_the_focus_and_escape_closes_it(
    page: Page, url: str, name: str, field: str
) -> None:
    """There is one benchmark, so that the choice of it is hidden; the calendar comes later."""
    open_tab(page, url, "play")
    opener, panel = page.get_by_role("button", name=name, exact=True), page.locator("#agl-panels")
    opener.press("Enter")
    expect(panel).to_be_visible()
    first = panel.locator(f"form:not([hidden]) [name={field}]") if field else opener
    expect(first).to_be_focused()
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    expect(opener).to_be_focused()


def copying(page: Page, url: str) -> Iterator[Locator]:
    """Buttons that copy a link: the board's, and a room's."""
    open_tab(page, url, "leaderboard")
    yield page.locator("[data-copy]")
    open_tab(page, url, "play")
    page.get_by_role("button", name="Room", exact=True).click()
    page.get_by_label("Your name in the room").fill("Ann")
    page.get_by_role("button", name="Open a new room").click()
    yield page.locator(".agl-room [data-does=link]")


def test_copying_is_told_to_screen_readers(new_page: NewPage, url: str) -> None:
    """They hear what changes in a status region that was there before, and no change of a label."""
    page = new_page(permissions=["clipboard-read", "clipboard-write"])
    for button in copying(page, url):
        expect(button).to_have_text("Copy link")
        told = page.locator("body > [role=status]")
        expect(told).to_have_count(1)
        expect(told).to_be_empty()
        button.click()
        expect(told).to_have_text("Copied")
        expect(button).to_have_text("Copied")
        button.click()  # again, while it says so
        expect(button).to_have_text("Copy link")
        expect(told).to_be_empty()
        assert page.evaluate("navigator.clipboard.readText()").startswith(url)

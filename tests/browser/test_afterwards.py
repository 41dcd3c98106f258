"""After a round: clips again, others on the map, past rounds, downloads, another device."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

import app as app_module
from game.past import FEWEST_OTHERS
from tests.browser.conftest import NewPage, running, unfaded
from tests.browser.test_play import open_game
from tests.support.play_api import Api
from web.settings import Settings


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server on which others have played today's daily."""
    folder = tmp_path_factory.mktemp("after")
    with running(app_module.create_app(Settings.from_env({"AGL1K_DATA": str(folder)}))) as address:
        with httpx.Client(base_url=address, timeout=60) as http:
            for number in range(FEWEST_OTHERS):
                play_daily(Api(http), 10.0 * number)
        yield address


def play_daily(api: Api, latitude: float) -> None:
    api.do("open", href="http://a.example/?daily=today")
    for _ in range(5):
        api.do("guess", latitude=latitude, longitude=20.0)
        api.do("next")


def finished(page: Page, url: str) -> None:
    open_game(page, f"{url}?daily=today")
    for _ in range(5):
        page.locator("#agl-skip").click()
        page.locator("#agl-next").click()
    expect(page.locator(".agl-summary")).to_be_visible()


@pytest.mark.parametrize(("width", "dark"), [(1366, False), (390, True)])
def test_clips_again_and_others(new_page: NewPage, url: str, width: int, dark: bool) -> None:
    page = new_page(width=width, height=844, dark=dark, reduced_motion="reduce")
    finished(page, url)
    # each of these tests adds a player to those who played before
    words = re.compile(r"Better than 0 % of \d players who played this daily")
    expect(page.locator(".agl-others figcaption")).to_have_text(words)
    n_others = int(re.findall(r"of (\d)", page.locator(".agl-others figcaption").inner_text())[0])
    assert FEWEST_OTHERS <= n_others <= FEWEST_OTHERS + 2
    expect(page.locator(".agl-bar")).to_have_count(10)
    page.get_by_role("button", name="Hear clip 2 again").click()
    expect(page.locator(".agl-player")).to_have_attribute("aria-label", "Clip 2, heard again")
    expect(page.locator(".agl-player")).to_have_attribute("data-state", "playing")
    go = page.locator(".agl-go").nth(2)
    go.focus()
    page.keyboard.press("Enter")
    expect(go).to_have_attribute("aria-pressed", "true")
    expect(go).to_be_focused()
    expect(page.locator(".agl-after")).to_contain_text(f"where {FEWEST_OTHERS} others placed it")
    expect(page.locator("path.agl-heat")).to_have_count(FEWEST_OTHERS)
    expect(page.locator(".agl-mean")).to_have_count(1)
    found = Axe().run(unfaded(page), context="#agl-play").response["violations"]
    assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []
    page.locator("#agl-again").click()
    expect(page.locator(".agl-summary")).to_have_count(0)
    expect(page.locator("path.agl-heat")).to_have_count(0)


def test_rounds_and_another_device(new_page: NewPage, url: str) -> None:
    page = new_page(width=1366, height=768)
    finished(page, url)
    page.locator("#agl-again").click()
    page.locator("#agl-skip").click()
    expect(page.locator(".agl-reveal")).to_be_visible()
    page.locator("#agl-history > summary").click()
    page.get_by_role("button", name="Open: Daily five").click()
    expect(page.locator(".agl-summary")).to_be_visible()
    page.get_by_role("button", name="Go on: Free play").click()
    expect(page.locator(".agl-reveal")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()
    rows = [*csv.DictReader(io.StringIO(Path(download.value.path()).read_text("utf-8")))]
    assert [row["action"] for row in rows] == ["skip"] * 6
    page.get_by_text("Play on another device").click()
    page.get_by_role("button", name="Show a code").click()
    code = page.locator("#agl-own output")
    expect(code).to_contain_text("10 minutes")
    text = code.inner_text().split(" ")[0]

    other = new_page(width=390, height=844, touch=True)
    open_game(other, url)
    other.locator("#agl-history > summary").click()
    other.get_by_text("Play on another device").click()
    other.get_by_label("Code of another device").fill(text)
    other.get_by_role("button", name="Become that player").click()
    expect(other.locator("#agl-own [role=status]").first).to_contain_text("plays as that player")
    expect(other.get_by_role("button", name="Open: Daily five")).to_be_visible()
    other.get_by_label("Code of another device").fill(text)
    other.get_by_role("button", name="Become that player").click()
    expect(other.locator("#agl-own [role=alert]")).to_contain_text("used already")
    other.get_by_role("button", name="Back to the earlier player").click()
    expect(other.get_by_role("button", name="Open: Daily five")).to_have_count(0)

"""Rounds against a row of the board in a real Chromium."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from fastapi import FastAPI
from playwright.sync_api import Page, expect

import app as app_module
from tests.browser.conftest import NewPage, running
from tests.browser.test_play import drop_pin, open_game
from web.settings import Settings

NEXT, SUBMIT, VERSUS = "#agl-next", "#agl-submit", ".agl-versus"


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> FastAPI:
    data = str(tmp_path_factory.mktemp("rivals"))
    return app_module.create_app(Settings.from_env({"AGL1K_DATA": data}))


@pytest.fixture(scope="module")
def url(app: FastAPI) -> Iterator[str]:
    with running(app) as address:
        yield address


def answer(page: Page) -> None:
    drop_pin(page, 0.4, 0.4)
    page.click(SUBMIT)
    expect(page.locator(NEXT)).to_be_visible()


def number(text: str | None) -> int:
    return int((text or "").replace(",", ""))


@pytest.mark.parametrize(("width", "dark"), [(1366, False), (390, True)])
def test_a_round_against_a_model(new_page: NewPage, url: str, width: int, dark: bool) -> None:
    page = new_page(width=width, height=768 if width > 900 else 844, dark=dark)
    open_game(page, url)
    assert not page.evaluate("[...document.scripts, ...document.querySelectorAll('link')]"
                             ".some(one => /versus|rivals/.test(one.src ?? one.href))")  # fmt: skip
    page.click("[data-mode=model]")
    chosen = page.locator("#agl-opponent select")
    expect(chosen.locator("optgroup[label=Baselines] option")).not_to_have_count(0)
    option = chosen.locator("option", has_text="Median location")
    chosen.select_option(option.get_attribute("value"))
    page.get_by_role("button", name="Play against it").click()
    expect(page.locator("#agl-status")).to_contain_text("Against Median location")
    sums = page.locator(f"{VERSUS} strong")
    expect(sums).to_have_text(["0", "0"])
    for clip in range(5):
        answer(page)
        expect(page.locator(VERSUS)).to_contain_text("This clip brought it")
        assert page.locator("#agl-status .agl-status-total strong").text_content() == (
            sums.nth(0).text_content()
        )
        if clip == 0:
            assert [one["id"] for one in Axe().run(page, VERSUS).response["violations"]] == []
        page.click(NEXT)
    mine, theirs = (number(text) for text in sums.all_text_contents())
    shared = page.locator("#agl-share textarea").input_value()
    assert f"Me {mine:,} · Median location {theirs:,}" in shared
    page.click("#agl-history summary")
    expect(page.locator("#agl-history-list")).to_contain_text(f"Median location {theirs:,}")
    page.click("#agl-again")
    expect(sums).to_have_text(["0", "0"])

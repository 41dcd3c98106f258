"""What a player sees when answers cannot be published: a warning first, then a polite refusal."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

import app as app_module
from store.hub.publisher import BEHIND, FULL, READING_BACK
from tests.browser.conftest import NewPage, Serve, running
from tests.browser.test_play import NEXT, SUBMIT, drop_pin, open_game, steps_done
from web.settings import Settings


def settings(folder: Path, **env: str) -> Settings:
    away = {"AGL1K_HUB_DATASET": "tester/plays", "AGL1K_HUB_TOKEN": "hf_x"}
    return Settings.from_env(
        {"AGL1K_DATA": str(folder), "HF_ENDPOINT": "http://127.0.0.1:9", "AGL1K_HUB_FLUSH_S": "0",
         **away, **env}
    )  # fmt: skip


def guess(page: Page) -> None:
    drop_pin(page)
    page.click(SUBMIT)


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
def test_a_warning_then_a_refusal_that_loses_nothing(
    serve: Serve, new_page: NewPage, tmp_path: Path, width: int, dark: bool
) -> None:
    app = app_module.create_app(settings(tmp_path, AGL1K_HUB_MAX_WAITING="2"))
    page, notice = new_page(width=width, dark=dark), ".agl-notice[role=status]"
    url = serve(app)
    open_game(page, url)
    expect(page.locator(".agl-news " + notice)).to_have_count(0)
    guess(page)
    expect(page.locator(".agl-reveal h2")).not_to_be_empty()
    page.reload()
    expect(page.locator(notice).first).to_have_text(BEHIND)
    page.click(NEXT)
    guess(page)
    expect(page.locator(".agl-reveal h2")).not_to_be_empty()
    page.click(NEXT)
    expect(page.locator(".agl-help")).to_be_visible()
    guess(page)
    refusal = page.locator("#agl-message [role=alert]")
    expect(refusal).to_have_text(FULL)
    expect(refusal).to_be_in_viewport()
    assert steps_done(page) == 2
    page.reload()
    expect(page.locator(notice).first).to_have_text(FULL)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert app.state.services.boards["demo"].guesses.counts("demo").guesses == 2


def test_a_server_that_reads_back_says_so_and_then_takes_the_guess(
    new_page: NewPage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = app_module.create_app(settings(tmp_path))
    publisher = app.state.services.publisher
    monkeypatch.setattr(type(publisher), "is_reading_back", True)
    with running(app) as url:
        page = new_page()
        open_game(page, url)
        expect(page.locator(".agl-news .agl-notice")).to_have_text(READING_BACK)
        guess(page)
        expect(page.locator("#agl-message [role=alert]")).to_have_text(READING_BACK)
        monkeypatch.setattr(type(publisher), "is_reading_back", False)
        page.click(SUBMIT)
        expect(page.locator(".agl-reveal h2")).not_to_be_empty()

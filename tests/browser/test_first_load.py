"""The first load: nothing twice, what is needed first comes first, and a full server."""

from __future__ import annotations

import pytest
from fastapi import FastAPI
from playwright.sync_api import Page, Request, expect

import app as app_module
from web import overload
from web.settings import Settings

PLAYER_AND_SOUND = "[localStorage['agl1k-player'], document.querySelector('audio').src]"
LATER = ("cities-large.json", "countries.json", "world-fine.json")


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> FastAPI:
    folder = tmp_path_factory.mktemp("first")
    return app_module.create_app(Settings.from_env({"AGL1K_DATA": str(folder)}))


def test_nothing_is_loaded_twice_and_details_come_after_the_map(page: Page, url: str) -> None:
    asked: list[str] = []

    def note(request: Request) -> None:
        asked.append(request.url.removeprefix(url).partition("?")[0])

    page.on("request", note)
    page.goto(url)
    expect(page.locator('#agl-map [data-outline="world-fine.json"]')).to_be_visible()
    expect(page.locator(".agl-player")).not_to_have_attribute("data-state", "empty")
    ours = [path for path in asked if path.startswith(("static/", "vendor/", "api/play/"))]
    assert len(ours) > 20
    assert sorted(ours) == sorted(set(ours))
    assert asked.count("api/play/open") == 1
    places = [next(n for n, path in enumerate(asked) if path.endswith(name)) for name in LATER]
    coarse = next(n for n, path in enumerate(asked) if path.endswith("world-coarse.json"))
    assert coarse < min(places)
    assert max(places) == places[-1]


def test_styles_of_the_other_tabs_apply_in_the_end(page: Page, url: str) -> None:
    page.goto(f"{url}?tab=leaderboard")
    expect(page.locator("#agl-board table").first).to_be_visible()
    sheets = page.locator('link[rel=stylesheet][href*="leaderboard"]')
    assert sheets.count() == 3
    for number in range(3):
        assert sheets.nth(number).evaluate("link => link.sheet.cssRules.length") > 0


def test_a_reload_opens_the_same_round(page: Page, url: str) -> None:
    page.goto(url)
    expect(page.locator(".agl-player")).not_to_have_attribute("data-state", "empty")
    player, sound = page.evaluate(PLAYER_AND_SOUND)
    page.reload()
    expect(page.locator(".agl-player")).not_to_have_attribute("data-state", "empty")
    assert page.evaluate(PLAYER_AND_SOUND) == [player, sound]


def test_a_full_server_says_so_and_the_page_tries_again(
    page: Page, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as full:
        full.setattr(overload, "AGAIN_S", 1)
        full.setattr(overload.Load, "is_busy", True)
        page.goto(url)
        expect(page.get_by_role("heading")).to_have_text("AGL1K is full")
        expect(page.get_by_role("status")).to_contain_text("Rounds under way go on")
    expect(page.locator("#agl-map")).to_be_visible()

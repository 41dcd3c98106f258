"""Rounds against a row of the board, and in rooms, in a real Chromium."""

from __future__ import annotations

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from fastapi import FastAPI
from playwright.sync_api import Locator, Page, expect

import app as app_module
from tests.browser.conftest import NewPage, unfaded
from tests.browser.test_play import drop_pin, open_game
from web.settings import Settings

NEXT, SUBMIT, VERSUS = "#agl-next", "#agl-submit", ".agl-versus"


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> FastAPI:
    data = str(tmp_path_factory.mktemp("rivals"))
    return app_module.create_app(Settings.from_env({"AGL1K_DATA": data}))


def answer(page: Page) -> None:
    expect(page.locator(SUBMIT)).to_be_visible()
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
                             ".some(one => /versus|rooms/.test(one.src ?? one.href))")  # fmt: skip
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
            assert [
                one["id"] for one in Axe().run(unfaded(page), VERSUS).response["violations"]
            ] == []
        page.click(NEXT)
    expect(page.locator(".agl-summary")).to_be_visible()
    mine, theirs = (number(text) for text in sums.all_text_contents())
    shared = page.locator("#agl-share textarea").input_value()
    assert f"Me {mine:,} · Median location {theirs:,}" in shared
    page.click("#agl-history summary")
    expect(page.locator("#agl-history-list")).to_contain_text(f"Median location {theirs:,}")
    page.click("#agl-again")
    expect(sums).to_have_text(["0", "0"])


def open_room(page: Page, name: str) -> str:
    page.click("[data-mode=room]")
    page.locator("#agl-panel-room [name=called]").fill(name)
    page.get_by_role("button", name="Open a new room").click()
    title = page.locator(".agl-room strong")
    expect(title).to_have_text(re.compile("^Room [0-9A-Z]{6}$"))
    return (title.text_content() or "").removeprefix("Room ")


def row(page: Page, name: str) -> Locator:
    return page.locator(".agl-room tbody tr").filter(has_text=name)


def test_two_players_in_a_room(new_page: NewPage, url: str) -> None:
    anna, ben = new_page(width=1366, height=768), new_page(width=390, height=844, dark=True)
    open_game(anna, url)
    code = open_room(anna, "Anna")
    ben.goto(f"{url}?room={code}")
    name = ben.locator("#agl-panel-room [name=called]")
    expect(name).to_be_focused()
    expect(ben.locator("#agl-panel-room [name=code]")).to_have_value(code)
    name.fill("anna")
    join = ben.get_by_role("button", name="Join the room")
    join.click()
    expect(ben.locator("#agl-chooser-message")).to_contain_text("Choose another name")
    name.fill("Ben <b>")
    join.click()
    expect(row(ben, "Ben <b> (you)")).to_contain_text("0 of 5")
    assert "room=" not in ben.url
    expect(row(anna, "Ben <b>")).to_contain_text("0 of 5")

    answer(anna)
    expect(row(ben, "Anna")).to_contain_text("1 of 5")
    expect(row(ben, "Anna").locator("td").nth(1)).to_have_text("0")
    expect(row(anna, "Anna").locator("td").nth(1)).to_have_text(
        anna.locator("#agl-status .agl-status-total strong").text_content() or ""
    )
    answer(ben)
    mine = row(anna, "Anna").locator("td").nth(1).text_content() or ""
    expect(row(ben, "Anna").locator("td").nth(1)).to_have_text(mine)
    assert [one["id"] for one in Axe().run(anna, ".agl-room").response["violations"]] == []

    for page in (anna, ben):
        for _ in range(4):
            page.click(NEXT)
            answer(page)
        page.click(NEXT)
    for page in (anna, ben):
        expect(page.locator(".agl-room-head")).to_contain_text("final")
    expect(ben.locator(".agl-room")).to_contain_text("Anna can start the next round")
    anna.get_by_role("button", name="New round in this room").click()
    expect(anna.locator(".agl-room-head")).to_contain_text("round 2")
    ben.get_by_role("button", name="Join the next round").click()
    expect(ben.locator(".agl-room-head")).to_contain_text("round 2")
    expect(row(anna, "Ben <b>")).to_contain_text("0 of 5")


def test_standings_are_not_asked_for_while_the_page_is_hidden(new_page: NewPage, url: str) -> None:
    page = new_page()
    open_game(page, url)
    open_room(page, "Carla")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    with page.expect_request(re.compile(r"api/play/room\?")):
        pass
    hide = "document.dispatchEvent(new Event('visibilitychange'))"
    page.evaluate("Object.defineProperty(document, 'hidden', {value: true, configurable: true})")
    page.evaluate(hide)
    asked.clear()
    page.wait_for_timeout(4000)
    assert not [one for one in asked if "play/room" in one]
    page.evaluate("delete document.hidden")
    with page.expect_request(re.compile(r"api/play/room\?")):
        page.evaluate(hide)
    page.click("#agl-skip")
    expect(row(page, "Carla")).to_contain_text("1 of 5")
    page.click("[data-mode=free]")
    page.get_by_role("button", name="Start a free round").click()
    expect(page.locator(".agl-room")).to_have_count(0)

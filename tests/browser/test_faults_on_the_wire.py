"""The page behind a proxy that fails: errors, cut connections and silence at each of its calls."""

from __future__ import annotations

import re
from itertools import cycle

import pytest
from fastapi import FastAPI
from playwright.sync_api import Locator, Page, expect

import app as app_module
from tests.browser.test_play import AGAIN, NEXT, SUBMIT, drop_pin, open_game, steps_done
from tests.support.faulty_proxy import Fault, FaultyProxy, answer
from tests.support.hasty import HASTY, heal
from tests.support.waiting import eventually
from web.settings import Settings

pytestmark = pytest.mark.usefixtures("proxy")

RETRY = "Try again"
RELOAD = "Reload the page"
REFUSED, UPLOAD, LOST, CUT, HANGS, MUTE = (
    Fault("refuse"), Fault("upload"), Fault("lose"), Fault("cut"), Fault("hang"), Fault("mute"),
)  # fmt: skip
NOT_STORED = "Your guess is not stored yet; your pin stays."
WAS_STORED = "The connection was lost, but your guess was stored."
NO_ANSWER = re.compile(r"The server cannot be reached\.|The connection was lost\.")


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> FastAPI:
    env = {"AGL1K_DATA": str(tmp_path_factory.mktemp("wire")), "AGL1K_ROUNDS_PER_HOUR": "1000"}
    return app_module.create_app(Settings.from_env(env))


def stored(app: FastAPI) -> int:
    n_guesses: int = app.state.services.boards["demo"].guesses.counts("demo").guesses
    return n_guesses


def alarm(page: Page) -> Locator:
    return page.locator("#agl-message [role=alert]")


def expect_game(page: Page) -> None:
    expect(page.locator("#agl-map [data-outline]")).to_be_visible()
    expect(page.locator("#agl-skip:enabled")).to_be_visible()


# ---- the page itself

#: One of each kind: our scripts and what they need, the map's, Gradio's, styles of both.
PARTS = (
    "/play/stage.js", "/play/dom.js", "/map/basemap.js", "/leaflet.js", "/assets/index-",
    "/assets/Blocks-", "/assets/Index-", "/game.css",
)  # fmt: skip


@pytest.mark.parametrize("part", PARTS)
def test_a_part_that_fails_once_is_loaded_again_by_itself(
    page: Page, proxy: FaultyProxy, page_errors: list[str], part: str
) -> None:
    fault = (answer(502), CUT)[PARTS.index(part) % 2]
    proxy.fail(part, fault, times=1)
    page.goto(proxy.url)
    eventually(lambda: proxy.failed(part))  # some come after the round has begun
    expect(page.locator("#agl-tabs")).to_be_attached()
    expect_game(page)
    expect(page.locator("#agl-lost")).to_have_count(0)
    assert len(proxy.failed(part)) == 1
    page_errors.clear()


@pytest.mark.parametrize("part", ["/play/dom.js", "/assets/Blocks-", "/game.css"])
@pytest.mark.parametrize("fault", [answer(502), HANGS], ids=["502", "hangs"])
def test_a_part_that_does_not_come_is_told_and_a_button_loads_the_page_again(
    page: Page, proxy: FaultyProxy, page_errors: list[str], part: str, fault: Fault
) -> None:
    page.add_init_script(HASTY)
    proxy.fail(part, fault)
    page.goto(proxy.url, wait_until="commit")
    told = page.get_by_role("alert").filter(has_text="Nothing you have answered is lost")
    expect(told).to_be_visible()
    assert len(page.get_by_role("button", name=RELOAD).all()) == 1
    heal(page, proxy)
    page.get_by_role("button", name=RELOAD).click()
    expect_game(page)
    expect(told).to_have_count(0)
    page_errors.clear()


def test_a_module_that_is_there_is_not_missed(page: Page, proxy: FaultyProxy) -> None:
    """Firefox fires this event for modules that it had before it was asked to load them early."""
    page.add_init_script(
        """window.documents = Number(sessionStorage.getItem('documents')) + 1;
        sessionStorage.setItem('documents', window.documents);
        document.addEventListener('DOMContentLoaded', () => {
          for (const link of document.querySelectorAll('link[rel=modulepreload]'))
            link.dispatchEvent(new Event('error'));
        });"""
    )
    page.goto(proxy.url)
    expect_game(page)
    page.wait_for_load_state("networkidle")
    page.locator("#agl-skip").click()
    expect(page.locator(".agl-reveal")).to_be_visible()
    expect(page.locator("#agl-lost")).to_have_count(0)
    assert page.evaluate("window.documents") == 1


def test_outlines_that_never_come_are_asked_for_again(page: Page, proxy: FaultyProxy) -> None:
    page.add_init_script(HASTY)
    proxy.fail("world-coarse", HANGS, times=1)
    proxy.fail("world-coarse", answer(502), times=1)
    page.goto(proxy.url)
    eventually(lambda: len(proxy.failed("world-coarse")) == 2)
    heal(page, proxy)
    expect_game(page)
    assert len(proxy.failed("world-coarse")) == 2


# ---- a round

NOT_ARRIVED = (
    answer(429, Retry_After="1"), answer(500), answer(502), answer(503), REFUSED, UPLOAD, HANGS,
)  # fmt: skip
ARRIVED = (LOST, CUT, MUTE)


def test_a_guess_is_stored_once_whatever_happens_to_it(
    page: Page, proxy: FaultyProxy, app: FastAPI
) -> None:
    page.add_init_script(HASTY)
    before = stored(app)
    proxy.fail("/api/play/open", answer(502), times=1)
    open_game(page, proxy.url)
    others = cycle([answer(502), *ARRIVED, REFUSED, HANGS])  # of a next, and of a new round
    for number, fault in enumerate((*NOT_ARRIVED, *ARRIVED), start=1):
        drop_pin(page, 0.4 + 0.02 * number)
        proxy.fail("/api/play/guess", fault)
        page.click(SUBMIT)
        if fault in NOT_ARRIVED:
            expect_told(page)
            assert stored(app) == before + number - 1
            heal(page, proxy)
        else:
            expect(page.locator("#agl-message [role=status]")).to_have_text(WAS_STORED)
        expect(page.locator(".agl-reveal h2")).not_to_be_empty()  # without a click
        expect(alarm(page)).to_have_count(0)
        assert stored(app) == before + number
        assert proxy.failed("/api/play/guess")
        proxy.heal()
        page.evaluate("window.isPatient = false")
        proxy.fail("/api/play/next", next(others), times=2)
        page.click(NEXT)
        if number % 5 == 0:
            expect(page.locator(".agl-summary .agl-rounds tbody tr")).to_have_count(5)
            proxy.fail("/api/play/again", next(others), times=2)
            page.click(AGAIN)
        expect(page.locator(".agl-help")).to_be_visible()
        assert steps_done(page) == number % 5


def expect_told(page: Page) -> None:
    """One sentence says what became of the guess; the pin is there, and one button."""
    expect(alarm(page)).to_have_count(1)
    expect(alarm(page)).to_contain_text(NOT_STORED)
    expect(page.get_by_role("button", name=RETRY)).to_have_count(1)
    expect(page.locator("#agl-map .agl-pin-guess")).to_be_visible()
    expect(page.locator("#agl-play")).not_to_have_attribute("aria-busy", "true")


def test_a_skip_and_a_report_survive_their_lost_answers(page: Page, proxy: FaultyProxy) -> None:
    page.add_init_script(HASTY)
    open_game(page, proxy.url)
    for number, fault in enumerate([LOST, CUT, MUTE, answer(502)], start=1):
        action = "broken" if number == 2 else "skip"
        proxy.fail(f"/api/play/{action}", fault, times=2)
        page.click(f"#agl-{action}")
        expect(page.locator(".agl-reveal, .agl-help").first).to_be_visible()
        expect(page.locator(f"{NEXT}:visible")).to_be_visible()
        assert steps_done(page) == number
        page.click(NEXT)
        expect(page.locator(".agl-help")).to_be_visible()


@pytest.mark.parametrize("fault", [answer(502), CUT, HANGS], ids=["502", "cut", "hangs"])
def test_a_clip_that_does_not_come(page: Page, proxy: FaultyProxy, fault: Fault) -> None:
    page.add_init_script(HASTY)
    proxy.fail("/clip/", fault)
    page.goto(proxy.url)
    expect_game(page)
    again = page.locator(".agl-player .agl-retry")
    expect(again).to_be_visible()
    heal(page, proxy)
    again.click()
    page.wait_for_function("document.querySelector('#agl-sound audio').readyState > 2")
    expect(again).to_be_hidden()


# ---- what else can be opened


@pytest.mark.parametrize("fault", [answer(502), CUT, HANGS], ids=["502", "cut", "hangs"])
def test_panels_say_what_failed_and_can_be_tried_again(
    page: Page, proxy: FaultyProxy, fault: Fault
) -> None:
    page.add_init_script(HASTY)
    open_game(page, proxy.url)
    told = page.locator("#agl-chooser-message [role=alert]")
    for mode, path, shows in [
        ("days", "/api/play/dailies", ".agl-month .agl-day >> nth=0"),
        ("model", "/api/play/opponents", "#agl-panel-model [name=opponent] option[value='']"),
    ]:
        proxy.fail(path, fault)
        page.click(f"[data-mode={mode}]")
        expect(told).to_contain_text(NO_ANSWER)
        heal(page, proxy)
        told.locator("..").get_by_role("button", name=RETRY).click()
        expect(page.locator(shows)).to_be_attached()
        expect(told).to_have_count(0)
        page.evaluate("window.isPatient = false")


def test_a_module_that_fails_is_loaded_again(page: Page, proxy: FaultyProxy) -> None:
    open_game(page, proxy.url)
    proxy.fail("/play/versus.js", answer(502), times=2)
    page.click("[data-mode=model]")
    expect(page.locator("#agl-panel-model [name=opponent] option[value='']")).to_be_attached()
    proxy.fail("/play/calendar.js", answer(502), times=3)
    page.click("[data-mode=days]")
    told = page.locator("#agl-chooser-message [role=alert]")
    expect(told).to_contain_text("This part of the page could not be loaded.")
    told.get_by_role("button", name=RETRY).click()
    expect(page.locator(".agl-month .agl-day").first).to_be_visible()
    proxy.fail("/play/tools.js", CUT, times=3)
    page.locator("#agl-tools summary").first.click()
    expect(page.locator("#agl-tools")).to_contain_text("The tools could not be loaded.")
    for _ in range(2):
        page.locator("#agl-tools summary").first.click()
    expect(page.locator("#agl-tools")).not_to_contain_text("The tools could not be loaded.")


def test_own_rounds_can_be_tried_again(page: Page, proxy: FaultyProxy) -> None:
    page.add_init_script(HASTY)
    open_game(page, proxy.url)
    for fault in (answer(502), CUT, HANGS):
        proxy.fail("/api/play/rounds", fault)
        page.click("#agl-history summary")
        expect(page.locator("#agl-own [role=alert]")).to_contain_text(NO_ANSWER)
        heal(page, proxy)
        page.locator("#agl-own").get_by_role("button", name=RETRY).click()
        expect(page.locator("#agl-own [role=alert]")).to_have_count(0)
        expect(page.locator("#agl-own").get_by_role("button", name=RETRY)).to_have_count(0)
        page.evaluate("window.isPatient = false")
        page.click("#agl-history summary")

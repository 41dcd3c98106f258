"""A lost connection, refusals and failures in the middle of a round: nothing is lost or doubled."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
from fastapi import FastAPI
from playwright.sync_api import Locator, Page, Route, expect

import app as app_module
from tests.browser.conftest import NewPage
from tests.browser.test_play import NEXT, SUBMIT, drop_pin, open_game, steps_done
from web.settings import Settings

GUESS, STATE = "**/api/play/guess*", "**/api/play/state*"
NOT_STORED = "Your guess is not stored yet; your pin stays."
UNKNOWN = "Nobody knows yet whether your guess was stored; your pin stays."
WAS_STORED = "The connection was lost, but your guess was stored."
AGAIN = "Try again"
FULL = '{"error": "Too many players."}'

Answer = Callable[[Route], None]


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> FastAPI:
    env = {"AGL1K_DATA": str(tmp_path_factory.mktemp("f"))}
    return app_module.create_app(Settings.from_env(env))


def stored(app: FastAPI) -> int:
    n_guesses: int = app.state.services.boards["demo"].guesses.counts("demo").guesses
    return n_guesses


def alarm(page: Page) -> Locator:
    return page.locator("#agl-message [role=alert]")


def cut(route: Route) -> None:
    route.abort("connectionreset")


def answer_with(status: int, body: str = "<h1>Bad gateway</h1>", **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda route: route.fulfill(status=status, body=body, headers=named)


def lose_the_answer(route: Route) -> None:
    """The server stores the guess, but the browser never hears of it."""
    assert route.fetch().ok
    route.abort("connectionreset")


def test_a_map_that_is_not_drawn_takes_no_guess(page: Page, url: str, app: FastAPI) -> None:
    held: list[Route] = []
    page.route("**/world-coarse*", lambda route: held.append(route))
    page.goto(url)
    expect(page.locator(".agl-help")).to_be_visible()
    expect(page.locator(".agl-player")).not_to_have_attribute("data-state", "empty")
    expect(page.locator("#agl-map .leaflet-container")).to_be_visible()
    before = stored(app)
    drop_pin(page)
    page.click(SUBMIT)
    expect(alarm(page)).to_contain_text("The map is still being drawn.")
    assert held
    assert stored(app) == before
    for route in held:
        route.continue_()
    expect(page.locator("#agl-map [data-outline]")).to_be_visible()
    page.click(SUBMIT)
    expect(page.locator(".agl-reveal")).to_be_visible()
    assert stored(app) == before + 1


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (cut, "The server cannot be reached."),
        (answer_with(500, "{}"), "The server failed."),
        (answer_with(502), "The server cannot be reached."),
        (answer_with(503, FULL), "Too many players."),
        (answer_with(429), "There were too many requests from here."),
    ],
)
def test_a_guess_that_did_not_arrive_is_sent_again(
    page: Page, url: str, app: FastAPI, fault: Answer, reason: str
) -> None:
    before = stored(app)
    open_game(page, url)
    drop_pin(page)
    pin = page.locator("#agl-map .agl-map-status").inner_text()
    page.route(GUESS, fault)
    page.click(SUBMIT)
    expect(alarm(page)).to_contain_text(f"{reason} {NOT_STORED}")
    expect(page.locator("#agl-play")).not_to_have_attribute("aria-busy", "true")
    expect(page.get_by_role("button", name=AGAIN)).to_have_count(1)
    expect(page.locator("#agl-map .agl-map-status")).to_have_text(pin)
    expect(page.locator("#agl-map .agl-pin-guess")).to_be_visible()
    assert stored(app) == before
    page.unroute(GUESS)
    expect(page.locator(".agl-reveal h2")).not_to_be_empty()  # without a click
    expect(alarm(page)).to_have_count(0)
    assert stored(app) == before + 1


def test_the_button_does_not_wait_as_long_as_the_server_asks(page: Page, url: str) -> None:
    open_game(page, url)
    drop_pin(page)
    page.route(GUESS, answer_with(503, FULL, Retry_After="3600"))
    page.click(SUBMIT)
    expect(alarm(page)).to_contain_text(NOT_STORED)
    page.unroute(GUESS)
    page.get_by_role("button", name=AGAIN).click()
    expect(page.locator(".agl-reveal h2")).not_to_be_empty()


def test_a_lost_answer_is_looked_up(page: Page, url: str, app: FastAPI) -> None:
    before = stored(app)
    open_game(page, url)
    drop_pin(page)
    page.route(GUESS, lose_the_answer)
    page.click(SUBMIT)
    expect(page.locator(".agl-reveal h2")).not_to_be_empty()
    expect(page.locator("#agl-message [role=status]")).to_have_text(WAS_STORED)
    assert steps_done(page) == 1
    assert stored(app) == before + 1


def test_while_nobody_answers_the_page_says_that_it_does_not_know(
    page: Page, url: str, app: FastAPI
) -> None:
    before = stored(app)
    open_game(page, url)
    drop_pin(page)
    page.route(GUESS, lose_the_answer)
    page.route(STATE, cut)
    page.click(SUBMIT)
    expect(alarm(page)).to_contain_text(UNKNOWN)
    page.unroute(STATE)
    page.unroute(GUESS)
    expect(page.locator(".agl-reveal h2")).not_to_be_empty()  # without a click
    assert stored(app) == before + 1


def test_offline_and_back(page: Page, url: str, app: FastAPI) -> None:
    before = stored(app)
    open_game(page, url)
    drop_pin(page)
    page.context.set_offline(True)
    page.click(SUBMIT)
    expect(alarm(page)).to_contain_text(f"You are offline. {UNKNOWN}")
    page.context.set_offline(False)
    expect(page.locator(".agl-reveal h2")).not_to_be_empty()  # without a click
    assert stored(app) == before + 1


def test_another_action_takes_the_place_of_one_that_waits(page: Page, url: str) -> None:
    open_game(page, url)
    drop_pin(page)
    page.route(GUESS, answer_with(503, FULL, Retry_After="3600"))
    page.click(SUBMIT)
    expect(alarm(page)).to_contain_text(NOT_STORED)
    page.click("#agl-skip")
    expect(page.locator(".agl-reveal")).to_contain_text("You skipped this clip")
    expect(alarm(page)).to_have_count(0)


def test_the_next_clip_and_the_first_one_are_asked_for_again(page: Page, url: str) -> None:
    page.route("**/api/play/open*", answer_with(502))
    page.goto(url)
    expect(alarm(page)).to_contain_text("The page tries again by itself.")
    page.unroute("**/api/play/open*")
    expect(page.locator(".agl-player")).not_to_have_attribute("data-state", "empty")
    page.click("#agl-skip")
    expect(page.locator(".agl-reveal")).to_be_visible()
    page.route("**/api/play/next*", cut)
    page.click(NEXT)
    expect(alarm(page)).to_contain_text("The server cannot be reached.")
    page.unroute("**/api/play/next*")
    expect(page.locator(".agl-help")).to_be_visible()
    assert steps_done(page) == 1


#: Browsers let silent clips begin by themselves, and other ones on some pages only.
MAY_BEGIN = (
    "const { play } = P; P.play = function () { this.muted = true; return play.call(this); };"
)
MAY_NOT_BEGIN = "P.play = () => Promise.reject(new DOMException('no', 'NotAllowedError'));"


@pytest.mark.parametrize("policy", [MAY_BEGIN, MAY_NOT_BEGIN], ids=["may begin", "may not"])
def test_a_clip_that_never_comes_can_be_asked_for_again(page: Page, url: str, policy: str) -> None:
    page.add_init_script(f"{{ const P = HTMLMediaElement.prototype; {policy} }}")
    held: list[Route] = []
    page.route("**/clip/*", lambda route: held.append(route))
    page.goto(url)
    expect(page.locator(".agl-player")).to_contain_text("Still loading the clip")
    page.locator(".agl-player .agl-retry").click()
    page.unroute("**/clip/*")  # what is held goes on
    page.wait_for_function("document.querySelector('#agl-sound audio').readyState > 0")
    expect(page.locator(".agl-player .agl-retry")).to_be_hidden()


def test_a_clip_that_is_not_heard_takes_no_guess(page: Page, url: str, app: FastAPI) -> None:
    before = stored(app)
    page.route("**/clip/*", answer_with(404))
    page.goto(url)
    expect(page.locator(".agl-player")).to_have_attribute("data-state", "failed")
    expect(page.locator("#agl-map [data-outline]")).to_be_visible()
    drop_pin(page)
    page.click(SUBMIT)
    expect(alarm(page)).to_contain_text("The clip could not be loaded.")
    assert stored(app) == before
    page.unroute("**/clip/*")
    page.get_by_role("button", name=AGAIN).click()
    expect(page.locator(".agl-player")).not_to_have_attribute("data-state", "failed")
    page.click(SUBMIT)
    expect(page.locator(".agl-reveal")).to_be_visible()


def test_two_tabs_of_one_player(new_page: NewPage, url: str, app: FastAPI) -> None:
    before = stored(app)
    first = new_page()
    open_game(first, url)
    second = first.context.new_page()
    open_game(second, url)
    for tab in (first, second):
        drop_pin(tab)
    first.click(SUBMIT)
    expect(first.locator(".agl-reveal")).to_be_visible()
    second.click(SUBMIT)
    expect(second.locator(".agl-reveal")).to_be_visible()
    assert stored(app) == before + 1
    first.click(NEXT)
    expect(first.locator(".agl-help")).to_be_visible()
    second.click(NEXT)
    expect(second.locator(".agl-help")).to_be_visible()
    assert steps_done(first) == steps_done(second) == 1


def test_a_reload_in_every_state(page: Page, url: str) -> None:
    def reload_shows(css: str, done: int) -> None:
        expect(page.locator(css)).to_be_visible()
        page.reload()
        expect(page.locator(css)).to_be_visible()
        expect(page.locator(".agl-step.is-done")).to_have_count(done)

    open_game(page, url)
    for number in range(1, 6):
        reload_shows("#agl-skip:enabled", number - 1)
        page.click("#agl-skip")
        reload_shows(f"{NEXT}:visible", number)
        page.click(NEXT)
    reload_shows(".agl-summary", 5)
    page.click("#agl-history summary")
    expect(page.locator("#agl-history-list tbody tr")).to_have_count(1)
    page.get_by_role("button", name="Free round").click()
    page.locator("#agl-panel-free").get_by_label("Time for a clip").select_option("120 s a clip")
    page.get_by_role("button", name="Start a free round").click()
    expect(page.locator(".agl-countdown span")).to_have_text(re.compile(r"^1\d\d s$"))
    page.reload()
    expect(page.locator(".agl-countdown span")).to_have_text(re.compile(r"^1[01]\d s$"))


def entry(total: int, mode: str = "free", **changed: object) -> dict[str, object]:
    return {
        "finished_utc": "2026-03-14T10:00:00+00:00", "benchmark": "demo", "mode": mode,
        "label": "<i>", "total": total, "max_total": 25_000, "points": [], "code": str(total),
        **changed,
    }  # fmt: skip


def test_the_history_is_text_and_newest_first(page: Page, url: str) -> None:
    kept = json.dumps([entry(1000), entry(2001, "daily"), {"total": "many"}, entry(5, "<b>")])
    page.add_init_script(f"localStorage.setItem('agl1k-history', {json.dumps(kept)})")
    open_game(page, url)
    page.click("#agl-history summary")
    shown = page.locator("#agl-history-list")
    expect(shown).to_contain_text("2 rounds, best 2,001, average 1,501 points")
    expect(shown.locator("tbody tr")).to_have_text(
        [re.compile(r"^2026-03-14 10:00Daily five <i>2,001 of 25,000$"), re.compile("1,000 of")]
    )


def test_a_spoilt_history_and_an_old_player_are_replaced(page: Page, url: str) -> None:
    spoilt = {"player": "U2FsdGVkX1+old", "history": '[1, null, "<b>", {"total": 5}]'}
    page.add_init_script(
        f"for (const [name, value] of Object.entries({spoilt!r}))"
        " if (!localStorage.getItem(`agl1k-${name}`)) localStorage.setItem(`agl1k-${name}`, value);"
    )
    open_game(page, url)
    page.click("#agl-history summary")
    expect(page.locator("#agl-history-list")).to_contain_text("No finished rounds yet")
    page.click("#agl-skip")
    expect(page.locator(".agl-reveal")).to_be_visible()

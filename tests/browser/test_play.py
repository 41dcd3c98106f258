"""A round in a real Chromium: by mouse, touch and keyboard, light and dark, narrow and wide."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from fastapi import FastAPI
from playwright.sync_api import Page, Response, expect

import app as app_module
from agl1k_core import benchmarks, tagging
from agl1k_core.benchmarks import Clip, read_tags
from tests.browser.conftest import NewPage, running, unfaded
from web.settings import Settings

DEMO_TAGS = read_tags(benchmarks.read_demo().audio_dir).clips
SUBMIT, NEXT, AGAIN = "#agl-submit", "#agl-next", "#agl-again"


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> FastAPI:
    return app_module.create_app(
        Settings.from_env({"AGL1K_DATA": str(tmp_path_factory.mktemp("p"))})
    )


def open_game(page: Page, url: str) -> None:
    page.goto(url)
    expect(page.locator("#agl-map [data-outline]")).to_be_visible()
    expect(page.locator(".agl-help")).to_be_visible()
    expect(page.locator(".agl-player")).not_to_have_attribute("data-state", "empty")
    expect(page.locator("gradio-app #agl-play")).to_be_visible()  # the page is complete


def drop_pin(page: Page, across: float = 0.5, down: float = 0.5) -> None:
    """Click or tap the map at a share of its width and height."""
    world = page.locator("#agl-map .agl-world")
    world.scroll_into_view_if_needed()
    box = world.bounding_box()
    assert box is not None
    at = {"x": box["width"] * across, "y": box["height"] * down}
    if page.evaluate("matchMedia('(pointer: coarse)').matches"):
        world.tap(position=at)  # type: ignore[arg-type]
    else:
        world.click(position=at)  # type: ignore[arg-type]
    expect(page.locator("#agl-map .agl-map-status")).to_contain_text("Pin at")


def steps_done(page: Page) -> int:
    return page.locator(".agl-step.is-done").count()


def playing_clip(app: FastAPI, page: Page) -> Clip:
    fetched = page.wait_for_function(
        "() => { const names = performance.getEntriesByType('resource').map(r => r.name)"
        ".filter(n => n.includes('/clip/')); return names.length ? names : null; }"
    )
    tokens = [name.split("/clip/")[1] for name in fetched.json_value()]
    found = [app.state.services.game.resolve(name) for name in tokens]
    current = next(entry for entry in found if entry is not None)
    clip: Clip = current[0].clip(current[1])
    return clip


@pytest.mark.parametrize(
    ("width", "touch", "dark"), [(1280, False, False), (390, True, True), (390, True, False)]
)
def test_a_whole_round(new_page: NewPage, url: str, width: int, touch: bool, dark: bool) -> None:
    page = new_page(width=width, height=844, touch=touch, dark=dark)
    open_game(page, url)
    press = page.tap if touch else page.click
    for number in range(1, 6):
        drop_pin(page, 0.4 + 0.03 * number, 0.5)
        press(SUBMIT)
        expect(page.locator(".agl-reveal h2")).not_to_be_empty()
        expect(page.locator(".agl-reveal")).to_contain_text(re.compile(r"\d km"))
        assert steps_done(page) == number
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        press(NEXT)
        expect(page.locator(".agl-reveal")).to_have_count(0)
    expect(page.locator(".agl-rounds tbody tr").first).to_be_visible()
    assert page.locator(".agl-summary .agl-rounds tbody tr").count() == 5
    page.wait_for_function("document.querySelector('#agl-sound audio').paused")
    share = page.locator("#agl-share textarea")
    link = re.compile(rf"{re.escape(url)}\?challenge=[0-9A-Z-]+$")
    expect(share).to_have_value(link)
    page.reload()
    expect(share).to_have_value(link)
    press(AGAIN)
    expect(page.locator(".agl-help")).to_be_visible()
    assert steps_done(page) == 0


def test_by_keyboard_alone(page: Page, url: str) -> None:
    open_game(page, url)

    def tab_to(css: str) -> None:
        for _ in range(60):
            if page.evaluate("(css) => document.activeElement.matches(css)", css):
                return
            page.keyboard.press("Tab")
        pytest.fail(f"Tab never reaches {css}")

    for _ in range(2):
        tab_to("#agl-map .agl-world")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")
        expect(page.locator("#agl-map .agl-map-status")).to_contain_text("Pin at")
        tab_to(SUBMIT)
        page.keyboard.press("Enter")
        expect(page.locator(".agl-reveal")).to_be_visible()
        expect(page.locator(NEXT)).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.locator(".agl-help")).to_be_visible()
        expect(page.locator("#agl-sound .agl-play")).to_be_focused()
    assert steps_done(page) == 2


def test_a_reload_resumes_in_the_middle(page: Page, url: str, app: FastAPI) -> None:
    open_game(page, url)
    first = playing_clip(app, page)
    drop_pin(page, 0.3)
    page.reload()
    open_game(page, url)
    assert playing_clip(app, page) == first
    expect(page.locator("#agl-map .agl-pin-guess")).to_be_visible()
    page.click(SUBMIT)  # the pin that was dropped before the reload
    expect(page.locator(".agl-reveal")).to_be_visible()
    told = page.locator(".agl-reveal").inner_text()
    page.reload()
    expect(page.locator(".agl-reveal")).to_be_visible()
    assert page.locator(".agl-reveal").inner_text() == told
    expect(page.locator("#agl-map .agl-pin-truth")).to_be_visible()


def test_submitting_without_a_pin_says_what_to_do(page: Page, url: str) -> None:
    open_game(page, url)
    page.click(SUBMIT)
    expect(page.locator("#agl-message [role=alert]")).to_contain_text("There is no pin yet")
    drop_pin(page)
    page.click(SUBMIT)
    expect(page.locator(".agl-reveal")).to_be_visible()
    expect(page.locator("#agl-message [role=alert]")).to_have_count(0)


def test_a_double_click_counts_once(page: Page, url: str) -> None:
    open_game(page, url)
    drop_pin(page)
    page.dblclick(SUBMIT)
    expect(page.locator(".agl-reveal")).to_be_visible()
    assert steps_done(page) == 1


def test_two_players_stay_apart(new_page: NewPage, url: str, app: FastAPI) -> None:
    pages = [new_page(), new_page()]
    for page in pages:
        open_game(page, url)
    drop_pin(pages[0])
    pages[0].click(SUBMIT)
    expect(pages[0].locator(".agl-reveal")).to_be_visible()
    expect(pages[1].locator(".agl-help")).to_be_visible()
    assert steps_done(pages[1]) == 0
    tokens = [page.evaluate("localStorage.getItem('agl1k-player')") for page in pages]
    assert all(tokens)
    assert tokens[0] != tokens[1]


def test_the_truth_is_not_sent_before_the_guess(page: Page, url: str, app: FastAPI) -> None:
    seen: list[tuple[str, str]] = []

    def note(response: Response) -> None:
        headers = str(response.headers)
        is_text = any(kind in headers for kind in ("text/", "json", "javascript"))
        is_map = "/map/" in response.url
        body = response.text() if is_text and not is_map else ""
        seen.append((response.url, headers + body))

    page.on("response", note)
    open_game(page, url)
    clip = playing_clip(app, page)
    drop_pin(page)
    assert any("/clip/" in address for address, _ in seen)
    dom = page.content() + page.evaluate("JSON.stringify(localStorage)")
    for secret in (clip.key, clip.title, clip.file_name, clip.city, str(clip.lat), str(clip.lon)):
        leaks = [address for address, text in seen if secret in address or secret in text]
        assert leaks == [], secret
        assert secret not in dom, secret
    assert "by share of time" not in dom + "".join(text for _, text in seen)
    page.click(SUBMIT)
    expect(page.locator(".agl-reveal")).to_contain_text(clip.city)
    expect(page.locator(".agl-reveal")).to_contain_text("What YAMNet heard, by share of time")
    name, share = max(
        ((tagging.class_name(key), share) for key, share in DEMO_TAGS[clip.key].presence.items()),
        key=lambda pair: pair[1],
    )
    shown = page.locator(".agl-sounds li").first
    expect(shown).to_have_text(f"{name} {100 * share:.0f} %")
    expect(page.locator(".agl-reveal [role=status]")).to_contain_text(name)


def test_a_continent_of_the_demo_pack_can_be_chosen(page: Page, url: str, app: FastAPI) -> None:
    open_game(page, url)
    page.get_by_role("button", name="Free round").click()
    page.get_by_label("Continent").select_option("Oceania (4 clips)")
    page.get_by_role("button", name="Start a free round").click()
    expect(page.locator(".agl-status-mode")).to_contain_text("Oceania")
    expect(page.locator(".agl-step")).to_have_count(4)
    for _ in range(4):
        page.click("#agl-skip")
        expect(page.locator(".agl-reveal")).to_be_visible()
        page.click(NEXT)
        expect(page.locator(".agl-reveal")).to_have_count(0)
    expect(page.locator(".agl-summary-total")).to_contain_text("of 20,000 points")


def test_skip_broken_and_the_daily(page: Page, url: str) -> None:
    open_game(page, url)
    page.click("#agl-skip")
    expect(page.locator(".agl-reveal")).to_contain_text("You skipped this clip")
    page.click(NEXT)
    page.click("#agl-broken")
    expect(page.locator(".agl-reveal")).to_contain_text("does not count")
    page.get_by_role("button", name="Calendar").click()
    expect(page.locator("#agl-streak")).to_contain_text("No streak yet")
    today = page.locator(".agl-day[aria-current=date]")
    expect(today).to_have_accessible_name(re.compile(r"^\w+day \d+ \w+: not played yet$"))
    today.click()
    expect(page.locator(".agl-status-mode")).to_contain_text("Daily five of")
    expect(today).to_be_hidden()
    assert steps_done(page) == 0
    expect(page.locator("#agl-daily")).to_contain_text("Today’s five: go on")
    page.get_by_role("button", name="Calendar").click()
    expect(today).to_have_accessible_name(re.compile(": started$"))


def test_an_impossible_round_is_explained_beside_its_button(page: Page, url: str) -> None:
    open_game(page, url)
    page.get_by_role("button", name="Challenge").click()
    page.get_by_label("Challenge code or link").fill("nonsense")
    page.get_by_role("button", name="Play the challenge").click()
    alert = page.locator("#agl-chooser-message [role=alert]")
    expect(alert).to_contain_text("not a challenge code")
    page.get_by_role("button", name="Free round").click()
    start = page.get_by_role("button", name="Start a free round")
    start.click()
    expect(start).to_be_hidden()
    expect(alert).to_have_count(0)


def test_on_a_phone_the_buttons_stay_in_sight(new_page: NewPage, url: str) -> None:
    page = new_page(width=390, height=844, touch=True)
    open_game(page, url)
    for scrolled in (0, 300):
        page.evaluate("(y) => scrollTo(0, y)", scrolled)
        box = page.locator(SUBMIT).bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= 844
        assert box["x"] >= 0
    page.tap(SUBMIT)
    alert = page.locator("#agl-message [role=alert]")
    expect(alert).to_be_in_viewport(ratio=1)
    drop_pin(page)
    page.tap(SUBMIT)
    expect(page.locator(".agl-reveal h2")).to_be_in_viewport()


def test_submit_stands_out_once_there_is_a_pin(page: Page, url: str) -> None:
    open_game(page, url)
    look = "(button) => getComputedStyle(button).backgroundColor"
    before = page.locator(SUBMIT).evaluate(look)
    drop_pin(page)
    page.mouse.move(0, 0)
    assert page.locator(SUBMIT).evaluate(look) != before


def test_nothing_jumps_while_the_page_loads(page: Page, url: str) -> None:
    page.add_init_script(
        "window.shifted = 0; new PerformanceObserver((list) => { for (const entry of "
        "list.getEntries()) window.shifted += entry.value; })"
        ".observe({ type: 'layout-shift', buffered: true });"
    )
    open_game(page, url)
    for part in ("#agl-sound", "#agl-map", "#agl-result"):
        expect(page.locator(part)).to_be_visible()
    assert page.evaluate("window.shifted") < 0.05


def test_a_slow_answer_shows_progress(page: Page, url: str) -> None:
    open_game(page, url)
    slow = page.context.new_cdp_session(page)
    slow.send("Network.enable")
    slow.send(
        "Network.emulateNetworkConditions",
        {"offline": False, "latency": 1500, "downloadThroughput": -1, "uploadThroughput": -1},
    )
    page.click("#agl-skip")
    expect(page.locator("#agl-play")).to_have_attribute("aria-busy", "true")
    expect(page.locator(".agl-reveal")).to_be_visible()
    expect(page.locator("#agl-play")).not_to_have_attribute("aria-busy", "true")


def test_a_link_leaves_the_address_once_its_round_is_open(new_page: NewPage, url: str) -> None:
    """Otherwise, a reload would bring back the challenge instead of the next round."""
    ann, friend = new_page(), new_page()
    open_game(ann, url)
    for _ in range(5):
        ann.click("#agl-skip")
        ann.click(NEXT)
        expect(ann.locator(".agl-reveal")).to_have_count(0)
    link = ann.locator("#agl-share textarea").input_value().split()[-1]
    open_game(friend, link)
    expect(friend.locator("#agl-status")).to_contain_text("Your challenger reached 0 of 25,000")
    expect(friend).to_have_url(url)
    friend.reload()
    expect(friend.locator("#agl-status")).to_contain_text("Your challenger reached 0 of 25,000")


def test_a_timer_counts_down(page: Page, url: str) -> None:
    open_game(page, url)
    expect(page.locator(".agl-countdown")).to_be_hidden()
    page.get_by_role("button", name="Free round").click()
    page.locator("#agl-panel-free").get_by_label("Time for a clip").select_option("30 s a clip")
    page.get_by_role("button", name="Start a free round").click()
    expect(page.locator(".agl-countdown span")).to_have_text(re.compile(r"^(30|29|28) s$"))
    expect(page.locator(".agl-countdown span")).to_have_text(re.compile(r"^2[0-6] s$"))


def test_a_link_opens_its_tab(page: Page, url: str) -> None:
    page.goto(f"{url}?tab=about")
    expect(page.get_by_role("heading", name="What is AGL1K?")).to_be_visible()


def test_the_address_follows_the_tabs(page: Page, url: str) -> None:
    open_game(page, url)
    page.get_by_role("tab", name="About").click()
    expect(page).to_have_url(re.compile(r"[?&]tab=about$"))
    page.reload()
    expect(page.get_by_role("heading", name="What is AGL1K?")).to_be_visible()
    page.wait_for_load_state("networkidle")
    page.get_by_role("tab", name="Play").click()
    expect(page).to_have_url(re.compile(r"[?&]tab=play$"))


def serious(page: Page) -> list[dict[str, Any]]:
    found = Axe().run(unfaded(page)).response["violations"]
    kept = ("id", "impact", "help")
    return [
        {name: entry[name] for name in kept} | {"nodes": [n["html"][:200] for n in entry["nodes"]]}
        for entry in found
        if entry["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize("dark", [False, True])
def test_axe_finds_nothing_serious(new_page: NewPage, url: str, dark: bool) -> None:
    page = new_page(dark=dark)
    open_game(page, url)
    assert serious(page) == []
    drop_pin(page)
    page.click(SUBMIT)
    expect(page.locator(".agl-reveal")).to_be_visible()
    assert serious(page) == []
    for mode in ("Calendar", "Free round", "Challenge"):
        page.get_by_role("button", name=mode).first.click()
        expect(page.locator("#agl-panels")).to_be_visible()
        assert serious(page) == []


@pytest.mark.parametrize("tab", ["leaderboard", "submit", "about"])
def test_axe_on_the_other_tabs(new_page: NewPage, url: str, tab: str) -> None:
    page = new_page()
    page.goto(f"{url}?tab={tab}")
    expect(page.get_by_role("tab", name=tab.capitalize())).to_have_attribute(
        "aria-selected", "true"
    )
    page.wait_for_load_state("networkidle")
    assert serious(page) == []


def test_behind_a_prefix(tmp_path: Path, page: Page) -> None:
    """The app behind a proxy, under a path."""
    settings = Settings.from_env({"AGL1K_DATA": str(tmp_path), "AGL1K_ROOT_PATH": "/arena"})
    outer = FastAPI()
    inner = app_module.create_app(settings)
    outer.mount("/arena", inner)
    with running(outer) as address:
        open_game(page, f"{address}arena/")
        drop_pin(page)
        page.click(SUBMIT)
        expect(page.locator(".agl-reveal")).to_be_visible()

"""A round of `agl1k wander play` in a real browser: mouse, touch, keyboard."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from numpy.typing import NDArray
from PIL import Image
from playwright.sync_api import Locator, Page, expect

from game.wander_page import create_app
from game.wandering import Wandering, read_answers
from tests.browser.conftest import unfaded
from tests.support.panoramas import POSTS, write_set
from tests.support.waiting import eventually

Serve = Callable[[Any], str]
NewPage = Callable[..., Page]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_set(tmp_path / "set")


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    return tmp_path / "answers.jsonl"


def opened(page: Page, url: str) -> Page:
    page.goto(url)
    expect(page.locator("#agl-status")).to_contain_text("Place 1 of 2")
    expect(note(page)).to_contain_text("Looking")
    return page


def note(page: Page) -> Locator:
    return page.locator(".agl-pano-note")


def way(page: Page, direction: str) -> Locator:
    return page.locator(".agl-pano-ways").get_by_role("button", name=f"Go {direction}", exact=True)


def pixels(page: Page) -> NDArray[np.float64]:
    """The picture, without what lies on it."""
    style = page.add_style_tag(content=".agl-pano-arrow, .agl-pano-turn { opacity: 0 }")
    shot = page.locator(".agl-pano-picture").screenshot()
    style.evaluate("style => style.remove()")
    return np.asarray(Image.open(io.BytesIO(shot)).convert("RGB"), float)


def post_at(page: Page, bearing: int) -> float:
    """The column in which a post stands at the horizon, in pixels of the picture."""
    picture = pixels(page)
    row = picture[len(picture) // 2]
    near = np.abs(row - POSTS[bearing]).max(axis=-1) < 45
    assert near.any(), f"the post at {bearing} is not in view"
    return float(np.flatnonzero(near).mean())


def middle_of(page: Page, name: str) -> float:
    box = page.locator(f".agl-pano-arrow[data-way={name}]").bounding_box()
    frame = page.locator(".agl-pano-picture").bounding_box()
    assert box is not None
    assert frame is not None
    return box["x"] + box["width"] / 2 - frame["x"]


def violations(page: Page) -> list[str]:
    found = Axe().run(unfaded(page)).response["violations"]
    return [one["id"] for one in found if one["impact"] in ("serious", "critical")]


def test_a_round_is_played_with_the_mouse(
    folder: Path, answers: Path, serve: Serve, new_page: NewPage
) -> None:
    told: list[str] = []
    page = new_page(reduced_motion="reduce")
    page.on("response", lambda response: told.append(body_of(response)))
    opened(page, serve(create_app(Wandering(folder, answers))))
    assert violations(page) == []
    turn_left = page.get_by_role("button", name="Turn left by 45 degrees")
    turn_left.click()
    expect(note(page)).to_have_text("Looking north-east")  # 75 - 45
    assert middle_of(page, "red") == pytest.approx(post_at(page, 20), abs=3)
    page.get_by_role("button", name="Turn right by 45 degrees").click()
    expect(note(page)).to_have_text("Looking east")
    assert post_at(page, 110) > 400, "what is to the right is not in the right half"
    turn_left.click()
    expect(note(page)).to_have_text("Looking north-east")
    page.locator(".agl-pano-arrow[data-way=red]").click()
    expect(page.locator("#agl-status")).to_contain_text("2 moves left")
    # one goes on looking to 30 degrees, and so both panoramas show the same post
    expect(way(page, "south")).to_be_visible()
    expect(note(page)).to_have_text("Looking north-east")
    assert middle_of(page, "red") == pytest.approx(post_at(page, 20), abs=3) or middle_of(
        page, "blue"
    ) == pytest.approx(post_at(page, 20), abs=3)
    page.get_by_role("button", name="Guess here").click()
    expect(page.locator(".agl-area-message.block")).to_contain_text("Drop a pin on the map first")
    page.get_by_role("button", name="Back to the start").click()
    expect(page.locator("#agl-status")).to_contain_text("1 move left")
    way(page, "north").click()
    expect(page.locator("#agl-status")).to_contain_text("No step left but the guess.")
    expect(page.locator(".agl-pano-arrow")).to_have_count(0)
    expect(page.get_by_role("button", name="Back to the start")).to_be_disabled()
    assert not re.search(r"48\.85|g0a|graph-0|Paris|SECRETTOWN", "".join(told))
    page.locator("#agl-map .leaflet-container").click(position={"x": 240, "y": 120})
    page.get_by_role("button", name="Guess here").click()
    expect(page.locator("#agl-result")).to_contain_text("from your guess, score")
    expect(page.locator("#agl-result")).to_contain_text("France")
    expect(page.locator("#agl-map .agl-pin-truth")).to_be_visible()
    (stored,) = read_answers(answers)
    assert [step["action"] for step in stored["steps"]] == ["move", "back", "move"]
    assert violations(page) == []
    page.get_by_role("button", name="Next place").click()
    expect(page.locator("#agl-status")).to_contain_text("Place 2 of 2")
    expect(page.locator("#agl-map .agl-pin")).to_have_count(0)
    expect(page.locator("#agl-result")).not_to_contain_text("score")


def body_of(response: Any) -> str:
    """What a response of the page's own tells; pictures and scripts left out."""
    kind = response.headers.get("content-type", "")
    if "/static/" in response.url or "/assets/" in response.url or "image/" in kind:
        return str(response.url)
    try:
        return f"{response.url} {response.text()}"
    except Exception:  # a stream that is still open, or a redirect
        return str(response.url)


@pytest.mark.parametrize(("width", "dark"), [(390, True), (320, False)])
def test_a_round_is_played_by_touch(
    folder: Path, answers: Path, serve: Serve, new_page: NewPage, width: int, dark: bool
) -> None:
    page = new_page(width=width, height=700, touch=True, dark=dark, reduced_motion="reduce")
    opened(page, serve(create_app(Wandering(folder, answers, max_steps=3))))
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert violations(page) == []
    page.get_by_role("button", name="Turn left by 45 degrees").tap()
    expect(note(page)).to_have_text("Looking north-east")
    page.locator(".agl-pano-arrow[data-way=red]").tap()
    expect(page.locator("#agl-status")).to_contain_text("1 move left")
    way(page, "south").tap()
    expect(page.locator("#agl-status")).to_contain_text("No step left but the guess.")
    page.locator("#agl-map .leaflet-container").tap(position={"x": 150, "y": 90})
    page.get_by_role("button", name="Guess here").tap()
    expect(page.locator("#agl-result")).to_contain_text("from your guess, score")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert len(read_answers(answers)) == 1


def test_a_round_is_played_with_the_keyboard(
    folder: Path, answers: Path, serve: Serve, new_page: NewPage
) -> None:
    page = opened(new_page(reduced_motion="reduce"), serve(create_app(Wandering(folder, answers))))
    picture = page.get_by_role("application", name="Panorama. Arrow keys turn the view")
    picture.focus()
    expect(note(page)).to_have_text("Looking east")
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    expect(note(page)).to_have_text("Looking south-east")  # 75 + 40
    for _ in range(12):
        page.keyboard.press("ArrowLeft")
    expect(note(page)).to_have_text("Looking north")  # 355
    for key in ("ArrowUp", "+", "+", "-", "ArrowDown"):
        page.keyboard.press(key)
    assert middle_of(page, "red") == pytest.approx(post_at(page, 20), abs=3)
    for _ in range(8):  # to the first way
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.dataset.way") == "red":
            break
    page.keyboard.press("Enter")
    expect(page.locator("#agl-status")).to_contain_text("2 moves left")
    assert page.evaluate("document.activeElement.closest('.agl-pano-ways') !== null")
    page.locator("#agl-map .leaflet-container").focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(page.locator("#agl-map .agl-pin-guess")).to_be_visible()
    page.get_by_role("button", name="Guess here").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#agl-result")).to_contain_text("from your guess, score")
    eventually(lambda: len(read_answers(answers)) == 1)


def test_a_reload_keeps_the_walk_and_two_pages_share_it(
    folder: Path, answers: Path, serve: Serve, new_page: NewPage
) -> None:
    url = serve(create_app(Wandering(folder, answers)))
    page, other = opened(new_page(), url), opened(new_page(), url)
    way(page, "north").click()
    expect(page.locator("#agl-status")).to_contain_text("2 moves left")
    way(other, "north").click()
    expect(other.locator(".agl-area-message.block")).to_contain_text("This page was behind.")
    expect(other.locator("#agl-status")).to_contain_text("2 moves left")
    page.reload()
    expect(page.locator("#agl-status")).to_contain_text("2 moves left")
    expect(way(page, "south")).to_be_visible()


def test_a_broken_panorama_is_told_and_the_guess_still_possible(
    folder: Path, answers: Path, serve: Serve, new_page: NewPage
) -> None:
    (folder / "g0b.jpg").write_bytes(b"no picture")
    page = opened(new_page(), serve(create_app(Wandering(folder, answers))))
    way(page, "north").click()
    expect(note(page)).to_contain_text("The panorama could not be shown")
    expect(note(page)).to_be_visible()
    way(page, "south").click()
    expect(note(page)).to_contain_text("Looking")
    expect(page.locator("#agl-status")).to_contain_text("1 move left")

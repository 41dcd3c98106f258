"""The page in another site's frame, as a Space is by default, where the browser denies storage."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.responses import HTMLResponse
from playwright.sync_api import BrowserContext, FrameLocator, expect, sync_playwright

import app as app_module
from tests.browser.conftest import FLAGS, PATIENCE_MS, running
from web.settings import Settings

N_LOADS = 10
_BLOCKING = {"profile": {"block_third_party_cookies": True, "cookie_controls_mode": 1}}
_DENIED = """() => {
  try { return localStorage.length; } catch (error) { return error.name; }
}"""


@pytest.fixture
def context(tmp_path: Path) -> Iterator[BrowserContext]:
    """A Chromium that denies storage to frames of other sites."""
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("chromium is not installed (apt-get install chromium)")
    profile = tmp_path / "profile" / "Default"
    profile.mkdir(parents=True)
    (profile / "Preferences").write_text(json.dumps(_BLOCKING))
    with sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            profile.parent, executable_path=chromium, args=FLAGS
        )
        context.set_default_timeout(PATIENCE_MS)
        yield context
        context.close()


def embedding(url: str) -> FastAPI:
    """Another site's page with ours in a frame."""
    app = FastAPI()

    @app.get("/", response_class=HTMLResponse)
    def page() -> str:
        frame = f"<iframe src='{url}' width=1200 height=900></iframe>"
        return f"<!doctype html><title>Other</title><link rel=icon href='data:,'>{frame}"

    return app


def test_ten_of_ten_loads_reach_a_clip(context: BrowserContext, tmp_path: Path) -> None:
    env = {"AGL1K_DATA": str(tmp_path / "data"), "AGL1K_FRAMES": "http://localhost:*"}
    app = app_module.create_app(Settings.from_env(env))
    errors: list[str] = []
    context.on("weberror", lambda error: errors.append(str(error.error)))
    with running(app) as url, running(embedding(url)) as other:
        for number in range(N_LOADS):
            page = context.new_page()
            page.goto(other.replace("127.0.0.1", "localhost"))
            frame = page.frame_locator("iframe")
            expect(frame.locator(".agl-player")).not_to_have_attribute("data-state", "empty")
            expect(frame.locator("#agl-map [data-outline]")).to_be_visible()
            expect(frame.locator("#agl-forgetful")).to_be_visible()
            assert page.frames[1].evaluate(_DENIED) == "SecurityError"
            if number == 0:
                visit_the_other_tabs(frame)
                play_a_round(frame)
            page.close()
    assert errors == []


def play_a_round(frame: FrameLocator) -> None:
    """What is kept in memory suffices for a whole round and its history."""
    for number in range(1, 6):
        frame.locator("#agl-skip").click()
        expect(frame.locator(".agl-step.is-done")).to_have_count(number)
        frame.locator("#agl-next").click()
        expect(frame.locator(".agl-reveal")).to_have_count(0)
    frame.locator("#agl-history summary").click()
    expect(frame.locator("#agl-history-list tbody tr")).to_have_count(1)


def visit_the_other_tabs(frame: FrameLocator) -> None:
    frame.get_by_role("tab", name="Leaderboard").click()
    expect(frame.locator(".agl-board").first).to_be_visible()
    frame.get_by_role("tab", name="About").click()
    expect(frame.get_by_text("Your player id in this browser")).to_be_visible()
    frame.get_by_role("tab", name="Play").click()
    expect(frame.locator("#agl-skip")).to_be_visible()

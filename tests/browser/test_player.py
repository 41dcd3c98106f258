"""The clip player in a real browser: playing, seeking, remembering, and what goes wrong."""

from __future__ import annotations

import math
import re
import struct
import wave
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gradio as gr
import pytest
from axe_playwright_python.sync_playwright import Axe
from fastapi import FastAPI
from fastapi.responses import FileResponse
from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.conftest import unfaded
from ui.player import ClipPlayer, clip_value
from web.static import mount_static

DURATION_S = 20
PEAKS = [abs(math.sin(i / 9)) for i in range(200)]


def write_tone(path: Path) -> None:
    rate = 8000
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        samples = (int(9000 * math.sin(i / 5)) for i in range(DURATION_S * rate))
        file.writeframes(b"".join(struct.pack("<h", sample) for sample in samples))


def make_app(tone: Path) -> FastAPI:
    quiet: dict[str, Any] = {"queue": False, "show_progress": "hidden"}
    with gr.Blocks(analytics_enabled=False) as blocks:
        first = clip_value("clip/first", PEAKS, DURATION_S, "Clip 1 of 5")
        second = clip_value("clip/second", PEAKS[::-1], DURATION_S, "Clip 2 of 5")
        player = ClipPlayer(first, elem_id="player", next_url="clip/second")
        gr.Button("Next", elem_id="next").click(
            lambda: gr.update(value=second, next_url="clip/third"), None, player, **quiet
        )
        gr.Button("None", elem_id="none").click(
            lambda: gr.update(value=None), None, player, **quiet
        )
    app = FastAPI()
    mount_static(app)

    @app.get("/clip/{token}")
    def clip(token: str) -> FileResponse:
        headers = {"Cache-Control": "private, max-age=3600"}
        return FileResponse(tone, media_type="audio/wav", headers=headers)

    gr.mount_gradio_app(app, blocks, path="/", ssr_mode=False)
    return app


@pytest.fixture(scope="module")
def url(serve_module: Callable[[Any], str], tmp_path_factory: pytest.TempPathFactory) -> str:
    tone = tmp_path_factory.mktemp("sound") / "tone.wav"
    write_tone(tone)
    return serve_module(make_app(tone))


def opened(page: Page, url: str) -> Locator:
    """Open the page; return the player once it knows the duration of its clip."""
    page.goto(url)
    player = page.locator("#player .agl-player")
    page.wait_for_function("document.querySelector('#player audio')?.readyState > 0")
    return player


def sound(page: Page, what: str) -> Any:
    return page.evaluate(f"document.querySelector('#player audio').{what}")


def wait_for(page: Page, condition: str) -> None:
    audio = "const audio = document.querySelector('#player audio');"
    page.wait_for_function(f"(() => {{ {audio} return {condition}; }})()")


def state(player: Locator, name: str) -> None:
    expect(player).to_have_attribute("data-state", name)


def test_play_and_pause(page: Page, url: str) -> None:
    player = opened(page, url)
    expect(player.locator(".agl-note")).to_have_text("Press play to hear the clip.")
    expect(player.locator(".agl-time")).to_have_text("0:00 / 0:20")
    expect(player).to_have_attribute("aria-label", "Clip 1 of 5")
    page.get_by_role("button", name="Play").click()
    state(player, "playing")
    wait_for(page, "audio.currentTime > 0.2")
    expect(player.locator(".agl-note")).to_have_text("")
    page.get_by_role("button", name="Pause").click()
    state(player, "ready")
    assert sound(page, "paused")


def test_seek_by_click_and_drag(page: Page, url: str) -> None:
    player = opened(page, url)
    slider = player.get_by_role("slider", name="Position")
    box = slider.bounding_box()
    assert box
    y = box["y"] + box["height"] / 2
    page.mouse.click(box["x"] + box["width"] * 0.5, y)
    wait_for(page, "Math.abs(audio.currentTime - 10) < 0.2")
    expect(slider).to_have_attribute("aria-valuetext", re.compile(r"^(9|10) of 20 seconds$"))
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.6, y)
    page.mouse.move(box["x"] + box["width"] * 0.75, y + 200)
    page.mouse.up()
    wait_for(page, "Math.abs(audio.currentTime - 15) < 0.2")
    page.mouse.move(box["x"], y)
    wait_for(page, "Math.abs(audio.currentTime - 15) < 0.2")


@pytest.mark.parametrize(
    ("keys", "at_s"),
    [
        (["ArrowRight", "ArrowRight", "ArrowLeft"], 2),
        (["PageUp", "ArrowUp", "ArrowDown"], 10),
        (["End"], 20),
        (["End", "PageDown"], 10),
        (["PageUp", "Home"], 0),
        (["ArrowLeft"], 0),
    ],
)
def test_seek_by_keyboard(page: Page, url: str, keys: list[str], at_s: float) -> None:
    player = opened(page, url)
    player.get_by_role("slider", name="Position").focus()
    for key in keys:
        page.keyboard.press(key)
    wait_for(page, f"Math.abs(audio.currentTime - {at_s}) < 0.1")


def test_space_toggles(page: Page, url: str) -> None:
    player = opened(page, url)
    player.get_by_role("slider", name="Position").focus()
    page.keyboard.press("Space")
    state(player, "playing")
    page.keyboard.press("Space")
    state(player, "ready")


def test_back_to_the_start(page: Page, url: str) -> None:
    player = opened(page, url)
    player.get_by_role("slider", name="Position").focus()
    page.keyboard.press("PageUp")
    wait_for(page, "audio.currentTime > 9")
    page.get_by_role("button", name="Back to the start").click()
    state(player, "playing")
    wait_for(page, "audio.currentTime < 9")


def test_volume_is_remembered(page: Page, url: str) -> None:
    player = opened(page, url)
    player.get_by_role("slider", name="Volume").fill("0.3")
    page.get_by_role("button", name="Mute").click()
    expect(page.get_by_role("button", name="Mute")).to_have_attribute("aria-pressed", "true")
    page.reload()
    opened(page, url)
    assert sound(page, "volume") == pytest.approx(0.3)
    assert sound(page, "muted")


def test_a_new_value_plays_and_the_next_is_fetched_ahead(page: Page, url: str) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url.removeprefix(url)))
    with page.expect_request("**/clip/second"):
        player = opened(page, url)
    with page.expect_request("**/clip/third"):
        page.click("#next")
        state(player, "playing")
    expect(player).to_have_attribute("aria-label", "Clip 2 of 5")
    assert sound(page, "src").endswith("clip/second")
    clips = [address for address in asked if address.startswith("clip/")]
    assert clips[0] == "clip/first"
    assert clips.index("clip/second") < clips.index("clip/third")


def test_the_sound_goes_on_while_other_things_change(page: Page, url: str) -> None:
    opened(page, url)
    page.get_by_role("button", name="Play").click()
    wait_for(page, "audio.currentTime > 0.2")
    page.evaluate("document.body.classList.add('dark')")
    wait_for(page, "audio.currentTime > 0.6 && !audio.paused")


def test_no_clip(page: Page, url: str) -> None:
    player = opened(page, url)
    page.click("#none")
    state(player, "empty")
    expect(page.get_by_role("button", name="Play")).to_be_disabled()
    page.click("#next")
    state(player, "playing")


def test_blocked_autoplay_is_explained(page: Page, url: str) -> None:
    page.add_init_script(
        "HTMLMediaElement.prototype.play = () =>"
        " Promise.reject(new DOMException('no gesture', 'NotAllowedError'));"
    )
    player = opened(page, url)
    page.click("#next")
    expect(player).to_have_attribute("aria-label", "Clip 2 of 5")
    expect(player.locator(".agl-note")).to_have_text("Press play to hear the clip.")
    state(player, "ready")


def test_a_clip_that_fails_is_explained_and_can_be_retried(page: Page, url: str) -> None:
    player = opened(page, url)
    away = True

    def clip(route: Route) -> None:
        if away:
            route.fulfill(status=404)
        else:
            route.continue_()

    page.route("**/clip/second", clip)
    page.click("#next")
    state(player, "failed")
    expect(player.locator(".agl-note")).to_have_text(
        "The clip could not be loaded. Check the connection, then try again."
    )
    away = False
    page.get_by_role("button", name="Try again").click()
    state(player, "playing")
    expect(page.get_by_role("button", name="Try again")).to_be_hidden()


def test_a_device_without_sound_is_told_from_a_lost_connection(page: Page, url: str) -> None:
    player = opened(page, url)
    page.locator("audio").evaluate(  # as Firefox does without a sound card
        """(audio) => {
          Object.defineProperty(audio, 'error', { value: { code: MediaError.MEDIA_ERR_DECODE } });
          audio.dispatchEvent(new Event('error'));
        }"""
    )
    expect(player.locator(".agl-note")).to_contain_text("Check the sound output of this device")
    expect(page.get_by_role("button", name="Try again")).to_be_visible()


def test_a_player_that_cannot_load_says_so(page: Page, url: str) -> None:
    page.route("**/player.js*", lambda route: route.abort())
    page.goto(url)
    expect(page.locator("#player .agl-note")).to_have_text(
        "The player could not be loaded. Reload the page to try again."
    )


@pytest.mark.parametrize("width", [390, 320, 1280])
def test_controls_fit_and_are_large_enough(new_page: Any, url: str, width: int) -> None:
    page = new_page(width=width, height=800, touch=width < 600)
    player = opened(page, url)
    frame = player.bounding_box()
    assert frame
    controls = player.locator("button:visible, .agl-wave, input:visible")
    assert controls.count() == (
        4 if width == 320 else 5
    )  # no room for the volume: the device has it
    for control in controls.all():
        box = control.bounding_box()
        assert box
        assert box["height"] >= 44
        assert box["width"] >= 40
        assert box["x"] >= frame["x"]
        assert box["x"] + box["width"] <= frame["x"] + frame["width"]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_serious(page: Page, url: str, theme: str) -> None:
    opened(page, f"{url}?__theme={theme}")
    found = Axe().run(unfaded(page), context="#player").response["violations"]
    serious = [(v["id"], v["nodes"]) for v in found if v["impact"] in ("serious", "critical")]
    assert not serious

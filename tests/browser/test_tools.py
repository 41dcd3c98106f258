"""The tools for listening closely, measured in a real Chromium on a clip with known tones."""

from __future__ import annotations

import io
import math
import re
import wave
from typing import Any

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from fastapi import FastAPI
from playwright.sync_api import Page, Route, expect

import app as app_module
from tests.browser.conftest import NewPage, unfaded
from web.settings import Settings

RATE_HZ = 44100
DURATION_S = 12
#: The first half of the clip, and the second one.
TONES_HZ = (1000, 4000)
ROWS, TOP_HZ = 128, 16000
PANEL = "#agl-tools [data-part=controls]"


def two_tones() -> bytes:
    times = np.arange(DURATION_S * RATE_HZ // 2) / RATE_HZ
    tones = np.concatenate([np.sin(2 * np.pi * hz * times) for hz in TONES_HZ])
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(RATE_HZ)
        sound.writeframes((8000 * tones).astype("<i2").tobytes())
    return file.getvalue()


SOUND = two_tones()


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> FastAPI:
    folder = tmp_path_factory.mktemp("tools")
    return app_module.create_app(Settings.from_env({"AGL1K_DATA": str(folder)}))


def play_tones(page: Page, unreadable: bool = False) -> None:
    """Answer requests for clips with the known sound; ``unreadable``: scripts get no sound."""

    def answer(route: Route) -> None:
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", route.request.headers.get("range", ""))
        content = (
            b"no sound" * 99 if unreadable and route.request.resource_type == "fetch" else SOUND
        )
        headers = {"Content-Type": "audio/wav", "Accept-Ranges": "bytes"}
        if not asked:
            return route.fulfill(body=content, headers=headers)
        first, last = int(asked[1]), int(asked[2] or len(content) - 1)
        headers["Content-Range"] = f"bytes {first}-{last}/{len(content)}"
        return route.fulfill(status=206, body=content[first : last + 1], headers=headers)

    page.route("**/clip/**", answer)


def open_game(page: Page, url: str) -> None:
    page.goto(url)
    page.wait_for_function("document.querySelector('#agl-sound audio')?.readyState > 2")
    expect(page.locator("#agl-map [data-outline]")).to_be_visible()


def open_tools(page: Page, url: str) -> None:
    open_game(page, url)
    page.locator("#agl-tools summary").click()
    expect(page.locator(PANEL)).to_be_visible()


def part(page: Page, name: str) -> Any:
    return page.locator(f"#agl-tools [data-part={name}]")


def sound(page: Page, what: str) -> Any:
    return page.evaluate(f"document.querySelector('#agl-sound audio').{what}")


def play(page: Page) -> None:
    page.evaluate("document.querySelector('#agl-sound audio').play()")


def pause_at(page: Page, seconds: float) -> None:
    page.evaluate(
        """(seconds) => {
            const audio = document.querySelector('#agl-sound audio');
            audio.pause();
            audio.currentTime = seconds;
        }""",
        seconds,
    )


def loop_ends(page: Page) -> tuple[float, float]:
    handles = [
        page.get_by_role("slider", name=f"{end} of the loop") for end in ("Beginning", "End")
    ]
    first, last = (float(handle.get_attribute("aria-valuenow") or "nan") for handle in handles)
    return first, last


def positions(page: Page, wraps: int) -> list[float]:
    """Where the playing clip is, frame by frame, until it has gone back so many times."""
    found: list[float] = page.evaluate(
        """(wraps) => new Promise((done) => {
            const audio = document.querySelector('#agl-sound audio'), seen = [];
            const look = () => {
                const now = audio.currentTime;
                if (seen.length && now < seen.at(-1) - 0.1) wraps -= 1;
                seen.push(now);
                if (wraps) requestAnimationFrame(look); else done(seen);
            };
            look();
        })""",
        wraps,
    )
    return found


def test_nothing_of_the_tools_is_loaded_or_opened_before_they_are_asked_for(
    page: Page, url: str
) -> None:
    page.add_init_script(
        "window.contexts = 0; const Context = AudioContext;"
        "window.AudioContext = class extends Context { constructor() { super(); contexts += 1; } };"
    )
    play_tones(page)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url.rsplit("/", 1)[-1]))
    open_game(page, url)
    assert "tools-door.js" in asked
    assert not {"tools.js", "tools.css", "tools-spectrum.js"} & set(asked)
    page.locator("#agl-tools summary").click()
    expect(page.locator(PANEL)).to_be_visible()
    assert {"tools.js", "tools.css"} <= set(asked)
    part(page, "spectrogram").click()
    expect(page.locator("#agl-picture-words")).to_contain_text("Nine tenths")
    assert page.evaluate("contexts") == 0, "the picture needs no context that plays"
    part(page, "band").select_option("300 3400")
    assert page.evaluate("contexts") == 1


def test_a_part_is_looped_and_chosen_by_keyboard(page: Page, url: str) -> None:
    play_tones(page)
    open_tools(page, url)
    pause_at(page, 3)
    part(page, "loop").press("Enter")
    expect(part(page, "loop")).to_have_attribute("aria-pressed", "true")
    assert loop_ends(page) == pytest.approx((3, 8), abs=0.2)
    first, last = (
        page.get_by_role("slider", name=f"{end} of the loop") for end in ("Beginning", "End")
    )
    last.press("Home")
    assert loop_ends(page)[1] == pytest.approx(loop_ends(page)[0] + 0.2, abs=0.06)
    for key, times in (("PageUp", 1), ("ArrowRight", 3)):
        for _ in range(times):
            last.press(key)
    first.press("ArrowLeft")
    start, end = loop_ends(page)
    assert end - start == pytest.approx(1.6, abs=0.11)
    play(page)
    seen = positions(page, wraps=3)
    inside = [now for now in seen if now > start - 0.3]  # before, it played elsewhere
    assert min(inside) >= start - 0.06
    assert max(seen) <= end + 0.1
    part(page, "loop").press("Enter")
    expect(page.locator(".agl-loop")).to_be_hidden()
    page.wait_for_function(
        "(end) => document.querySelector('#agl-sound audio').currentTime > end + 0.2", arg=end
    )


def test_a_part_is_drawn_by_dragging_and_a_click_seeks(page: Page, url: str) -> None:
    play_tones(page)
    open_tools(page, url)
    part(page, "loop").click()
    part(page, "spectrogram").click()
    expect(page.locator("#agl-picture-words")).to_contain_text("Nine tenths")
    for surface in (page.locator(".agl-loop"), page.locator(".agl-picture-image")):
        surface.evaluate("e => e.scrollIntoView({ block: 'center' })")  # clear of the buttons
        box = surface.bounding_box()
        assert box is not None
        middle = box["y"] + box["height"] / 2
        page.mouse.move(box["x"] + box["width"] * 0.9, middle)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] * 0.6, middle, steps=5)
        page.mouse.up()
        assert loop_ends(page) == pytest.approx((0.6 * DURATION_S, 0.9 * DURATION_S), abs=0.3)
        page.mouse.click(box["x"] + box["width"] * 0.75, middle)
        page.wait_for_function(
            "Math.abs(document.querySelector('#agl-sound audio').currentTime - 9) < 1.5"
        )
        page.get_by_role("slider", name="Beginning of the loop").press("Home")
        page.get_by_role("slider", name="End of the loop").press("Home")


def test_a_loop_to_the_very_end_goes_on(page: Page, url: str) -> None:
    play_tones(page)
    open_tools(page, url)
    pause_at(page, 8)
    part(page, "loop").click()
    page.get_by_role("slider", name="End of the loop").press("End")
    for _ in range(4):
        page.get_by_role("slider", name="Beginning of the loop").press("PageUp")
    start, end = loop_ends(page)
    assert end == pytest.approx(DURATION_S, abs=0.1)
    play(page)
    seen = positions(page, wraps=2)
    assert max(seen) > end - 0.3
    assert not sound(page, "paused")
    assert sound(page, "currentTime") >= start - 0.06


def test_slower_at_the_same_pitch_until_the_next_clip(page: Page, url: str) -> None:
    play_tones(page)
    open_tools(page, url)
    part(page, "rate").select_option("0.5")
    assert (sound(page, "playbackRate"), sound(page, "preservesPitch")) == (0.5, True)
    expect(part(page, "now")).to_have_text("0.5 ×")
    page.evaluate("document.querySelector('#agl-sound audio').load()")  # as "Try again" does
    page.wait_for_function("document.querySelector('#agl-sound audio').readyState > 2")
    assert sound(page, "playbackRate") == 0.5
    page.click("#agl-skip")
    page.click("#agl-next")
    expect(page.locator(".agl-player")).to_have_attribute("aria-label", "Clip 2 of 5")
    page.wait_for_function("document.querySelector('#agl-sound audio').playbackRate === 1")
    expect(part(page, "rate")).to_have_value("1")
    expect(part(page, "now")).to_have_text("")


def test_the_filters_of_the_playing_clip(page: Page, url: str) -> None:
    page.add_init_script(
        "window.filters = []; const Filter = BiquadFilterNode; window.BiquadFilterNode ="
        " class extends Filter { constructor(...a) { super(...a); filters.push(this); } };"
    )
    play_tones(page)
    open_tools(page, url)
    part(page, "band").select_option("2000 8000")
    edges = "filters.map(({ type, frequency }) => `${type} ${frequency.value}`)"
    assert page.evaluate(edges) == ["highpass 2000"] * 3 + ["lowpass 8000"] * 3
    assert (part(page, "low").input_value(), part(page, "high").input_value()) == ("2000", "8000")
    part(page, "low").fill("500")
    part(page, "low").press("Enter")
    assert page.evaluate(edges) == ["highpass 500"] * 3 + ["lowpass 8000"] * 3
    expect(part(page, "band")).to_have_value("own")
    part(page, "high").fill("510")
    part(page, "high").press("Tab")
    expect(part(page, "note")).to_contain_text("at least 1.1 times the lower one")
    expect(part(page, "high")).to_have_attribute("aria-invalid", "true")
    assert page.evaluate(edges) == ["highpass 500"] * 3 + ["lowpass 8000"] * 3
    part(page, "reset").click()
    expect(part(page, "note")).to_be_empty()
    expect(part(page, "now")).to_have_text("")
    play(page)
    page.wait_for_function("document.querySelector('#agl-sound audio').currentTime > 0.3")


RENDER = """async ({ band, boost_db, hz, level_db }) => {
    const { name } = performance.getEntriesByType('resource')
        .find((entry) => entry.name.endsWith('/tools-sound.js'));
    const { Chain } = await import(name);
    const context = new OfflineAudioContext(1, 44100, 44100);
    const source = new OscillatorNode(context, { frequency: hz });
    const level = new GainNode(context, { gain: 10 ** (level_db / 20) });
    source.connect(level);
    const chain = new Chain(context);
    chain.hear(level);
    chain.set(band, boost_db);
    source.start();
    const heard = (await context.startRendering()).getChannelData(0).subarray(22050);
    return Math.max(...heard.map(Math.abs));
}"""


def rendered_db(
    page: Page, hz: float, level_db: float, band: Any = None, boost_db: int = 0
) -> float:
    """The peak of a tone behind the filters and the limiter, in dB of full scale."""
    wanted = {"band": band, "boost_db": boost_db, "hz": hz, "level_db": level_db}
    return 20 * math.log10(max(1e-9, page.evaluate(RENDER, wanted)))


def test_what_filters_and_boost_do_to_tones(page: Page, url: str) -> None:
    play_tones(page)
    open_tools(page, url)
    voices = {"low": 300, "high": 3400}
    assert rendered_db(page, 1000, -20) == pytest.approx(-20, abs=0.1)
    assert rendered_db(page, 1000, -20, voices) == pytest.approx(-20, abs=0.3)
    assert rendered_db(page, 300, -20, voices) == pytest.approx(-23, abs=0.5)
    assert rendered_db(page, 3400, -20, voices) == pytest.approx(-23, abs=0.5)
    assert rendered_db(page, 75, -20, voices) < -20 - 65
    assert rendered_db(page, 13600, -20, voices) < -20 - 65
    for boost_db in (10, 20, 30):
        assert rendered_db(page, 1000, -50, None, boost_db) == pytest.approx(-50 + boost_db, abs=1)
    assert rendered_db(page, 1000, -3, None, 40) <= -1 + 0.01
    assert rendered_db(page, 75, -50, voices, 20) < -50 + 20 - 60


def mel(hz: float) -> float:
    return 2595 * math.log10(1 + hz / 700)


def test_the_spectrogram_of_known_tones(page: Page, url: str) -> None:
    play_tones(page)
    open_tools(page, url)
    part(page, "spectrogram").click()
    words = page.locator("#agl-picture-words")
    expect(words).to_contain_text(re.compile("Nine tenths of the sound lie between .* and .*kHz"))
    rows: dict[str, Any] = page.evaluate(
        """() => {
            const { width, height } = document.querySelector('.agl-picture canvas');
            const drawn = document.querySelector('.agl-picture canvas').getContext('2d');
            const brightest = (x) => {
                const { data } = drawn.getImageData(x, 0, 1, height);
                const light = Array.from({ length: height }, (_, y) => data[4 * y]);
                return height - 1 - light.indexOf(Math.max(...light));
            };
            return { height, width, early: brightest(width >> 2), late: brightest(3 * width >> 2) };
        }"""
    )
    assert (rows["height"], rows["width"] > 800) == (ROWS, True)
    for found, hz in zip((rows["early"], rows["late"]), TONES_HZ, strict=True):
        assert abs(found + 0.5 - ROWS * mel(hz) / mel(TOP_HZ)) <= 1
    axis = page.locator(".agl-picture-hz span")
    assert axis.all_inner_texts() == ["100 Hz", "500 Hz", *(f"{n} kHz" for n in (1, 2, 4, 8, 16))]
    times = page.locator(".agl-picture-s span").all_inner_texts()
    assert times == [f"{n} s" for n in range(0, 13, 2)]
    pause_at(page, 5)
    picture = page.get_by_role("slider", name="Position in the spectrogram")
    picture.press("Home")
    picture.press("ArrowRight")
    expect(picture).to_have_attribute(
        "aria-valuetext",
        "2 of 12 seconds, loudest near 990 Hz",  # the middle of the row
    )
    for _ in range(3):
        picture.press("ArrowRight")
    expect(picture).to_have_attribute("aria-valuetext", "8 of 12 seconds, loudest near 4 kHz")


def test_a_sound_that_cannot_be_read_still_plays(page: Page, url: str) -> None:
    play_tones(page, unreadable=True)
    open_tools(page, url)
    part(page, "spectrogram").click()
    expect(part(page, "note")).to_contain_text("the browser could not read the sound")
    expect(part(page, "picture")).to_be_hidden()
    expect(part(page, "spectrogram")).to_have_attribute("aria-pressed", "false")
    play(page)
    page.wait_for_function("document.querySelector('#agl-sound audio').currentTime > 0.3")


def test_without_web_audio_loop_and_speed_work(page: Page, url: str) -> None:
    page.add_init_script("delete window.AudioContext; delete window.OfflineAudioContext;")
    play_tones(page)
    open_tools(page, url)
    expect(part(page, "note")).to_contain_text("neither filter nor draw")
    for name in ("spectrogram", "boost", "band", "low", "high"):
        expect(part(page, name)).to_be_disabled()
    part(page, "rate").select_option("0.75")
    part(page, "loop").click()
    expect(part(page, "now")).to_have_text(re.compile(r"loop .* s · 0\.75 ×"))
    play(page)
    page.wait_for_function("document.querySelector('#agl-sound audio').currentTime > 0.3")


def test_a_sound_that_cannot_be_filtered_still_plays(page: Page, url: str) -> None:
    page.add_init_script(
        "AudioContext.prototype.createMediaElementSource = () => { throw new Error('no'); };"
    )
    play_tones(page)
    open_tools(page, url)
    part(page, "boost").select_option("20")
    expect(part(page, "note")).to_contain_text("cannot be filtered or made louder here")
    expect(part(page, "boost")).to_be_disabled()
    expect(part(page, "now")).to_be_empty()
    play(page)
    page.wait_for_function("document.querySelector('#agl-sound audio').currentTime > 0.3")
    assert page.evaluate("localStorage['agl1k-tools'] ?? null") is None


@pytest.mark.parametrize(("width", "dark"), [(1366, False), (390, True), (320, False)])
def test_accessibility(new_page: NewPage, url: str, width: int, dark: bool) -> None:
    page = new_page(width=width, height=844, dark=dark)
    play_tones(page)
    open_tools(page, url)
    part(page, "loop").click()
    part(page, "spectrogram").click()
    expect(page.locator("#agl-picture-words")).to_contain_text("Nine tenths")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for place in ("#agl-sound", "#agl-tools"):
        found = Axe().run(unfaded(page), place)
        assert not found.response["violations"], found.generate_report()
    for control in page.locator(f"{PANEL} :is(button, select, input), .agl-loop-handle").all():
        box = control.bounding_box()
        assert box is not None
        assert min(box["width"], box["height"]) >= 24


def drop_pin(page: Page) -> None:
    page.locator("#agl-map .agl-world").click(position={"x": 200, "y": 200})
    expect(page.locator("#agl-map .agl-map-status")).to_contain_text("Pin at")


def test_what_was_used_is_stored_with_the_answer(page: Page, app: FastAPI, url: str) -> None:
    open_tools(page, url)  # with the clip's own sound
    part(page, "rate").select_option("0.75")
    play(page)
    page.wait_for_function("localStorage['agl1k-tools']?.includes('slow')")
    part(page, "rate").select_option("1")
    part(page, "spectrogram").click()
    page.wait_for_function("localStorage['agl1k-tools']?.includes('spectrogram')")
    part(page, "spectrogram").click()
    page.reload()
    expect(page.locator(".agl-player")).not_to_have_attribute("data-state", "empty")
    expect(page.locator("#agl-map [data-outline]")).to_be_visible()
    drop_pin(page)
    page.click("#agl-submit")
    page.click("#agl-next")
    expect(page.locator(".agl-player")).to_have_attribute("aria-label", "Clip 2 of 5")
    page.click("#agl-skip")
    expect(page.locator("#agl-next")).to_be_visible()
    stored = app.state.services.guesses.of_benchmark("demo")
    assert [(guess.action, guess.tools) for guess in stored][-2:] == [
        ("guess", "slow,spectrogram"),
        ("skip", ""),
    ]

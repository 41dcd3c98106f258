"""The world map in a real browser: dropping pins, commands, colours, tabs."""

from __future__ import annotations

import itertools
import json
import math
import re
from typing import Any

import gradio as gr
import pytest
from axe_playwright_python.sync_playwright import Axe
from fastapi import FastAPI
from playwright.sync_api import Locator, Page, Route, expect
from starlette.types import ASGIApp, Receive, Scope, Send

from agl1k_core.errors import Agl1kError
from tests.support.waiting import eventually
from ui.model_guess import ModelGuess
from ui.worldmap import (
    Command,
    MapPoint,
    RoundShown,
    WorldMap,
    parse_pin,
    points_command,
    reset_command,
    restore_command,
    reveal_command,
    summary_command,
)
from web.static import mount_static

#: The first view shows latitudes from -56 to 72 and 364 degrees of longitude around this one.
HOME_LONGITUDE = 10
FIJI, ALASKA = (-18.0, 178.0), (64.8, -147.7)
HIDDEN = "hidden"  # of show_progress

COMMANDS: dict[str, Command] = {
    "reveal": reveal_command(
        guess=FIJI,
        truth=ALASKA,
        label="Fairbanks <b>US</b>",
        line=[FIJI, (30.0, 192.0), (64.8, 212.3)],
        models=[ModelGuess("Model <i>A</i>", 61.2, -149.9, 414.4)],
        text="You were 9,500 km off.",
    ),
    "skipped": reveal_command(guess=None, truth=ALASKA, label="Fairbanks"),
    "near": reveal_command(
        guess=(46.9, 7.4), truth=(46.95, 7.45), label="Bern", around=(45, 5, 49, 11)
    ),
    "summary": summary_command(
        [
            RoundShown(1, FIJI, ALASKA, "Fairbanks", [FIJI, (64.8, 212.3)]),
            RoundShown(2, (52.5, 13.4), (48.1, 11.6), "Munich"),
            RoundShown(3, None, (-33.0, -70.0), "Santiago"),
        ]
    ),
    "points": points_command(
        [
            MapPoint(lat, lon, lat + 5, lon + 9, f"Clip at {lat}, {lon}", (lat + 60) / 130)
            for lat in range(-60, 70, 3)
            for lon in range(-180, 180, 11)
        ]
    ),
}


def read_pin(value: str | None) -> str:
    """What the server sees of the pin."""
    try:
        pin = parse_pin(value)
    except Agl1kError as error:
        return str(error)
    return json.dumps({"pin": pin, "read": next(_READ)})


_READ = itertools.count(1)


def make_app(root_path: str | None = None) -> FastAPI:
    """A page with a map to guess on, and a second one in a tab that is hidden at first."""
    quiet: dict[str, Any] = {"queue": False, "show_progress": HIDDEN}
    with gr.Blocks(analytics_enabled=False) as blocks:
        with gr.Tab("Play"):
            world = WorldMap(elem_id="world", label="World map to guess on")
            seen = gr.Textbox(elem_id="seen", label="Seen")
            gr.Button("Read", elem_id="read").click(read_pin, world, seen, **quiet)
            gr.Button("Reset", elem_id="reset").click(
                lambda: gr.update(cmd=reset_command()), None, world, **quiet
            )
            gr.Button("Restore", elem_id="restore").click(
                lambda: gr.update(cmd=restore_command((10, 20), locked=True)), None, world, **quiet
            )
            for name in ("reveal", "skipped", "near", "summary"):
                gr.Button(name, elem_id=name).click(
                    lambda name=name: gr.update(cmd=COMMANDS[name]), None, world, **quiet
                )
        with gr.Tab("Board"):
            board = WorldMap(elem_id="board", readonly=True, label="Error map")
            gr.Button("points", elem_id="points").click(
                lambda: gr.update(cmd=COMMANDS["points"]), None, board, **quiet
            )
    app = FastAPI()
    mount_static(app)
    gr.mount_gradio_app(app, blocks, path="/", ssr_mode=False, root_path=root_path)
    return app


@pytest.fixture(scope="module")
def url(serve_module: Any) -> str:
    address: str = serve_module(make_app())
    return address


def drawn(page: Page, url: str, where: str = "#world") -> Locator:
    """Open the page; return the map once its fine outline is drawn."""
    page.goto(url)
    return wait_drawn(page, where)


def wait_drawn(page: Page, where: str = "#world") -> Locator:
    page.wait_for_selector(f'{where} [data-outline="world-fine.json"]')
    return page.locator(f"{where} .agl-world")


def pin_seen(page: Page) -> Any:
    """The pin as the server reads it, in latitude and longitude."""
    box = page.locator("#seen textarea")
    before = box.input_value()
    page.click("#read")
    expect(box).not_to_have_value(before)
    return json.loads(box.input_value())["pin"]


def centre(locator: Locator) -> tuple[float, float]:
    box = locator.bounding_box()
    assert box
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def degrees_per_px(world: Locator) -> float:
    """Degrees of longitude in a pixel of the first view, which has room for all of it."""
    box = world.bounding_box()
    assert box
    tall = sum(math.asinh(math.tan(math.radians(latitude))) for latitude in (56, 72))
    return max(364 / box["width"], math.degrees(tall) / box["height"])


def foot(locator: Locator) -> tuple[float, float]:
    """The tip of a guess pin on the screen."""
    box = locator.bounding_box()
    assert box
    return box["x"] + box["width"] / 2, box["y"] + box["height"]


def still(page: Page, locator: Locator) -> None:
    """Wait until something no longer moves on the screen."""
    before = None
    for _ in range(1000):
        now = locator.bounding_box()
        if now == before:
            return
        before = now
        page.wait_for_timeout(120)
    pytest.fail("the map never stops moving")


def at_rest(page: Page) -> None:
    """Wait until the map neither pans nor zooms; a zoom begins with the next frame."""
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    expect(page.locator("#world").locator(".leaflet-pan-anim, .leaflet-zoom-anim")).to_have_count(0)


# ---- dropping the pin


def test_click_drops_the_pin_without_asking_the_server(page: Page, url: str) -> None:
    world = drawn(page, url)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    x, y = centre(world)
    page.mouse.click(x + 100, y - 40)
    pin = page.locator("#world .agl-pin-guess")
    expect(pin).to_have_count(1)
    assert foot(pin) == pytest.approx((x + 100, y - 40), abs=2)
    page.wait_for_timeout(300)
    assert not asked
    latitude, longitude = pin_seen(page)
    assert longitude == pytest.approx(HOME_LONGITUDE + 100 * degrees_per_px(world), abs=0.5)
    assert 18 < latitude < 45
    status = page.locator("#world .agl-map-status")
    expect(status).to_have_text(
        re.compile(rf"^Pin at {latitude:.1f}° N, {longitude:.1f}° E, [\d,]+ km from \w+")
    )


def test_tap_drops_the_pin_and_controls_are_large(new_page: Any, url: str) -> None:
    page = new_page(width=390, height=844, touch=True)
    world = drawn(page, url)
    box = world.bounding_box()
    assert box
    assert box["width"] <= 390
    zoom = page.locator("#world .leaflet-control-zoom-in").bounding_box()
    assert zoom
    assert min(zoom["width"], zoom["height"]) >= 44
    world.tap(position={"x": 150, "y": 200})
    expect(page.locator("#world .agl-pin-guess")).to_have_count(1)
    assert len(pin_seen(page)) == 2


def test_keyboard_alone_drops_the_pin(page: Page, url: str) -> None:
    world = drawn(page, url)
    cross = page.locator("#world .agl-map-cross")
    expect(cross).to_be_hidden()
    for _ in range(30):
        page.keyboard.press("Tab")
        if world.evaluate("node => node === document.activeElement"):
            break
    expect(cross).to_be_visible()
    page.keyboard.press("ArrowRight")
    at_rest(page)
    expect(page.locator("#world .agl-map-status")).to_have_text(re.compile("^Crosshair at"))
    page.keyboard.press("+")
    at_rest(page)
    page.keyboard.press("Enter")
    pin = page.locator("#world .agl-pin-guess")
    expect(pin).to_have_count(1)
    assert foot(pin) == pytest.approx(centre(world), abs=2)
    panned = HOME_LONGITUDE + 80 * degrees_per_px(world)
    assert pin_seen(page)[1] == pytest.approx(panned, abs=1)


def test_clicking_shows_no_crosshair(page: Page, url: str) -> None:
    world = drawn(page, url)
    world.click(position={"x": 300, "y": 200})
    expect(page.locator("#world .agl-map-cross")).to_be_hidden()


def test_drag_moves_the_pin(page: Page, url: str) -> None:
    world = drawn(page, url)
    x, y = centre(world)
    page.mouse.click(x, y)
    first = pin_seen(page)
    page.click("#reset")
    expect(page.locator("#world .agl-pin-guess")).to_have_count(0)
    page.mouse.click(x, y)
    page.mouse.move(x, y - 20)
    page.mouse.down()
    page.mouse.move(x + 60, y + 20, steps=5)
    page.mouse.move(x + 120, y + 40, steps=5)
    page.mouse.up()
    second = pin_seen(page)
    assert second[1] - first[1] == pytest.approx(120 * degrees_per_px(world), abs=1.5)
    assert second[0] < first[0]


def test_longitudes_are_wrapped(page: Page, url: str) -> None:
    world = drawn(page, url)
    x, y = centre(world)
    for _ in range(2):  # together 1,040 px: around the world
        page.mouse.move(x + 260, y)
        page.mouse.down()
        page.mouse.move(x, y, steps=4)
        page.mouse.move(x - 260, y, steps=4)
        page.wait_for_timeout(300)  # no swing
        page.mouse.up()
        page.wait_for_timeout(300)
    page.mouse.click(x, y)
    pin = page.locator("#world .agl-pin-guess")
    assert foot(pin) == pytest.approx((x, y), abs=2)
    unwrapped = HOME_LONGITUDE + 1040 * degrees_per_px(world)
    assert unwrapped > 370
    assert pin_seen(page)[1] == pytest.approx(unwrapped - 360, abs=2)


def test_the_pin_follows_the_player_around_the_world(page: Page, url: str) -> None:
    world = drawn(page, url)
    x, y = centre(world)
    page.mouse.click(x + 200, y)
    for _ in range(2):
        page.mouse.move(x + 300, y + 50)
        page.mouse.down()
        page.mouse.move(x - 212, y + 50, steps=6)
        page.wait_for_timeout(300)
        page.mouse.up()
        page.wait_for_timeout(300)
    assert foot(page.locator("#world .agl-pin-guess")) == pytest.approx((x + 200, y), abs=12)


def test_there_is_no_pin_at_first_and_after_a_reset(page: Page, url: str) -> None:
    world = drawn(page, url)
    assert pin_seen(page) is None
    world.click(position={"x": 300, "y": 200})
    assert pin_seen(page) is not None
    page.click("#reset")
    expect(page.locator("#world .agl-pin")).to_have_count(0)
    assert pin_seen(page) is None


# ---- commands from Python


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_reveal_goes_the_short_way_over_the_date_line(new_page: Any, url: str, motion: str) -> None:
    page = new_page(reduced_motion=motion)
    world = drawn(page, url)
    page.click("#reveal")
    guess, truth = (page.locator(f"#world .agl-pin-{kind}") for kind in ("guess", "truth"))
    expect(truth).to_have_count(1)
    still(page, truth)
    frame = world.bounding_box()
    boxes = [pin.bounding_box() for pin in (guess, truth)]
    line = page.locator("#world path.agl-line").bounding_box()
    assert frame
    assert line
    world_px = 360 / degrees_per_px(world)  # in the first view; a reveal is not much wider
    assert line["width"] <= world_px / 2
    for box in boxes:
        assert box
        assert frame["x"] < box["x"] < frame["x"] + frame["width"]
        assert frame["y"] < box["y"] < frame["y"] + frame["height"]
    assert boxes[0]
    assert boxes[1]
    assert 0 < boxes[1]["x"] - boxes[0]["x"] < world_px / 2  # Alaska is east of Fiji
    expect(page.locator("#world .agl-map-status")).to_have_text("You were 9,500 km off.")
    expect(page.locator("#world .agl-tip")).to_have_text("Fairbanks <b>US</b>")


def test_after_the_reveal_no_pin_can_be_dropped(page: Page, url: str) -> None:
    world = drawn(page, url)
    page.click("#reveal")
    expect(page.locator("#world .agl-pin-truth")).to_have_count(1)
    still(page, page.locator("#world .agl-pin-truth"))
    before = page.locator("#world .agl-pin-guess").bounding_box()
    world.click(position={"x": 200, "y": 400})
    assert page.locator("#world .agl-pin-guess").bounding_box() == before
    page.click("#reset")
    world.click(position={"x": 200, "y": 300})
    expect(page.locator("#world .agl-pin-guess")).to_have_count(1)
    expect(page.locator("#world .agl-pin-truth")).to_have_count(0)


def test_models_are_named_on_demand(page: Page, url: str) -> None:
    drawn(page, url)
    page.click("#reveal")
    model = page.locator("#world .agl-pin-model")
    still(page, model)
    model.focus()
    expect(page.get_by_text("Model <i>A</i>: 414 km away", exact=True)).to_be_visible()
    assert model.get_attribute("aria-label") == "Model <i>A</i>: 414 km away"


def test_a_skipped_round_shows_only_the_truth(page: Page, url: str) -> None:
    drawn(page, url)
    page.click("#skipped")
    expect(page.locator("#world .agl-pin-truth")).to_have_count(1)
    expect(page.locator("#world .agl-pin-guess")).to_have_count(0)
    expect(page.locator("#world path.agl-line")).to_have_count(0)


def test_summary_numbers_all_rounds(page: Page, url: str) -> None:
    drawn(page, url)
    page.click("#summary")
    expect(page.locator("#world .agl-pin-truth text")).to_have_text(["1", "2", "3"])
    expect(page.locator("#world .agl-pin-guess text")).to_have_text(["1", "2"])
    expect(page.locator("#world path.agl-line")).to_have_count(2)


def test_a_reveal_comes_no_closer_than_the_country(page: Page, url: str) -> None:
    world = drawn(page, url)
    page.click("#near")
    guess, truth = (page.locator(f"#world .agl-pin-{kind}") for kind in ("guess", "truth"))
    still(page, truth)
    frame, a, b = (found.bounding_box() for found in (world, guess, truth))
    assert frame
    assert a
    assert b
    apart = abs(b["x"] + 6 - a["x"] - 15)  # of the pins' tips, 0.05 degrees of longitude
    assert 6 / 0.05 * apart <= frame["width"]  # six degrees fit
    assert 4 / 0.05 * apart * 1.5 <= 1.2 * frame["height"]


def test_the_summary_shows_all_pins_on_one_world(page: Page, url: str) -> None:
    """The first round goes over the date line: its line leaves at one edge, enters at the other."""
    world = drawn(page, url)
    world_px = 360 / degrees_per_px(world)
    page.click("#summary")
    expect(page.locator("#world .agl-pin")).to_have_count(5)
    still(page, page.locator("#world .agl-pin-truth").first)
    frame = world.bounding_box()
    assert frame
    at = [pin.bounding_box() for pin in page.locator("#world .agl-pin").all()]
    assert all(box and frame["x"] < box["x"] < frame["x"] + frame["width"] for box in at)
    fiji, alaska = (
        page.locator(f"#world .agl-pin-{kind}").first.bounding_box() for kind in ("guess", "truth")
    )
    assert fiji
    assert alaska
    assert fiji["x"] - alaska["x"] > 0.8 * world_px  # Fiji in the east, Alaska in the west


def test_restore_puts_the_pin_back_and_locks(page: Page, url: str) -> None:
    world = drawn(page, url)
    page.click("#restore")
    expect(page.locator("#world .agl-pin-guess")).to_have_count(1)
    world.click(position={"x": 200, "y": 100})
    assert pin_seen(page) == [10, 20]


# ---- the page around it


def test_the_map_is_built_only_once(page: Page, url: str) -> None:
    world = drawn(page, url)
    world.evaluate("node => { node.marked = true; }")
    world.click(position={"x": 300, "y": 200})
    page.get_by_role("tab", name="Board").click()
    expect(world).to_be_hidden()
    page.get_by_role("tab", name="Play").click()
    page.click("#reveal")
    page.click("#reset")
    assert world.evaluate("node => node.marked")


def test_a_map_in_a_hidden_tab_is_drawn_when_shown(page: Page, url: str) -> None:
    drawn(page, url)
    page.get_by_role("tab", name="Board").click()
    board = wait_drawn(page, "#board")
    page.click("#points")
    box = board.bounding_box()
    assert box
    assert box["width"] > 800
    assert box["height"] >= 320
    tiles = page.locator("#board .leaflet-tile").evaluate_all(
        "nodes => nodes.map(n => n.getBoundingClientRect()).map(r => [r.left, r.right])"
    )
    assert min(left for left, _ in tiles) <= box["x"]
    assert max(right for _, right in tiles) >= box["x"] + box["width"]
    page.wait_for_selector("#board .leaflet-overlay-pane canvas")
    page.wait_for_function(INK, arg="#board .leaflet-overlay-pane canvas")
    board.click(position={"x": 300, "y": 200})
    expect(page.locator("#board .agl-pin")).to_have_count(0)


INK = """selector => {
  const canvas = document.querySelector(selector);
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  return data.some((value, i) => i % 4 === 3 && value > 0);
}"""


def land_colour(page: Page) -> list[int]:
    """The colour painted at the middle of the map, which is in the Sahara."""
    colour: list[int] = page.locator("#world .agl-world").evaluate(
        """node => {
          const { left, top, width, height } = node.getBoundingClientRect();
          const [x, y] = [left + width / 2, top + height / 2];
          for (const tile of node.querySelectorAll('canvas.leaflet-tile')) {
            const box = tile.getBoundingClientRect();
            if (x < box.left || x >= box.right || y < box.top || y >= box.bottom) continue;
            const scale = tile.width / box.width;
            const at = [(x - box.left) * scale, (y - box.top) * scale];
            return [...tile.getContext('2d').getImageData(...at, 1, 1).data];
          }
          return [];
        }"""
    )
    return colour


def test_colours_follow_the_dark_switch_at_once(page: Page, url: str) -> None:
    drawn(page, url)
    light = land_colour(page)
    page.evaluate("document.body.classList.add('dark')")
    eventually(lambda: land_colour(page) != light)
    dark = land_colour(page)
    page.evaluate("document.body.classList.remove('dark')")
    eventually(lambda: land_colour(page) == light)
    assert light[3] == dark[3] == 255
    assert sum(light[:3]) > 600 > 300 > sum(dark[:3])


@pytest.mark.parametrize(("width", "height"), [(1280, 900), (390, 844)])
def test_room_is_reserved_before_the_map_loads(
    new_page: Any, url: str, page_errors: list[str], width: int, height: int
) -> None:
    page = new_page(width=width, height=height)
    page.route("**/worldmap.js*", lambda route: route.abort())
    page.goto(url)
    frame = page.locator("#world .agl-map")
    expect(frame.locator(".agl-map-status")).to_have_text(
        "The map could not be loaded. Reload the page to try again."
    )
    box = frame.bounding_box()
    assert box
    assert box["height"] == pytest.approx(0.55 * height, abs=2)


def test_a_failed_outline_is_requested_again(page: Page, url: str) -> None:
    failed: list[str] = []

    def fail_once(route: Route) -> None:
        if failed:
            route.continue_()
        else:
            failed.append(route.request.url)
            route.abort()

    page.route("**/world-coarse.json", fail_once)
    drawn(page, url)
    assert failed


def test_behind_a_proxy_with_a_prefix(page: Page, serve: Any) -> None:
    inner = make_app("/arena")

    async def proxy(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            assert scope["path"].startswith("/arena/"), scope["path"]
            path = scope["path"].removeprefix("/arena")
            scope = {**scope, "path": path, "raw_path": path.encode()}
        await inner(scope, receive, send)

    app: ASGIApp = proxy
    world = drawn(page, serve(app) + "arena/")
    world.click(position={"x": 300, "y": 200})
    assert len(pin_seen(page)) == 2


@pytest.mark.parametrize("dark", [False, True])
def test_axe_finds_nothing_serious(new_page: Any, url: str, dark: bool) -> None:
    page = new_page(dark=dark)
    drawn(page, url + ("?__theme=dark" if dark else "?__theme=light"))
    page.click("#reveal")
    still(page, page.locator("#world .agl-pin-truth"))
    found = Axe().run(page, context="#world").response["violations"]
    serious = [(v["id"], v["nodes"]) for v in found if v["impact"] in ("serious", "critical")]
    assert not serious

"""The slow line is as slow as it says, and what arrives over it is counted."""

from __future__ import annotations

import shutil
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from fastapi import FastAPI
from fastapi.responses import HTMLResponse
from playwright.sync_api import sync_playwright

from perf import slow_link
from perf.first_load import FLAGS
from tests.support.faulty_proxy import Link, faulty_proxy
from tests.support.hostile_server import hostile_server
from tests.support.served import served
from tests.support.waiting import PATIENCE_S

SIZE, DOWN_BYTES_S, WAY_S = 20_000, 100_000, 0.05


def test_connections_share_the_line_and_nothing_is_changed() -> None:
    body = bytes(range(250)) * (SIZE // 250)
    with hostile_server() as server, faulty_proxy(server.url, Link(DOWN_BYTES_S, WAY_S)) as proxy:
        server.put("/clip/a", body)

        def get(_: int) -> bytes:
            return httpx.get(f"{proxy.url}/clip/a", timeout=PATIENCE_S).content

        began = time.monotonic()
        with ThreadPoolExecutor(3) as pool:
            got = [*pool.map(get, range(3))]
        took_s = time.monotonic() - began
    assert got == [body] * 3
    assert took_s >= 3 * SIZE / DOWN_BYTES_S + 3 * WAY_S
    assert sum(packet.size for packet in proxy.delivered) > 3 * SIZE
    assert {packet.path for packet in proxy.delivered} == {"/clip/a"}


@pytest.fixture
def toy_page() -> FastAPI:
    app = FastAPI()

    @app.get("/")
    def page() -> HTMLResponse:
        return HTMLResponse("""
            <div id="agl-map"><div class="leaflet-container" style="height: 300px"></div></div>
            <div id="agl-sound"><i></i></div>
            <script type="module">
              const map = document.querySelector('.leaflet-container');
              map.dataset.outline = (await (await fetch('map/world')).text()).length;
              map.onclick = () => {
                map.innerHTML = '<i class="agl-pin-guess"></i>';
                const sound = Object.assign(document.createElement('audio'), { src: 'none' });
                Object.defineProperty(sound, 'readyState', { value: 3 });
                document.querySelector('#agl-sound').append(sound);
              };
            </script>""")

    @app.get("/map/world")
    def world() -> str:
        return "x" * 30_000

    return app


def test_a_visit_tells_when_each_thing_was_there_and_what_had_arrived(toy_page: FastAPI) -> None:
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("chromium is not installed (apt-get install chromium)")
    with served(toy_page) as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        seen = slow_link.visit(browser, url, Link(100_000, 0.05))
        browser.close()
    assert 30_000 / 100_000 < seen.seconds["outline"] <= seen.seconds["map"]
    assert seen.seconds["map"] <= seen.seconds["sound"]
    assert seen.kilobytes("map", ["/map/"]) == pytest.approx(30, rel=0.05)
    assert seen.kilobytes("sound") > seen.kilobytes("map", ["/map/"])

"""The page behind a proxy that removes the path under which it serves the app."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

import app as app_module
from tests.browser.conftest import NewPage, Serve
from web.settings import Settings


class Proxy:
    """Serves an app under ``/arena``, and nothing elsewhere."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            if scope["path"].split("/")[1] != "arena":
                await PlainTextResponse("Not here", 404)(scope, receive, send)
                return
            path = scope["path"].removeprefix("/arena") or "/"
            scope = {**scope, "path": path, "raw_path": path.encode()}
        await self.app(scope, receive, send)


@pytest.mark.parametrize("address", ["arena", "arena?tab=about", "arena/"])
def test_the_page_loads_with_and_without_the_final_slash(
    serve: Serve, new_page: NewPage, tmp_path: Path, address: str
) -> None:
    env = {"AGL1K_DATA": str(tmp_path), "AGL1K_ROOT_PATH": "/arena"}
    url = serve(Proxy(app_module.create_app(Settings.from_env(env))))
    page = new_page()
    page.goto(url + address)
    expect(page.locator("#agl-tabs")).to_be_visible()
    expect(page.get_by_text("Given only a sound")).to_be_visible()
    assert page.url.startswith(f"{url}arena/")
    assert ("tab=about" in page.url) is ("tab=about" in address)

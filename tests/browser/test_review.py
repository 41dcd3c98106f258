"""The review page in a real browser: listen, keep, reject, reload; also on a small screen."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from agl1k_core import curation
from agl1k_core.config import Config
from game.review_page import create_app
from tests.support import raw_recordings as raw


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = raw.write_collection(tmp_path / "bench", 3, ())
    tags = {"clips": {"clip-000": {"presence": {raw.SPEECH: 0.75}, "localizability": 1.25}}}
    (made / "tags.json").write_text(json.dumps(tags))
    return made


def test_clips_are_kept_and_rejected(
    folder: Path, tmp_path: Path, serve: Callable[[Any], str], new_page: Callable[..., Page]
) -> None:
    app = create_app(folder, Config.from_env({"AGL1K_DATA": str(tmp_path / "data")}))
    page = new_page(width=390, dark=True)
    page.goto(serve(app))
    status, result = page.locator("#agl-status"), page.locator("#agl-result")
    expect(status).to_contain_text("0 kept, 0 rejected, 3 to decide")
    expect(result).to_contain_text("Speech")
    expect(page.locator("#agl-sound .agl-player")).not_to_have_attribute("data-state", "empty")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    violations = [
        found["id"]
        for found in Axe().run(page).response["violations"]
        if found["impact"] in ("serious", "critical")
    ]
    assert violations == []
    page.locator("#agl-keep").focus()
    page.keyboard.press("Enter")
    expect(status).to_contain_text("Clip 2 of 3")
    expect(result).to_contain_text("Nairobi")
    page.locator("#agl-reject").click()
    expect(status).to_contain_text("1 kept, 1 rejected, 1 to decide")
    assert curation.read_decisions(folder) == {"clip-000": "keep", "clip-001": "reject"}
    page.reload()
    expect(status).to_contain_text("Clip 3 of 3")
    page.locator("#agl-back").click()
    expect(status).to_contain_text("Clip 2 of 3 rejected")

"""The page of `agl1k causes --review` in a real browser: seven keys, undo, reload."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from agl1k_core.causes import PERSON_TABLE, read_verdicts
from agl1k_core.config import Config
from game.causes_page import create_app
from tests.browser.conftest import unfaded
from tests.support import raw_recordings as raw


def stored(folder: Path) -> dict[str, str]:
    path = folder / PERSON_TABLE
    found = read_verdicts(path) if path.is_file() else []
    return {verdict.key: verdict.cause for verdict in found}


@pytest.mark.parametrize("width", [390, 1280])
def test_misses_are_sorted_with_keys(
    width: int, tmp_path: Path, serve: Callable[[Any], str], new_page: Callable[..., Page]
) -> None:
    bench = raw.write_collection(tmp_path / "bench", 3, ())
    said = {"latitude": 1, "longitude": 2, "country": "Ghana", "reason": "A bird of Ghana."}
    file = tmp_path / "mine.json"
    file.write_text(json.dumps([{"key": f"clip-00{n}", **said} for n in range(3)]))
    config = Config.from_env({"AGL1K_DATA": str(tmp_path / "data")})
    page = new_page(width=width, dark=width < 500)
    page.goto(serve(create_app(file, tmp_path / "out", config, str(bench))))
    status, result = page.locator("#agl-status"), page.locator("#agl-result")
    expect(status).to_contain_text("Clip 1 of 3")
    expect(result).to_contain_text("A bird of Ghana.")
    expect(page.locator("#agl-sound .agl-player")).not_to_have_attribute("data-state", "empty")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    violations = [
        found["id"]
        for found in Axe().run(unfaded(page)).response["violations"]
        if found["impact"] in ("serious", "critical")
    ]
    assert violations == []
    page.keyboard.press("1")
    expect(status).to_contain_text("Clip 2 of 3")
    expect(status).to_contain_text("1 sorted, 2 to decide")
    page.keyboard.press("7")
    expect(status).to_contain_text("2 sorted, 1 to decide")
    page.keyboard.press("8")  # there is no such cause, and the next key works at once
    page.keyboard.press("u")
    expect(status).to_contain_text("Clip 2 of 3")
    expect(status).to_contain_text("1 sorted, 2 to decide")
    page.locator("#agl-choice-2").click()
    expect(status).to_contain_text("2 sorted, 1 to decide")
    assert stored(tmp_path / "out") == {"clip-000": "Bird Bias", "clip-001": "Language Ambiguity"}
    page.reload()
    expect(status).to_contain_text("Clip 3 of 3")

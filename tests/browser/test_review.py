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
from tests.browser.conftest import unfaded
from tests.support import raw_recordings as raw
from tests.support.waiting import eventually

REASON = "Sirens. " * 60  # long enough to scroll


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
        for found in Axe().run(unfaded(page)).response["violations"]
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


def decisions(folder: Path) -> dict[str, tuple[str, str]]:
    return {k: (found.decision, found.note) for k, found in curation.read_review(folder).items()}


def test_keys_notes_and_a_model_s_answer(
    folder: Path, tmp_path: Path, serve: Callable[[Any], str], new_page: Callable[..., Page]
) -> None:
    answers = tmp_path / "mine.json"
    answers.write_text(
        json.dumps([{"key": "clip-000", "latitude": 40.7, "longitude": -74, "reason": REASON}])
    )
    config = Config.from_env({"AGL1K_DATA": str(tmp_path / "data")})
    page = new_page(width=1280)
    page.goto(serve(create_app(folder, config, answers)))
    status, result, note = (page.locator(f"#agl-{name}") for name in ("status", "result", "note"))
    text = note.locator("textarea")
    expect(result).to_contain_text("mine.json")
    expect(result).to_contain_text("40.70° N, 74.00° W")
    expect(result).to_contain_text("Sirens.")
    expect(page.locator("#agl-map .agl-line")).not_to_have_count(0)
    expect(page.locator("#agl-keep")).to_be_in_viewport()
    page.evaluate("scrollTo(0, 10_000)")
    expect(page.locator("#agl-keep")).to_be_in_viewport(ratio=1)
    page.evaluate("scrollTo(0, 0)")
    violations = [found["id"] for found in Axe().run(unfaded(page)).response["violations"]
                  if found["impact"] in ("serious", "critical")]  # fmt: skip
    assert violations == []
    text.fill("")
    text.press_sequentially("krU: a truck")  # keys in the note are only text
    expect(status).to_contain_text("0 kept, 0 rejected")
    text.blur()
    eventually(lambda: decisions(folder) == {"clip-000": ("", "krU: a truck")})
    page.locator("#agl-map .leaflet-container").focus()
    page.keyboard.press("k")
    expect(status).to_contain_text("Clip 2 of 3")
    expect(result).to_contain_text("no answer for this clip")
    expect(text).to_have_value("")
    page.keyboard.press("R")
    expect(status).to_contain_text("1 kept, 1 rejected, 1 to decide")
    expect(status).to_contain_text("Clip 3 of 3")
    page.keyboard.press("u")
    expect(status).to_contain_text("Clip 2 of 3")
    expect(status).to_contain_text("1 kept, 0 rejected, 2 to decide")
    page.keyboard.press("u")
    expect(status).to_contain_text("Clip 1 of 3")
    expect(text).to_have_value("krU: a truck")
    page.keyboard.press("u")
    expect(page.locator(".block.agl-area-message")).to_contain_text("no decision to undo")
    text.fill("written, and then a button")
    page.locator("#agl-reject").click()
    expect(status).to_contain_text("0 kept, 1 rejected, 2 to decide")
    assert decisions(folder) == {"clip-000": ("reject", "written, and then a button")}
    page.reload()
    page.locator("#agl-back").click()
    expect(text).to_have_value("written, and then a button")


@pytest.mark.parametrize("dark", [False, True])
def test_an_answer_fits_a_small_screen(
    folder: Path, tmp_path: Path, serve: Callable[[Any], str], new_page: Callable[..., Page],
    dark: bool,
) -> None:  # fmt: skip
    answers = tmp_path / f"{'a-rather-long-name' * 5}.json"
    record = {"key": "clip-000", "latitude": 40.7, "longitude": -74, "city": "x" * 80}
    answers.write_text(json.dumps([{**record, "reason": "y" * 400}]))
    config = Config.from_env({"AGL1K_DATA": str(tmp_path / "data")})
    page = new_page(width=390, touch=True, dark=dark)
    page.goto(serve(create_app(folder, config, answers)))
    expect(page.locator("#agl-result")).to_contain_text("40.70° N")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    result = page.locator("#agl-result table").first
    assert result.evaluate("table => table.getBoundingClientRect().right <= innerWidth")
    expect(page.locator("#agl-keep")).to_be_in_viewport()
    expect(page.locator(".agl-keys")).to_be_hidden()

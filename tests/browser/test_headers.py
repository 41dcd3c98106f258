"""The policy of the pages in a real Chromium: nothing that they do is against it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fastapi import FastAPI
from playwright.sync_api import Page, expect

import app as app_module
from agl1k_core.benchmarks import read_demo
from tests.browser.conftest import NewPage
from tests.browser.test_play import SUBMIT, drop_pin, open_game
from web.settings import Settings

_WATCH = """
window.violations = [];
document.addEventListener('securitypolicyviolation', (event) => {
  violations.push(`${event.effectiveDirective} ${event.blockedURI} ${event.sourceFile}`);
});
"""


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> FastAPI:
    folder = tmp_path_factory.mktemp("h")
    return app_module.create_app(Settings.from_env({"AGL1K_DATA": str(folder)}))


@pytest.fixture
def watched(new_page: NewPage) -> Page:
    page = new_page(width=1366, height=768)
    page.add_init_script(_WATCH)
    return page


def violations(page: Page) -> list[str]:
    found: list[str] = page.evaluate("violations")
    return found


def test_a_round_is_within_the_policy(watched: Page, url: str) -> None:
    open_game(watched, url)
    watched.wait_for_function("document.querySelector('#agl-sound audio').readyState > 0")
    drop_pin(watched)
    watched.click(SUBMIT)
    expect(watched.locator(".agl-reveal h2")).not_to_be_empty()
    assert violations(watched) == []


def test_the_other_tabs_are_within_the_policy(watched: Page, url: str, tmp_path: Path) -> None:
    watched.goto(
        f"{url}?tab=leaderboard&board=demo&row=baseline-random&other=baseline-median-location"
    )
    expect(watched.locator(".agl-figure .js-plotly-plot").nth(1)).to_be_visible()
    expect(watched.get_by_text("lines from true to answered places of").first).to_be_attached()
    watched.get_by_role("tab", name="Submit").click()
    answers = [{"key": c.key, "latitude": 1, "longitude": 2} for c in read_demo().clips]
    (tmp_path / "answers.json").write_text(json.dumps(answers))
    watched.set_input_files("#agl-file input[type=file]", tmp_path / "answers.json")
    expect(watched.locator("#agl-report")).to_contain_text("Dry run of answers.json")
    watched.get_by_role("tab", name="About").click()
    expect(watched.locator(".agl-about").first).to_be_visible()
    assert violations(watched) == []


def test_the_policy_is_in_force(watched: Page, url: str, outside_requests: list[str]) -> None:
    watched.goto(url)
    watched.evaluate("""() => new Promise((done) => {
      document.addEventListener('securitypolicyviolation', done);
      document.body.append(Object.assign(new Image(), { src: 'https://elsewhere.example/x.png' }));
    })""")
    assert [each.split()[0] for each in violations(watched)] == ["img-src"]
    outside_requests.clear()  # it was blocked

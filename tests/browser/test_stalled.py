"""What a player sees while another program keeps the database: a sentence, and the pin stays."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from playwright.sync_api import Page, expect

import app as app_module
from tests.browser.conftest import Serve
from tests.browser.test_play import SUBMIT, drop_pin, open_game
from web.settings import Settings

REFUSED = "This server cannot read or store anything at the moment."


def test_a_guess_is_refused_and_accepted_when_the_database_is_back(
    page: Page, serve: Serve, tmp_path: Path
) -> None:
    app = app_module.create_app(Settings.from_env({"AGL1K_DATA": str(tmp_path)}))
    url = serve(app)
    open_game(page, url)
    drop_pin(page)
    pin = page.locator("#agl-map .agl-map-status").inner_text()
    with closing(sqlite3.connect(tmp_path / "agl1k.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        page.click(SUBMIT)
        expect(page.locator("#agl-message [role=alert]")).to_contain_text(REFUSED)
        expect(page.locator("#agl-play")).not_to_have_attribute("aria-busy", "true")
        expect(page.locator("#agl-map .agl-map-status")).to_have_text(pin)
        other.execute("ROLLBACK")
    expect(page.locator(".agl-reveal h2")).not_to_be_empty()
    expect(page.get_by_text(REFUSED)).to_have_count(0)
    assert app.state.services.boards["demo"].guesses.counts("demo").guesses == 1

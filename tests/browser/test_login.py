"""Signing in and out in a real Chromium, on what looks like a Space."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import expect

from tests.browser.conftest import NewPage
from tests.support.app_help import app_process
from tests.support.fake_openid import FakeOpenId, serving


def test_a_person_signs_in_and_out_again(new_page: NewPage, tmp_path: Path) -> None:
    with (
        serving(FakeOpenId("ada")) as provider,
        app_process(tmp_path, provider.environment()) as running,
    ):
        page = new_page(width=390, dark=True)
        page.goto(f"{running.url}/?tab=submit")
        page.get_by_role("button", name="Sign in with Hugging Face").click()
        page.get_by_role("button", name="Sign out ada").click()
        expect(page.get_by_role("button", name="Sign in with Hugging Face")).to_be_visible()
        expect(page).to_have_url(re.compile(r"tab=submit"))
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

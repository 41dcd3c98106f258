"""Sharing a result: by the system's sheet where there is one, else by copying."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

import app as app_module
from tests.browser.conftest import NewPage, running
from web.settings import Settings

SHARE, COPY = "#agl-share .agl-share-button", "#agl-share button:last-of-type"
TOLD, TEXT = "#agl-share [role=status]", "#agl-share textarea"
SHEET = "navigator.share = async (given) => {{ window.shared = given; {outcome} }};"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder: Path = tmp_path_factory.mktemp("app")
    with running(app_module.create_app(Settings.from_env({"AGL1K_DATA": str(folder)}))) as address:
        yield address


def finish(page: Page, url: str) -> str:
    """Skip through a round; returns the text to share."""
    page.goto(url)
    for _ in range(5):
        page.click("#agl-skip:not([disabled])")
        page.click("#agl-next")
    expect(page.locator(".agl-summary")).to_be_visible()
    text = page.locator(TEXT).input_value()
    assert text.startswith("AGL1K demo pack, free play\n")
    assert "?challenge=" in text
    return text


def test_without_a_sheet_the_button_copies(new_page: NewPage, url: str) -> None:
    page = new_page(permissions=["clipboard-read", "clipboard-write"])
    page.add_init_script("delete Navigator.prototype.share")
    text = finish(page, url)
    expect(page.locator(COPY)).to_be_hidden()
    page.click(SHARE)
    expect(page.locator(TOLD)).to_have_text("Copied. Paste it anywhere.")
    assert page.evaluate("navigator.clipboard.readText()") == text


def test_the_systems_sheet_gets_the_text(new_page: NewPage, url: str) -> None:
    page = new_page(permissions=["clipboard-read", "clipboard-write"])
    page.add_init_script(SHEET.format(outcome=""))
    text = finish(page, url)
    page.click(SHARE)
    expect(page.locator(TOLD)).to_have_text("Shared.")
    assert page.evaluate("window.shared") == {"text": text}
    page.click(COPY)
    expect(page.locator(TOLD)).to_have_text("Copied. Paste it anywhere.")
    assert page.evaluate("navigator.clipboard.readText()") == text
    page.click("#agl-again")
    expect(page.locator("#agl-share")).to_be_hidden()


@pytest.mark.parametrize(
    ("problem", "told"), [("AbortError", ""), ("NotAllowedError", "Copied. Paste it anywhere.")]
)
def test_a_sheet_that_is_closed_or_refused(
    new_page: NewPage, url: str, problem: str, told: str
) -> None:
    page = new_page(permissions=["clipboard-read", "clipboard-write"])
    page.add_init_script(SHEET.format(outcome=f"throw new DOMException('', '{problem}');"))
    finish(page, url)
    page.click(SHARE)
    page.wait_for_function("window.shared")
    expect(page.locator(TOLD)).to_have_text(told)


def test_without_a_clipboard_the_text_is_selected(new_page: NewPage, url: str) -> None:
    page = new_page()
    page.add_init_script(
        "delete Navigator.prototype.share;navigator.clipboard.writeText = async () => { throw 0; };"
    )
    text = finish(page, url)
    page.click(SHARE)
    expect(page.locator(TOLD)).to_contain_text("The text is selected")
    assert page.evaluate("String(getSelection())") in ("", text)
    assert page.evaluate("document.activeElement.tagName") == "TEXTAREA"

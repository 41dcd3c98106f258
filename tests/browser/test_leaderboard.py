"""The board in a real browser: sort, search, filter, addresses, details, comparison, submission."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

import gradio as gr
from axe_playwright_python.sync_playwright import Axe
from fastapi import FastAPI
from playwright.sync_api import Locator, Page, expect

import web.page
from agl1k_core.errors import Agl1kError
from leaderboard.api import leaderboard_router
from leaderboard.board import Board
from leaderboard.scoring_queue import ScoringQueue
from leaderboard.submit_tab import build_submit
from leaderboard.tab import build_leaderboard
from store.database import Database
from tests.browser.conftest import unfaded
from tests.support.toy_board import (
    add_guesses,
    add_model,
    make_benchmark,
    make_board,
    prediction_file,
)
from ui import frame
from ui.theme import theme
from web.settings import Settings
from web.static import mount_static
from web.uploads import Uploads

EVIL = "<img src=x onerror=alert(1)>"
Serve = Callable[[object], str]


def _no_table() -> None:
    raise Agl1kError("The published AGL1K table is not here yet. 'agl1k fetch' downloads it.")


def make_app(boards: dict[str, Board], uploads: Path) -> FastAPI:
    app = FastAPI()
    app.include_router(leaderboard_router(boards))
    mount_static(app)
    with web.page.Page(title="Board") as page:
        gr.HTML("<h1>Boards</h1>", padding=False)
        with gr.Tabs():
            with gr.Tab("Leaderboard", id="leaderboard"):
                build_leaderboard(boards)
            with gr.Tab("Submit", id="submit"):
                build_submit(boards, Settings.from_env({}), ScoringQueue())
    kept = Uploads(uploads, 2**25)
    return web.page.mount(
        app, page, kept, theme=theme(), head=frame.page_head() + frame.later_head()
    )


@pytest.fixture(scope="module")
def url(serve_module: Serve, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    uploads = tmp_path_factory.mktemp("uploads")
    with Database("sqlite://") as database:
        toy = make_benchmark()
        board = make_board(database, lambda: toy)
        absent = make_board(database, _no_table, slug="agl1k")  # type: ignore[arg-type]
        add_model(board, "Near", 0.1, weights="closed", organisation="Lab")
        add_model(board, EVIL, 5.0, link="https://example.org/")
        add_guesses(board, "ann", [f"clip-{i:02d}" for i in range(12)], degrees_off=1.0)
        yield serve_module(make_app({"toy": board, "agl1k": absent}, uploads))


def row_button(page: Page, name: str) -> Locator:
    """The button in the table that opens a row."""
    return page.locator(".agl-board-table").get_by_role("button", name=name, exact=True)


@pytest.fixture
def board_page(page: Page, url: str) -> Page:
    page.goto(url)
    page.wait_for_selector(".agl-board-table")
    return page


def models(page: Page) -> list[str]:
    return page.locator(".agl-board-table tbody .agl-name").all_inner_texts()


def ranks(page: Page) -> dict[str, str]:
    rows = page.locator(".agl-board-table tbody tr").all()
    found = [(row.locator(".agl-name"), row.locator("td.agl-rank")) for row in rows]
    return {name.inner_text(): rank.inner_text() for name, rank in found}


def test_sorting_and_its_address(board_page: Page, url: str) -> None:
    page = board_page
    assert models(page)[0] == "Near"
    page.get_by_role("button", name="Model", exact=True).click()
    expect(page.locator("th[aria-sort]")).to_have_text("Model")
    assert models(page) == sorted(models(page), key=str.casefold)
    assert page.evaluate("document.activeElement.dataset.sort") == "model"
    page.keyboard.press("Enter")
    expect(page.locator("th[aria-sort=descending]")).to_have_text("Model")
    order = models(page)
    assert "sort=model" in page.url
    assert "reverse=1" in page.url
    page.goto(page.url)
    page.wait_for_selector(".agl-board-table")
    assert models(page) == order


def test_search_says_how_many_rows_it_hides_and_keeps_ranks(board_page: Page) -> None:
    page = board_page
    before = ranks(page)
    page.get_by_role("searchbox").press_sequentially("lab", delay=20)
    expect(page.locator(".agl-board-table tbody tr")).to_have_count(1)
    assert ranks(page) == {"Near": before["Near"]}
    expect(page.locator(".agl-count")).to_contain_text("5 hidden")
    assert page.evaluate("document.activeElement.name") == "search"
    assert "search=lab" in page.url
    page.get_by_role("button", name="Show all").click()
    expect(page.locator(".agl-board-table tbody tr")).to_have_count(6)
    assert ranks(page) == before
    assert page.get_by_role("searchbox").input_value() == ""


def test_filters_columns_and_intervals(board_page: Page) -> None:
    page = board_page
    page.get_by_text("Filters", exact=True).click()
    page.get_by_label("baseline").uncheck()
    expect(page.locator(".agl-board-table tbody tr")).to_have_count(3)
    page.locator("select[name=weights]").select_option("closed")
    expect(page.locator(".agl-board-table tbody tr")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(page.get_by_text("Filters (on)")).to_be_focused()
    expect(page.get_by_label("baseline")).to_be_hidden()
    page.get_by_text("Columns", exact=True).click()
    page.get_by_role("checkbox", name="<1,000 km, %").check()
    expect(page.locator(".agl-board-table thead")).to_contain_text("<1,000 km")
    assert page.locator(".agl-board-table .agl-interval").count() > 0
    page.get_by_label("95 % intervals").uncheck()
    expect(page.locator(".agl-board-table .agl-interval")).to_have_count(0)
    address = page.url
    page.goto(address)
    expect(page.locator(".agl-board-table tbody tr")).to_have_count(1)
    expect(page.locator(".agl-board-table thead")).to_contain_text("<1,000 km")
    page.get_by_text("Filters (on)").click()
    assert page.locator("select[name=weights]").input_value() == "closed"


def test_boards_and_subsets(board_page: Page) -> None:
    page = board_page
    page.locator("select[name=subset]").select_option("speech")
    expect(page.locator(".agl-count")).to_contain_text("speech")
    page.locator(".agl-board select[name=board]").select_option("agl1k")
    expect(page.locator(".agl-board-table tbody tr")).to_have_count(19)
    expect(page.locator(".agl-results .agl-notice")).to_contain_text("agl1k fetch")
    assert all("in the paper" in words for words in ranks(page).values())


def test_a_row_opens_closes_and_is_an_address(board_page: Page) -> None:
    page = board_page
    row_button(page, "Near").focus()
    page.keyboard.press("Enter")
    title = page.locator(".agl-detail h2")
    expect(title).to_have_text("Near")
    expect(title).to_be_focused()
    expect(page.locator(".agl-confusion tbody tr")).to_have_count(5)
    expect(page.locator(".agl-figure .js-plotly-plot").first).to_be_visible()
    expect(page.locator(".agl-behind .agl-map")).to_be_visible()
    expect(page.locator(".agl-board-table")).to_be_hidden()
    page.goto(page.url)
    expect(page.locator(".agl-detail h2")).to_have_text("Near")
    page.get_by_role("button", name="Back to the board").click()
    expect(page.locator(".agl-detail")).to_have_count(0)
    expect(row_button(page, "Near")).to_be_focused()
    assert "row=" not in page.url


def test_back_and_forward_walk_between_board_and_row(board_page: Page) -> None:
    page = board_page
    row_button(page, "Near").click()
    expect(page.locator(".agl-detail h2")).to_have_text("Near")
    page.go_back()
    expect(page.locator(".agl-board-table")).to_be_visible()
    expect(page.locator(".agl-detail")).to_have_count(0)
    page.go_forward()
    expect(page.locator(".agl-detail h2")).to_have_text("Near")
    expect(page.locator(".agl-board-table")).to_be_hidden()


def test_the_picture_shows_every_row_and_opens_it(board_page: Page) -> None:
    page = board_page
    marks = page.locator(".agl-field > ol > li")
    expect(marks).to_have_count(page.locator(".agl-board-table tbody tr").count())
    inside = page.locator(".agl-field > ol .agl-track").evaluate_all(
        """tracks => tracks.every((track) => {
            const box = track.getBoundingClientRect();
            const dot = track.lastElementChild.getBoundingClientRect();
            return dot.left >= box.left - 6 && dot.right <= box.right + 6;
        })"""
    )
    assert inside
    marks.first.get_by_role("button").click()
    expect(page.locator(".agl-detail h2")).to_have_text("Near")


def test_on_a_phone_a_row_is_a_card_with_the_chosen_metrics(board_page: Page) -> None:
    page = board_page
    page.set_viewport_size({"width": 390, "height": 844})
    card = page.locator(".agl-board-table tbody tr").first
    expect(card.locator("td[data-label='Geoscore']")).to_be_visible()
    box = page.locator(".agl-table-box").first
    assert box.evaluate("box => box.scrollWidth <= box.clientWidth")
    widths = card.locator("td, th").evaluate_all(
        "cells => cells.map((cell) => cell.getBoundingClientRect().right)"
    )
    assert max(widths) <= 390


def test_a_click_anywhere_in_a_row_opens_it(board_page: Page) -> None:
    page = board_page
    page.locator("tr", has_text="Densest region").locator("td").last.click()
    expect(page.locator(".agl-detail h2")).to_have_text("Densest region")


def test_two_rows_are_compared_and_a_link_shows_it_again(board_page: Page) -> None:
    page = board_page
    row_button(page, "Near").click()
    page.get_by_label("Compare with").select_option(label="Random point (baseline)")
    page.get_by_role("button", name="Compare").click()
    title = page.locator(".agl-comparison h2")
    expect(title).to_have_text("Near against Random point")
    expect(title).to_be_focused()
    first = page.locator(".agl-comparison tbody tr").first
    expect(first).to_contain_text("Distance, km")
    expect(first.locator("td").last).to_have_text("Near")
    page.goto(page.url)
    expect(page.locator(".agl-comparison h2")).to_have_text("Near against Random point")


def test_names_are_never_html(board_page: Page) -> None:
    page = board_page
    assert EVIL in models(page)
    assert page.locator(".agl-board img").count() == 0
    link = page.locator(".agl-board-table a.agl-outside")
    assert link.get_attribute("href") == "https://example.org/"
    assert "noopener" in (link.get_attribute("rel") or "")


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [390, 1280])
def test_it_fits_and_is_accessible(
    new_page: Callable[..., Page], url: str, width: int, dark: bool
) -> None:
    page = new_page(width=width, dark=dark)
    page.goto(f"{url}?__theme={'dark' if dark else 'light'}")
    names = page.locator(".agl-board-table tbody .agl-name")
    names.first.wait_for()
    page.locator(".agl-results .agl-table-box").evaluate("box => { box.scrollLeft = 400; }")
    assert names.first.bounding_box()["x"] >= 0  # type: ignore[index]
    found = Axe().run(unfaded(page), context="#agl-board")
    assert _serious(found.response["violations"]) == []
    row_button(page, "Near").click()
    page.wait_for_selector(".agl-figure .js-plotly-plot")
    assert page.evaluate("document.documentElement.scrollWidth") == width
    found = Axe().run(unfaded(page), context="#agl-detail")
    assert _serious(found.response["violations"]) == []


def _serious(violations: list[dict[str, object]]) -> list[object]:
    return [
        (violation["id"], [node["html"] for node in violation["nodes"]])  # type: ignore[attr-defined]
        for violation in violations
        if violation["impact"] in ("serious", "critical")
    ]


def test_submit_publish_and_withdraw(page: Page, url: str, tmp_path: Path) -> None:
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_bytes(prediction_file(make_benchmark(), 2.0, refused=3))
    bad.write_text('[{"key": "nobody"}, {"key": "<b>"}]')
    page.goto(url)
    page.get_by_role("tab", name="Submit").click()
    expect(page.locator(".agl-limits")).to_contain_text("at most 16 MB")

    page.set_input_files("#agl-file input[type=file]", bad)
    expect(page.locator(".agl-problems li")).to_have_count(2)
    expect(page.locator("#agl-publish")).to_be_hidden()
    page.get_by_label("Remove").or_(page.get_by_label("Clear")).first.click()
    expect(page.locator(".agl-problems")).to_have_count(0)

    page.set_input_files("#agl-file input[type=file]", good)
    expect(page.locator(".agl-report")).to_contain_text("3 refused")
    page.locator("#agl-publish").click()
    expect(page.locator("#agl-unpublished .agl-problems li")).to_have_count(2)  # model, weights
    page.get_by_label("Model", exact=True).fill("From the page")
    page.get_by_role("radio", name="closed").check()
    page.locator("#agl-publish").click()
    receipt = page.locator(".agl-receipts [data-receipt]")
    expect(receipt).to_be_visible()
    key = receipt.locator("[data-key]").inner_text()
    submission = receipt.locator(".agl-copyable").first.inner_text()
    expect(page.locator("#agl-form")).to_be_hidden()
    expect(page.locator(".agl-report")).to_have_count(0)

    page.get_by_role("tab", name="Leaderboard").click()
    row = page.locator("tr[data-row]", has_text="From the page")
    expect(row).to_contain_text("scored here")
    assert row.get_attribute("data-row") == submission

    page.get_by_role("tab", name="Submit").click()
    page.get_by_text("Withdraw a submission").click()
    page.get_by_label("Submission").fill(submission)
    page.get_by_label("Withdrawal key").fill(key)
    page.get_by_role("button", name="Withdraw", exact=True).click()
    expect(page.get_by_text(re.compile("From the page is withdrawn"))).to_be_visible()
    page.get_by_role("tab", name="Leaderboard").click()
    expect(page.locator("tr[data-row]", has_text="From the page")).to_have_count(0)


def test_a_doubtful_file_is_published_by_a_second_press(
    page: Page, url: str, tmp_path: Path
) -> None:
    doubtful, clips = tmp_path / "swapped.json", make_benchmark().clips
    swapped = [{"key": c.key, "latitude": c.lon, "longitude": c.lat} for c in clips]
    doubtful.write_text(json.dumps(swapped))
    page.goto(url)
    page.get_by_role("tab", name="Submit").click()
    page.set_input_files("#agl-file input[type=file]", doubtful)
    expect(page.locator(".agl-warning")).to_contain_text("latitude and longitude swapped")
    page.get_by_label("Model", exact=True).fill("Doubtful")
    page.get_by_role("radio", name="closed").check()
    page.locator("#agl-publish").click()
    expect(page.locator("#agl-unpublished")).to_contain_text("Nothing is published yet")
    expect(page.locator("#agl-publish")).to_have_text("Publish anyway")
    page.locator("#agl-publish").click()
    expect(page.locator(".agl-receipts [data-key]")).to_be_visible()
    expect(page.locator("#agl-publish")).to_be_hidden()


def test_a_receipt_stays_until_it_is_dismissed(page: Page, url: str, tmp_path: Path) -> None:
    page.goto(url)
    page.get_by_role("tab", name="Submit").click()
    for name in ("First kept", "Second kept"):
        file = tmp_path / f"{name}.json"
        file.write_bytes(prediction_file(make_benchmark(), 3.0))
        page.set_input_files("#agl-file input[type=file]", file)
        expect(page.get_by_label("Model", exact=True)).to_have_value("")
        page.get_by_label("Model", exact=True).fill(name)
        page.get_by_role("radio", name="open").check()
        page.locator("#agl-publish").click()
        expect(page.locator(".agl-receipts").get_by_text(name)).to_be_visible()
        expect(page.locator("#agl-form")).to_be_hidden()
    receipts = page.locator(".agl-receipts [data-receipt]")
    expect(receipts).to_have_count(2)
    key = receipts.last.locator("[data-key]").inner_text()
    with page.expect_download() as saved:
        receipts.last.get_by_role("button", name="Download receipt").click()
    assert key in Path(saved.value.path()).read_text("utf-8")
    receipts.last.get_by_role("button", name="dismiss").click()
    expect(receipts).to_have_count(1)
    expect(receipts).to_contain_text("Second kept")

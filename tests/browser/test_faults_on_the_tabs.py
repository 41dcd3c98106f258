"""Board, Submit and all beside a round behind a proxy that fails: told once, and nothing lost."""

from __future__ import annotations

import json
import re
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI
from playwright.sync_api import Locator, Page, expect

import app as app_module
from tests.browser.test_play import open_game
from tests.browser.test_rivals import open_room, row
from tests.support.faulty_proxy import Fault, FaultyProxy, answer
from tests.support.hasty import HASTY, heal
from tests.support.waiting import eventually
from web.settings import Settings

pytestmark = pytest.mark.usefixtures("proxy")

RETRY = "Try again"
LOST, CUT, HANGS = Fault("lose"), Fault("cut"), Fault("hang")
FAULTS = (
    answer(429, Retry_After="1"), answer(500), answer(502), answer(503), answer(504),
    Fault("refuse"), Fault("upload"), LOST, CUT, HANGS, Fault("mute"),
)  # fmt: skip
ONE_OF_EACH = pytest.mark.parametrize(
    "fault", [answer(502), CUT, HANGS], ids=["502", "cut", "hangs"]
)
SENTENCE = re.compile(
    r"^(The server cannot be reached|The server failed|The connection was lost"
    r"|There were too many requests from here)\. Nothing you entered is lost, and nothing is done"
    r" twice: try again\. Try again$"
)
NO_ANSWER = re.compile(r"The server cannot be reached\.|The connection was lost\.")
UPLOAD, EVENT = "/gradio_api/upload?", "/gradio_api/run/"
FILE, PUBLISH, REPORT = "#agl-file input[type=file]", "#agl-publish", "#agl-report .agl-report"
RECEIPTS = ".agl-receipts [data-receipt]"
#: The last of the page's scripts is here.
COMPLETE = """() => performance.getEntriesByType('resource')
  .some(({ name }) => name.includes('/leaderboard.js'))"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tabs")


@pytest.fixture(scope="module")
def app(folder: Path) -> FastAPI:
    env = {"AGL1K_DATA": str(folder / "data"), "AGL1K_UPLOADS": str(folder / "uploads")}
    return app_module.create_app(Settings.from_env(env))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    made = tmp_path / "answers.json"
    made.write_text(json.dumps([{"key": "demo_01", "latitude": 1, "longitude": 2}]))
    return made


def submitted(app: FastAPI) -> list[str]:
    store = app.state.services.boards["demo"].submissions
    return [each.model for each in store.list("demo")]


def open_submit(page: Page, proxy: FaultyProxy) -> None:
    page.add_init_script(HASTY)
    heal(page, proxy)
    page.goto(f"{proxy.url}/?tab=submit")
    expect(page.locator(FILE)).to_be_attached()


def open_board(page: Page, proxy: FaultyProxy) -> Locator:
    """Open the board; returns the buttons that open its rows."""
    page.add_init_script(HASTY)
    heal(page, proxy)
    page.goto(f"{proxy.url}/?tab=leaderboard")
    rows = page.locator("tr[data-row] [data-open]")
    expect(rows.first).to_be_visible()
    return rows


def fill_form(page: Page, file: Path, model: str) -> None:
    """Upload a file, and say in the form, which is empty, which model made it."""
    page.set_input_files(FILE, file)
    expect(page.locator(REPORT)).to_be_visible()
    expect(page.get_by_label("Model", exact=True)).to_have_value("")
    page.get_by_label("Model", exact=True).fill(model)
    page.get_by_role("radio", name="closed").check()


def again(page: Page) -> Locator:
    return page.locator("#agl-unavailable").get_by_role("button", name=RETRY)


def expect_told(page: Page) -> None:
    """One sentence and one button of ours, and nothing of Gradio's."""
    notice = page.locator("#agl-unavailable")
    expect(notice).to_have_text(SENTENCE)
    expect(again(page)).to_have_count(1)
    assert notice.evaluate("node => node.getBoundingClientRect().bottom <= innerHeight")
    expect_nothing_of_gradio(page)


def expect_nothing_of_gradio(page: Page) -> None:
    expect(page.locator(".toast-body")).to_have_count(0)
    expect(page.locator("[data-testid=status-tracker] .error")).to_have_count(0)


def expect_healed(page: Page) -> None:
    expect(page.locator("#agl-unavailable")).to_have_count(0)
    expect_nothing_of_gradio(page)


def fail_again(page: Page, proxy: FaultyProxy, path: str, fault: Fault) -> None:
    page.evaluate("window.isPatient = false")
    proxy.fail(path, fault)


# ---- Submit


@pytest.mark.parametrize("path", [UPLOAD, EVENT], ids=["upload", "event"])
def test_a_dropped_file_is_scored_whatever_happens_on_its_way(
    page: Page, proxy: FaultyProxy, file: Path, path: str
) -> None:
    open_submit(page, proxy)
    for fault in FAULTS:
        fail_again(page, proxy, path, fault)
        page.set_input_files(FILE, file)
        expect_told(page)
        expect(page.locator("#agl-file")).to_contain_text("answers")
        heal(page, proxy)
        again(page).click()
        expect(page.locator(REPORT)).to_contain_text("The file can be published")
        expect_healed(page)
        page.get_by_label("Remove").or_(page.get_by_label("Clear")).first.click()
        expect(page.locator(REPORT)).to_have_count(0)
        expect(page.locator(FILE)).to_be_attached()


def test_another_file_can_be_chosen_instead_of_trying_again(
    page: Page, proxy: FaultyProxy, file: Path
) -> None:
    open_submit(page, proxy)
    fail_again(page, proxy, UPLOAD, answer(502))
    page.set_input_files(FILE, file)
    expect_told(page)
    page.locator("#agl-file").click()
    expect(page.locator(FILE)).to_be_attached()
    expect(again(page)).to_have_count(0)
    heal(page, proxy)
    page.set_input_files(FILE, file)
    expect(page.locator(REPORT)).to_contain_text("The file can be published")
    expect_healed(page)


def test_a_file_is_published_once_whatever_happens(
    page: Page, proxy: FaultyProxy, app: FastAPI, url: str, file: Path
) -> None:
    open_submit(page, proxy)
    for number, fault in enumerate(FAULTS):
        model = f"Model {number}"
        fill_form(page, file, model)
        fail_again(page, proxy, EVENT, fault)
        page.click(PUBLISH)
        expect_told(page)
        expect(page.get_by_label("Model", exact=True)).to_have_value(model)
        expect(page.get_by_role("radio", name="closed")).to_be_checked()
        expect(page.locator(REPORT)).to_be_visible()
        heal(page, proxy)
        (again(page) if number % 2 else page.locator(PUBLISH)).click()
        receipt = page.locator(RECEIPTS, has_text=model)
        expect(receipt).to_have_count(1)
        expect_healed(page)
        assert submitted(app).count(model) == 1
        expect(page.locator("#agl-form")).to_be_hidden()
        withdraw = [
            receipt.get_attribute("data-receipt"),
            receipt.locator("[data-key]").inner_text(),
        ]
        sent = httpx.post(f"{url}gradio_api/run/withdraw", json={"data": withdraw})
        assert (sent.status_code, submitted(app).count(model)) == (200, 0)


def test_the_receipt_of_a_lost_answer_comes_after_a_reload_too(
    page: Page, proxy: FaultyProxy, app: FastAPI, file: Path
) -> None:
    page.on("dialog", lambda dialog: dialog.accept())
    open_submit(page, proxy)
    fill_form(page, file, "Reloaded")
    fail_again(page, proxy, EVENT, LOST)
    page.click(PUBLISH)
    expect_told(page)
    eventually(lambda: submitted(app).count("Reloaded") == 1)
    heal(page, proxy)
    page.reload()
    fill_form(page, file, "Reloaded")
    page.get_by_label("Link (optional)").fill("https://example.org")
    page.click(PUBLISH)
    receipt = page.locator(RECEIPTS)
    expect(receipt.locator("[data-key]")).to_be_visible()
    expect(receipt).to_contain_text("nothing was published twice")
    expect(receipt).to_contain_text("not part of it: link.")
    assert submitted(app).count("Reloaded") == 1


def test_a_lost_answer_to_a_withdrawal_is_asked_for_again(
    page: Page, proxy: FaultyProxy, app: FastAPI, file: Path
) -> None:
    open_submit(page, proxy)
    fill_form(page, file, "Withdrawn")
    page.click(PUBLISH)
    receipt = page.locator(RECEIPTS)
    key = receipt.locator("[data-key]").inner_text()
    page.get_by_text("Withdraw a submission").click()
    page.get_by_label("Submission").fill(receipt.get_attribute("data-receipt") or "")
    page.get_by_label("Withdrawal key").fill(key)
    fail_again(page, proxy, EVENT, LOST)
    page.get_by_role("button", name="Withdraw", exact=True).click()
    expect_told(page)
    eventually(lambda: "Withdrawn" not in submitted(app))
    heal(page, proxy)
    again(page).click()
    expect(page.get_by_text("Withdrawn is withdrawn")).to_be_visible()
    expect_healed(page)


def test_a_sentence_of_the_server_is_told_and_covers_nothing(
    page: Page, proxy: FaultyProxy, folder: Path, file: Path
) -> None:
    open_submit(page, proxy)
    fill_form(page, file, "Gone")
    for upload in (folder / "uploads").glob("*/*"):
        upload.unlink()
    page.click(PUBLISH)
    expect(page.locator("#agl-unavailable")).to_contain_text("no longer on the server")
    expect(again(page)).to_have_count(0)
    expect_nothing_of_gradio(page)
    expect(page.get_by_label("Model", exact=True)).to_have_value("Gone")
    page.get_by_label("Remove").or_(page.get_by_label("Clear")).first.click()
    expect_healed(page)


def test_who_is_offline_is_told_so_and_the_page_goes_on_by_itself_later(
    page: Page, proxy: FaultyProxy, file: Path
) -> None:
    open_submit(page, proxy)
    page.wait_for_function(COMPLETE)
    page.context.set_offline(True)
    page.set_input_files(FILE, file)
    expect(page.locator("#agl-unavailable")).to_contain_text("You are offline.")
    expect_nothing_of_gradio(page)
    page.context.set_offline(False)
    expect(page.locator(REPORT)).to_contain_text("The file can be published")
    expect_healed(page)


# ---- Leaderboard


@ONE_OF_EACH
def test_what_the_page_asks_for_when_it_opens_can_be_tried_again(
    page: Page, proxy: FaultyProxy, fault: Fault
) -> None:
    page.add_init_script(HASTY)
    proxy.fail(EVENT, fault)
    page.goto(f"{proxy.url}/?tab=leaderboard")
    expect_told(page)
    heal(page, proxy)
    again(page).click()
    expect(page.locator("tr[data-row]").first).to_be_visible()
    expect_healed(page)


def test_a_row_that_does_not_come_is_told_and_the_board_stays(
    page: Page, proxy: FaultyProxy
) -> None:
    rows = open_board(page, proxy)
    for fault in FAULTS:
        fail_again(page, proxy, EVENT, fault)
        rows.first.click()
        expect_told(page)
        expect(rows.first).to_be_visible()
        heal(page, proxy)
        (again(page) if fault.status % 2 else rows.first).click()
        expect(page.locator("#agl-detail h2")).to_be_visible()
        expect(rows.first).to_be_hidden()
        expect_healed(page)
        proxy.fail(EVENT, answer(502))  # which closing does not need
        page.get_by_role("button", name="Back to the board").click()
        expect(page.locator("#agl-detail h2")).to_have_count(0)
        expect(rows.first).to_be_visible()
        expect_healed(page)
        proxy.heal()


@ONE_OF_EACH
def test_a_comparison_that_does_not_come_is_told(
    page: Page, proxy: FaultyProxy, fault: Fault
) -> None:
    open_board(page, proxy).first.click()
    chosen = page.locator("#agl-detail [name=other]")
    chosen.select_option(index=1)
    wanted = chosen.input_value()
    fail_again(page, proxy, EVENT, fault)
    page.get_by_role("button", name="Compare", exact=True).click()
    expect_told(page)
    expect(page.locator("#agl-detail h2")).to_be_visible()
    expect(chosen).to_have_value(wanted)
    heal(page, proxy)
    again(page).click()
    expect(page.locator("#agl-comparison h2")).to_be_visible()
    expect_healed(page)


def test_a_board_that_does_not_come_is_told_and_loaded_again(
    page: Page, proxy: FaultyProxy
) -> None:
    page.add_init_script(HASTY)
    proxy.fail("/api/leaderboard/page", answer(502))
    page.goto(f"{proxy.url}/?tab=leaderboard")
    told = page.locator(".agl-board-host [role=alert]")
    rows = page.locator("tr[data-row]")
    expect(told).to_contain_text("The board could not be loaded. The server cannot be reached.")
    heal(page, proxy)
    told.get_by_role("button", name=RETRY).click()
    expect(rows.first).to_be_visible()
    search = page.locator(".agl-board [type=search]")
    for number, fault in enumerate(FAULTS):
        fail_again(page, proxy, "/api/leaderboard/page", fault)
        search.fill("Random" if number % 2 else "Median")
        expect(told).to_contain_text("The board could not be loaded.")
        expect(told).not_to_contain_text("answered")
        heal(page, proxy)
        told.get_by_role("button", name=RETRY).click()
        expect(rows).to_have_count(1)
        expect(rows).to_contain_text("Random" if number % 2 else "Median")
        expect(search).to_have_value("Random" if number % 2 else "Median")
        expect(told).to_have_count(0)


# ---- beside a round


def open_hasty_game(page: Page, proxy: FaultyProxy) -> None:
    page.add_init_script(HASTY)
    heal(page, proxy)
    open_game(page, proxy.url)


@ONE_OF_EACH
def test_a_search_that_is_not_answered_says_so(
    page: Page, proxy: FaultyProxy, fault: Fault
) -> None:
    open_hasty_game(page, proxy)
    fail_again(page, proxy, "/api/places?q=rome", fault)
    page.fill("#agl-search input", "rome")
    told = page.locator("#agl-search [role=status]")
    expect(told).to_contain_text(NO_ANSWER)
    expect(told).to_be_visible()
    heal(page, proxy)
    page.press("#agl-search input", "Enter")
    expect(page.locator("#agl-search [role=option]").first).to_contain_text("Rome")
    expect(told).not_to_contain_text("Press Enter")


def test_standings_of_a_room_stay_and_are_looked_up_again(page: Page, proxy: FaultyProxy) -> None:
    open_hasty_game(page, proxy)
    open_room(page, "Ada")
    told = page.locator("#agl-versus [role=status]").filter(has_text="looks again by itself")
    for fault in (answer(502), answer(429), CUT, HANGS):
        fail_again(page, proxy, "/api/play/room?", fault)
        expect(told).to_contain_text("These standings are from before.")
        expect(row(page, "Ada")).to_be_visible()
        heal(page, proxy)
        expect(told).to_have_count(0)
        expect(row(page, "Ada")).to_be_visible()


def test_a_download_of_the_own_data_can_be_tried_again(page: Page, proxy: FaultyProxy) -> None:
    open_hasty_game(page, proxy)
    page.click("#agl-history summary")
    told = page.locator("#agl-own [role=alert]")
    for fault in (answer(502), CUT, HANGS):
        fail_again(page, proxy, "/api/play/export.csv", fault)
        page.locator("#agl-own").get_by_role("button", name="CSV").click()
        expect(told).to_contain_text(NO_ANSWER)
        heal(page, proxy)
        with page.expect_download() as saved:
            page.locator("#agl-own").get_by_role("button", name=RETRY).click()
        assert Path(saved.value.path()).read_text("utf-8").startswith("round")
        expect(told).to_have_count(0)

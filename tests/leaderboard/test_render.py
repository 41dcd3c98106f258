from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agl1k_core.errors import Agl1kError
from leaderboard import render
from leaderboard.api import board_page
from leaderboard.board import Board
from leaderboard.columns import COLUMN
from leaderboard.compare import compare
from leaderboard.detail import make_detail
from leaderboard.query import Query, to_text
from leaderboard.rows import KIND_NAME
from leaderboard.submit import dry_run
from leaderboard.submit_tab import withdraw_one
from tests.support.toy_board import MAX_BYTES, add_guesses, add_model
from ui.frame import about_markdown

#: What the page says of the board, and what the documentation says of its badges.
ABOUT = about_markdown().partition("## How the board scores")[2].partition("\n## ")[0]
BADGES = (Path(__file__).parents[2] / "docs/moderation.md").read_text("utf-8")
EVIL = '<script>alert("x")</script>'


class Tags(HTMLParser):
    """Counts tags, and collects attributes and text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.words = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.words += data


def test_the_table_is_a_table(board: Board) -> None:
    add_model(board, "Near", 0.5, organisation="Lab", link="https://example.org/?a=1&b=2")
    html = board_page({"toy": board}, "")
    tags = Tags(html)
    assert tags.names.count("table") == 1
    assert "caption" in tags.names
    scopes = [value for name, value in tags.attributes if name == "scope"]
    assert scopes.count("row") == 4
    assert scopes.count("col") == 10
    assert ("aria-sort", "ascending") in tags.attributes
    assert ("href", "https://example.org/?a=1&b=2") in tags.attributes
    assert "4 rows, all clips (40), ranked by Distance, km." in " ".join(tags.words.split())


def test_a_verified_owner_is_named_on_the_row_behind_it_and_on_the_receipt(board: Board) -> None:
    owned = add_model(board, "Near", 0.5, owner="ada_1")
    row = board.row(owned.submission.submission_id)
    assert row is not None
    detail = render.row_detail(make_detail(board, row), board)
    assert "Published by" in detail
    for html in (board_page({"toy": board}, ""), detail):
        assert ("href", "https://huggingface.co/ada_1") in Tags(html).attributes
    assert "Signed in as ada_1 you can withdraw it" in render.published_page(owned, board)


def test_without_a_login_no_owner_is_named(board: Board) -> None:
    done = add_model(board, "Near", 0.5)
    row = board.row(done.submission.submission_id)
    assert row is not None
    pages = [
        board_page({"toy": board}, ""),
        render.row_detail(make_detail(board, row), board),
        render.published_page(done, board),
    ]
    assert not any("owner" in html or "huggingface" in html for html in pages)


@pytest.mark.parametrize("query", ["sort=geoscore", "sort=geoscore&reverse=1", "sort=model"])
def test_the_sorted_column_says_so(board: Board, query: str) -> None:
    html = board_page({"toy": board}, query)
    (found,) = re.findall(r'aria-sort="(\w+)"', html)
    assert found == ("descending" if query == "sort=geoscore" else "ascending")


def test_what_people_wrote_is_text_everywhere(board: Board) -> None:
    done = add_model(board, EVIL, 0.5, organisation=EVIL, prompt=EVIL, owner=EVIL)
    other = add_model(board, "Other", 3.0).submission.submission_id
    row = board.row(done.submission.submission_id)
    assert row is not None
    report = dry_run(b'[{"key": "<script>"}]', f"{EVIL}.json", board, max_bytes=MAX_BYTES)
    pages = [
        board_page({"toy": board}, f"search={EVIL}&row={EVIL}"),
        render.row_detail(make_detail(board, row), board),
        render.comparison_page(compare(board, row.row_id, other)),
        render.report_page(report, board),
        render.published_page(done, board),
        render.problems_page(Agl1kError(EVIL), "No"),
        withdraw_one({"toy": board}, EVIL, EVIL),
    ]
    for page in pages:
        assert "script" not in Tags(page).names
    assert EVIL in Tags(pages[1]).words


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.text(max_size=60))
def test_no_search_adds_a_tag(board: Board, text: str) -> None:
    plain = Tags(board_page({"toy": board}, "search=zzzz")).names
    query = Query(search=f"zzzz{text}")
    html = board_page({"toy": board}, to_text(query))
    assert Tags(html).names == plain


def test_hidden_rows_are_counted_with_a_way_back(board: Board) -> None:
    html = board_page({"toy": board}, "search=densest")
    assert re.search(r"<strong>2 hidden</strong>", html)
    assert "data-reset" in html
    assert "data-reset" not in board_page({"toy": board}, "")
    empty = board_page({"toy": board}, "search=nobody")
    assert "No row matches" in empty


def test_each_kind_is_named_in_words(board: Board) -> None:
    add_model(board, "Near", 0.5)
    add_guesses(board, "ann", [f"clip-{i:02d}" for i in range(5)])
    words = Tags(board_page({"toy": board}, "")).words
    for kind in ("scored here", "people", "baseline"):
        assert kind in words
    assert "5 guesses" in words


@pytest.mark.parametrize("texts", [ABOUT, BADGES], ids=["About", "docs"])
def test_other_texts_call_the_rows_as_the_board_does(texts: str) -> None:
    """Words in italics, or first in a line of the table of badges."""
    named = {one.lower() for one in re.findall(r"\*([\w ]+)\*", texts)}
    named |= {
        one for line in re.findall(r"^\| ([\w ,]+) \|", texts, re.M) for one in line.split(", ")
    }
    assert {*KIND_NAME.values(), "verified"} <= named


def test_intervals_can_be_left_out_and_columns_chosen(board: Board) -> None:
    assert "agl-interval" in board_page({"toy": board}, "")
    assert "agl-interval" not in board_page({"toy": board}, "intervals=0")
    words = Tags(board_page({"toy": board}, "columns=coverage,date")).words
    assert "Coverage, %" in words


def test_without_the_table_it_says_what_to_do(absent: Board) -> None:
    html = board_page({"agl1k": absent}, "")
    assert "agl1k fetch" in html
    assert "reported, not recomputed" in html
    assert "agl1k fetch" in render.limits_page(absent, MAX_BYTES)


def test_a_subset_that_the_board_lacks_shows_the_whole(board: Board) -> None:
    assert board_page({"toy": board}, "subset=music") == board_page({"toy": board}, "")


def test_limits_are_shown(board: Board) -> None:
    words = Tags(render.limits_page(board, 3 * 2**20)).words
    assert "at most 3 MB" in words
    assert "40 clips" in words


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("distance_km", -12.4, "−12"),
        ("distance_km", 12.6, "+13"),
        ("city_accuracy", 0.0125, "+1.2"),
        ("city_accuracy", -0.3, "−30.0"),
        ("geoscore", float("nan"), "–"),
    ],
)
def test_differences_carry_their_sign(name: str, value: float, text: str) -> None:
    assert render.signed(COLUMN[name], value) == text

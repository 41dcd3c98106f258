"""Addresses with which people and programs open the page."""

from __future__ import annotations

import pytest

from web.addresses import query_of, selected_tab


@pytest.mark.parametrize(
    ("address", "query"),
    [
        ("http://x/?tab=submit&tab=play", {"tab": ["submit", "play"]}),
        ("?daily=%32%30", {"daily": ["20"]}),
        ("http://[", {}),
        ("http://x/", {}),
        ("", {}),
        (None, {}),
        (["?a=b"], {"a": ["b']"]}),
        ("?a=" + "x" * 5000, {"a": ["x" * 1997]}),
    ],
)
def test_query(address: object, query: dict[str, list[str]]) -> None:
    assert query_of(address) == query


@pytest.mark.parametrize(
    ("address", "tab"),
    [("http://x/?tab=board", "board"), ("http://x/", "play"), ("?tab=<b>", "play"),
     ("http://[", "play"), (None, "play"), (7, "play")],
)  # fmt: skip
def test_the_tab_that_an_address_names(address: object, tab: str) -> None:
    assert selected_tab(address, ("play", "board")) == tab

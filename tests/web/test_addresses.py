"""Addresses that people and programs open the page with."""

from __future__ import annotations

import pytest

from web.addresses import query_of


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

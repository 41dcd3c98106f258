"""Tools as an answer stores them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from store.tools import STORED, TOOLS, Tool, stored_tools


def test_nothing_said_is_not_nothing_used() -> None:
    assert stored_tools(None) is None
    assert stored_tools([]) == ""


@given(st.lists(st.sampled_from(TOOLS)))
def test_the_same_tools_are_stored_alike(used: list[Tool]) -> None:
    stored = stored_tools(used)
    assert stored in STORED
    assert stored == stored_tools(sorted(set(used)))
    assert set(filter(None, (stored or "").split(","))) == set(used)

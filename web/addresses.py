"""The parameters in the address of a page."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import parse_qs, urlsplit

_LONGEST = 2000


def query_of(address: object) -> dict[str, list[str]]:
    """The query of an address, by name; empty if there is none, or it is not an address."""
    try:
        return parse_qs(urlsplit(str(address)[:_LONGEST]).query)
    except ValueError:  # "http://["
        return {}


def selected_tab(address: object, tabs: Sequence[str]) -> str:
    """The tab that an address names with ``?tab=``; the first one otherwise."""
    wanted = query_of(address).get("tab", [""])[0]
    return wanted if wanted in tabs else tabs[0]

"""What the address of a page asks for."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

_LONGEST = 2000


def query_of(address: object) -> dict[str, list[str]]:
    """The query of an address, by name; empty where there is none, or no address."""
    try:
        return parse_qs(urlsplit(str(address)[:_LONGEST]).query)
    except ValueError:  # "http://["
        return {}

"""Licences as archives write them, by name, and what they forbid."""

from __future__ import annotations

import re

_ADDRESS = re.compile(
    r"(?:https?:)?//(?:www\.)?creativecommons\.org/"
    r"(?:licenses/(?P<kind>[a-z-]+(?:\+)?)|publicdomain/(?P<public>zero|mark))"
    r"(?:/(?P<version>\d\.\d))?(?:/.*)?",
    re.IGNORECASE,
)
_NO_DERIVATIVES = re.compile(r"\bnd\b|no[\s_-]*deriv|\bno adaptations", re.IGNORECASE)
_RESERVED = re.compile(r"all rights reserved|©|\bcopyright(?:ed)?\b|^\(c\)", re.IGNORECASE)
_OPEN = re.compile(r"\bcc\b|\bcc0\b|creative commons|public domain|attribution", re.IGNORECASE)
NO_DERIVATIVES = "no derivatives"


def licence_name(text: str) -> str:
    """The name of a licence that is given by its address at Creative Commons; others as they are.

    Examples
    --------
    >>> licence_name("//creativecommons.org/licenses/by-nc-nd/2.5/")
    'CC BY-NC-ND 2.5'
    >>> licence_name("http://creativecommons.org/publicdomain/zero/1.0/")
    'CC0 1.0'
    """
    text = text.strip()
    found = _ADDRESS.fullmatch(text)
    if not found:
        return f"https:{text}" if text.startswith("//") else text
    version = f" {found['version']}" if found["version"] else ""
    if found["public"]:
        name = "CC0" if found["public"].casefold() == "zero" else "Public Domain Mark"
        return name + version
    return f"CC {found['kind'].upper()}{version}"


def with_mark(licence: str, *, adaptable: bool) -> str:
    """A licence together with the source's own mark that derivatives are forbidden."""
    if adaptable or _NO_DERIVATIVES.search(licence):
        return licence
    return f"{licence}, {NO_DERIVATIVES}" if licence else NO_DERIVATIVES


def forbidden_copy(licence: str) -> str:
    """What a licence forbids that a copy in a benchmark needs; empty if nothing.

    A clip in a benchmark is a derivative: its tags are removed, and it may be cut. Without a
    licence nothing is known, so nothing is forbidden.

    Examples
    --------
    >>> forbidden_copy("CC BY-NC-ND 4.0"), forbidden_copy("All rights reserved")
    ('derivatives', 'redistribution')
    >>> forbidden_copy("CC BY-SA 4.0"), forbidden_copy("")
    ('', '')
    """
    name = licence_name(licence)
    if _NO_DERIVATIVES.search(name):
        return "derivatives"
    if _RESERVED.search(name) and not _OPEN.search(name):
        return "redistribution"
    return ""

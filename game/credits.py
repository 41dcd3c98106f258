"""Whose recordings the clips are: author and licence, which CC-BY asks to name.

The credit of a clip, with its date and its source, often gives the place away, so it is shown with
the true place only. The credits of a benchmark count recordings by author and licence, and name no
clip.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

from agl1k_core.benchmarks import Benchmark, Clip
from game.views import Credit

_CC = re.compile(
    r"(?:cc|creative commons)[ :-]*(by(?:-(?:nc|nd|sa)){0,2}|0|zero)(?:[ -]*v?(\d\.\d))?"
    r"(?:[ -]+(?:international|universal|unported))?",
    re.IGNORECASE,
)
_CC_SITE = "https://creativecommons.org"


class CreditLine(NamedTuple):
    """How many recordings of a benchmark an author gave under a licence."""

    author: str
    licence: str
    licence_url: str
    n_clips: int


def credit_of(clip: Clip) -> Credit:
    """The credit of a clip, for those who may know its place."""
    return Credit(
        author=clip.author,
        licence=clip.licence,
        licence_url=licence_url(clip.licence),
        source=clip.url,
        url=clip.url if _is_address(clip.url) else "",
        recorded=clip.recorded.replace("T", " "),
    )


def credits_of(benchmark: Benchmark) -> Sequence[CreditLine]:
    """The authors of a benchmark with their licences, those with most recordings first."""
    counts = Counter(
        (clip.author, clip.licence) for clip in benchmark.clips if clip.author or clip.licence
    )
    found = sorted(counts.items(), key=lambda item: (-item[1], *map(str.casefold, item[0])))
    return [CreditLine(*pair, licence_url(pair[1]), n) for pair, n in found]


def licence_url(licence: str) -> str:
    """The address of a licence: its own text, or that of a Creative Commons licence; or empty.

    Examples
    --------
    >>> licence_url("CC-BY-SA 3.0")
    'https://creativecommons.org/licenses/by-sa/3.0/'
    >>> licence_url("CC0")
    'https://creativecommons.org/publicdomain/zero/1.0/'
    >>> licence_url("CC-BY, version unknown")
    ''
    """
    if _is_address(licence):
        return licence
    found = _CC.fullmatch(licence.strip())
    if not found:
        return ""
    kind, version = found[1].lower(), found[2]
    if kind in ("0", "zero"):
        return f"{_CC_SITE}/publicdomain/zero/1.0/"
    return f"{_CC_SITE}/licenses/{kind}/{version}/" if version else ""


def is_credited(credit: Credit) -> bool:
    """Whether anything is known about a recording's origin."""
    return credit != Credit()


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.netloc) and not re.search(r"\s", text)

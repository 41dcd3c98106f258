"""Texts without an answer: did the model decline, or did the call fail?

The phrases are in ``data/replies.json``.
"""

from __future__ import annotations

import json
import re
from functools import cache
from importlib import resources

#: A text states its subject at the beginning, and its conclusion at the end.
_SEARCHED = 2000


def is_failed_call(text: str) -> bool:
    """Whether a text is the message of a failed call rather than the model's words."""
    return bool(_pattern("failed").match(_plain(text[:_SEARCHED]).lstrip(" \n\t[](){}<>*_'\":-#!")))


def is_refusing_prose(text: str) -> bool:
    """Whether prose says that the place cannot or will not be given."""
    refusing = _pattern("refusing")
    return any(refusing.search(_plain(part)) for part in (text[:_SEARCHED], text[-_SEARCHED:]))


def _plain(text: str) -> str:
    return text.replace("’", "'").lower()


@cache
def _pattern(kind: str) -> re.Pattern[str]:
    path = resources.files("agl1k_core.answers") / "data" / "replies.json"
    patterns: list[str] = json.loads(path.read_text(encoding="utf-8"))[kind]
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns))

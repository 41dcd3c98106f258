"""Tools for listening closely, as they are stored with an answer: what was used, comma-separated.

None is not known (older answers, and programs that do not say), "" is none of them.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import combinations
from typing import Literal, get_args

Tool = Literal["loop", "slow", "band", "boost", "spectrogram"]
TOOLS: tuple[Tool, ...] = get_args(Tool)

#: Everything that an answer may hold, except None.
STORED = tuple(",".join(used) for n in range(len(TOOLS) + 1) for used in combinations(TOOLS, n))


def stored_tools(used: Collection[Tool] | None) -> str | None:
    """The tools that were used, each once, in the order of `TOOLS`; None if nobody knows.

    >>> stored_tools(["slow", "loop", "slow"])
    'loop,slow'
    """
    return None if used is None else ",".join(tool for tool in TOOLS if tool in used)

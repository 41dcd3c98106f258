"""Tokens for a control that answers at once: as many as a model took that listened again.

For each clip, the limit of the control's one answer is the sum of the completion tokens of all
answers of the agent about that clip, reasoning included, as the endpoint counts them; over several
passes, their mean. It is never below the limit of a single answer of the agent (``--max-tokens``,
or else 1,000), as a shorter one would cut off what the agent could say. So the control may write as
much as the agent wrote, or more, and a gain of acting is not one of thinking longer. Prompt tokens
are not matched: that the agent hears more is what is tested.
"""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agl1k_core.errors import Agl1kError
from agl1k_core.models.history import History, read_history
from agl1k_core.models.steps import read_steps

LEAST_TOKENS = 1_000
#: Settings that may differ between an agent's run and its control.
_FREE = ("endpoint", "seed", "max_tokens", "agent steps", "tagger of events", "token budgets")


def matched_budgets(path: Path) -> tuple[dict[str, int], dict[str, Any]]:
    """The most tokens of an answer by clip, to match an agent's run, and where they come from.

    Parameters
    ----------
    path
        The folder of the agent's run, or a file in it.

    Raises
    ------
    Agl1kError
        If it is no run of an agent, or its endpoint did not report tokens.
    """
    folder = path if path.is_dir() else path.parent
    history = read_history(folder)
    identity = history.identity or {}
    if not identity.get("agent steps"):
        raise Agl1kError(
            f"{path} is not from a run with --agent. Give the folder of one to --match-tokens."
        )
    least = identity.get("max_tokens") or LEAST_TOKENS
    used = _tokens_by_clip(folder, history)
    budgets = {key: max(least, math.ceil(statistics.fmean(n))) for key, n in used.items()}
    if not budgets:
        raise Agl1kError(f"The run in {folder} has no finished clip to match.")
    told = {
        "agent_steps": identity["agent steps"],
        "clips": len(budgets),
        "mean": round(statistics.fmean(budgets.values()), 1),
        "largest": max(budgets.values()),
        "least": least,
    }
    return budgets, told


def _tokens_by_clip(folder: Path, history: History) -> dict[str, list[int]]:
    """Completion tokens of each finished conversation, by clip."""
    used: dict[str, list[int]] = defaultdict(list)
    for (n_pass, key), steps in read_steps(folder).items():
        outcome = history.outcomes.get((n_pass, key))
        if outcome is None or outcome.reply is None:
            continue
        counts = [step.reply.usage.completion_tokens for step in steps]
        if None in counts:
            raise Agl1kError(
                f"The endpoint reported no tokens for {key} in {folder}, so they cannot be "
                "matched. Give --max-tokens instead."
            )
        used[key].append(sum(count or 0 for count in counts))
    return used


def refuse_unmatched(path: Path, settings: Mapping[str, Any]) -> None:
    """Raise ``Agl1kError`` that names the settings in which a control differs from its agent.

    ``settings`` is the identity of the control's run.
    """
    folder = path if path.is_dir() else path.parent
    before = read_history(folder).identity or {}
    changed = [
        f"{name} is {settings[name]!r}, there it is {before.get(name)!r}"
        for name in settings
        if name not in _FREE and settings[name] != before.get(name)
    ]
    if changed:
        raise Agl1kError(
            f"A control must be as the run in {folder} but for acting: {'; '.join(changed)}."
        )

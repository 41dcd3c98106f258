"""How far a model may listen again: the steps, the tagger, and the tokens of each answer."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agl1k_core.models.actions import ACTIONS, COMMIT, EVENTS, SPECTROGRAM
from agl1k_core.models.events import EventLister

#: Beside the recording, a conversation keeps the latest so many edited sounds and pictures.
KEPT_SOUNDS, KEPT_PICTURES = 2, 1


@dataclass(frozen=True)
class AgentPlan:
    """How far a model may listen again.

    Attributes
    ----------
    steps
        The most actions that it may take; 0 to answer at once, in the same form.
    events
        Lists a tagger's events; None if there is no tagger.
    budgets
        The most tokens of an answer by clip, to match those of an agent; empty for no such limit.
    matched
        How the budgets came about, for the provenance.
    """

    steps: int
    events: EventLister | None = None
    budgets: Mapping[str, int] = field(default_factory=dict)
    matched: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.steps < 0:
            raise ValueError("steps is negative")

    def offered(self, *, sees: bool) -> list[str]:
        """The actions that the model may take."""
        return offered_actions(self.steps, sees=sees, tags=self.events is not None)

    def identity(self) -> dict[str, Any]:
        """What must not change when a run is resumed, named for people."""
        budgets = json.dumps(dict(self.budgets), sort_keys=True).encode()
        return {
            "agent steps": self.steps,
            "tagger of events": self.events.source if self.events else "",
            "token budgets": hashlib.sha256(budgets).hexdigest() if self.budgets else "",
        }


def offered_actions(steps: int, *, sees: bool, tags: bool) -> list[str]:
    """The actions of a run, by whether the model sees pictures and whether there is a tagger.

    Examples
    --------
    >>> offered_actions(0, sees=True, tags=True)
    ['commit']
    """
    missing = {SPECTROGRAM: not sees, EVENTS: not tags}
    return [name for name in ACTIONS if name == COMMIT or (steps and not missing.get(name))]

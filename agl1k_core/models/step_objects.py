"""The JSON object in which a model says what to do next, whatever it may do."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from agl1k_core.answers import objects_in
from agl1k_core.models.replies import Reply

_LONGEST_TEXT = 2_000
_NOT_LETTERS = re.compile(r"[^a-z]")


@dataclass(frozen=True, slots=True)
class StepObject:
    """What a model says at a step.

    Attributes
    ----------
    told
        The whole object.
    name
        The action that it asks for, as written; empty if there is none.
    arguments
        Where the action's arguments are.
    """

    told: Mapping[str, object]
    name: str
    arguments: Mapping[str, object]

    @property
    def letters(self) -> str:
        """The action's name in small letters, without anything else."""
        return _NOT_LETTERS.sub("", self.name.lower())

    def words(self, field: str) -> str:
        """A text of the object, not too long; some models write lists instead."""
        value = self.told.get(field)
        if value is None:
            return ""
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        return text[:_LONGEST_TEXT]


def step_object(reply: Reply) -> tuple[StepObject | None, str]:
    """The object in an answer, or None and why there is none, in a sentence for the model.

    Examples
    --------
    >>> found, _ = step_object(Reply('{"action": {"name": "Band-pass", "low_hz": 300}}'))
    >>> found.letters, found.arguments["low_hz"]
    ('bandpass', 300)
    >>> step_object(Reply("Paris, I think."))
    (None, 'It is not a JSON object.')
    """
    if reply.is_cut_off:
        return None, "It was cut off by the limit on tokens. Answer more briefly."
    objects = objects_in(reply.text)
    if not objects:
        return None, "It is not a JSON object."
    told = next((tree for tree in reversed(objects) if "action" in tree), objects[-1])
    asked = told.get("action")
    # some models write the name alone, and the arguments beside it
    arguments = asked if isinstance(asked, Mapping) else told
    name = asked.get("name") if isinstance(asked, Mapping) else asked
    return StepObject(told, name.strip() if isinstance(name, str) else "", arguments), ""

"""Reads what a walking model says: its guess so far, what it doubts, and what it wants to do.

An answer that asks for no action that there is, such as the text of an error, is not searched for
words that look like one: it loses a step, and the model is told why.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from agl1k_core.answers import Answer, Status, objects_in, parse_answer
from agl1k_core.models import Reply
from agl1k_core.wander.environment import Action, Kind

#: What models call the actions.
_KINDS: Mapping[str, Kind] = {
    "rotate": "rotate", "rotatedegrees": "rotate", "turn": "rotate",
    "move": "move", "movetocolor": "move", "movetocolour": "move", "walk": "move",
    "back": "back", "backtooriginal": "back", "return": "back",
    "guess": "guess", "finalguess": "guess",
}  # fmt: skip
_NOT_LETTERS = re.compile(r"[^a-z]")
_DEGREES = re.compile(r"\s*([-+]?\d{1,9}(?:\.\d{0,9})?)\s*(?:°|deg|degrees)?\s*", re.IGNORECASE)
_LONGEST_TEXT = 2_000


@dataclass(frozen=True, slots=True)
class StepAnswer:
    """What a model says at a step.

    Attributes
    ----------
    guess
        The place so far, and its status.
    uncertain
        What it doubts.
    action
        What it wants to do, None if that cannot be read; ``problem`` then says why.
    """

    guess: Answer
    uncertain: str = ""
    action: Action | None = None
    problem: str = ""

    @property
    def final(self) -> Action:
        """The guess as an action; without a place if there is no usable point."""
        return Action("guess", lat=self.guess.latitude, lon=self.guess.longitude)


def read_step_answer(reply: Reply) -> StepAnswer:
    """Read an answer; never raises.

    Examples
    --------
    >>> read_step_answer(Reply('{"action": {"name": "move", "way": "Red"}}')).action
    Action(kind='move', degrees=0.0, way='red', lat=None, lon=None)
    >>> answer = read_step_answer(Reply("Error: a field is required"))
    >>> answer.action, answer.problem
    (None, 'It is not a JSON object.')
    """
    guess = parse_answer(reply.text)
    if reply.is_cut_off:
        problem = "It was cut off by the limit on tokens. Answer more briefly."
        return StepAnswer(guess, problem=problem)
    objects = objects_in(reply.text)
    if not objects:
        return StepAnswer(guess, problem="It is not a JSON object.")
    told = next((one for one in reversed(objects) if "action" in one), objects[-1])
    uncertain = told.get("uncertain")
    words = uncertain[:_LONGEST_TEXT] if isinstance(uncertain, str) else ""
    read = StepAnswer(guess, words)
    action, problem = _action_in(told, read)
    return StepAnswer(guess, words, action, problem)


def _action_in(told: Mapping[str, object], read: StepAnswer) -> tuple[Action | None, str]:
    """The action that an answer asks for, or why there is none."""
    asked = told.get("action")
    # some models write the name alone, and its arguments beside it
    arguments = asked if isinstance(asked, Mapping) else told
    name = asked.get("name") if isinstance(asked, Mapping) else asked
    if not isinstance(name, str) or not name.strip():
        return None, 'It has no action such as {"name": "guess"}.'
    kind = _KINDS.get(_NOT_LETTERS.sub("", name.lower()))
    match kind:
        case "rotate":
            return _rotation(arguments.get("degrees"))
        case "move":
            return _move(arguments.get("way"))
        case "back":
            return Action("back"), ""
        case "guess":
            return _guess(read)
    return None, f"There is no action {name[:40]!r}. The actions are: rotate, move, back, guess."


def _rotation(degrees: object) -> tuple[Action | None, str]:
    if isinstance(degrees, str) and (match := _DEGREES.fullmatch(degrees)):
        degrees = float(match[1])
    is_number = isinstance(degrees, int | float) and not isinstance(degrees, bool)
    if not is_number or not math.isfinite(float(degrees)):  # type: ignore[arg-type]
        return None, "The action rotate needs a number of degrees."
    return Action("rotate", degrees=float(degrees)), ""  # type: ignore[arg-type]


def _move(way: object) -> tuple[Action | None, str]:
    if isinstance(way, int) and not isinstance(way, bool):
        way = str(way)
    if not isinstance(way, str) or not way.strip():
        return None, "The action move needs the name of a way."
    return Action("move", way=way.strip().casefold()[:40]), ""


def _guess(read: StepAnswer) -> tuple[Action | None, str]:
    if read.guess.status is not Status.ANSWERED:
        return None, "A guess needs a latitude and a longitude."
    return read.final, ""

"""Reads what a walking model says: its guess so far, what it doubts, and what it wants to do.

An answer that asks for no action that there is, such as the text of an error, is not searched for
words that look like one: it loses a step, and the model is told why.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from agl1k_core.answers import Answer, Status, parse_answer
from agl1k_core.models import Reply, StepObject, step_object
from agl1k_core.wander.environment import Action, Kind

#: What models call the actions.
_KINDS: Mapping[str, Kind] = {
    "rotate": "rotate", "rotatedegrees": "rotate", "turn": "rotate",
    "move": "move", "movetocolor": "move", "movetocolour": "move", "walk": "move",
    "back": "back", "backtooriginal": "back", "return": "back",
    "guess": "guess", "finalguess": "guess",
}  # fmt: skip
_DEGREES = re.compile(r"\s*([-+]?\d{1,9}(?:\.\d{0,9})?)\s*(?:°|deg|degrees)?\s*", re.IGNORECASE)


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
    found, problem = step_object(reply)
    if found is None:
        return StepAnswer(guess, problem=problem)
    read = StepAnswer(guess, found.words("uncertain"))
    action, problem = _action_in(found, read)
    return replace(read, action=action, problem=problem)


def _action_in(asked: StepObject, read: StepAnswer) -> tuple[Action | None, str]:
    """The action that an answer asks for, or why there is none."""
    if not asked.name:
        return None, 'It has no action such as {"name": "guess"}.'
    match _KINDS.get(asked.letters):
        case "rotate":
            return _rotation(asked.arguments.get("degrees"))
        case "move":
            return _move(asked.arguments.get("way"))
        case "back":
            return Action("back"), ""
        case "guess":
            return _guess(read)
    shown = repr(asked.name[:40])
    return None, f"There is no action {shown}. The actions are: rotate, move, back, guess."


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

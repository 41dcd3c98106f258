"""A model that walks: it guesses, says what it doubts, acts, and guesses again.

After GeoAoT (Learning to Wander, section 5): observe, state the guess and what is uncertain, act,
update. With a single step it is the control that answers at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

from agl1k_core.answers import without_reasoning
from agl1k_core.errors import Agl1kError
from agl1k_core.models import Ask, CannotAskError, Message, Prompt, Reply, Sound
from agl1k_core.places import bearing_in_words
from agl1k_core.wander.environment import (
    MAX_STEPS,
    ActionRefusedError,
    Environment,
    Move,
    Panoramas,
    State,
)
from agl1k_core.wander.graph import Graph
from agl1k_core.wander.step_answers import StepAnswer, read_step_answer

_LONGEST_ANSWER = 4_000


@dataclass(frozen=True, slots=True)
class WalkRules:
    """How models walk: ``max_steps`` with the guess, and the habits of the authors' code or not."""

    max_steps: int = MAX_STEPS
    as_published: bool = False

    def walk(self, graph: Graph) -> Environment:
        """A walk through a graph by these rules."""
        return Environment(graph, self.max_steps, self.as_published)


@dataclass(frozen=True)
class WalkingAgent:
    """Asks about a graph step by step; see ``agl1k_core.models.Approach``.

    Each answer is a step. One that cannot be read, or asks for something impossible, loses its
    step: the model is told why. The last answer is the guess, whatever it asks for.

    Parameters
    ----------
    graphs
        The graphs by key.
    panoramas
        Makes the views.
    prompt
        What comes first.
    rules
        How to walk.
    """

    graphs: Mapping[str, Graph]
    panoramas: Panoramas
    prompt: Prompt
    rules: WalkRules = field(default_factory=WalkRules)

    def converse(self, key: str, sound: Sound | None, ask: Ask) -> None:
        """See ``Approach.converse``."""
        walk = self.rules.walk(self.graphs[key])
        messages: list[Message] = []
        note = self.prompt.text
        while not walk.state.is_over:
            messages.append(self._view(walk.state, note))
            reply = ask(messages, last=walk.state.must_guess, about=told_of(walk.state))
            note = _told_back(take_step(walk, reply), walk)
            messages.append(_said(reply))

    def _view(self, state: State, note: str) -> Message:
        words = "\n\n".join(filter(None, [note, described(state)]))
        try:
            return Message("user", (self.panoramas.draw(state), words))
        except Agl1kError as error:
            raise CannotAskError(str(error)) from None


def take_step(walk: Environment, reply: Reply) -> StepAnswer:
    """Do what an answer asks for; the step is lost if that is not possible."""
    answer = read_step_answer(reply)
    if walk.state.must_guess:
        walk.act(answer.final)
    elif answer.action is None:
        walk.lose_step(answer.problem)
    else:
        try:
            walk.act(answer.action)
        except ActionRefusedError as error:
            walk.lose_step(str(error))
    return answer


def _told_back(answer: StepAnswer, walk: Environment) -> str:
    """What the model is told of its last step."""
    lost = walk.history[-1].note
    if not lost:
        return ""
    cause = "could not be used" if answer.action is None else "asked for what is not possible"
    return f"Your answer {cause}. {lost} It was counted as a step."


def _said(reply: Reply) -> Message:
    """The model's own answer in the conversation, without its reasoning."""
    text = without_reasoning(reply.text).strip() or reply.text.strip()
    return Message("assistant", (text[:_LONGEST_ANSWER] or "(nothing)",))


def told_of(state: State) -> dict[str, Any]:
    """A state, for the journal."""
    return {
        "node": state.node.pano_id,
        "heading_deg": round(state.heading_deg, 3),
        "shown_deg": round(state.shown_deg, 3),
        "ways": {move.way: move.target_id for move in state.moves},
    }


def described(state: State) -> str:
    """A state in words, for the model; nothing in them names the place.

    Examples
    --------
    >>> from agl1k_core.wander.graph import Node
    >>> node = Node("a", 0, 1.0, 2.0)
    >>> moves = (Move("red", "b", 10.0, -80.0),)
    >>> print(described(State(node, 90.0, 90.0, moves, 0, 4, False, False)))
    You look east (90°). Ways: red, 80° to the left. 4 steps are left, your guess included.
    """
    compass = f"You look {bearing_in_words(state.heading_deg)} ({state.heading_deg:.0f}°)."
    ways = "; ".join(map(_way, state.moves))
    return f"{compass} {f'Ways: {ways}.' if ways else 'There is no way from here.'} {_left(state)}"


def _way(move: Move) -> str:
    degrees = round(abs(move.relative_deg))
    if degrees == 0:
        return f"{move.way}, straight ahead"
    if degrees == 180:
        return f"{move.way}, behind you"
    return f"{move.way}, {degrees}° to the {'left' if move.relative_deg < 0 else 'right'}"


def _left(state: State) -> str:
    if state.must_guess:
        return "This is your last step: give your final answer now."
    return f"{state.steps_left} steps are left, your guess included."


def wander_prompt() -> Prompt:
    """Our own prompt for walking models."""
    path = resources.files("agl1k_core.wander") / "data" / "wander_prompt.txt"
    return Prompt(path.read_text("utf-8").strip())

"""A model that listens again: it answers, says what it doubts, and asks for one action at a time.

After the Action of Thought of Zhang et al. 2026, "Learning to Wander", section 5: a guess, what is
uncertain, an action that would settle it, a new guess. There, actions move through a street; here,
they let a model hear and see the recording in other ways.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from agl1k_core.answers import without_reasoning
from agl1k_core.errors import Agl1kError
from agl1k_core.models.actions import (
    ACTIONS,
    COMMIT,
    Evidence,
    StepAnswer,
    evidence_of,
    read_step,
)
from agl1k_core.models.approaches import Ask
from agl1k_core.models.messages import Message, Part, Picture, Sound
from agl1k_core.models.plans import KEPT_PICTURES, KEPT_SOUNDS, AgentPlan
from agl1k_core.models.prompts import Prompt
from agl1k_core.models.replies import Reply

_LONGEST_ANSWER = 4_000
_DROPPED = "(This is no longer attached. Ask for it again if you need it.)"
_AGAIN = "Answer again with the same JSON object."


@dataclass(frozen=True)
class ListeningAgent:
    """Asks about a clip in steps; see ``approaches.Approach``.

    Each answer counts as a step, also one that cannot be read or asks for something impossible:
    the model is told, and answers again. After the last action, the answer is final whatever it
    asks for. Edited sound goes out in a new message of the user.

    Parameters
    ----------
    prompt
        What comes first.
    plan
        How many actions, and what with.
    sees
        Whether the model takes pictures beside sound.
    """

    prompt: Prompt
    plan: AgentPlan
    sees: bool = False

    def converse(self, key: str, sound: Sound | None, ask: Ask) -> None:
        """See ``approaches.Approach.converse``."""
        if sound is None:
            raise Agl1kError("A model that listens again needs sound.")
        first = f"{self.prompt.text}\n\n{self._facts(key, sound)}"
        messages = [Message("user", (sound, first))]
        about: dict[str, Any] = {}
        budget = self.plan.budgets.get(key)
        for left in range(self.plan.steps, -1, -1):
            reply = ask(bounded(messages), last=left == 0, max_tokens=budget, about=about)
            answer = read_step(reply)
            if left == 0 or (answer.action and answer.action.name == COMMIT):
                return
            evidence = self._evidence(key, answer, sound)
            about = {**answer.to_dict(), "sent": evidence.to_dict()}
            messages += [_said(reply), _next_question(evidence, left - 1)]

    def _facts(self, key: str, recording: Sound) -> str:
        """What holds for this clip and this run, after the prompt."""
        facts = [f"The recording lasts {_floor(recording.duration_s)} s."]
        offered = self.plan.offered(sees=self.sees)
        missing = [name for name in ACTIONS if name not in offered]
        if self.plan.steps and missing:
            facts.append(f"Not available: {', '.join(missing)}.")
        facts.append(_left(self.plan.steps))
        if key in self.plan.budgets:
            facts.append(
                f"You may use up to {self.plan.budgets[key]} tokens to think and to answer."
            )
        return " ".join(facts)

    def _evidence(self, key: str, answer: StepAnswer, recording: Sound) -> Evidence:
        """What the action gives, or in words why it gives nothing."""
        if answer.action is None:
            return Evidence(f"Your answer could not be used. {answer.problem}")
        name = answer.action.name
        if name not in self.plan.offered(sees=self.sees):
            return Evidence(f"The action {name} is not available.")
        try:
            return evidence_of(answer.action, recording, self._events(key, recording))
        except Agl1kError as error:
            return Evidence(f"The action {name} could not be done. {error}")

    def _events(self, key: str, recording: Sound) -> Callable[[], str]:
        def events() -> str:
            assert self.plan.events is not None
            assert recording.samples is not None
            return self.plan.events.events(key, recording.samples)

        return events


def _floor(seconds: float) -> str:
    """Seconds with two digits, never more than there are."""
    return f"{int(seconds * 100) / 100:g}"


def _left(n: int) -> str:
    """How many actions may still be taken."""
    if n == 0:
        return "You have no action left: commit to your final answer now."
    return f"You may take {n} more action{'s' if n > 1 else ''}; commit earlier if you are sure."


def _said(reply: Reply) -> Message:
    """The model's own answer in the conversation, without its reasoning."""
    text = without_reasoning(reply.text).strip() or reply.text.strip()
    return Message("assistant", (text[:_LONGEST_ANSWER],))


def _next_question(evidence: Evidence, left: int) -> Message:
    text = f"{evidence.text}\n\n{_left(left)} {_AGAIN}"
    return Message("user", (evidence.part, text) if evidence.part else (text,))


def bounded(messages: Sequence[Message]) -> list[Message]:
    """A conversation in which only the recording and the latest edits of it are still attached.

    Examples
    --------
    >>> sounds = [Sound(b"", "wav", 1.0) for _ in range(4)]
    >>> kept = bounded([Message("user", (sound, "hear")) for sound in sounds])
    >>> [len(message.sounds) for message in kept]
    [1, 0, 1, 1]
    """
    room = {Sound: KEPT_SOUNDS, Picture: KEPT_PICTURES}
    kept: list[Message] = []
    for message in reversed(messages[1:]):
        kept.append(Message(message.role, tuple(_kept(part, room) for part in message.parts)))
    return [*messages[:1], *reversed(kept)]


def _kept(part: Part, room: dict[type, int]) -> Part:
    if isinstance(part, str):
        return part
    room[type(part)] -= 1
    return part if room[type(part)] >= 0 else _DROPPED

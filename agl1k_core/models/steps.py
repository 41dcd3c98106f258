"""The steps of models that listened again, as the journal tells them: what each said and asked for.

``steps.jsonl`` beside the predictions has a line for each step. The answers after any number of
actions can be scored as if the model had stopped there.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agl1k_core.answers import LABELS, parse_answer
from agl1k_core.benchmarks import Benchmark
from agl1k_core.models.actions import read_step
from agl1k_core.models.failures import EndpointError
from agl1k_core.models.history import History, raw_reply, read_history
from agl1k_core.models.journal import Turn, read_journal, turn_of
from agl1k_core.models.plans import KEPT_SOUNDS, offered_actions
from agl1k_core.models.replies import Reply, read_reply
from agl1k_core.models.spending import Price, cost_of

STEPS = "steps.jsonl"
#: A pass and a clip.
Place = tuple[int, str]


@dataclass(frozen=True, slots=True)
class Step:
    """One answer of a conversation.

    Attributes
    ----------
    turn
        The pass, the clip, and the number of the step, from 0.
    reply
        The answer.
    sent
        The sound or picture that it is about: its SHA-256 and, for sound, its format and seconds;
        None if there was nothing new.
    """

    turn: Turn
    reply: Reply
    sent: Mapping[str, Any] | None

    def record(self, price: Price | None) -> dict[str, Any]:
        """A line of ``steps.jsonl``."""
        answer, usage = parse_answer(self.reply.text), self.reply.usage
        labels = {name: getattr(answer, name) for name in LABELS}
        cost, source = cost_of(usage, price)
        return {
            "key": self.turn.clip,
            "step": self.turn.step,
            "sent": self.sent,
            "status": str(answer.status),
            "latitude": answer.latitude,
            "longitude": answer.longitude,
            **labels,
            **read_step(self.reply).to_dict(),
            "prompt_tokens": usage.prompt_tokens,
            "completion_tokens": usage.completion_tokens,
            "cost_usd": cost,
            "cost_source": source,
        }


def read_steps(folder: Path) -> dict[Place, list[Step]]:
    """The answered steps of each conversation of a run, in order; raises ``Agl1kError``."""
    found: dict[Place, dict[int, Step]] = {}
    for event in read_journal(folder):
        if event["line"] == "reply":
            step = _step(event)
            if step is not None:
                found.setdefault(step.turn[:2], {})[step.turn.step] = step
    return {place: [steps[n] for n in sorted(steps)] for place, steps in found.items()}


def _step(event: Mapping[str, Any]) -> Step | None:
    """The step in a line of the journal; None if it has no answer, or was torn."""
    try:
        return Step(turn_of(event), read_reply(raw_reply(event)), _sent(event))
    except (EndpointError, KeyError, TypeError):
        return None


def _sent(event: Mapping[str, Any]) -> Mapping[str, Any] | None:
    if event["step"]:
        sent = event.get("about", {}).get("sent")
        return sent if isinstance(sent, Mapping) else None
    sound = event.get("sound") or {}
    first = {"sha256": (sound.get("sha256") or [""])[0]}
    return {name: sound[name] for name in ("format", "seconds") if name in sound} | first


def steps_text(
    steps: Mapping[Place, Sequence[Step]], benchmark: Benchmark, n_pass: int, price: Price | None
) -> str:
    """The lines of ``steps.jsonl`` for a pass, in the benchmark's order."""
    records = (
        step.record(price) for clip in benchmark.clips for step in steps.get((n_pass, clip.key), ())
    )
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def told_of_steps(history: History, steps: Mapping[Place, Sequence[Step]]) -> dict[str, Any]:
    """What the provenance says about listening again."""
    identity = history.identity or {}
    tagger, sight = identity["tagger of events"], history.sight or {}
    taken = Counter(
        answer.action.name if answer.action else "none"
        for conversation in steps.values()
        for answer in (read_step(step.reply) for step in conversation)
    )
    return {
        "steps": identity["agent steps"],
        "actions_offered": offered_actions(
            identity["agent steps"], sees=sight.get("outcome") == "seen", tags=bool(tagger)
        ),
        "answers_by_action": dict(sorted(taken.items())),
        "answers": sum(map(len, steps.values())),
        "conversations": len(steps),
        "kept_sounds": KEPT_SOUNDS,
        "tagger_of_events": tagger,
        "seeing_check": history.sight,
        "token_budgets": history.about.get("token_budgets"),
    }


def answers_after(
    folder: Path, benchmark: Benchmark, n_pass: int = 1
) -> list[list[dict[str, str]]]:
    """Records of predictions as if the model had stopped after 0, 1, 2, … actions.

    A clip that was answered earlier keeps its last answer; one whose conversation failed has an
    error from there on. Empty if the run is not of a model that listens again.
    """
    history = read_history(folder)
    most = (history.identity or {}).get("agent steps")
    if most is None:
        return []
    steps, outcomes = read_steps(folder), history.of_pass(n_pass)
    keys = [clip.key for clip in benchmark.clips if clip.key in outcomes]

    def record(key: str, n_actions: int) -> dict[str, str]:
        said = steps.get((n_pass, key), [])
        if outcomes[key].reply is None and n_actions >= len(said):
            return {"key": key, "error": outcomes[key].words}
        return {"key": key, "model_output": said[min(n_actions, len(said) - 1)].reply.text}

    return [[record(key, n) for key in keys] for n in range(most + 1)]


def still_asking(folder: Path, n_pass: int = 1) -> Iterator[int]:
    """How many clips got an answer after at least 0, 1, 2, … actions."""
    lengths = [len(found) for (number, _), found in read_steps(folder).items() if number == n_pass]
    yield from (sum(length > n for length in lengths) for n in range(max(lengths, default=0)))

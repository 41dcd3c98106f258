"""The state of a run as its journal tells it: what is done, what it cost, what was found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agl1k_core.models.failures import EndpointError, Scope
from agl1k_core.models.journal import Turn, read_journal, turn_of
from agl1k_core.models.replies import RawReply, Reply, Usage, read_reply, usage_within


@dataclass(frozen=True, slots=True)
class Answered:
    """The response to a step of a conversation, and how its sounds were sent."""

    raw: RawReply
    sound: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class Totals:
    """Sums over all responses of a run, those of probes and failed attempts included."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    n_responses: int = 0
    models: Counter[str] = field(default_factory=Counter)

    def add(self, usage: Usage) -> None:
        """Count a response."""
        self.n_responses += 1
        self.prompt_tokens += usage.prompt_tokens or 0
        self.completion_tokens += usage.completion_tokens or 0


@dataclass
class Outcome:
    """What happened to a clip in a pass: its answer, or why there is none.

    ``is_final`` is False if the next run should ask again.
    """

    reply: Reply | None = None
    words: str = ""
    is_final: bool = False
    sound: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class History:
    """A journal, read."""

    identity: Mapping[str, Any] | None = None
    about: Mapping[str, Any] = field(default_factory=dict)
    dialect: Mapping[str, Any] | None = None
    hearing: Mapping[str, Any] | None = None
    sight: Mapping[str, Any] | None = None
    outcomes: dict[tuple[int, str], Outcome] = field(default_factory=dict)
    #: Answers to steps of conversations that are not finished.
    steps: dict[Turn, Answered] = field(default_factory=dict)
    #: Usage of each response, and the size of its question in seconds of sound.
    usages: list[tuple[Usage, float]] = field(default_factory=list)
    recordings: dict[str, list[Any]] = field(default_factory=dict)
    totals: Totals = field(default_factory=Totals)
    versions: set[str] = field(default_factory=set)
    has_asked: bool = False
    began: str = ""
    ended: str = ""
    under_way: Counter[Turn] = field(default_factory=Counter)

    @property
    def n_lost(self) -> int:
        """Questions that were under way when the process was killed."""
        return self.under_way.total()

    def is_done(self, n_pass: int, key: str, *, despite_errors: bool = True) -> bool:
        """Whether a clip need not be asked again; ``despite_errors`` counts final errors, too."""
        outcome = self.outcomes.get((n_pass, key))
        return outcome is not None and outcome.is_final and (despite_errors or bool(outcome.reply))

    def of_pass(self, n_pass: int) -> dict[str, Outcome]:
        """The outcomes of a pass, by clip."""
        return {key: found for (number, key), found in self.outcomes.items() if number == n_pass}

    @property
    def passes(self) -> list[int]:
        """The passes that have begun."""
        return sorted({number for number, _ in self.outcomes})


def read_history(folder: Path) -> History:
    """Read a folder's journal; raises ``Agl1kError`` if it cannot be read."""
    history = History()
    for event in read_journal(folder):
        read = _READERS.get(event["line"])
        if read is not None:
            with suppress(KeyError, TypeError):  # a line that a killed process tore
                read(history, event)
            history.ended = event.get("at", history.ended)
    return history


def raw_reply(event: Mapping[str, Any]) -> RawReply:
    """The response in a line of the journal."""
    return RawReply(event["status"], event["body"], None, event.get("seconds", 0.0))


def _run(history: History, event: Mapping[str, Any]) -> None:
    if not history.has_asked:
        # nothing depends on the settings of a run that did not begin
        history.identity = event["identity"]
        history.dialect = history.hearing = history.sight = None
    history.about = event.get("about", history.about)
    history.versions.add(event.get("version", ""))
    history.began = history.began or event["at"]


def _found(history: History, event: Mapping[str, Any]) -> None:
    history.dialect = event.get("dialect", history.dialect)
    history.sight = event.get("sight", history.sight)
    history.hearing = event.get("hearing", history.hearing)


def _probe(history: History, event: Mapping[str, Any]) -> None:
    _count(history, raw_reply(event), event.get("size_s", 0.0))


def _recording(history: History, event: Mapping[str, Any]) -> None:
    history.recordings[event["clip"]] = event["recording"]


def _asked(history: History, event: Mapping[str, Any]) -> None:
    history.has_asked = True
    history.under_way[turn_of(event)] += 1


def _reply(history: History, event: Mapping[str, Any]) -> None:
    turn, raw = turn_of(event), raw_reply(event)
    _settled(history, turn)
    sound = event.get("sound") or {}
    _count(history, raw, event.get("size_s", sound.get("seconds", 0.0)))
    try:
        reply = read_reply(raw)
    except EndpointError:
        return  # the line that gives up on the clip says why
    history.totals.models[reply.model] += 1
    if event["last"]:
        _conclude(history, turn, reply, sound)
    else:
        history.steps[turn] = Answered(raw, sound)


def _answer(history: History, event: Mapping[str, Any]) -> None:
    """A step that turned out to be the last one of its conversation."""
    turn = turn_of(event)
    answered = history.steps[turn]
    _conclude(history, turn, read_reply(answered.raw), answered.sound)


def _conclude(history: History, turn: Turn, reply: Reply, sound: Mapping[str, Any]) -> None:
    history.outcomes[turn[:2]] = Outcome(reply, "", True, sound)
    for step in range(turn.step + 1):
        history.steps.pop(turn._replace(step=step), None)


def _no_reply(history: History, event: Mapping[str, Any]) -> None:
    _settled(history, turn_of(event))


def _failed(history: History, event: Mapping[str, Any]) -> None:
    outcome = history.outcomes.setdefault((event["n_pass"], event["clip"]), Outcome())
    if outcome.reply is None:
        outcome.words, outcome.is_final = event["words"], event["scope"] == Scope.CLIP.value


def _settled(history: History, turn: Turn) -> None:
    history.under_way[turn] -= 1
    if history.under_way[turn] <= 0:
        del history.under_way[turn]


def _count(history: History, raw: RawReply, seconds: float) -> None:
    usage = usage_within(raw)
    history.usages.append((usage, seconds))
    history.totals.add(usage)


_READERS: Mapping[str, Callable[[History, Mapping[str, Any]], None]] = {
    "run": _run,
    "found": _found,
    "probe": _probe,
    "recording": _recording,
    "asked": _asked,
    "reply": _reply,
    "answer": _answer,
    "no reply": _no_reply,
    "failed": _failed,
}

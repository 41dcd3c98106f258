"""One conversation about a clip: each step sent once, kept before it is read, and paid for once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agl1k_core.http import TransientError, retrying
from agl1k_core.models.failures import EndpointError, Failure, Scope, Trouble
from agl1k_core.models.history import Answered
from agl1k_core.models.journal import Turn
from agl1k_core.models.messages import Message, Sound, pictures_of, sounds_of
from agl1k_core.models.replies import RawReply, Reply, read_reply, usage_within
from agl1k_core.models.spending import cost_of, size_s

if TYPE_CHECKING:
    from agl1k_core.models.runner import Runner

#: An empty answer may be a hiccup of the server; a second one is the model's.
_MOST_EMPTY = 2


class Conversation:
    """Asks the steps of one conversation about a clip; see ``approaches.Ask``.

    Parameters
    ----------
    runner
        The run whose journal, budget and model it uses.
    n_pass, key
        The pass and the clip.
    """

    def __init__(self, runner: Runner, n_pass: int, key: str) -> None:
        self._runner, self._n_pass, self._key = runner, n_pass, key
        self._step = 0
        self._n_empty = 0
        self._is_over = False

    def __call__(
        self,
        messages: Sequence[Message],
        *,
        last: bool,
        max_tokens: int | None = None,
        about: Mapping[str, Any] | None = None,
    ) -> Reply:
        question = Question(self._turn, messages, last, max_tokens, about or {})
        self._step += 1
        self._n_empty = 0
        known = self._runner.history.steps.get(question.turn)
        if known is not None:
            return read_reply(known.raw)
        try_once = retrying(self._runner.patience, self._runner.stop)
        reply, raw = try_once(self._attempt, question)
        self._is_over = last
        if not last:
            # a conversation that begins again, with smaller sound, does not pay for it again
            self._runner.history.steps[question.turn] = Answered(raw, question.sound)
        return reply

    @property
    def _turn(self) -> Turn:
        return Turn(self._n_pass, self._key, self._step)

    def close(self) -> None:
        """Note that the latest answer is the one for the clip, unless it was asked for as such."""
        if not self._is_over and self._step:
            latest = self._turn._replace(step=self._step - 1)
            self._runner.journal.append("answer", **latest._asdict())
        for step in range(self._step):
            self._runner.history.steps.pop(self._turn._replace(step=step), None)

    def _attempt(self, question: Question) -> tuple[Reply, RawReply]:
        runner = self._runner
        if not runner.stop.is_set():
            runner.pace.wait(runner.stop)
        with runner.budget.request(question.size_s, runner.stop) as receipt:
            if runner.stop.is_set():
                raise TransientError("was stopped")
            raw = self._sent(question)
            receipt.answered = 200 <= raw.status < 300
            usage = usage_within(raw)
            receipt.cost = cost_of(usage, runner.price)[0]
            runner.note(usage)
        return self._read(raw), raw

    def _sent(self, question: Question) -> RawReply:
        """Send, and keep the response before anything else is done with it."""
        journal = self._runner.journal
        place: dict[str, Any] = question.turn._asdict()
        journal.append("asked", durable=False, **place)
        try:
            raw = self._runner.model.send(question.messages, max_tokens=question.max_tokens)
        except TransientError as error:
            journal.append("no reply", durable=False, words=str(error), **place)
            raise
        journal.append(
            "reply", **place, last=question.last, status=raw.status, body=raw.body,
            seconds=round(raw.seconds, 3), **question.noted(),
        )  # fmt: skip
        return raw

    def _read(self, raw: RawReply) -> Reply:
        try:
            return read_reply(raw)
        except EndpointError as error:
            failure = error.failure
            self._n_empty += failure.trouble is Trouble.EMPTY
            again = failure.trouble is Trouble.EMPTY and self._n_empty < _MOST_EMPTY
            if failure.scope is not Scope.MOMENT and not (again and not _is_cut_off(failure)):
                raise
            raise PassingError(failure) from None


@dataclass(frozen=True)
class Question:
    """One question of a conversation."""

    turn: Turn
    messages: Sequence[Message]
    last: bool
    max_tokens: int | None
    about: Mapping[str, Any]

    @property
    def sound(self) -> dict[str, Any]:
        """How its sounds were sent; empty if there are none."""
        sounds = sounds_of(self.messages)
        return described(sounds) if sounds else {}

    @property
    def size_s(self) -> float:
        """What it is expected to cost, in seconds of sound."""
        return size_s(self.messages)

    def noted(self) -> dict[str, Any]:
        """What the journal says about it beside the response."""
        told = {
            "sound": self.sound,
            "pictures": [picture.sha256 for picture in pictures_of(self.messages)],
            "max_tokens": self.max_tokens,
            "about": self.about,
        }
        return {"size_s": round(self.size_s, 3)} | {key: x for key, x in told.items() if x}


class PassingError(TransientError):
    """A response without an answer that is worth another attempt."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(f"answered {failure}", retry_after_s=failure.retry_after_s)
        self.failure = failure


def described(sounds: Sequence[Sound]) -> dict[str, Any]:
    """How the sounds of a question were sent, for the journal."""
    first = sounds[0]
    return {
        "format": first.format,
        "seconds": round(sum(sound.duration_s for sound in sounds), 3),
        "of_seconds": None if first.full_s is None else round(first.full_s, 3),
        "truncated": first.is_truncated,
        "sha256": [sound.sha256 for sound in sounds],
        "bytes": sum(len(sound.data) for sound in sounds),
    }


def _is_cut_off(failure: Failure) -> bool:
    return "--max-tokens" in failure.words

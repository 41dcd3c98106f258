"""How a model is asked about a clip: in one question, or in a conversation of several steps.

An approach only decides what to say next. Sending, retrying, journaling and resuming are the
runner's, so an agent that listens again needs nothing but its own ``converse``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from agl1k_core.errors import Agl1kError
from agl1k_core.models.messages import Message, Sound, question
from agl1k_core.models.replies import Reply
from agl1k_core.models.settings import RunSettings


class Ask(Protocol):
    """Sends a conversation, and returns the answer to it.

    The answer to the ``last`` one is the answer for the clip; if ``converse`` returns earlier, it
    is the latest answer. ``max_tokens`` limits this answer instead of the run's own limit;
    ``about`` is kept in the journal beside the answer. On a resumed run, a step that was answered
    before is not sent again: its answer is returned.
    """

    def __call__(
        self,
        messages: Sequence[Message],
        *,
        last: bool,
        max_tokens: int | None = None,
        about: Mapping[str, Any] | None = None,
    ) -> Reply: ...


class CannotAskError(Agl1kError):
    """Why a clip cannot be asked about; the next run tries again."""


class Approach(Protocol):
    """How a model is asked about a clip."""

    def converse(self, key: str, sound: Sound | None, ask: Ask) -> None:
        """Ask about a clip; ``sound`` is None if the model gets none.

        Raises ``CannotAskError`` to give up on this clip alone.
        """
        ...


@dataclass(frozen=True, slots=True)
class OneQuestion:
    """The prompt and the sound, or a text that takes the place of the sound."""

    settings: RunSettings

    def converse(self, key: str, sound: Sound | None, ask: Ask) -> None:
        """See ``Approach.converse``."""
        text = self.settings.prompt.text
        about = self.settings.texts.get(key, "")
        if about:
            text = f"{text}\n\n{about}"
        ask(question(text, *([sound] if sound else [])), last=True)

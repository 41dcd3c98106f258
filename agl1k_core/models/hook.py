"""Models in this process, named ``module:function``.

The function is ``ask(audio, prompt) -> str``, or takes a whole conversation, ``chat(messages) ->
str``, which a model that listens again needs. Which of them it is shows from the number of its
arguments.
"""

from __future__ import annotations

import importlib
import inspect
import json
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from agl1k_core.errors import Agl1kError
from agl1k_core.http import TransientError
from agl1k_core.models.failures import Failure
from agl1k_core.models.messages import Message, Part, Picture, Samples, Sound
from agl1k_core.models.replies import RawReply

#: Returns the model's answer. Gets one channel at 16 kHz, float32, or None if no sound is sent, and
#: the prompt; or, as its only argument, the messages of a conversation (``turns``).
AskFunction = Callable[..., str]


def load_function(spec: str) -> AskFunction:
    """Import a function by ``module:function``; the current folder is searched, too.

    Raises ``Agl1kError`` that says what is missing.
    """
    module_name, _, name = spec.partition(":")
    if not module_name or not name:
        raise Agl1kError(f"--python {spec!r} is not module:function, such as my_model:ask.")
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        module = importlib.import_module(module_name)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise Agl1kError(f"The module {module_name} cannot be imported: {reason}.") from None
    function = getattr(module, name, None)
    if not callable(function):
        raise Agl1kError(f"The module {module_name} has no function {name}.")
    return function  # type: ignore[no-any-return]


@dataclass
class LocalModel:
    """A function in this process as a model; it is called by one thread at a time.

    Parameters
    ----------
    ask
        The function, with two arguments, or with one for a conversation.
    spec
        Its name, for messages.
    """

    ask: AskFunction
    spec: str
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @cached_property
    def converses(self) -> bool:
        """Whether the function takes a conversation: it needs one argument, not two."""
        try:
            parameters = inspect.signature(self.ask).parameters.values()
        except ValueError:  # some functions of C have no signature
            return False
        kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        needed = [p for p in parameters if p.kind in kinds and p.default is p.empty]
        return len(needed) == 1

    def check_converses(self) -> None:
        """Raise ``Agl1kError`` if the function does not take a conversation."""
        if not self.converses:
            raise Agl1kError(
                f"A model that listens again needs a conversation, but {self.spec} takes one "
                "recording and one prompt. Give --python a function of one argument, "
                "chat(messages) (docs/run-a-model.md), or leave out --agent."
            )

    def send(self, messages: Sequence[Message], *, max_tokens: int | None = None) -> RawReply:
        """See ``Model.send``; ``max_tokens`` is the function's own business."""
        arguments = (turns(messages),) if self.converses else _last_question(messages)
        with self._lock:
            began = time.monotonic()
            try:
                text = self.ask(*arguments)
            except Exception as error:
                raise TransientError(f"raised {type(error).__name__}: {error}") from None
            seconds = time.monotonic() - began
        if not isinstance(text, str):
            kind = type(text).__name__
            raise Agl1kError(f"{self.spec} must return the answer as text; it returned {kind}.")
        choice = {"message": {"content": text}, "finish_reason": "stop"}
        body = json.dumps({"choices": [choice]}, ensure_ascii=False)
        return RawReply(200, body, None, seconds)

    def sentence(self, failure: Failure) -> str:
        """See ``Model.sentence``."""
        return f"{self.spec} gave no answer ({failure})."


def _last_question(messages: Sequence[Message]) -> tuple[Samples | None, str]:
    sounds = messages[-1].sounds
    return (sounds[0].samples if sounds else None), messages[-1].text


def turns(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """A conversation as ``chat`` gets it: a role, and a list of parts of type text, audio or image.

    Sound is one channel at 16 kHz, float32; a picture is the bytes of a PNG or JPEG file.

    Examples
    --------
    >>> turns([Message("user", ("Where?",))])
    [{'role': 'user', 'content': [{'type': 'text', 'text': 'Where?'}]}]
    """
    return [{"role": turn.role, "content": [_part(p) for p in turn.parts]} for turn in messages]


def _part(part: Part) -> dict[str, Any]:
    match part:
        case Sound():
            return {"type": "audio", "audio": part.samples}
        case Picture():
            return {"type": "image", "image": part.data}
        case _:
            return {"type": "text", "text": part}

"""Models in this process: a function ``ask(audio, prompt) -> str``, named ``module:function``."""

from __future__ import annotations

import importlib
import json
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agl1k_core.errors import Agl1kError
from agl1k_core.http import TransientError
from agl1k_core.models.failures import Failure
from agl1k_core.models.messages import Message, Samples, Sound
from agl1k_core.models.replies import RawReply

#: Gets one channel at 16 kHz, float32, or None if no sound is sent; returns the model's answer.
AskFunction = Callable[[Samples | None, str], str]


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
        The function.
    spec
        Its name, for messages.
    """

    ask: AskFunction
    spec: str
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def send(self, messages: Sequence[Message]) -> RawReply:
        """See ``Model.send``; only the last message is passed on."""
        parts = messages[-1].parts
        sound = next((part.samples for part in parts if isinstance(part, Sound)), None)
        prompt = "\n".join(part for part in parts if isinstance(part, str))
        with self._lock:
            began = time.monotonic()
            try:
                text = self.ask(sound, prompt)
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

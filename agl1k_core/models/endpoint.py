"""Sends conversations to an OpenAI-compatible endpoint, and turns its failures into sentences."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import httpx
import msgspec

from agl1k_core.errors import Agl1kError
from agl1k_core.http import (
    Patience,
    host_of,
    network_errors,
    open_client,
    retry_after_s,
    whole_body,
)
from agl1k_core.models.dialects import Dialect
from agl1k_core.models.failures import Failure, Trouble
from agl1k_core.models.messages import Message
from agl1k_core.models.replies import RawReply, folded

#: A longer response is not an answer.
_MOST_BYTES = 16_000_000


class Model(Protocol):
    """Something that answers conversations: an endpoint, or a function in this process."""

    def send(self, messages: Sequence[Message], *, max_tokens: int | None = None) -> RawReply:
        """The response, unread; raises ``TransientError`` if there is none.

        ``max_tokens`` limits this answer instead of the model's own limit.
        """
        ...

    def sentence(self, failure: Failure) -> str:
        """A failure in one line: what is wrong, and what to do."""
        ...


@dataclass
class Endpoint:
    """A model behind an OpenAI-compatible API.

    Parameters
    ----------
    model
        The model's name there.
    base_url
        The address up to, and without, ``/chat/completions``.
    key
        Sent as a bearer token; stored nowhere, and blotted out in what comes back.
    key_name
        Where the key came from, for messages.
    parameters
        Parameters of each request: ``temperature``, ``seed``, ``max_tokens``.
    patience
        How long to wait, and how often to try.
    dialect
        How it wants to be asked; ``probing.find_dialect`` finds it.
    """

    model: str
    base_url: str
    key: str = field(default="", repr=False)
    key_name: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    patience: Patience = field(default_factory=Patience)
    dialect: Dialect = field(default_factory=Dialect)

    def __post_init__(self) -> None:
        try:
            self.host = host_of(self.base_url)
        except Agl1kError:
            raise Agl1kError(
                f"--base-url {self.base_url[:80]!r} is not a web address. Give one that begins "
                "with https:// or http:// and usually ends in /v1."
            ) from None
        self._client = open_client(self.patience)

    def close(self) -> None:
        """Close its connections."""
        self._client.close()

    @property
    def address(self) -> str:
        """The address that requests are sent to."""
        base = self.base_url.rstrip("/")
        end = "/chat/completions"
        return base if base.endswith(end) else base + end

    def send(self, messages: Sequence[Message], *, max_tokens: int | None = None) -> RawReply:
        """See ``Model.send``."""
        parameters = self.parameters
        if max_tokens is not None:
            parameters = {**parameters, "max_tokens": max_tokens}
        body = msgspec.json.encode(self.dialect.request(self.model, messages, parameters))
        headers = {"Content-Type": "application/json"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        began = time.monotonic()
        with (
            network_errors(),
            self._client.stream(
                "POST", self.address, content=body, headers=headers, follow_redirects=False
            ) as response,
        ):
            content = whole_body(response.iter_bytes(), self.patience, _MOST_BYTES)
        text = self._without_key(content.decode("utf-8", "replace"))
        return RawReply(
            response.status_code,
            _as_one(text, response),
            retry_after_s(response),
            time.monotonic() - began,
        )

    def _without_key(self, text: str) -> str:
        return text.replace(self.key, "[key]") if self.key else text

    def sentence(self, failure: Failure) -> str:
        """See ``Model.sentence``."""
        said = f"({failure})"
        match failure.trouble:
            case Trouble.KEY:
                return f"{self.host} refuses the key {said}. {self._about_key}"
            case Trouble.QUOTA:
                return (
                    f"The account at {self.host} has no credit or quota left {said}. Top it up, "
                    "then run the same command again: it resumes."
                )
            case Trouble.URL:
                return (
                    f"There is no chat endpoint at {self.address} {said}. Check --base-url, "
                    "which usually ends in /v1, and --model."
                )
            case Trouble.MODEL:
                return f"{self.host} has no model {self.model!r} {said}. Check --model."
            case Trouble.NO_AUDIO:
                return (
                    f"{self.model} at {self.host} takes no audio {said}. Choose a model that "
                    "hears, or run it with --without-audio as a control."
                )
            case Trouble.PARAMETER:
                return (
                    f"{self.model} at {self.host} refuses a parameter {said}. Leave it out: "
                    "--temperature, --seed or --max-tokens."
                )
            case Trouble.TOO_LONG:
                return (
                    f"The recording is too long for {self.model} {said}. Start a run in another "
                    "folder with --max-seconds."
                )
            case _:
                return f"{self.model} at {self.host} gave no answer {said}."

    @property
    def _about_key(self) -> str:
        if not self.key:
            return "No key was sent: name the variable that holds it with --api-key-env."
        return f"Check the key in {self.key_name}." if self.key_name else "Check the key."


def _as_one(text: str, response: httpx.Response) -> str:
    """A stream as the body of a plain answer if it is complete; anything else as it is."""
    kind = response.headers.get("Content-Type", "")
    if "event-stream" not in kind and not text.startswith(("data:", ": ")):
        return text
    return folded(text) or text

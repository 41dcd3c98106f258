"""The dialects of "OpenAI-compatible": how sound is sent, and whether answers are streamed.

To add a way of sending sound, add it to ``SHAPES``; probing then tries it. What is known about
vendors beforehand is in ``_VENDORS``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from agl1k_core.models.messages import Message, Part, Picture, Sound

_MIME = {"mp3": "audio/mpeg"}


def _object(sound: Sound) -> dict[str, Any]:
    """As OpenAI, vLLM, OpenRouter, Gemini and llama.cpp take it."""
    return {
        "type": "input_audio",
        "input_audio": {"data": sound.base64, "format": sound.format},
    }


def _audio_url(sound: Sound) -> dict[str, Any]:
    """As vLLM and Baseten take it."""
    kind = _MIME.get(sound.format, f"audio/{sound.format}")
    return {"type": "audio_url", "audio_url": {"url": f"data:{kind};base64,{sound.base64}"}}


def _string(sound: Sound) -> dict[str, Any]:
    """As Mistral takes it."""
    return {"type": "input_audio", "input_audio": sound.base64}


def _data_url(sound: Sound) -> dict[str, Any]:
    """As DashScope takes it: an object whose data is an address."""
    kind = _MIME.get(sound.format, f"audio/{sound.format}")
    data = f"data:{kind};base64,{sound.base64}"
    return {"type": "input_audio", "input_audio": {"data": data, "format": sound.format}}


SHAPES: Mapping[str, Callable[[Sound], dict[str, Any]]] = {
    "object": _object,
    "audio_url": _audio_url,
    "string": _string,
    "data_url": _data_url,
}


@dataclass(frozen=True, slots=True)
class Dialect:
    """How an endpoint wants to be asked.

    Attributes
    ----------
    shape
        The shape of sound, a key of ``SHAPES``.
    streamed
        Whether answers are streamed.
    sound_format
        The format of sound.
    tokens_name
        The name of the limit on tokens.
    usage_in_stream
        Whether a stream is asked to report its usage.
    max_bytes
        The largest request that it takes; None if unknown.
    """

    shape: str = "object"
    streamed: bool = False
    sound_format: str = "wav"
    tokens_name: str = "max_tokens"
    usage_in_stream: bool = True
    max_bytes: int | None = None

    def __str__(self) -> str:
        way = "streamed" if self.streamed else "plain"
        return f"sound as {self.shape} ({self.sound_format}), answers {way}"

    def request(
        self, model: str, messages: Sequence[Message], parameters: Mapping[str, Any]
    ) -> dict[str, Any]:
        """The body of a request; ``parameters`` may have ``max_tokens``."""
        body: dict[str, Any] = {"model": model, "messages": [self._turn(m) for m in messages]}
        body |= {self.tokens_name if name == "max_tokens" else name: value
                 for name, value in parameters.items() if value is not None}  # fmt: skip
        if self.streamed:
            body["stream"] = True
            if self.usage_in_stream:
                body["stream_options"] = {"include_usage": True}
        return body

    def _turn(self, message: Message) -> dict[str, Any]:
        if all(isinstance(part, str) for part in message.parts):
            return {"role": message.role, "content": message.text}
        return {"role": message.role, "content": [self._part(part) for part in message.parts]}

    def _part(self, part: Part) -> dict[str, Any]:
        match part:
            case Sound():
                return SHAPES[self.shape](part)
            case Picture():
                url = f"data:{part.media_type};base64,{part.base64}"
                return {"type": "image_url", "image_url": {"url": url}}
            case _:
                return {"type": "text", "text": part}

    def to_dict(self) -> dict[str, Any]:
        """For the journal and the provenance."""
        return asdict(self)


def dialect_from(told: Mapping[str, Any]) -> Dialect:
    """A dialect from its ``to_dict``."""
    return Dialect(**told)


#: Host ending -> what its documentation says.
_VENDORS: Mapping[str, Dialect] = {
    "googleapis.com": Dialect(max_bytes=20_000_000),
    "openrouter.ai": Dialect(),
    "openai.com": Dialect(tokens_name="max_completion_tokens"),
    "mistral.ai": Dialect(shape="string"),
    "aliyuncs.com": Dialect(shape="data_url", streamed=True, max_bytes=10_000_000),
    "baseten.co": Dialect(shape="audio_url", max_bytes=5_000_000),
}


def candidates(host: str) -> list[Dialect]:
    """The dialects to try with an endpoint, the likeliest first; all plain unless known better."""
    known = next(
        (dialect for end, dialect in _VENDORS.items() if f".{host}".endswith(f".{end}")), Dialect()
    )
    return [known, *(replace(known, shape=shape) for shape in SHAPES if shape != known.shape)]

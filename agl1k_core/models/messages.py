"""What is sent to a model, before an endpoint's dialect turns it into JSON."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

Samples = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Sound:
    """Sound as it is sent.

    Attributes
    ----------
    data
        The encoded file.
    format
        Its format, such as ``"wav"``.
    duration_s
        Its duration in seconds.
    samples
        One channel at ``RATE_HZ``, before encoding, for models in this process.
    full_s
        The duration of the recording in seconds; more than ``duration_s`` if it was truncated.
    """

    data: bytes
    format: str
    duration_s: float
    samples: Samples | None = None
    full_s: float | None = None

    @cached_property
    def base64(self) -> str:
        """The encoded file in base64."""
        return b64encode(self.data).decode("ascii")

    @property
    def sha256(self) -> str:
        """SHA-256 of the encoded file, in hexadecimal."""
        return hashlib.sha256(self.data).hexdigest()

    @property
    def is_truncated(self) -> bool:
        """Whether only the beginning of the recording is sent."""
        return self.full_s is not None and self.full_s > self.duration_s + 0.01


@dataclass(frozen=True)
class Picture:
    """A picture as it is sent: an encoded file and its media type."""

    data: bytes
    media_type: str = "image/png"

    @cached_property
    def base64(self) -> str:
        """The file in base64."""
        return b64encode(self.data).decode("ascii")

    @property
    def sha256(self) -> str:
        """SHA-256 of the file, in hexadecimal."""
        return hashlib.sha256(self.data).hexdigest()


Part = str | Sound | Picture


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation; its parts are texts, sounds and pictures, in order."""

    role: Literal["user", "assistant", "system"]
    parts: tuple[Part, ...]

    @property
    def sounds(self) -> tuple[Sound, ...]:
        """The sounds among its parts."""
        return tuple(part for part in self.parts if isinstance(part, Sound))

    @property
    def text(self) -> str:
        """Its texts, one per line."""
        return "\n".join(part for part in self.parts if isinstance(part, str))


def question(text: str, *about: Sound | Picture) -> list[Message]:
    """A conversation of one question about some sounds and pictures."""
    return [Message("user", (*about, text))]


def sounds_of(messages: Sequence[Message]) -> list[Sound]:
    """All sounds of a conversation."""
    return [sound for message in messages for sound in message.sounds]


def pictures_of(messages: Sequence[Message]) -> list[Picture]:
    """All pictures of a conversation."""
    return [part for message in messages for part in message.parts if isinstance(part, Picture)]

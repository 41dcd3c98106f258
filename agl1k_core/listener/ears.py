"""What hears: a tagger for sounds, Whisper for the language of speech."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from agl1k_core import models, tagging
from agl1k_core.errors import Agl1kError
from agl1k_core.listener.belief import Heard
from agl1k_core.tagging import FloatArray, Tagger

#: Longer recordings are heard up to here.
MAX_SECONDS = 600.0
_RATE_HZ = 16_000
#: So that the same recording is heard the same way by different processors.
_DECIMALS = 4
_LEAST_KEPT = 0.001


class SpeechDetector(Protocol):
    """Finds speech and its language in one channel at 16 kHz; ``models.Whisper`` is one.

    ``name`` identifies it with its weights.
    """

    @property
    def name(self) -> str: ...

    def speech(self, samples: FloatArray) -> FloatArray:
        """The stretches with speech, in a row."""
        ...

    def languages(self, speech: FloatArray) -> Mapping[str, float]:
        """The probability of each language by Whisper's code."""
        ...


@dataclass(frozen=True)
class Ears:
    """A tagger, which must work at 16 kHz, and a detector of speech, or None to do without."""

    tagger: Tagger
    detector: SpeechDetector | None

    def __post_init__(self) -> None:
        if self.tagger.sample_rate_hz != _RATE_HZ:
            raise Agl1kError(f"The listener needs a tagger at 16 kHz, not {self.tagger.name}.")

    @property
    def identity(self) -> dict[str, str]:
        """Names and weights of both, for the provenance."""
        speech = self.detector.name if self.detector else "none"
        return {
            "tagger": f"{self.tagger.name} {self.tagger.weights_sha256[:12]}",
            "speech": speech,
        }

    def hear(self, path: Path) -> Heard:
        """What sounds in a recording, and which languages are spoken in it.

        Raises ``Agl1kError`` if it cannot be decoded.
        """
        samples, _ = models.read_samples(path, MAX_SECONDS)
        tags = tagging.summary_of_blocks([samples], self.tagger)
        presence = {name: round(share, _DECIMALS) for name, share in tags["presence"].items()}
        if self.detector is None:
            return Heard(presence)
        speech = self.detector.speech(samples)
        languages = self.detector.languages(speech) if len(speech) else {}
        return Heard(presence, _rounded(languages), round(len(speech) / _RATE_HZ, 2))


def _rounded(languages: Mapping[str, float]) -> dict[str, float]:
    likeliest = sorted(languages.items(), key=lambda pair: (-pair[1], pair[0]))
    return {name: round(share, _DECIMALS) for name, share in likeliest if share >= _LEAST_KEPT}

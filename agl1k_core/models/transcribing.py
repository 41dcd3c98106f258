"""Whisper: transcripts of the speech in clips, for ``--transcript-only``, and its language."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from agl1k_core.benchmarks import Benchmark
from agl1k_core.errors import Agl1kError
from agl1k_core.extras import need
from agl1k_core.files import sha256_of_file
from agl1k_core.models.controls import Transcript, read_transcripts
from agl1k_core.models.messages import Samples
from agl1k_core.models.sounds import RATE_HZ, read_samples

#: Whisper looks at so much sound at once.
_WINDOW_S = 30.0
#: The language of longer speech is that of its beginning.
_MOST_WINDOWS = 4
#: Pauses that end a stretch of speech, and what is kept around it, in ms.
_PAUSE_MS, _AROUND_MS = 500, 100


class Recognizer(Protocol):
    """Turns speech into text; ``name`` identifies it with its weights."""

    @property
    def name(self) -> str: ...

    def transcribe(self, samples: Samples) -> Transcript:
        """The speech in one channel at 16 kHz."""
        ...


class Whisper:
    """Whisper through faster-whisper (Radford et al. 2023), on the processor.

    Parameters
    ----------
    model
        The folder of a model in CTranslate2's format, or a name such as ``"base"``, which is
        fetched from the Hub once.

    Raises
    ------
    Agl1kError
        If faster-whisper is not installed, or the model cannot be loaded.
    """

    def __init__(self, model: str) -> None:
        library = need("faster_whisper")
        try:
            self._model: Any = library.WhisperModel(model, device="cpu", compute_type="int8")
        except Exception as error:  # of the Hub, of CTranslate2, of the tokenizer
            reason = " ".join(str(error).split())[:200]
            raise Agl1kError(
                f"Whisper {model!r} cannot be loaded: {reason}. Give the folder of a model in "
                "CTranslate2's format with --whisper."
            ) from None
        weights = Path(model) / "model.bin"
        digest = f" {sha256_of_file(weights)[:12]}" if weights.is_file() else ""
        self.name = f"whisper {Path(model).name}{digest}"

    def transcribe(self, samples: Samples) -> Transcript:
        """See ``Recognizer.transcribe``; silence and music are left out."""
        segments, about = self._model.transcribe(
            samples, vad_filter=True, temperature=0.0, condition_on_previous_text=False
        )
        text = " ".join(segment.text.strip() for segment in segments)
        return Transcript(text, about.language if text else "")

    def speech(self, samples: Samples) -> Samples:
        """The stretches with speech of one channel at 16 kHz, found by Silero VAD, in a row."""
        vad = need("faster_whisper.vad")
        options = vad.VadOptions(min_silence_duration_ms=_PAUSE_MS, speech_pad_ms=_AROUND_MS)
        found = vad.get_speech_timestamps(samples, options)
        parts = [samples[stretch["start"] : stretch["end"]] for stretch in found]
        return np.concatenate(parts) if parts else samples[:0]

    def languages(self, speech: Samples) -> dict[str, float]:
        """The probability of each language of speech in one channel at 16 kHz.

        The mean over its first windows of 30 s, by their durations; empty without speech.
        """
        window = round(_WINDOW_S * RATE_HZ)
        heard = speech[: _MOST_WINDOWS * window]
        found: dict[str, float] = {}
        for start in range(0, len(heard), window):
            part = heard[start : start + window]
            _, _, languages = self._model.detect_language(audio=part)
            for language, probability in languages:
                weight = len(part) / len(heard)
                found[language] = found.get(language, 0.0) + weight * probability
        return found


def transcribe_clips(
    benchmark: Benchmark,
    recordings: Mapping[str, Path],
    recognizer: Recognizer,
    target: Path,
    done: Callable[[], object] = lambda: None,
) -> dict[str, Transcript]:
    """Transcripts of clips, kept in ``target`` as JSON Lines, so that each is made once.

    Parameters
    ----------
    benchmark
        The clips' benchmark.
    recordings
        The clips' recordings, by key.
    recognizer
        Makes the transcripts.
    target
        The file; ``read_transcripts`` reads it.
    done
        Called after each clip.

    Raises
    ------
    Agl1kError
        If a recording cannot be decoded, or the file cannot be written.
    """
    found = read_transcripts(target, benchmark) if target.is_file() else {}
    for key, path in recordings.items():
        if key not in found:
            found[key] = recognizer.transcribe(_samples(key, path))
            _append(target, key, found[key])
        done()
    return found


def _samples(key: str, path: Path) -> Samples:
    try:
        return read_samples(path)[0]
    except Agl1kError as error:
        raise Agl1kError(f"{key} cannot be transcribed: {error}") from None


def _append(target: Path, key: str, transcript: Transcript) -> None:
    record = {"key": key, "text": transcript.text, "language": transcript.language}
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
    except OSError as error:
        raise Agl1kError(f"{target} cannot be written: {error.strerror}.") from None

"""Turns recordings into what endpoints accept: one channel at 16 kHz, without tags, small enough.

Recordings are never sent as they are: their tags may contain the place.
"""

from __future__ import annotations

import io
import itertools
import math
import wave
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from agl1k_core import audio
from agl1k_core.errors import Agl1kError
from agl1k_core.extras import Deferred
from agl1k_core.models.messages import Samples, Sound

if TYPE_CHECKING:
    import av
else:
    av = Deferred("av")

#: The sample rate of everything that is sent.
RATE_HZ = 16_000
AudioFormat = Literal["auto", "wav", "mp3", "flac", "ogg"]
#: Format -> FFmpeg's names of the container and the codec; for all but WAV.
_ENCODED = {"mp3": ("mp3", "mp3"), "flac": ("flac", "flac"), "ogg": ("ogg", "libopus")}
_BIT_RATE = 64_000
_QUIET = {"fflags": "+bitexact", "id3v2_version": "0", "write_id3v1": "0"}
#: Quieter mixtures of several channels, in RMS, may be channels that cancel each other.
_CANCELLED_RMS = 1e-4


class TooLargeError(Agl1kError):
    """A recording that exceeds the endpoint's limit in every format that may be used."""


@dataclass(frozen=True, slots=True)
class Treatment:
    """How recordings are prepared.

    Attributes
    ----------
    format
        The format; ``"auto"`` is WAV, or MP3 for recordings that would be too large as WAV.
    max_seconds
        Longer recordings are truncated; None for no limit.
    max_bytes
        The endpoint's limit on a whole request, in bytes; None if there is none known.
    """

    format: AudioFormat = "auto"
    max_seconds: float | None = None
    max_bytes: int | None = None

    @property
    def formats(self) -> tuple[str, ...]:
        """The formats that may be used, the first choice first."""
        return ("wav", "mp3") if self.format == "auto" else (self.format,)


def prepare(path: Path, treatment: Treatment) -> Sound:
    """Decode a recording and encode it for an endpoint.

    Raises
    ------
    TooLargeError
        If it exceeds ``treatment.max_bytes`` in every format that may be used.
    Agl1kError
        If it cannot be decoded.
    """
    samples, full_s = read_samples(path, treatment.max_seconds)
    for name in treatment.formats:
        sound = encoded(samples, name, full_s)
        if treatment.max_bytes is None or _request_bytes(sound) <= treatment.max_bytes:
            return sound
    raise TooLargeError(
        f"It has {len(samples) / RATE_HZ:.0f} s, which as {sound.format.upper()} is "
        f"{_request_bytes(sound) / 1e6:.1f} MB; the endpoint takes "
        f"{(treatment.max_bytes or 0) / 1e6:.1f} MB. Give --max-seconds to truncate recordings."
    )


def read_samples(path: Path, max_seconds: float | None = None) -> tuple[Samples, float]:
    """One channel of a recording at ``RATE_HZ``, and the recording's duration in seconds.

    Channels are averaged; if they cancel each other, the first one is taken.
    """
    samples, full_s = _beginning(audio.mono_blocks(path, RATE_HZ), max_seconds)
    if math.sqrt(float(np.mean(np.square(samples, dtype=np.float64)))) < _CANCELLED_RMS:
        first = audio.mono_blocks(path, RATE_HZ, first_channel=True)
        samples, full_s = _beginning(first, max_seconds)
    return samples, full_s


def _beginning(blocks: Iterator[Samples], max_seconds: float | None) -> tuple[Samples, float]:
    """The first seconds of a recording, and the duration of all of it."""
    most = None if max_seconds is None else max(1, round(max_seconds * RATE_HZ))
    kept: list[Samples] = []
    n_samples = 0
    for block in blocks:
        if most is None or n_samples < most:
            kept.append(block if most is None else block[: most - n_samples])
        n_samples += len(block)
    if not n_samples:
        raise Agl1kError("No sound could be decoded. Fetch or copy the recording again.")
    return np.concatenate(kept), n_samples / RATE_HZ


def encoded(samples: Samples, name: str, full_s: float | None = None) -> Sound:
    """Samples at ``RATE_HZ`` as a file of a format."""
    data = _wav(samples) if name == "wav" else _with_codec(samples, *_ENCODED[name])
    return Sound(data, name, len(samples) / RATE_HZ, samples, full_s)


def _request_bytes(sound: Sound) -> int:
    """The size of a request with this sound: base64 is a third larger, the prompt is small."""
    return 4 * math.ceil(len(sound.data) / 3) + 20_000


def _wav(samples: Samples) -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setnchannels(1)
        writer.setsampwidth(2)
        writer.setframerate(RATE_HZ)
        writer.writeframes(_pcm16(samples).tobytes())
    return file.getvalue()


def _pcm16(samples: Samples) -> np.ndarray[tuple[int], np.dtype[np.int16]]:
    return np.round(np.clip(samples, -1.0, 1.0) * 32767).astype("<i2")


def _with_codec(samples: Samples, container_format: str, codec: str) -> bytes:
    file = io.BytesIO()
    options = _QUIET if container_format == "mp3" else {"fflags": "+bitexact"}
    with av.open(file, "w", format=container_format, options=options) as container:
        stream: Any = container.add_stream(codec, rate=RATE_HZ, layout="mono")
        if codec != "flac":
            stream.bit_rate = _BIT_RATE
        resampler = av.AudioResampler(format=stream.format, layout="mono", rate=RATE_HZ)
        for frame in itertools.chain(_frames(samples), [None]):
            for part in resampler.resample(frame):
                container.mux(stream.encode(part))
        container.mux(stream.encode(None))
    return file.getvalue()


def _frames(samples: Samples, n: int = 1 << 16) -> Iterator[av.AudioFrame]:
    pcm = _pcm16(samples)
    for start in range(0, len(pcm), n):
        block = pcm[np.newaxis, start : start + n]
        frame = av.AudioFrame.from_ndarray(block, format="s16", layout="mono")
        frame.sample_rate = RATE_HZ
        yield frame

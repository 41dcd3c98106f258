"""Small sounds for tests, made with PyAV."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import av
import numpy as np
import numpy.typing as npt

RATE_HZ = 44100
_LAYOUTS = {1: "mono", 2: "stereo", 4: "quad", 6: "5.1", 8: "7.1"}


def tone(
    duration_s: float = 2.0, channels: int = 2, rate_hz: int = RATE_HZ
) -> npt.NDArray[np.float32]:
    """A tone that swells from silence to half of full scale, ``(channels, n)``."""
    t = np.arange(round(duration_s * rate_hz)) / rate_hz
    wave = 0.5 * np.sin(2 * np.pi * 440 * t) * t / duration_s
    return np.tile(wave, (channels, 1)).astype(np.float32)


def encode(
    path: Path,
    codec: str,
    samples: npt.NDArray[np.float32] | None = None,
    *,
    rate_hz: int = RATE_HZ,
    metadata: dict[str, str] | None = None,
    container_format: str | None = None,
    layout: str = "",
    options: dict[str, str] | None = None,
    mux: dict[str, str] | None = None,
    fmt: str = "",
) -> Path:
    """Write samples ``(channels, n)``, a tone by default, as an audio file.

    ``options`` are those of the codec, ``mux`` those of the container; ``fmt`` is the format of
    the samples.
    """
    samples = tone(rate_hz=rate_hz) if samples is None else samples
    layout = layout or _LAYOUTS.get(len(samples), f"{len(samples)} channels")
    with av.open(str(path), "w", format=container_format, options=mux) as container:
        container.metadata.update(metadata or {})
        stream = container.add_stream(codec, rate=rate_hz, layout=layout, options=options)
        assert isinstance(stream, av.AudioStream)
        if fmt:
            stream.codec_context.format = av.AudioFormat(fmt)
        for start in range(0, samples.shape[1], 4096):
            # interleaved, as PyAV reads past the planes of eight channels or more
            block = samples[:, start : start + 4096].T.reshape(1, -1)
            frame = av.AudioFrame.from_ndarray(block, format="flt", layout=layout)
            frame.sample_rate = rate_hz
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path


def mp3(folder: Path, name: str = "sound.mp3", duration_s: float = 2.0) -> bytes:
    """The bytes of a small MP3 file."""
    return encode(folder / name, "mp3", tone(duration_s)).read_bytes()


def riff(*chunks: tuple[str, bytes]) -> bytes:
    """The bytes of a WAV file with these chunks, padded to even sizes."""
    body = b"WAVE"
    for name, data in chunks:
        body += name.encode() + len(data).to_bytes(4, "little") + data + b"\0" * (len(data) % 2)
    return b"RIFF" + len(body).to_bytes(4, "little") + body


def endless(path: Path, hours: int = 12) -> Path:
    """A WAV file of hours of silence, which takes no room on the disk but seconds to decode."""
    head = encode(path, "pcm_s16le", tone(0.1, 1)).read_bytes()
    start = head.index(b"data") + 8
    n_bytes = 2 * RATE_HZ * 3600 * hours
    path.write_bytes(head[: start - 4] + n_bytes.to_bytes(4, "little"))
    os.truncate(path, start + n_bytes)
    return path


@contextmanager
def temporary_wav(content: bytes) -> Iterator[Path]:
    """A file with some content, for as long as the block lasts."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "sound.wav")
        path.write_bytes(content)
        yield path

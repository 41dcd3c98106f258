"""Decodes recordings and draws their outline.

FFmpeg decodes, through PyAV, which includes the libraries. Samples are
float32 with full scale at ±1, shape ``(n_channels, n_samples)``, as in librosa. Messages say what
is wrong with a file, but not its name: names and tags of geotagged recordings reveal the place, and
messages end up in logs. Callers add the key or the path if it may be shown.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from agl1k_core.audio import limits
from agl1k_core.audio._appended import Beginning, sound_end
from agl1k_core.audio._flac import flac_check
from agl1k_core.errors import Agl1kError
from agl1k_core.extras import Deferred
from agl1k_core.inputs import kind_of_special

if TYPE_CHECKING:
    import av
    import av.container
else:
    av = Deferred("av")

Samples = npt.NDArray[np.float32]

#: Formats that may be opened. Playlists and scripts, which make FFmpeg open other files and
#: addresses, are not among them, whatever a downloaded file claims to be.
FORMATS = (
    "mp3,mp2,aac,mov,mp4,m4a,3gp,ogg,flac,wav,w64,aiff,caf,au,matroska,webm,asf,amr,ape,wv,tta,ac3"
)
_READ = {"protocol_whitelist": "file", "format_whitelist": FORMATS}

#: Formats of which FFmpeg's duration is that of the header.
_TELLING = frozenset({"mp4", "ape", "tta", "wv", "asf"})
_OUTLINE_SAMPLES = 1024

BLOCK_SAMPLES = 65536
_BLOCK_VALUES = 8 * BLOCK_SAMPLES  # of all channels

#: Why a file is not a recording; errors of the operating system are further reasons.
REASONS = {
    "empty": "The file is empty. Fetch or copy it again.",
    "not_audio": "The file is not audio in a known format. "
    "Use a recording in MP3, M4A, FLAC, WAV or Ogg.",
    "no_sound": "The file contains no sound, only pictures or other data. Use a recording.",
    "unknown_codec": "The codec of the sound is unknown. Convert the file, for example to FLAC.",
    "undecodable": "No sound could be decoded: the file is truncated or damaged. "
    "Fetch or copy it again.",
}


@dataclass(frozen=True, slots=True)
class AudioInfo:
    """Properties of a recording.

    Attributes
    ----------
    duration_s
        Duration in seconds, from the number of decoded samples, not from the header.
    sample_rate_hz
        Samples per second and channel.
    channels
        Number of channels.
    codec
        FFmpeg's name of the codec.
    """

    duration_s: float
    sample_rate_hz: int
    channels: int
    codec: str


class Recording:
    """An open recording: its rate and channels, and its samples in blocks.

    Attributes
    ----------
    sample_rate_hz
        Samples per second and channel.
    channels
        Number of channels.
    codec
        FFmpeg's name of the codec.
    formats
        FFmpeg's names of the container format.
    declared_s
        Duration in seconds according to the header; None if the header does not say.
    expected_s
        Duration in seconds at most, by the size of the file; None for compressed sound.
    """

    def __init__(self, container: av.container.InputContainer) -> None:
        stream = container.streams.audio[0]
        self.codec: str = stream.codec_context.codec.canonical_name
        self.formats: frozenset[str] = frozenset(container.format.name.split(","))
        self._flac = flac_check(self.codec, stream.codec_context.extradata)
        self._frames = decoded_frames(container, stream)
        first = next(self._frames, None)
        if first is None:
            raise Agl1kError(REASONS["undecodable"])
        # Taken from the frame: HE-AAC decodes at twice the rate that the header declares.
        self.sample_rate_hz: int = first.sample_rate
        self.channels: int = first.layout.nb_channels
        limits.check_format(self.sample_rate_hz, self.channels)
        self._layout = first.layout
        self._frames = itertools.chain([first], self._frames)
        bit_rate = stream.codec_context.bit_rate if self.codec.startswith("pcm_") else None
        self.expected_s = 8 * container.size / bit_rate if bit_rate else None
        self.declared_s = _declared_s(container, stream)
        if self._flac:
            self.declared_s = self._flac.n_declared / self.sample_rate_hz or None

    @property
    def is_verified(self) -> bool | None:
        """Whether a checksum in the file is that of all that was decoded; None without one."""
        return self._flac.is_verified if self._flac else None

    def blocks(self, n_samples: int = BLOCK_SAMPLES) -> Iterator[Samples]:
        """Decode the recording; this can be done only once.

        Parameters
        ----------
        n_samples
            Blocks have at least this many samples per channel, but fewer if there are more than
            eight channels; the last one may be shorter.

        Yields
        ------
        ndarray of float32, shape (channels, n)
            Full scale is ±1; samples of float files may be beyond it, NaN or infinite. If a file
            changes its rate or channels midway, the initial ones are kept.

        Raises
        ------
        Agl1kError
            If there are no samples, or more than ``limits.MAX_DURATION_S``.
        """
        n_found = 0
        enough = max(1, min(n_samples, _BLOCK_VALUES // self.channels))
        for packed in self._packed(enough):
            # PyAV reads past the planes of planar frames that have eight channels or more
            samples: Any = packed.to_ndarray()
            yield np.ascontiguousarray(samples.reshape(-1, self.channels).T)
            n_found += packed.samples
            limits.check_duration(n_found / self.sample_rate_hz)
        if not n_found:
            raise Agl1kError(REASONS["undecodable"])

    def _packed(self, n_samples: int) -> Iterator[av.AudioFrame]:
        """Large frames of float samples at the initial rate, interleaved by FFmpeg."""
        resampler, before = self._resampler(), None
        for frame in _joined(self._frames, n_samples):
            if self._flac:
                self._flac.add(frame)
            shape = _shape(frame)
            if before not in (None, shape):
                yield from _with_samples(resampler.resample(None))
                resampler = self._resampler()
            before = shape
            try:
                yield from _with_samples(resampler.resample(frame))
            except av.FFmpegError:  # a damaged frame with an impossible rate or layout
                resampler, before = self._resampler(), None
        yield from _with_samples(resampler.resample(None))

    def _resampler(self) -> av.AudioResampler:
        return av.AudioResampler(format="flt", layout=self._layout, rate=self.sample_rate_hz)


@contextmanager
def open_recording(path: Path) -> Iterator[Recording]:
    """Open a recording for decoding.

    Parameters
    ----------
    path
        The recording, in any format of ``FORMATS``.

    Returns
    -------
    context manager of Recording
        ``sample_rate_hz``, ``channels`` and ``codec``, and the samples by ``blocks()``.

    Raises
    ------
    Agl1kError
        If the file is not a recording; the message says why.

    Examples
    --------
    >>> import tempfile
    >>> from scipy.io import wavfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "tone.wav")
    ...     tone = 0.5 * np.sin(2 * np.pi * 440 * np.arange(8000) / 16000)
    ...     wavfile.write(path, 16000, tone.astype(np.float32))
    ...     with open_recording(path) as recording:
    ...         samples = np.concatenate(list(recording.blocks()), axis=1)
    >>> recording.sample_rate_hz, recording.channels, samples.shape
    (16000, 1, (1, 8000))
    """
    with opened_container(path) as container:
        yield Recording(container)


def probe(path: Path) -> AudioInfo:
    """The properties of a recording, all of which is decoded; raises ``Agl1kError``."""
    return outline(path, 1)[0]


def outline(path: Path, n: int = 200) -> tuple[AudioInfo, list[float]]:
    """The properties of a recording and its outline, in one pass.

    Parameters
    ----------
    path
        The recording.
    n
        The number of peaks.

    Returns
    -------
    info : AudioInfo
        What ``probe`` returns.
    peaks : list of float
        ``n`` peaks of the waveform, 0 to 1; the loudest is 1, and all are 0 in silence.

    Raises
    ------
    Agl1kError
        If the file is not a recording.
    """
    with open_recording(path) as recording:
        peaks: list[npt.NDArray[np.float32]] = []
        n_samples = 0
        for block in recording.blocks():
            n_samples += block.shape[1]
            starts = np.arange(0, block.shape[1], _OUTLINE_SAMPLES)
            loudest = np.abs(np.nan_to_num(block, nan=0.0, posinf=1.0, neginf=-1.0)).max(axis=0)
            peaks.append(np.maximum.reduceat(loudest, starts))
    info = AudioInfo(
        n_samples / recording.sample_rate_hz,
        recording.sample_rate_hz,
        recording.channels,
        recording.codec,
    )
    return info, _reduced(np.concatenate(peaks), n)


def check_beginning(path: Path) -> None:
    """Raise ``Agl1kError`` unless the recording begins with sound that decodes."""
    with open_recording(path):
        pass


@contextmanager
def opened_container(path: Path) -> Iterator[av.container.InputContainer]:
    """The container of a file that has a stream of sound; FFmpeg's errors become messages."""
    with ExitStack() as files:
        try:
            special = kind_of_special(path)
            if special:
                raise Agl1kError(f"This is {special}, not a file. Give a recording.")
            if path.stat().st_size == 0:
                raise Agl1kError(REASONS["empty"])
            source, options = _source(path, files), _options(path)
            container = av.open(source, mode="r", options=options, metadata_errors="replace")
        except OSError as error:
            raise Agl1kError(f"The file cannot be read: {reason(error)}.") from None
        except av.FFmpegError:
            raise Agl1kError(REASONS["not_audio"]) from None
        with container:
            if not container.streams.audio:
                raise Agl1kError(REASONS["no_sound"])
            if container.streams.audio[0].codec_context is None:
                raise Agl1kError(REASONS["unknown_codec"])
            _check_limits(container, container.streams.audio[0])
            yield container


def _source(path: Path, files: ExitStack) -> str | Beginning:
    """What FFmpeg is to read: the file, or its beginning if tags follow that look like sound."""
    end = sound_end(path)
    if end is None:
        # "file:" keeps FFmpeg from reading a name such as "concat:a" as an address.
        return f"file:{path.absolute()}"
    return Beginning(files.enter_context(path.open("rb")), end)


def _options(path: Path) -> dict[str, str]:
    """Options for FFmpeg, which must be told to ignore the sizes of RF64 if they are all 0."""
    with path.open("rb") as file:
        head = file.read(36)
    is_long = head[:4] in (b"RF64", b"BW64") and head[12:16] == b"ds64"
    return {**_READ, "ignore_length": "1"} if is_long and not any(head[28:]) else _READ


def _check_limits(container: av.container.InputContainer, stream: av.AudioStream) -> None:
    context = stream.codec_context
    _forget_positions(context)
    if context.sample_rate:  # else the decoder finds out
        limits.check_format(context.sample_rate, context.channels)
    limits.check_declared(_duration_s(stream) or 0, container.size)


def _forget_positions(context: av.AudioCodecContext) -> None:
    """Number the channels instead of naming their loudspeakers.

    A list of channels in unusual order, as in AIFF and CAF, is freed twice by PyAV. Reading it here
    frees it once, and what replaces it needs no freeing.
    """
    n_channels = context.channels
    if n_channels:
        context.layout = f"{n_channels} channels"


def _duration_s(stream: av.AudioStream) -> float | None:
    """The duration that FFmpeg takes from the header, or estimates."""
    if not (stream.duration and stream.time_base):
        return None
    return float(stream.duration * stream.time_base)


def _declared_s(container: av.container.InputContainer, stream: av.AudioStream) -> float | None:
    declared_s = _duration_s(stream)
    is_told = not _TELLING.isdisjoint(container.format.name.split(","))
    if not is_told or declared_s is None:
        return None
    # without a header, FFmpeg estimates it from the size and the bit rate
    bit_rate = stream.codec_context.bit_rate
    guessed_s = 8 * container.size / bit_rate if bit_rate else 0.0
    return None if abs(declared_s - guessed_s) < 0.02 * declared_s else declared_s


def decoded_frames(
    container: av.container.InputContainer, stream: av.AudioStream
) -> Iterator[av.AudioFrame]:
    """All frames that can be decoded; damaged ones are skipped, as players do."""
    with suppress(av.FFmpegError):  # the recording ends at the point that can no longer be read
        for packet in container.demux(stream):
            try:
                frames = packet.decode()
            except av.FFmpegError:
                continue
            for frame in frames:
                if frame.samples:
                    yield frame


def _shape(frame: av.AudioFrame) -> tuple[str, str, int]:
    return frame.format.name, frame.layout.name, frame.sample_rate


def _joined(frames: Iterable[av.AudioFrame], n_samples: int) -> Iterator[av.AudioFrame]:
    """Frames of at least ``n_samples``, as converting many small ones is slow."""
    waiting, before = av.AudioFifo(), None
    for frame in frames:
        shape = _shape(frame)
        if waiting.samples and (waiting.samples >= n_samples or shape != before):
            yield _all_of(waiting)
        if shape != before:
            waiting, before = av.AudioFifo(), shape
        frame.pts, frame.time_base = None, Fraction(1, frame.sample_rate)
        waiting.write(frame)
    if waiting.samples:
        yield _all_of(waiting)


def _all_of(waiting: av.AudioFifo) -> av.AudioFrame:
    frame = waiting.read()
    assert frame
    return frame


def _with_samples(frames: list[av.AudioFrame]) -> Iterator[av.AudioFrame]:
    return (frame for frame in frames if frame.samples)


def _reduced(peaks: npt.NDArray[np.float32], n: int) -> list[float]:
    """The maxima of ``n`` equal parts of ``peaks``, scaled to 1 and rounded to two digits."""
    edges = np.linspace(0, len(peaks), n + 1).astype(int)
    starts = np.minimum(edges[:-1], len(peaks) - 1)
    # reduceat gives the element itself for an empty part, so short files are stretched
    maxima = np.maximum.reduceat(peaks, starts)
    loudest = float(maxima.max())
    scaled = maxima / loudest if loudest > 0 else maxima
    return [round(float(peak), 2) for peak in scaled]


def reason(error: Exception) -> str:
    """The system's message, without the path that it appends."""
    return getattr(error, "strerror", None) or type(error).__name__

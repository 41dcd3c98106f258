"""Copies recordings: only the sound, as MP3 or M4A; or, for players, all alike.

FFmpeg remuxes and encodes, through PyAV.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from agl1k_core.audio import decode
from agl1k_core.audio._mp3 import copy_delays, mp3_sound
from agl1k_core.errors import Agl1kError
from agl1k_core.extras import Deferred
from agl1k_core.files import replacing

if TYPE_CHECKING:
    import av
    import av.container
else:
    av = Deferred("av")

#: Copies keep no trace of the source: no tags, and a constant encoder string.
_WRITE = {
    "mp3": {"fflags": "+bitexact", "id3v2_version": "0", "write_id3v1": "0", "write_xing": "1"},
    "mp4": {"fflags": "+bitexact", "movflags": "+faststart", "use_editlist": "1"},
    "wav": {"fflags": "+bitexact", "rf64": "auto"},
}
_MP3_RATES_HZ = (48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000)
_MP3_BIT_RATE = 160_000
_NOT_ENCODED = "The sound cannot be turned into MP3. Convert the file and try again."
#: All served copies are MP3 of this kind, so that only their sound and length tell them apart.
_SERVED_RATE_HZ = 44100
#: LAME's quick mode, twice as fast as its default: a player may be waiting.
_QUICK = {"compression_level": "7"}
#: The rest of longer recordings is not served.
LONGEST_SERVED_S = 1800


def tag_free_copy(source: Path, target: Path) -> Path:
    """Write a copy that holds only the sound and plays in every browser.

    MP3 and AAC are copied frame by frame without encoding them again, AAC into M4A. Everything else
    becomes MP3, as iOS does not play Ogg. Tags, pictures, chapters and anything between frames are
    left out. An incomplete copy is never left behind.

    Parameters
    ----------
    source
        The recording.
    target
        The path of the copy; its suffix is replaced by ``.mp3`` or ``.m4a``.

    Returns
    -------
    Path
        The copy.

    Raises
    ------
    Agl1kError
        If the source is not a recording or the copy cannot be written.
    """
    with decode.opened_container(source) as container:
        codec = container.streams.audio[0].codec_context.codec.canonical_name
    suffix, container_format = (".m4a", "mp4") if codec == "aac" else (".mp3", "mp3")
    copy = target.with_suffix(suffix)
    if codec in ("mp3", "aac") and written(copy, partial(_remux, source, container_format)):
        return copy
    copy = target.with_suffix(".mp3")
    if not written(copy, partial(_encode, source)):
        raise Agl1kError(_NOT_ENCODED)
    return copy


def served_copy(source: Path, target: Path) -> Path:
    """Write a copy that tells nothing of its recording's file but the sound.

    The sound is encoded anew, as MP3 with 44.1 kHz, two channels and a constant bit rate of
    160 kbit/s, and cut to whole seconds: the size and the length of a copy depend on nothing but
    the number of seconds, and no frame of the recording is in it. Sound of less than a second is
    followed by silence; at most ``LONGEST_SERVED_S`` are copied. An incomplete copy is never left
    behind.

    Parameters
    ----------
    source
        The recording.
    target
        The path of the copy; its suffix is replaced by ``.mp3``.

    Returns
    -------
    Path
        The copy.

    Raises
    ------
    Agl1kError
        If the source is not a recording or the copy cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from agl1k_core.benchmarks import read_demo
    >>> recording = read_demo().audio_dir / "d01.mp3"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     copied = decode.probe(served_copy(recording, Path(folder, "copy")))
    >>> decode.probe(recording).duration_s, copied.duration_s
    (28.044, 28.0)
    """
    copy = target.with_suffix(".mp3")
    if not written(copy, partial(_encode_alike, source)):
        raise Agl1kError(_NOT_ENCODED)
    return copy


class CopyNotWrittenError(Agl1kError):
    """A copy cannot be written, which is no fault of the recording."""


class UnknownFramesError(Exception):
    """Most of a stream is not frames of the format."""


def written(target: Path, write: Callable[[Path], None]) -> bool:
    """Let ``write`` write a new file that replaces ``target``; False if FFmpeg cannot."""
    try:
        with replacing(target) as part:
            write(part)
    except OSError as error:
        raise CopyNotWrittenError(
            f"The copy cannot be written: {decode.reason(error)}. Free some space, or use another "
            "folder."
        ) from None
    except (UnknownFramesError, av.FFmpegError):
        return False
    return True


def _remux(source: Path, container_format: str, target: Path) -> None:
    """Copy the frames of sound; raises ``UnknownFramesError`` if most of the stream is not."""
    with (
        decode.opened_container(source) as inside,
        created_container(target, container_format) as outside,
    ):
        stream = inside.streams.audio[0]
        copy = outside.add_stream_from_template(stream)
        copy.metadata.clear()
        n_bytes = n_kept = pts = 0
        for packet in inside.demux(stream):
            n_bytes += packet.size
            sound = mp3_sound(packet, pts) if container_format == "mp3" else packet
            if sound is None or not sound.size:
                continue
            n_kept += sound.size
            pts += sound.duration or 0
            sound.stream = copy
            outside.mux(sound)
    if 2 * n_kept <= n_bytes:
        raise UnknownFramesError
    if container_format == "mp3":
        copy_delays(source, target)


def _encode(source: Path, target: Path) -> None:
    """Decode and encode as MP3; more than two channels become one."""
    with decode.open_recording(source) as recording:
        layout = "stereo" if recording.channels == 2 else "mono"
        rate_hz = min(_MP3_RATES_HZ, key=lambda rate: abs(rate - recording.sample_rate_hz))
        frames = (_frame(block, layout, recording.sample_rate_hz) for block in recording.blocks())
        _write_mp3(frames, target, rate=rate_hz, layout=layout)


def _encode_alike(source: Path, target: Path) -> None:
    with decode.open_recording(source) as recording:
        blocks = _whole_seconds(_resampled(recording))
        frames = (_frame(block, "stereo", _SERVED_RATE_HZ) for block in blocks)
        _write_mp3(frames, target, rate=_SERVED_RATE_HZ, layout="stereo", options=_QUICK)


def _write_mp3(frames: Iterable[av.AudioFrame], target: Path, **settings: Any) -> None:
    with created_container(target, "mp3") as outside:
        stream = outside.add_stream("mp3", bit_rate=_MP3_BIT_RATE, **settings)
        for frame in frames:
            outside.mux(stream.encode(frame))
        outside.mux(stream.encode(None))


def _resampled(recording: decode.Recording) -> Iterator[decode.Samples]:
    """The samples of a recording as stereo, at the rate of served copies."""
    resampler = av.AudioResampler("fltp", "stereo", _SERVED_RATE_HZ)
    frames = (
        _frame(_stereo(block), "stereo", recording.sample_rate_hz) for block in recording.blocks()
    )
    for frame in chain(frames, [None]):
        for resampled in resampler.resample(frame):
            samples: Any = resampled.to_ndarray()
            yield samples


def _stereo(block: decode.Samples) -> decode.Samples:
    """Two channels; FFmpeg would play one more quietly on both sides."""
    return block if len(block) == 2 else np.repeat(block.mean(axis=0, keepdims=True), 2, axis=0)


def _whole_seconds(blocks: Iterable[decode.Samples]) -> Iterator[decode.Samples]:
    """The samples without what is left after the last whole second; one second at least."""
    rest, n_seconds = np.zeros((2, 0), np.float32), 0
    for block in blocks:
        rest = np.concatenate([rest, block], axis=1)
        whole = min(rest.shape[1] // _SERVED_RATE_HZ, LONGEST_SERVED_S - n_seconds)
        if whole:
            yield rest[:, : whole * _SERVED_RATE_HZ]
        rest = rest[:, whole * _SERVED_RATE_HZ :]
        n_seconds += whole
        if n_seconds == LONGEST_SERVED_S:
            return
    if not n_seconds:
        yield np.pad(rest, ((0, 0), (0, _SERVED_RATE_HZ - rest.shape[1])))


def created_container(target: Path, container_format: str) -> av.container.OutputContainer:
    """A new container, which holds no trace of the source; its tags are none, its encoder fixed."""
    options = _WRITE.get(container_format, {"fflags": "+bitexact"})
    return av.open(f"file:{target.absolute()}", "w", format=container_format, options=options)


def _frame(block: decode.Samples, layout: str, sample_rate_hz: int) -> av.AudioFrame:
    # LAME aborts on NaN, which therefore becomes silence
    finite = np.clip(np.nan_to_num(block, nan=0.0), -1.0, 1.0)
    mixed = finite if len(finite) <= 2 else finite.mean(axis=0, keepdims=True)
    frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(mixed), format="fltp", layout=layout)
    frame.sample_rate = sample_rate_hz
    return frame

"""Copies recordings without their tags, and without encoding the sound again.

Tags give the answer away: titles, coordinates, ``bext`` and iXML of field recorders, GUANO of bat
detectors, ``©xyz`` of phones. So only the sound is copied, packet by packet, into a new container
of the same format, whose headers are written anew. Whatever else a file contains – tags, pictures,
chapters, other streams, bytes between the packets – is not looked for and removed: it is never
copied.
"""

from __future__ import annotations

from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

from agl1k_core.audio import copies, decode
from agl1k_core.audio._mp3 import copy_delays
from agl1k_core.audio._packets import bare_header, sound_packets
from agl1k_core.extras import Deferred

if TYPE_CHECKING:
    import av
    import av.container
else:
    av = Deferred("av")


class CopyKind(StrEnum):
    """How the sound of a copy compares with its recording's.

    ``COPIED``: the same encoded packets. ``LOSSLESS``: the same samples, as WAV. ``ENCODED``:
    encoded again, as MP3, because nothing else was possible.
    """

    COPIED = "copied"
    LOSSLESS = "lossless"
    ENCODED = "encoded"


class StrippedCopy(NamedTuple):
    """A copy without tags, and how it was made."""

    path: Path
    kind: CopyKind


#: Format and suffix of the copy by FFmpeg's name of the source's format. In other formats, frames
#: cannot be told from tags between them, so the sound is decoded.
_SAME = {
    "mp3": ("mp3", ".mp3"),
    "aac": ("adts", ".aac"),
    "mp4": ("mp4", ".m4a"),
    "ogg": ("ogg", ".ogg"),
    "flac": ("flac", ".flac"),
    "wav": ("wav", ".wav"),
    "matroska": ("matroska", ".mka"),
    "asf": ("matroska", ".mka"),
    "caf": ("matroska", ".mka"),
}
#: Formats of uncompressed sound, which WAV takes over.
_LIKE_WAV = frozenset({"w64", "aiff", "caf", "au"})
#: Lossless codecs; packets of WavPack may hold the header of the WAV file that was packed.
_LOSSLESS = frozenset({"flac", "alac", "wavpack", "ape", "tta"})
_PCM = {
    "u8": "pcm_u8",
    "s16": "pcm_s16le",
    "s32": "pcm_s32le",
    "flt": "pcm_f32le",
    "dbl": "pcm_f64le",
}


def stripped_copy(source: Path, target: Path) -> StrippedCopy:
    """Copy a recording without its tags.

    Parameters
    ----------
    source
        The recording.
    target
        The path of the copy; its suffix is replaced by that of the copy's format.

    Returns
    -------
    StrippedCopy
        The path of the copy, and whether its sound is the same, packet by packet or sample by
        sample, or was encoded again.

    Raises
    ------
    Agl1kError
        If the source is not a recording, or the copy cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from agl1k_core.benchmarks import read_demo
    >>> recording = read_demo().audio_dir / "d01.mp3"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     copy = stripped_copy(recording, Path(folder, "copy"))
    >>> copy.path.name, str(copy.kind)
    ('copy.mp3', 'copied')
    """
    with decode.opened_container(source) as container:
        codec = container.streams.audio[0].codec_context.codec.canonical_name
        same = _same_format(container, codec, source.suffix)
    if same and copies.written(
        copy := target.with_suffix(same[1]), partial(_remux, source, same[0])
    ):
        return StrippedCopy(copy, CopyKind.COPIED)
    copy = target.with_suffix(".wav")
    if _is_lossless(codec) and copies.written(copy, partial(_to_wav, source)):
        return StrippedCopy(copy, CopyKind.LOSSLESS)
    return StrippedCopy(copies.tag_free_copy(source, target), CopyKind.ENCODED)


def _same_format(
    container: av.container.InputContainer, codec: str, suffix: str
) -> tuple[str, str] | None:
    names = set(container.format.name.split(","))
    if codec == "wavpack":
        return None
    if names & _LIKE_WAV and codec.startswith("pcm_"):
        return _SAME["wav"]
    if codec == "opus" and "ogg" in names and suffix.lower() == ".opus":
        return "ogg", ".opus"
    return next((_SAME[name] for name in _SAME if name in names), None)


def _is_lossless(codec: str) -> bool:
    return codec in _LOSSLESS or codec.startswith("pcm_")


def _remux(source: Path, container_format: str, target: Path) -> None:
    """Copy the packets; raises ``UnknownFramesError`` if most of them are not sound."""
    with (
        decode.opened_container(source) as inside,
        copies.created_container(target, container_format) as outside,
    ):
        stream = inside.streams.audio[0]
        copy = _same_stream(outside, stream)
        n_kept = 0
        for packet in sound_packets(inside.demux(stream), container_format):
            n_kept += packet.size
            packet.stream = copy
            outside.mux(packet)
    if not n_kept:
        raise copies.UnknownFramesError
    if container_format == "mp3":
        copy_delays(source, target)


def _same_stream(outside: av.container.OutputContainer, stream: av.AudioStream) -> av.AudioStream:
    try:
        copy = outside.add_stream_from_template(stream)
    except ValueError:  # the format does not take the codec
        raise copies.UnknownFramesError from None
    copy.metadata.clear()
    header = stream.codec_context.extradata
    if header:
        codec = stream.codec_context.codec.canonical_name
        copy.codec_context.extradata = bare_header(codec, header)
    return copy


def _to_wav(source: Path, target: Path) -> None:
    """Write the decoded samples as they are; raises ``UnknownFramesError`` if that cannot be."""
    with (
        decode.opened_container(source) as inside,
        copies.created_container(target, "wav") as outside,
    ):
        stream = None
        for frame in decode.decoded_frames(inside, inside.streams.audio[0]):
            if stream is None:
                stream = _pcm_stream(outside, frame)
            frame.pts = None
            outside.mux(stream.encode(frame))
        if stream is None:
            raise copies.UnknownFramesError
        outside.mux(stream.encode(None))


def _pcm_stream(outside: av.container.OutputContainer, frame: av.AudioFrame) -> av.AudioStream:
    codec = _PCM.get(frame.format.name.removesuffix("p"))
    if codec is None:
        raise copies.UnknownFramesError
    stream = outside.add_stream(codec, rate=frame.sample_rate, layout=frame.layout.name)
    return cast("av.AudioStream", stream)

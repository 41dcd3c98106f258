"""Copies recordings without their tags, and without encoding the sound again.

Tags give the answer away: titles, coordinates, ``bext`` and iXML of field recorders, GUANO of bat
detectors, ``©xyz`` of phones. So only the sound is copied, packet by packet, into a new container
of the same format, whose headers are written anew. Whatever else a file contains – tags, pictures,
chapters, other streams, bytes between the packets – is not looked for and removed: it is never
copied.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from agl1k_core.audio import copies, decode
from agl1k_core.audio._mp3 import copy_delays
from agl1k_core.audio._packets import bare_header, sound_packets
from agl1k_core.errors import Agl1kError
from agl1k_core.extras import Deferred
from agl1k_core.files import replacing

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


def stripped_parts(source: Path, target: Path, cuts_s: Sequence[float]) -> list[Path]:
    """Copy a recording in parts, without its tags and in one pass.

    Parameters
    ----------
    source
        The recording, for which ``can_be_cut`` holds.
    target
        The parts are named after it: ``target-001`` and so on, with the suffix of their format.
    cuts_s
        Where to cut, in seconds from the beginning, in order. A part begins with the first packet
        or frame from there on, so parts neither overlap nor miss anything.

    Returns
    -------
    list of Path
        The parts in order; sound that is not lossless consists of the same packets.

    Raises
    ------
    Agl1kError
        If the source is not a recording, no part can be copied as it is, or one cannot be written.
    """
    with decode.opened_container(source) as container:
        codec = container.streams.audio[0].codec_context.codec.canonical_name
        same = _same_format(container, codec, source.suffix)
    # the frames of FLAC are numbered, so they are written anew
    made = None
    if same and codec != "flac":
        made = _parts(partial(_remux_parts, source, same, target, cuts_s))
    if made is None and _is_lossless(codec):
        made = _parts(partial(_lossless_parts, source, codec, target, cuts_s))
    if made is None:
        raise Agl1kError("Its parts cannot be copied as they are. Convert the file to FLAC.")
    return made


def can_be_cut(source: Path) -> bool:
    """Whether ``stripped_parts`` can cut a recording; raises ``Agl1kError`` if it is none."""
    with decode.opened_container(source) as container:
        codec = container.streams.audio[0].codec_context.codec.canonical_name
        return _is_lossless(codec) or _same_format(container, codec, source.suffix) is not None


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
    with decode.opened_container(source) as inside:
        frames = decode.decoded_frames(inside, inside.streams.audio[0])
        _write_lossless(frames, "wav", target)


def _write_lossless(frames: Iterable[av.AudioFrame], container_format: str, target: Path) -> None:
    stream = None
    with copies.created_container(target, container_format) as outside:
        for frame in frames:
            stream = stream or _lossless_stream(outside, frame)
            frame.pts = None
            outside.mux(stream.encode(frame))
        if stream is None:
            raise copies.UnknownFramesError
        outside.mux(stream.encode(None))


def _lossless_stream(outside: av.container.OutputContainer, frame: av.AudioFrame) -> av.AudioStream:
    wav = _PCM.get(frame.format.name.removesuffix("p"))
    codec = "flac" if outside.format.name == "flac" else wav
    if codec is None:
        raise copies.UnknownFramesError
    stream = outside.add_stream(codec, rate=frame.sample_rate, layout=frame.layout.name)
    return cast("av.AudioStream", stream)


# --- parts -----------------------------------------------------------------------------------


def _parts(make: Callable[[], list[Path]]) -> list[Path] | None:
    """What ``make`` returns; None if FFmpeg cannot copy the parts."""
    try:
        return make()
    except OSError as error:
        raise copies.CopyNotWrittenError(
            f"The parts cannot be written: {error.strerror}. Free some space."
        ) from None
    except (copies.UnknownFramesError, av.FFmpegError):
        return None


def _remux_parts(
    source: Path, same: tuple[str, str], target: Path, cuts_s: Sequence[float]
) -> list[Path]:
    container_format, suffix = same
    made: list[Path] = []
    with decode.opened_container(source) as inside:
        stream = inside.streams.audio[0]
        packets = sound_packets(inside.demux(stream), container_format)
        for group in _grouped(_timed_packets(packets), cuts_s):
            path = _numbered(target, len(made) + 1, suffix)
            with replacing(path) as part:
                _write_part(group, stream, container_format, part)
            made.append(path)
    return made


def _write_part(
    packets: Iterable[Any], stream: av.AudioStream, container_format: str, target: Path
) -> None:
    with copies.created_container(target, container_format) as outside:
        copy, begin = _same_stream(outside, stream), None
        for packet in packets:
            begin = packet.pts if begin is None else begin
            packet.pts, packet.dts = packet.pts - begin, packet.dts - begin
            packet.stream = copy
            outside.mux(packet)
    if container_format == "mp3":
        copy_delays(None, target)


def _lossless_parts(source: Path, codec: str, target: Path, cuts_s: Sequence[float]) -> list[Path]:
    container_format = "flac" if codec == "flac" else "wav"
    made: list[Path] = []
    with decode.opened_container(source) as inside:
        frames = decode.decoded_frames(inside, inside.streams.audio[0])
        for group in _grouped(_timed_frames(frames), cuts_s):
            path = _numbered(target, len(made) + 1, f".{container_format}")
            with replacing(path) as part:
                _write_lossless(group, container_format, part)
            made.append(path)
    return made


def _grouped(
    timed: Iterable[tuple[float, Any]], cuts_s: Sequence[float]
) -> Iterator[Iterator[Any]]:
    """Packets or frames part by part, without waiting for the end of one."""
    number = 0

    def part_of(item: tuple[float, Any]) -> int:
        nonlocal number
        number = max(number, bisect_right(cuts_s, item[0]))
        return number

    for _, group in groupby(timed, part_of):
        yield (item for _, item in group)


def _timed_packets(packets: Iterable[Any]) -> Iterator[tuple[float, Any]]:
    first = None
    for packet in packets:
        if packet.pts is None or packet.dts is None:
            raise copies.UnknownFramesError
        first = packet.pts if first is None else first
        yield float((packet.pts - first) * packet.time_base), packet


def _timed_frames(frames: Iterable[av.AudioFrame]) -> Iterator[tuple[float, av.AudioFrame]]:
    n_samples = 0
    for frame in frames:
        yield n_samples / frame.sample_rate, frame
        n_samples += frame.samples


def _numbered(target: Path, number: int, suffix: str) -> Path:
    return target.with_name(f"{target.stem}-{number:03}{suffix}")

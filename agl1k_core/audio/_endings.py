"""Finds out whether the end of a file is missing, from what its container declares.

A size counts only if it is that of the sound: sizes of whole files are wrong in many files that
lack nothing. Nor do the placeholders count that programs write if they cannot know the size.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from agl1k_core.audio import _mp3

#: Streams declare about 2 or 4 GB: 0x7FFFF000 (sox), 0x7FFFFFFF (Android), 0x80000000 (arecord),
#: 0xFFFFFFFF (FFmpeg); in 64 bits, the largest numbers.
_PLACEHOLDERS = (1 << 31, 1 << 32, 1 << 63, 1 << 64)
_ABOUT = 1 << 16
#: Less than a header is no sound worth speaking of: some writers count it as sound.
_HEADER_BYTES = 64
_PAGE_BYTES = 65307
_MP4_SOUND, _MP4_FRAGMENT = (b"mdat", b"moof"), (b"styp", b"sidx", b"moof")
#: Files of so many parts are not read to their end here.
_MOST_PARTS = 2_000_000

_SEGMENT, _INFO, _SCALE, _DURATION = 0x18538067, 0x1549A966, 0x2AD7B1, 0x4489
_MATROSKA_SOUND = (0x1F43B675, 0xA0, 0xA3)  # clusters, groups, blocks
_REALS = {4: ">f", 8: ">d"}


class Ending(NamedTuple):
    """What a container says about the end of its file.

    Attributes
    ----------
    missing_bytes
        Bytes that it declares around the last sound, and that are not there.
    is_marked
        False if the format marks its end and the mark is not there.
    is_sized
        Whether it declares the size of the sound, so that a shorter duration means nothing.
    is_in_parts
        Whether the sound is in parts, so that the duration is that of the parts that are there.
    declared_s
        The duration in seconds that it declares, if FFmpeg does not tell it from a guess.
    """

    missing_bytes: int = 0
    is_marked: bool = True
    is_sized: bool = True
    is_in_parts: bool = False
    declared_s: float | None = None


def ending_of(path: Path, formats: frozenset[str], decoded_s: float) -> Ending:
    """The end of a file of one of FFmpeg's ``formats``, of which ``decoded_s`` could be decoded.

    Raises ``OSError``.
    """
    if "mp3" in formats:
        return Ending(_mp3.missing_bytes(path, decoded_s))
    for name, read in _READERS.items():
        if name in formats:
            with path.open("rb") as file:
                return read(file, os.fstat(file.fileno()).st_size)
    return Ending(is_sized=False)


def _missing(start: int, size: int, file_size: int) -> int:
    """Missing bytes of sound that begins at ``start`` and has ``size`` bytes, says its header."""
    missing = start + size - file_size
    is_size_of_file = size in (file_size, file_size - 8)
    is_wrong = _is_placeholder(size) or is_size_of_file
    return missing if missing > _HEADER_BYTES and not is_wrong else 0


def _is_placeholder(size: int) -> bool:
    return size == 0 or any(abs(size - about) <= _ABOUT for about in _PLACEHOLDERS)


def _end_of(sound: Iterator[_Chunk], file_size: int) -> Ending:
    """The end of the first of the chunks."""
    return next((Ending(_missing(start, size, file_size)) for _, start, size in sound), Ending())


def _read_at(file: BinaryIO, start: int, n_bytes: int) -> bytes:
    """Bytes of the file; none beyond its end."""
    try:
        file.seek(start)
    except (OSError, OverflowError):  # no file can be so large
        return b""
    return file.read(n_bytes)


class _Chunk(NamedTuple):
    """``start`` and ``size`` of what follows its header."""

    name: bytes
    start: int
    size: int


def _chunks(
    file: BinaryIO, start: int, header: int, read: Callable[[bytes], tuple[bytes, int]], even: int
) -> Iterator[_Chunk]:
    """Chunks whose headers of ``header`` bytes are name and size, padded to ``even`` bytes."""
    for _ in range(_MOST_PARTS):
        head = _read_at(file, start, header)
        if len(head) < header:
            return
        name, size = read(head)
        if size < 0:
            return
        yield _Chunk(name, start + header, size)
        start += header + size + -size % even


def _riff(file: BinaryIO, file_size: int) -> Ending:
    """WAV, also as RIFX, RF64 and BW64, whose sizes may be in a chunk of their own (EBU 3306)."""
    long_size = 0
    for chunk in iff_chunks(file, is_big=file.read(4) == b"RIFX"):
        if chunk.name == b"ds64":
            file.seek(chunk.start + 8)
            long_size = int.from_bytes(file.read(8), "little")
        if chunk.name == b"data":
            size = long_size if chunk.size == 0xFFFFFFFF and long_size else chunk.size
            return Ending(_missing(chunk.start, size, file_size))
    return Ending()


def _aiff(file: BinaryIO, file_size: int) -> Ending:
    sound = (chunk for chunk in iff_chunks(file, is_big=True) if chunk.name == b"SSND")
    return _end_of(sound, file_size)


def iff_chunks(file: BinaryIO, *, is_big: bool) -> Iterator[_Chunk]:
    """The chunks of a file of the RIFF and AIFF kind."""

    def read(head: bytes) -> tuple[bytes, int]:
        return head[:4], int.from_bytes(head[4:], "big" if is_big else "little")

    return _chunks(file, 12, 8, read, 2)


def _w64(file: BinaryIO, file_size: int) -> Ending:
    """Sony Wave64: names of 16 bytes, and sizes that include the header."""

    def read(head: bytes) -> tuple[bytes, int]:
        return head[:4], int.from_bytes(head[16:], "little") - 24

    chunks = _chunks(file, 40, 24, read, 8)
    return _end_of((chunk for chunk in chunks if chunk.name == b"data"), file_size)


def _caf(file: BinaryIO, file_size: int) -> Ending:
    """Core Audio Format, in which a size of -1 means "to the end of the file"."""

    def read(head: bytes) -> tuple[bytes, int]:
        return head[:4], int.from_bytes(head[4:], signed=True)

    chunks = _chunks(file, 8, 12, read, 1)
    return _end_of((chunk for chunk in chunks if chunk.name == b"data"), file_size)


def _au(file: BinaryIO, file_size: int) -> Ending:
    head = file.read(12)
    start, size = int.from_bytes(head[4:8]), int.from_bytes(head[8:12])
    return Ending(_missing(start, size, file_size))


def _mp4(file: BinaryIO, file_size: int) -> Ending:
    """Boxes of ISO 14496-12, in which the sound may be in fragments: a moof and an mdat each."""
    name, is_in_parts = b"", False
    for name, start, size in _boxes(file):
        is_in_parts |= name == b"moof"
        if name in _MP4_SOUND and size == 0:
            return Ending(is_sized=False)
        if name in _MP4_SOUND and start + size > file_size and not _is_placeholder(size):
            return Ending(start + size - file_size, is_in_parts=is_in_parts)
    is_cut = is_in_parts and name in _MP4_FRAGMENT
    return Ending(int(is_cut), is_in_parts=is_in_parts)


def _boxes(file: BinaryIO) -> Iterator[_Chunk]:
    """Boxes with the size of all of it, 0 if it reaches to the end; 1 is followed by 64 bits."""
    start = 0
    for _ in range(_MOST_PARTS):
        head = _read_at(file, start, 16)
        size = int.from_bytes(head[:4])
        if size == 1:
            size = int.from_bytes(head[8:])
        if len(head) < 8 or 0 < size < 8:
            return
        yield _Chunk(head[4:8], start, size)
        if size == 0:
            return
        start += size


def _ogg(file: BinaryIO, file_size: int) -> Ending:
    """The last page: whether it is whole, and ends the stream (RFC 3533, section 6)."""
    file.seek(max(0, file_size - 2 * _PAGE_BYTES))
    tail = file.read()
    page = tail[max(0, tail.rfind(b"OggS\0")) :]
    segments = page[27 : 27 + page[26]] if len(page) > 26 else b""
    if len(page) <= 26 or len(segments) < page[26]:
        return Ending(1, is_sized=False)
    is_marked = bool(page[5] & 4)
    is_continued = segments[-1:] == b"\xff" and not is_marked
    missing = 27 + len(segments) + sum(segments) - len(page)
    return Ending(max(missing, int(is_continued)), is_marked, is_sized=False)


def _matroska(file: BinaryIO, file_size: int) -> Ending:
    """Matroska and WebM (RFC 9559): clusters of blocks, and a duration if it was known."""
    scale_ns, ticks, is_sized = 1_000_000, 0.0, True
    for name, start, size in _elements(file):
        missing = start + (size or 0) - file_size
        if missing > 0 and (name in _MATROSKA_SOUND or start > file_size):
            return Ending(missing)
        if name == _SEGMENT:
            is_sized = size is not None and start + size <= file_size
        elif name == _SCALE:
            scale_ns = int.from_bytes(file.read(8)[:size])
        elif name == _DURATION and size in _REALS:
            (ticks,) = struct.unpack(_REALS[size], file.read(size).ljust(size, b"\0"))
    return Ending(is_sized=is_sized, declared_s=ticks * scale_ns / 1e9 if ticks > 0 else None)


class _Element(NamedTuple):
    """``start`` and ``size`` of what follows its header; None if only that has an end."""

    name: int
    start: int
    size: int | None


def _elements(file: BinaryIO) -> Iterator[_Element]:
    """Elements, and those inside segments, information and whatever has no size."""
    start = 0
    for _ in range(_MOST_PARTS):
        head = _read_at(file, start, 12)
        n_name = 9 - head[0].bit_length() if head else 9
        name = int.from_bytes(head[:n_name])
        if n_name > 4:
            return
        n_size = 9 - head[n_name].bit_length() if len(head) > n_name else 0
        all_ones = (1 << 7 * n_size) - 1
        size = int.from_bytes(head[n_name : n_name + n_size]) & all_ones
        start += n_name + (n_size or 1)
        file.seek(start)
        yield _Element(name, start, size if size < all_ones else None)
        if n_size == 0:
            return
        start += 0 if size == all_ones or name in (_SEGMENT, _INFO) else size


_READERS: dict[str, Callable[[BinaryIO, int], Ending]] = {
    "wav": _riff,
    "aiff": _aiff,
    "w64": _w64,
    "caf": _caf,
    "au": _au,
    "mp4": _mp4,
    "ogg": _ogg,
    "matroska": _matroska,
}

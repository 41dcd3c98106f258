"""The sound of FFmpeg's packets, without the bytes of tags that FFmpeg leaves in them.

A demuxer that searches for the next frame attaches what lies between two frames to the first one:
ID3v1 and APE tags at the end of a file, or another file's header.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from agl1k_core.audio._mp3 import mp3_sound
from agl1k_core.audio.copies import UnknownFramesError
from agl1k_core.extras import Deferred

if TYPE_CHECKING:
    import av
else:
    av = Deferred("av")

Packet = Any

_MARKS = (b"TAG", b"APETAGEX", b"LYRICS", b"ID3", b"fLaC")
_STREAMINFO_BYTES = 34
_LONGEST = 1 << 31  # FFmpeg gives negative durations without their sign
_NO_COMMENTS = b"\x03vorbis" + bytes(8) + b"\x01"


def sound_packets(packets: Iterable[Packet], container_format: str) -> Iterator[Packet]:
    """The packets that hold sound, each without what FFmpeg attached to it."""
    if container_format == "mp3":
        yield from _mp3_packets(packets)
    elif container_format in ("adts", "flac"):
        yield from _trimmed(packets, container_format)
    else:
        yield from _in_order(packets)


def bare_header(codec: str, header: bytes) -> bytes:
    """A codec's header without comments, which Vorbis and FLAC may keep there."""
    if codec == "flac":
        return header[:_STREAMINFO_BYTES]
    if codec == "vorbis":
        return _vorbis_without_comments(header)
    return header


def _in_order(packets: Iterable[Packet]) -> Iterator[Packet]:
    """The packets as they are, but for times that go back, which containers do not take."""
    earliest = None
    for packet in packets:
        if not packet.size:
            continue
        if packet.has_sidedata("strings_metadata"):
            if earliest is not None:  # tags of the next file in a chain
                raise UnknownFramesError
            packet = _with_data(packet, bytes(packet))
        if earliest is not None and packet.dts is not None and packet.dts < earliest:
            packet.pts = packet.dts = earliest
        yield packet
        if packet.dts is not None:
            n = packet.duration or 1
            earliest = packet.dts + (n if 0 < n < _LONGEST else 1)


def _mp3_packets(packets: Iterable[Packet]) -> Iterator[Packet]:
    pts = 0
    for packet in packets:
        sound = mp3_sound(packet, pts)
        if sound is not None:
            pts += sound.duration or 0
            yield sound


def _trimmed(packets: Iterable[Packet], container_format: str) -> Iterator[Packet]:
    waiting = None
    for packet in packets:
        if packet.size:
            if waiting is not None:
                yield _trimmed_one(waiting, container_format, is_last=False)
            waiting = packet
    if waiting is not None:
        yield _trimmed_one(waiting, container_format, is_last=True)


def _trimmed_one(packet: Packet, container_format: str, *, is_last: bool) -> Packet:
    data = bytes(packet)
    sound = _adts_frame(data) if container_format == "adts" else _flac_frame(data, is_last)
    return packet if len(sound) == len(data) else _with_data(packet, sound)


def _with_data(packet: Packet, data: bytes) -> Packet:
    """The packet with other data, and without what FFmpeg noted beside it."""
    new = av.Packet(data)
    new.time_base, new.pts, new.dts = packet.time_base, packet.pts, packet.dts
    new.duration = packet.duration
    return new


def _adts_frame(data: bytes) -> bytes:
    """One frame of ADTS, whose header has its length (ISO 13818-7, 6.2)."""
    return data[: int.from_bytes(data[3:6]) >> 5 & 0x1FFF]


def _flac_frame(data: bytes, is_last: bool) -> bytes:
    """One frame of FLAC, which ends with a CRC that makes the CRC of the whole 0 (RFC 9639, 9.3).

    Frames have no length. So the CRC is computed only where something may be attached.
    """
    marks = sorted(at for mark in _MARKS if (at := data.find(mark)) > 0)
    if not (is_last or marks):
        return data
    ends = _ends_of_crc(data)
    return data[: max(ends)] if ends and len(data) not in ends else data


def _ends_of_crc(data: bytes) -> list[int]:
    """Where the CRC-16 of FLAC (polynomial 0x8005) of the beginning of ``data`` is 0."""
    crc, found = 0, []
    for position, byte in enumerate(data, 1):
        crc = (crc << 8 ^ _CRC_TABLE[crc >> 8 ^ byte]) & 0xFFFF
        if crc == 0:
            found.append(position)
    return found


def _crc_of_byte(byte: int) -> int:
    crc = byte << 8
    for _ in range(8):
        crc = (crc << 1 ^ (0x8005 if crc & 0x8000 else 0)) & 0xFFFF
    return crc


_CRC_TABLE = tuple(map(_crc_of_byte, range(256)))


def _vorbis_without_comments(header: bytes) -> bytes:
    """Vorbis's three headers in Xiph lacing, the second without a vendor and comments."""
    first, second, third = _vorbis_headers(header)
    if not second.startswith(b"\x03vorbis"):
        return header
    sizes = _laced(len(first)) + _laced(len(_NO_COMMENTS))
    return b"\x02" + sizes + first + _NO_COMMENTS + third


def _vorbis_headers(header: bytes) -> tuple[bytes, bytes, bytes]:
    """The three headers, laced or, as FFmpeg's own encoder writes them, with 16-bit lengths."""
    if header[:1] != b"\x02":
        (size,) = struct.unpack_from(">H", header)
        (second_size,) = struct.unpack_from(">H", header, 2 + size)
        at = 2 + size
        third_at = at + 2 + second_size + 2
        return header[2:at], header[at + 2 : at + 2 + second_size], header[third_at:]
    at, sizes = 1, []
    for _ in range(2):
        size = 0
        while header[at] == 255:
            size, at = size + 255, at + 1
        sizes.append(size + header[at])
        at += 1
    one, two = at + sizes[0], at + sizes[0] + sizes[1]
    return header[at:one], header[one:two], header[two:]


def _laced(size: int) -> bytes:
    return b"\xff" * (size // 255) + bytes([size % 255])

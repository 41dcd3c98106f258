"""The frames of MP3 (ISO 11172-3), and how much of their sound players skip.

An encoder delays the sound by about a thousand samples and pads its end. LAME writes both numbers
into a frame of their own at the beginning, from which players know what to skip.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from agl1k_core.extras import Deferred

if TYPE_CHECKING:
    import av
else:
    av = Deferred("av")

_MPEG1_KBIT_PER_S = (32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320)
_MPEG2_KBIT_PER_S = (8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160)
_ENCODERS = (b"LAME", b"Lavf", b"Lavc")  # whose delays FFmpeg believes
_OUR_ENCODER = b"Lavf"
_LAME_BYTES = 34  # before the CRC
_SHIFTS = (21, 14, 7, 0)
_SKIPPED_FRAMES = 4  # at most so many are delay and padding
_TAIL_BYTES, _ENOUGH_FRAMES = 32768, 4


def mp3_sound(packet: av.Packet[Any], pts: int) -> av.Packet[Any] | None:
    """The MP3 frame of a packet, and no other byte, to begin at ``pts`` samples; None without one.

    FFmpeg's packets include what surrounds a frame: tags in the middle of a file, Lyrics3, APE.
    """
    data = bytes(packet)
    start = data.find(b"\xff")
    while start >= 0:
        frame = _mp3_frame(data, start)
        if frame is not None:
            sound = av.Packet(data[start : start + frame.n_bytes])
            sound.time_base = Fraction(1, frame.sample_rate_hz)
            sound.pts = sound.dts = pts
            sound.duration = frame.n_samples
            return sound
        start = data.find(b"\xff", start + 1)
    return None


class _Mp3Frame(NamedTuple):
    n_bytes: int
    n_samples: int
    sample_rate_hz: int


def _mp3_frame(data: bytes, start: int) -> _Mp3Frame | None:
    """The whole MP3 frame that begins at ``start``."""
    frame = _header(data, start)
    return frame if frame is not None and len(data) >= start + frame.n_bytes else None


def _header(data: bytes, start: int) -> _Mp3Frame | None:
    """The frame whose header is at ``start`` (ISO 11172-3, 2.4.1.3); its end may be missing."""
    if len(data) < start + 4:
        return None
    header = int.from_bytes(data[start : start + 4])
    version, layer = header >> 19 & 3, header >> 17 & 3
    bit_rate, rate, padding = header >> 12 & 15, header >> 10 & 3, header >> 9 & 1
    if header >> 21 != 0x7FF or version == 1 or layer != 1 or bit_rate in (0, 15) or rate == 3:
        return None
    first = version == 3
    sample_rate_hz = (44100, 48000, 32000)[rate] >> {3: 0, 2: 1, 0: 2}[version]
    kbit_per_s = (_MPEG1_KBIT_PER_S if first else _MPEG2_KBIT_PER_S)[bit_rate - 1]
    n_samples = 1152 if first else 576
    n_bytes = n_samples * kbit_per_s * 125 // sample_rate_hz + padding
    return _Mp3Frame(n_bytes, n_samples, sample_rate_hz)


def missing_bytes(path: Path, decoded_s: float) -> int:
    """Bytes that are missing of the last frame; 0 if a file is whole or does not say.

    The number of frames at the beginning is often wrong: where files are cut or joined frame by
    frame, it stays. So it counts only if the file ends amid a frame.
    """
    found = _info_frame(path)
    frame = _header(found.data, 0) if found else None
    if found is None or frame is None or not found.data[found.flags + 3] & 1:
        return 0
    n_declared = int.from_bytes(found.data[found.flags + 4 : found.flags + 8])
    n_decoded = decoded_s * frame.sample_rate_hz / frame.n_samples
    return _missing_of_last(path) if n_declared > n_decoded + _SKIPPED_FRAMES else 0


def _missing_of_last(path: Path) -> int:
    """Bytes that are missing of a file's last frame, which follows others."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _TAIL_BYTES))
        tail = file.read()
    start = tail.find(b"\xff")
    while start >= 0:
        end, n_frames = start, 0
        while (frame := _header(tail, end)) is not None:
            end, n_frames = end + frame.n_bytes, n_frames + 1
        if n_frames > _ENOUGH_FRAMES:
            is_part_of_a_header = 0 < len(tail) - end < 4 and tail[end] == 0xFF
            return 1 if is_part_of_a_header else max(0, end - len(tail))
        start = tail.find(b"\xff", start + 1)
    return 0


def copy_delays(source: Path | None, target: Path) -> None:
    """Make players skip as much of ``target``, which FFmpeg wrote, as they do of ``source``.

    Without a source, they skip nothing.
    """
    found = _info_frame(source) if source else None
    own = _info_frame(target)
    if own is None:
        return
    encoder, delays = bytes(4), bytes(3)  # of no encoder, players skip nothing
    if found is not None and found.encoder in _ENCODERS:
        encoder, delays = _OUR_ENCODER, found.data[found.lame + 21 :][:3]
    part = bytearray(own.data[: own.lame + _LAME_BYTES])
    part[own.lame : own.lame + 4] = encoder
    part[own.lame + 21 : own.lame + 24] = delays
    with target.open("r+b") as file:
        file.seek(own.position)
        file.write(part + _crc16(part).to_bytes(2))


class _InfoFrame(NamedTuple):
    """A frame with the number of frames, and in LAME's part the delays.

    ``flags`` and ``lame`` are where these parts begin in ``data``.
    """

    position: int
    data: bytes
    flags: int
    lame: int

    @property
    def encoder(self) -> bytes:
        return self.data[self.lame : self.lame + 4]


def _info_frame(path: Path) -> _InfoFrame | None:
    """The first frame of a file, if it is such a frame."""
    with path.open("rb") as file:
        start = 0
        while (head := file.read(10))[:3] == b"ID3" and len(head) == 10:
            size = sum((byte & 127) << shift for byte, shift in zip(head[6:], _SHIFTS, strict=True))
            start += 10 + size + (10 if head[5] & 16 else 0)
            file.seek(start)
        file.seek(start)
        data = file.read(65536)
    first = data.find(b"\xff")
    while first >= 0 and _mp3_frame(data, first) is None:
        first = data.find(b"\xff", first + 1)
    if first < 0:
        return None
    frame = data[first:]
    flags = _flags(frame)
    if flags is None:
        return None
    bits = int.from_bytes(frame[flags : flags + 4])
    sizes = (4, 4, 100, 4)  # frames, bytes, table of contents, quality
    lame = flags + 4 + sum(size for bit, size in enumerate(sizes) if bits >> bit & 1)
    return _InfoFrame(start + first, frame, flags, lame)


def _flags(frame: bytes) -> int | None:
    """Where a frame says what else it says; None if it is a frame of sound."""
    mpeg1, mono = frame[1] >> 3 & 3 == 3, frame[3] >> 6 == 3
    at = 4 + {(True, False): 32, (False, True): 9}.get((mpeg1, mono), 17)
    return at + 4 if frame[at : at + 4] in (b"Xing", b"Info") else None


def _crc16(data: bytes | bytearray) -> int:
    """CRC-16/ARC, with which LAME protects its frame."""
    crc = 0
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0xA001 if crc & 1 else 0)
    return crc

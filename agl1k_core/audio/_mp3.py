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
    """The whole MP3 frame that begins at ``start``, read from its header (ISO 11172-3, 2.4.1.3)."""
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
    return _Mp3Frame(n_bytes, n_samples, sample_rate_hz) if len(data) >= start + n_bytes else None


def copy_delays(source: Path, target: Path) -> None:
    """Make players skip as much of ``target``, which FFmpeg wrote, as they do of ``source``."""
    found, own = _info_frame(source), _info_frame(target)
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
    """A frame with the number of frames, and in LAME's part the delays."""

    position: int
    data: bytes
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
    lame = _lame_part(frame)
    return _InfoFrame(start + first, frame, lame) if lame else None


def _lame_part(frame: bytes) -> int | None:
    """Where LAME's part begins in a frame; None if it is a frame of sound."""
    mpeg1, mono = frame[1] >> 3 & 3 == 3, frame[3] >> 6 == 3
    at = 4 + {(True, False): 32, (False, True): 9}.get((mpeg1, mono), 17)
    if frame[at : at + 4] not in (b"Xing", b"Info"):
        return None
    flags = int.from_bytes(frame[at + 4 : at + 8])
    sizes = (4, 4, 100, 4)  # frames, bytes, table of contents, quality
    return at + 8 + sum(size for bit, size in enumerate(sizes) if flags >> bit & 1)


def _crc16(data: bytes | bytearray) -> int:
    """CRC-16/ARC, with which LAME protects its frame."""
    crc = 0
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0xA001 if crc & 1 else 0)
    return crc

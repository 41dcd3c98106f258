"""Chunks that follow the sound of a WAV file whose size was never filled in.

FFmpeg reads such sound to the end of the file, so that a title or a place after it would be heard
as noise, and be in every copy.
"""

from __future__ import annotations

import io
import re
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from agl1k_core.audio import _endings

#: Names of chunks that programs write after the sound.
_NAMES = (
    b"LIST", b"id3 ", b"ID3 ", b"bext", b"iXML", b"aXML", b"axml", b"guan", b"_PMX", b"cue ",
    b"smpl", b"inst", b"fact", b"DISP", b"cart", b"PEAK", b"JUNK", b"junk", b"PAD ", b"FLLR",
    b"umid", b"chna", b"levl", b"plst", b"adtl", b"acid", b"minf", b"regn", b"SNDM", b"afsp",
)  # fmt: skip
_NAME = re.compile(b"|".join(map(re.escape, _NAMES)))
#: Pictures in tags have a few MB.
_MOST_BYTES = 32 * 2**20
#: More are samples, read as if they were chunks.
_MOST_CHUNKS = 500


def sound_end(path: Path) -> int | None:
    """Where the sound of a WAV file ends, if chunks follow it that FFmpeg would take for sound.

    These are found by their names and by their sizes, which lead to the end of the file exactly.
    Raises ``OSError``.
    """
    with path.open("rb") as file:
        head = file.read(12)
        if head[:4] not in (b"RIFF", b"RIFX") or head[8:] != b"WAVE":
            return None
        is_big = head[:4] == b"RIFX"
        file_size = file.seek(0, io.SEEK_END)
        chunks = list(islice(_endings.iff_chunks(file, is_big=is_big), _MOST_CHUNKS))
        data = next((chunk for chunk in chunks if chunk.name == b"data"), None)
        last_end = chunks[-1].start + chunks[-1].size if chunks else 0
        if data is None or (data.size and last_end <= file_size <= last_end + 1):
            return None  # the declared sizes lead to the end of the file
        first = max(data.start, file_size - _MOST_BYTES)
        file.seek(first)
        tail = file.read()
    starts = (found.start() for found in _NAME.finditer(tail))
    start = next((at for at in starts if _leads_to_the_end(tail, at, is_big=is_big)), None)
    return None if start is None else first + start


def _leads_to_the_end(tail: bytes, at: int, *, is_big: bool) -> bool:
    while at + 8 <= len(tail):
        size = int.from_bytes(tail[at + 4 : at + 8], "big" if is_big else "little")
        at += 8 + size + size % 2
    return at in (len(tail), len(tail) + 1)  # the last padding byte is often missing


class Beginning:
    """The first ``size`` bytes of a file, for PyAV."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file, self._size = file, size

    def read(self, n: int = -1) -> bytes:
        """Up to ``n`` bytes."""
        left = max(self._size - self._file.tell(), 0)
        return self._file.read(left if n < 0 else min(n, left))

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """As of a file that has only these bytes."""
        if whence == io.SEEK_END:
            offset, whence = self._size + offset, io.SEEK_SET
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        """The position in the file."""
        return self._file.tell()

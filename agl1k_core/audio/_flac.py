"""What FLAC says about its sound: the number of samples, and their MD5 (RFC 9639, section 8.2)."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import av

_STREAMINFO_BYTES = 34


class FlacCheck:
    """Compares decoded sound with what the header says of it.

    Attributes
    ----------
    n_declared
        Samples per channel according to the header; 0 if it does not say.
    """

    def __init__(self, streaminfo: bytes) -> None:
        numbers = int.from_bytes(streaminfo[10:18])
        self.n_declared = numbers & ((1 << 36) - 1)
        self._bits = (numbers >> 36 & 31) + 1
        self._md5 = streaminfo[18:_STREAMINFO_BYTES]
        self._digest = hashlib.md5(usedforsecurity=False)
        self._of_declared: bytes | None = None
        self._n = 0

    def add(self, frame: av.AudioFrame) -> None:
        """Read the next decoded frame."""
        if not any(self._md5):
            return
        samples: Any = frame.to_ndarray()
        samples = samples.T if frame.format.is_planar else samples.reshape(frame.samples, -1)
        declared = max(0, self.n_declared - self._n)
        self._n += frame.samples
        self._digest.update(self._bytes(samples[:declared]))
        if self._of_declared is None and self._n >= self.n_declared:
            self._of_declared = self._digest.digest()
        self._digest.update(self._bytes(samples[declared:]))

    @property
    def is_verified(self) -> bool | None:
        """Whether the MD5 is that of the sound; None if there is none.

        If there is more sound than declared, that of the beginning or of all of it will do.
        """
        return self._md5 in (self._of_declared, self._digest.digest()) if any(self._md5) else None

    def _bytes(self, samples: npt.NDArray[np.signedinteger[Any]]) -> bytes:
        """Little-endian and as short as the depth allows; FFmpeg fills from the highest bit."""
        n_bytes = (self._bits + 7) // 8
        values = samples >> (8 * samples.dtype.itemsize - self._bits)
        octets = values.astype(f"<i{values.dtype.itemsize}").view(np.uint8)
        return octets.reshape(-1, values.dtype.itemsize)[:, :n_bytes].tobytes()


def flac_check(codec: str, header: bytes | None) -> FlacCheck | None:
    """The check of a stream with this codec and FFmpeg's extradata; None if it is not FLAC."""
    is_flac = codec == "flac" and len(header or b"") >= _STREAMINFO_BYTES
    return FlacCheck(header[:_STREAMINFO_BYTES]) if is_flac and header else None

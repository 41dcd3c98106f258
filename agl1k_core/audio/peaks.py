"""Landmarks of sound: the peaks of its spectrogram, which survive codecs, levels and resampling.

After A. Wang, "An Industrial-Strength Audio Search Algorithm", ISMIR 2003, section 2.1. The peaks
of noise, such as wind, water or traffic, are as much its own as those of music, so field recordings
need no tonal structure. All is below 3.6 kHz, which copies at 8 kHz still have.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt
from scipy.ndimage import maximum_filter
from scipy.signal.windows import hann

Peaks = npt.NDArray[np.uint32]
_Sound = npt.NDArray[np.float32]

LANDMARK_RATE_HZ = 16000
#: Time from one frame to the next.
FRAME_S = 0.016
_HOP, _WINDOW = 256, 1024
_BINS = slice(8, 232)
#: A peak is the largest value within this many frames and bins.
_REACH = (8, 14)
#: Less than this is the rounding of 16 bits; full scale is about 256.
_FLOOR = 2e-3
_CHUNK_FRAMES = 2048


def landmarks(blocks: Iterable[_Sound]) -> Peaks:
    """The spectral peaks of a recording.

    Parameters
    ----------
    blocks
        Mono sound at ``LANDMARK_RATE_HZ``, as ``MonoBuffer.blocks`` gives it.

    Returns
    -------
    ndarray of uint32
        A peak each, by time: the number of its frame times 256, plus the number of its bin.

    Examples
    --------
    >>> landmarks([np.zeros(16000, np.float32)]).size
    0
    """
    found = [_peaks(frames, first, inner) for frames, first, inner in _chunks(blocks)]
    return np.concatenate([*found, np.zeros(0, np.uint32)]).astype(np.uint32)


def _chunks(blocks: Iterable[_Sound]) -> Iterator[tuple[_Sound, int, slice]]:
    """Magnitudes of some frames, the number of the first one, and those that have neighbours."""
    margin = 2 * _REACH[0]
    held = np.zeros(0, np.float32)
    first, before = 0, 0
    for block in blocks:
        held = np.concatenate([held, block])
        while len(held) >= _CHUNK_FRAMES * _HOP + _WINDOW:
            yield _magnitudes(held, _CHUNK_FRAMES), first, slice(before, _CHUNK_FRAMES - margin)
            step = _CHUNK_FRAMES - 2 * margin
            held, first, before = held[step * _HOP :], first + step, margin
    left = (len(held) - _WINDOW) // _HOP + 1
    if left > before:
        yield _magnitudes(held, left), first, slice(before, left)


def _magnitudes(sound: _Sound, n_frames: int) -> _Sound:
    frames = np.lib.stride_tricks.sliding_window_view(sound, _WINDOW)[::_HOP][:n_frames]
    window = hann(_WINDOW, sym=False).astype(np.float32)
    magnitudes: _Sound = np.abs(np.fft.rfft(frames * window)[:, _BINS]).astype(np.float32)
    return magnitudes


def _peaks(magnitudes: _Sound, first: int, inner: slice) -> Peaks:
    size = tuple(2 * reach + 1 for reach in _REACH)
    highest = maximum_filter(magnitudes, size, mode="constant")
    at = np.argwhere((magnitudes == highest) & (magnitudes > _FLOOR))
    at = at[(at[:, 0] >= inner.start) & (at[:, 0] < inner.stop)]
    packed: Peaks = ((at[:, 0] + first) * 256 + at[:, 1]).astype(np.uint32)
    return packed

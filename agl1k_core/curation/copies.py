"""Finds the same recording in another codec, trimmed, at another level or rate, by its landmarks.

After A. Wang, "An Industrial-Strength Audio Search Algorithm", ISMIR 2003: pairs of nearby peaks
are hashed (section 2.2), and two clips are the same recording if many of their common hashes lie at
one offset in time (section 2.3). Sound that repeats itself, such as a test tone, agrees at many
offsets and is never called the same. Each entry of the index of all hashes is compared with a
bounded number of others, which keeps the time linear in the number of clips.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agl1k_core.audio import FRAME_S, Peaks

_Ints = npt.NDArray[np.int64]

#: Peaks are paired with this many later ones, at most this many frames and bins away.
_FAN_OUT, _FRAMES, _BINS = 6, 63, 63
#: An entry of the index is compared with this many others of its hash.
_BUCKET = 32
#: Frames by which the offsets of two copies' landmarks may differ.
_SLACK = 1
#: The least that copies have in common.
MIN_LANDMARKS, MIN_SHARE, MIN_OVERLAP_S = 15, 0.1, 3.0
_MIN_COVERED, _MIN_RATIO, _MIN_OF_SHORTER = 0.5, 3.0, 0.5


@dataclass(frozen=True, slots=True)
class Copy:
    """Two clips of the same recording.

    Attributes
    ----------
    a, b
        The keys of the clips, ``a`` before ``b``.
    offset_s
        What is heard at time t of ``a`` is heard at t minus the offset in ``b``.
    overlap_s
        How much sound they have in common.
    a_s, b_s
        Their durations.
    share
        The share of the landmarks in the common part that agree.
    """

    a: str
    b: str
    offset_s: float
    overlap_s: float
    a_s: float
    b_s: float
    share: float

    def sentence(self, key: str) -> str:
        """What one of the two, ``key``, has in common with the other."""
        other, own_s, offset_s = (
            (self.a, self.b_s, self.offset_s)
            if key == self.b
            else (self.b, self.a_s, -self.offset_s)
        )
        return (
            f"{self.overlap_s:.1f} s of its {own_s:.1f} s are in {other}, offset {offset_s:.1f} s, "
            f"by {100 * self.share:.0f} % of the landmarks."
        )


def find_copies(peaks: Mapping[str, Peaks], durations_s: Mapping[str, float]) -> list[Copy]:
    """Find pairs of clips that are the same recording.

    Parameters
    ----------
    peaks
        The landmarks of each clip by key; their order does not matter.
    durations_s
        The durations of the same clips.

    Returns
    -------
    list of Copy
        By keys. Of many copies of one recording not every pair is listed, but enough of them to
        connect all.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> a = np.sort(rng.choice(500 * 256, 200, replace=False)).astype(np.uint32)
    >>> [copy] = find_copies({"a": a, "b": a[a >= 125 * 256] - 125 * 256}, {"a": 8, "b": 6})
    >>> copy.offset_s, copy.overlap_s, copy.share > 0.9
    (2.0, 6.0, True)
    """
    keys = sorted(peaks)
    index = _Index([peaks[key] for key in keys])
    found = (
        _copy(keys[a], keys[b], peaks, durations_s, votes) for a, b, votes in index.candidates()
    )
    return [copy for copy in found if copy]


def groups(keys: Iterable[str], pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """For each key, the first key of those that pairs connect it with."""
    first = {key: key for key in keys}

    def root(key: str) -> str:
        while first[key] != key:
            first[key] = first[first[key]]
            key = first[key]
        return key

    for a, b in pairs:
        low, high = sorted((root(a), root(b)))
        first[high] = low
    return {key: root(key) for key in first}


def _pairs(peaks: Peaks) -> tuple[_Ints, _Ints]:
    """Hashes of pairs of peaks, and the frame of the first peak of each."""
    frames, bins = peaks.astype(np.int64) >> 8, peaks.astype(np.int64) & 255
    hashes, anchors = [], []
    taken = np.zeros(len(peaks), np.int64)
    for step in range(1, min(4 * _FAN_OUT, len(peaks))):
        later, higher = frames[step:] - frames[:-step], bins[step:] - bins[:-step]
        near = (later > 0) & (later <= _FRAMES) & (np.abs(higher) <= _BINS)
        near &= taken[:-step] < _FAN_OUT
        taken[:-step] += near
        hashes.append((bins[:-step] << 14 | later << 8 | higher + 64)[near])
        anchors.append(frames[:-step][near])
    empty = [np.zeros(0, np.int64)]
    return np.concatenate(hashes or empty), np.concatenate(anchors or empty)


class _Index:
    """All hashes of all clips, equal ones side by side."""

    def __init__(self, all_peaks: list[Peaks]) -> None:
        pairs = [_pairs(peaks) for peaks in all_peaks]
        empty = np.zeros(0, np.int64)
        hashes = np.concatenate([empty, *(one for one, _ in pairs)])
        clips = np.repeat(np.arange(len(pairs)), [len(one) for one, _ in pairs])
        order = np.argsort(hashes, kind="stable")
        self._n = len(all_peaks)
        self._hashes, self._clips = hashes[order], clips[order]
        self._frames = np.concatenate([empty, *(frames for _, frames in pairs)])[order]

    def candidates(self) -> Iterator[tuple[int, int, _Ints]]:
        """Pairs of clips with enough common hashes; the frames of each hash in both."""
        found = [*self._common()]
        if not found:
            return
        pair, first, second = (np.concatenate(one) for one in zip(*found, strict=True))
        order = np.argsort(pair, kind="stable")
        names, starts, counts = np.unique(pair[order], return_index=True, return_counts=True)
        frames = np.stack([first, second])[:, order]
        for name, start, count in zip(names, starts, counts, strict=True):
            if count >= MIN_LANDMARKS:
                a, b = divmod(int(name), self._n)
                yield a, b, frames[:, start : start + count]

    def _common(self) -> Iterator[tuple[_Ints, _Ints, _Ints]]:
        """Equal hashes of different clips: the pair of clips, and the frame in each."""
        for step in range(1, min(_BUCKET + 1, len(self._hashes))):
            a, b = slice(None, -step), slice(step, None)
            same = self._hashes[a] == self._hashes[b]
            same &= self._clips[a] != self._clips[b]
            pair = self._clips[a][same] * self._n + self._clips[b][same]
            yield pair, self._frames[a][same], self._frames[b][same]


def _copy(
    a: str, b: str, peaks: Mapping[str, Peaks], durations_s: Mapping[str, float], votes: _Ints
) -> Copy | None:
    """Two clips, if enough landmarks agree on one offset all along what they have in common."""
    offsets = votes[0] - votes[1]
    offset, ratio = _best(offsets)
    offset_s = offset * FRAME_S
    start_s, end_s = max(0.0, offset_s), min(durations_s[a], durations_s[b] + offset_s)
    overlap_s = end_s - start_s
    least_s = max(MIN_OVERLAP_S, _MIN_OF_SHORTER * min(durations_s[a], durations_s[b]))
    if ratio < _MIN_RATIO or overlap_s < least_s:
        return None
    agreeing = np.abs(offsets - offset) <= _SLACK
    matched = np.unique(votes[0][agreeing])
    within = min(
        _within(peaks[a], start_s, end_s),
        _within(peaks[b], start_s - offset_s, end_s - offset_s),
    )
    share = min(1.0, len(matched) / max(1, within))
    seconds = len(np.unique((matched * FRAME_S - start_s).astype(np.int64)))
    if len(matched) < MIN_LANDMARKS or share < MIN_SHARE or seconds < _MIN_COVERED * overlap_s:
        return None
    durations = durations_s[a], durations_s[b]
    return Copy(a, b, round(offset_s, 1), round(overlap_s, 1), *durations, round(share, 3))


def _best(offsets: _Ints) -> tuple[int, float]:
    """The offset with most votes, and how many times more it has than any other."""
    lowest = int(offsets.min())
    counts = np.convolve(np.bincount(offsets - lowest), np.ones(2 * _SLACK + 1), "same")
    counts = counts[: int(offsets.max()) - lowest + 1]
    best = int(np.argmax(counts))
    others = counts.copy()
    others[max(0, best - 4 * _SLACK) : best + 4 * _SLACK + 1] = 0
    return best + lowest, float(counts[best] / max(1.0, others.max()))


def _within(peaks: Peaks, start_s: float, end_s: float) -> int:
    frames = (peaks >> 8) * FRAME_S
    return len(np.unique(frames[(frames >= start_s) & (frames < end_s)]))

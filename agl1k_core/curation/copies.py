"""Finds the same recording in another codec, trimmed, at another level or rate, by its landmarks.

After A. Wang, "An Industrial-Strength Audio Search Algorithm", ISMIR 2003: nearby peaks are hashed
(section 2.2), and two clips are the same recording if many of their common hashes lie at one offset
in time (section 2.3). Sound that repeats itself, such as a test tone, agrees at many offsets and is
rarely called the same.

Pairs of peaks as in the paper agree by chance between any two clips. So an index of triples, which
are some thousand times as specific, finds the clips that may be copies, and only these are compared
by pairs. Each entry of an index is compared with a bounded number of others of its hash. The time
per clip hardly grows with the number of clips: it is sorting, and examining the one in 20,000 pairs
of clips whose triples agree by chance.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from agl1k_core.audio import FRAME_S, Peaks
from agl1k_core.errors import Agl1kError

_Ints = npt.NDArray[np.int64]

#: Peaks are paired with this many later ones, at most this many frames and bins away.
_FAN_OUT, _FRAMES, _BINS = 6, 63, 63
#: Pairs of peaks are made with each of these partners, triples with any two of fewer.
_OF_PARTNERS = {1: 6, 2: 5}
#: An entry of the index is compared with this many others of its hash.
_BUCKET = 32
#: Pairs of clips with this many equal triples at one offset are examined.
_MIN_TRIPLES = 3
#: Frames by which the offsets of two copies' landmarks may differ.
_SLACK = 1
#: Hashes have 34 bits. The other 30 of 64 number the hashes of 140,000 clips of 30 s.
_PLACE_BITS = 30
#: Landmarks have 24 bits for their frames.
_MOST_FRAMES = 1 << 24
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
    if not keys:
        return []
    candidates = _candidates([peaks[key] for key in keys])
    found = (_copy(keys[a], keys[b], peaks, durations_s) for a, b in candidates)
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


def _hashes(peaks: Peaks, n_partners: int) -> tuple[_Ints, _Ints]:
    """Hashes of each peak with some of its partners, and the frames of these peaks."""
    frames, bins = peaks.astype(np.int64) >> 8, peaks.astype(np.int64) & 255
    partners = _partners(frames, bins)
    hashes, anchors = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for columns in combinations(range(_OF_PARTNERS[n_partners]), n_partners):
        chosen = partners[:, columns]
        there = chosen[:, -1] >= 0
        of_all = bins[there]
        for column in chosen[there].T:
            of_all = of_all << 13 | column
        hashes.append(of_all)
        anchors.append(frames[there])
    return np.concatenate(hashes), np.concatenate(anchors)


def _partners(frames: _Ints, bins: _Ints) -> _Ints:
    """Where the next peaks near each one are, in 13 bits; -1 if there are no more."""
    partners = np.full((len(frames), _FAN_OUT), -1)
    taken = np.zeros(len(frames), np.int64)
    for step in range(1, min(4 * _FAN_OUT, len(frames))):
        later, higher = frames[step:] - frames[:-step], bins[step:] - bins[:-step]
        near = (later > 0) & (later <= _FRAMES) & (np.abs(higher) <= _BINS)
        rows = np.flatnonzero(near & (taken[:-step] < _FAN_OUT))
        partners[rows, taken[rows]] = (later << 7 | higher + 64)[rows]
        taken[rows] += 1
    return partners


def _candidates(all_peaks: list[Peaks]) -> list[tuple[int, int]]:
    """Pairs of clips with some equal triples at one offset."""
    clips, first, second = _equal(all_peaks, n_partners=2)
    offset = (first - second + _MOST_FRAMES) // (2 * _SLACK)
    cells, counts = np.unique(clips * _MOST_FRAMES + offset, return_counts=True)
    pairs = np.unique(cells[counts >= _MIN_TRIPLES] // _MOST_FRAMES)
    return [divmod(int(pair), len(all_peaks)) for pair in pairs]


def _equal(all_peaks: list[Peaks], n_partners: int) -> tuple[_Ints, _Ints, _Ints]:
    """Equal hashes of different clips: the pair of clips, and the frame in each."""
    each = [_hashes(peaks, n_partners) for peaks in all_peaks]
    hashes, frames = (np.concatenate(one) for one in zip(*each, strict=True))
    clips = np.repeat(np.arange(len(each)), [len(one) for one, _ in each])
    found = [np.zeros((3, 0), np.int64)]
    for a, b in _neighbours(hashes):
        other = clips[a] != clips[b]
        a, b = a[other], b[other]
        found.append(np.stack([clips[a] * len(each) + clips[b], frames[a], frames[b]]))
    pairs, first, second = np.concatenate(found, axis=1)
    return pairs, first, second


def _neighbours(hashes: _Ints) -> Iterator[tuple[_Ints, _Ints]]:
    """The places of equal hashes, each with those of a bounded number of the next ones."""
    if len(hashes) >= 1 << _PLACE_BITS:
        raise Agl1kError(
            "There is too much sound to look for copies at once. Curate it in several folders, or "
            "use recordings of at most some minutes."
        )
    # To sort hash and place as one number is faster than to sort places by hash.
    entries = np.sort(hashes << _PLACE_BITS | np.arange(len(hashes)))
    hashes = entries >> _PLACE_BITS
    left = np.flatnonzero(hashes[:-1] == hashes[1:])
    for step in range(1, _BUCKET + 1):
        left = left[left + step < len(hashes)]
        left = left[hashes[left] == hashes[left + step]]
        a, b = (entries[at] & (1 << _PLACE_BITS) - 1 for at in (left, left + step))
        yield a, b


def _copy(
    a: str, b: str, peaks: Mapping[str, Peaks], durations_s: Mapping[str, float]
) -> Copy | None:
    """Two clips, if enough landmarks agree on one offset all along what they have in common."""
    _, first, second = _equal([peaks[a], peaks[b]], n_partners=1)
    offsets = first - second
    offset, ratio = _best(offsets)
    offset_s = offset * FRAME_S
    start_s, end_s = max(0.0, offset_s), min(durations_s[a], durations_s[b] + offset_s)
    overlap_s = end_s - start_s
    least_s = max(MIN_OVERLAP_S, _MIN_OF_SHORTER * min(durations_s[a], durations_s[b]))
    if ratio < _MIN_RATIO or overlap_s < least_s:
        return None
    agreeing = np.abs(offsets - offset) <= _SLACK
    matched = np.unique(first[agreeing])
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

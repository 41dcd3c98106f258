"""What sounds in a recording: AudioSet classes over time, and the share of time of each.

A ``Tagger`` gives the probability of each class in windows of sound; a class is present in a window
from the backend's threshold on, and ``t[k, i]``, the fraction of time that class i is present in
recording k (Zhang et al. 2026, "The Sonar Moment", section 3.3.1), is the share of windows with it.
Everything is keyed by AudioSet id; a class that a backend cannot emit is missing, not 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from agl1k_core import audio
from agl1k_core.errors import Agl1kError
from agl1k_core.tagging import audioset
from agl1k_core.tagging.efficientat import EfficientAt
from agl1k_core.tagging.yamnet import Yamnet

FloatArray = npt.NDArray[np.float32]

BACKENDS = ("yamnet", "efficientat")

_CHUNK_S = 60.0
NO_SOUND = "There is no sound to tag. Give a recording with sound in it."


class Tagger(Protocol):
    """Gives the probability of sound classes in windows of sound.

    ``labels`` are AudioSet ids; windows of ``window_s`` seconds begin every ``hop_s``; a class is
    present from ``threshold`` on; ``weights_sha256`` tells which weights judged.
    """

    name: str
    labels: tuple[str, ...]
    sample_rate_hz: int
    window_s: float
    hop_s: float
    threshold: float
    weights_sha256: str

    def predict(self, wave: FloatArray) -> FloatArray:
        """Probabilities, shape (windows, labels), of mono sound; at least one window."""
        ...


@dataclass(frozen=True)
class Tags:
    """What a tagger heard in one recording; ``probability`` has shape (windows, labels)."""

    tagger: str
    weights_sha256: str
    threshold: float
    labels: tuple[str, ...]
    window_s: float
    hop_s: float
    duration_s: float
    probability: FloatArray

    @cached_property
    def _tally(self) -> _Tally:
        tally = _Tally(self.labels, self.threshold)
        tally.add(self.probability)
        return tally

    @property
    def fractions(self) -> npt.NDArray[np.float64]:
        """``t[k, i]`` for each label, 0 to 1."""
        return self._tally.fractions

    @cached_property
    def presence(self) -> Mapping[str, float]:
        """AudioSet id -> fraction of time, for the classes present at all, longest first."""
        return self._tally.presence

    @cached_property
    def roots(self) -> Mapping[str, float]:
        """Root category -> fraction of time with any of its classes present."""
        return self._tally.roots

    @property
    def starts_s(self) -> npt.NDArray[np.float64]:
        """Where the windows begin, in seconds."""
        return np.arange(len(self.probability), dtype=np.float64) * self.hop_s

    def top(self, n: int = 10) -> list[tuple[str, float]]:
        """Name and fraction of time of the ``n`` classes present longest."""
        return [(audioset.class_name(label), share) for label, share in self.presence.items()][:n]

    def to_dict(self) -> dict[str, Any]:
        """What is worth keeping of it: presence and roots, and who judged how."""
        return {
            "tagger": self.tagger,
            "weights_sha256": self.weights_sha256,
            "threshold": self.threshold,
            "duration_s": self.duration_s,
            "presence": dict(self.presence),
            "roots": dict(self.roots),
        }


class _Tally:
    """Counts the windows in which classes and roots are present."""

    def __init__(self, labels: Sequence[str], threshold: float) -> None:
        self._labels, self._threshold, self._n = labels, threshold, 0
        self._counts = np.zeros(len(labels), np.int64)
        self._columns = {
            root: [i for i, label in enumerate(labels) if root in audioset.class_roots(label)]
            for root in audioset.AUDIOSET_ROOTS
        }
        self._root_counts = dict.fromkeys(audioset.AUDIOSET_ROOTS, 0)

    def add(self, probability: FloatArray) -> None:
        present = probability >= self._threshold
        self._n += len(present)
        self._counts += present.sum(axis=0)
        for root, columns in self._columns.items():
            self._root_counts[root] += int(present[:, columns].any(axis=1).sum())

    @property
    def fractions(self) -> npt.NDArray[np.float64]:
        return self._counts / self._n

    @property
    def presence(self) -> dict[str, float]:
        fractions = self.fractions
        order = np.argsort(-fractions, kind="stable")
        return {self._labels[i]: float(fractions[i]) for i in order if fractions[i] > 0}

    @property
    def roots(self) -> dict[str, float]:
        return {root: count / self._n for root, count in self._root_counts.items()}


def load_tagger(
    name: str = "yamnet", *, models_dir: Path, weights: Path | None = None, threads: int = 1
) -> Tagger:
    """A backend of ``BACKENDS``; raises ``Agl1kError`` that says how to bring what is missing.

    ``models_dir`` is where ``yamnet.install_yamnet`` put the model; ``weights`` is EfficientAT's
    weights file.
    """
    if name == "yamnet":
        return Yamnet(models_dir, threads)
    if name == "efficientat":
        if weights is None:
            raise Agl1kError("EfficientAT needs its weights file, such as mn10_as_mAP_471.pt.")
        return EfficientAt(weights, threads)
    raise Agl1kError(f"There is no tagger {name!r}; there are {', '.join(BACKENDS)}.")


def tag(path: Path, tagger: Tagger, *, first_channel: bool = False) -> Tags:
    """Tag a recording, in bounded memory; raises ``Agl1kError`` where it cannot be read.

    ``first_channel``: see ``audio.mono_blocks``.
    """
    rate_hz = tagger.sample_rate_hz
    return tag_blocks(audio.mono_blocks(path, rate_hz, first_channel=first_channel), tagger)


def tag_blocks(blocks: Iterable[FloatArray], tagger: Tagger) -> Tags:
    """Tag mono sound at the tagger's rate, given in blocks of shape (n,).

    Raises ``Agl1kError`` where there is no sound.
    """
    counted = _Counted(blocks)
    probability = list(_windows(counted, tagger))
    if not counted.n:
        raise Agl1kError(NO_SOUND)
    return Tags(
        tagger=tagger.name,
        weights_sha256=tagger.weights_sha256,
        threshold=tagger.threshold,
        labels=tagger.labels,
        window_s=tagger.window_s,
        hop_s=tagger.hop_s,
        duration_s=counted.n / tagger.sample_rate_hz,
        probability=np.concatenate(probability),
    )


def summary_of_blocks(blocks: Iterable[FloatArray], tagger: Tagger) -> dict[str, Any]:
    """``tag_blocks(…).to_dict()`` in memory that does not grow with the length of the sound.

    Raises ``Agl1kError`` where there is no sound.
    """
    counted, tally = _Counted(blocks), _Tally(tagger.labels, tagger.threshold)
    for probability in _windows(counted, tagger):
        tally.add(probability)
    if not counted.n:
        raise Agl1kError(NO_SOUND)
    return {
        "tagger": tagger.name,
        "weights_sha256": tagger.weights_sha256,
        "threshold": tagger.threshold,
        "duration_s": counted.n / tagger.sample_rate_hz,
        "presence": tally.presence,
        "roots": tally.roots,
    }


class _Counted:
    def __init__(self, blocks: Iterable[FloatArray]) -> None:
        self.n = 0
        self._blocks = blocks

    def __iter__(self) -> Iterator[FloatArray]:
        for block in self._blocks:
            self.n += len(block)
            yield block


def _windows(blocks: Iterable[FloatArray], tagger: Tagger) -> Iterator[FloatArray]:
    """Probabilities chunk by chunk, as if all sound had been given at once."""
    enough = round(_CHUNK_S * tagger.sample_rate_hz)
    hop = round(tagger.hop_s * tagger.sample_rate_hz)
    waiting: list[FloatArray] = []
    n_waiting, any_windows = 0, False
    for block in blocks:
        waiting.append(block)
        n_waiting += len(block)
        if n_waiting >= enough:
            wave = np.concatenate(waiting)
            probability = tagger.predict(wave)
            yield probability
            any_windows = True
            waiting = [wave[len(probability) * hop :]]
            n_waiting = len(waiting[0])
    rest = np.concatenate(waiting) if waiting else np.zeros(0, np.float32)
    if len(rest) >= round(tagger.window_s * tagger.sample_rate_hz) or (
        len(rest) and not any_windows
    ):
        yield tagger.predict(rest)

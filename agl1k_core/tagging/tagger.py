"""The sounds in a recording: AudioSet classes over time, and the share of time of each.

A ``Tagger`` gives the probability of each class in windows of sound. A class is present in a window
if its probability reaches the tagger's threshold, and ``t[k, i]``, the fraction of time that class
i is present in recording k (Zhang et al. 2026, "The Sonar Moment", section 3.3.1), is the share of
windows with it. Classes are identified by AudioSet id; those that a tagger cannot detect are
missing, not 0.
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
from agl1k_core.config import Config
from agl1k_core.errors import Agl1kError
from agl1k_core.tagging import audioset
from agl1k_core.tagging._onnx import FloatArray as FloatArray
from agl1k_core.tagging.efficientat import EfficientAt
from agl1k_core.tagging.yamnet import Yamnet

BACKENDS = ("yamnet", "efficientat")

_CHUNK_S = 60.0
NO_SOUND = "There is no sound to tag. Give a recording with sound in it."


class Tagger(Protocol):
    """Anything that gives the probability of sound classes in windows of sound.

    Attributes
    ----------
    name
        A short name of the tagger.
    labels
        The AudioSet ids of its classes.
    sample_rate_hz
        The sample rate that ``predict`` expects.
    window_s, hop_s
        Length of a window in seconds, and the time from the start of one to the start of the next.
    threshold
        A class is present if its probability is at least this, 0 to 1.
    weights_sha256
        Hash of the model's weights.

    Examples
    --------
    A tagger that finds speech in loud windows of half a second:

    >>> class Loudness:
    ...     name, weights_sha256 = "loudness", "none"
    ...     labels = ("/m/09x0r",)
    ...     sample_rate_hz, window_s, hop_s, threshold = 8000, 0.5, 0.5, 0.1
    ...
    ...     def predict(self, wave):
    ...         windows = np.resize(wave, (max(1, len(wave) // 4000), 4000))
    ...         return np.sqrt(np.mean(windows**2, axis=1, keepdims=True))
    >>> tone = np.sin(2 * np.pi * 440 * np.arange(8000) / 8000).astype(np.float32)
    >>> tags = tag_blocks([tone, 0.01 * tone], Loudness())
    >>> tags.top()
    [('Speech', 0.5)]
    >>> tags.roots["human"], tags.duration_s
    (0.5, 2.0)
    """

    name: str
    labels: tuple[str, ...]
    sample_rate_hz: int
    window_s: float
    hop_s: float
    threshold: float
    weights_sha256: str

    def predict(self, wave: FloatArray) -> FloatArray:
        """The probability of each class in each window.

        Parameters
        ----------
        wave
            Mono sound of shape (n,) at ``sample_rate_hz``.

        Returns
        -------
        ndarray of float32, shape (windows, labels)
            0 to 1; at least one window.
        """
        ...


@dataclass(frozen=True)
class Tags:
    """The tags of one recording.

    Attributes
    ----------
    tagger, weights_sha256, threshold, labels, window_s, hop_s
        The tagger, see ``Tagger``.
    duration_s
        Duration of the recording in seconds.
    probability
        Probability of each label in each window, shape (windows, labels).
    """

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
        """Fraction of time that each label is present, ``t[k, i]``, 0 to 1."""
        return self._tally.fractions

    @cached_property
    def presence(self) -> Mapping[str, float]:
        """Fraction of time by AudioSet id, for the classes that are present, longest first."""
        return self._tally.presence

    @cached_property
    def roots(self) -> Mapping[str, float]:
        """Fraction of time in which any class of a root category is present, by root."""
        return self._tally.roots

    @property
    def starts_s(self) -> npt.NDArray[np.float64]:
        """Start of each window in seconds."""
        return np.arange(len(self.probability), dtype=np.float64) * self.hop_s

    def top(self, n: int = 10) -> list[tuple[str, float]]:
        """Name and fraction of time of the ``n`` classes that are present longest."""
        return [(audioset.class_name(label), share) for label, share in self.presence.items()][:n]

    def to_dict(self) -> dict[str, Any]:
        """A summary for JSON: presence, roots, and the tagger."""
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
    name: str = "yamnet",
    *,
    models_dir: Path | None = None,
    weights: Path | None = None,
    threads: int = 1,
) -> Tagger:
    """Load a tagger.

    Parameters
    ----------
    name
        ``"yamnet"`` or ``"efficientat"``.
    models_dir
        The folder into which ``install_yamnet`` put YAMNet. Default: the one that
        ``agl1k models install`` uses.
    weights
        EfficientAT's weights file.
    threads
        Processor threads for the model.

    Raises
    ------
    Agl1kError
        If there is no such tagger or something is not installed; the message says how to install
        it.

    Examples
    --------
    >>> load_tagger("yamnet", models_dir=Path("missing"))
    Traceback (most recent call last):
    agl1k_core.errors.Agl1kError: YAMNet is not installed here. Run: agl1k models install yamnet
    """
    if name == "yamnet":
        return Yamnet(models_dir or Config.from_env().models_dir, threads)
    if name == "efficientat":
        if weights is None:
            raise Agl1kError(
                "EfficientAT needs its weights file, such as mn10_as_mAP_471.pt. Give its path."
            )
        return EfficientAt(weights, threads)
    raise Agl1kError(f"There is no tagger {name!r}. Use one of: {', '.join(BACKENDS)}.")


def tag(path: Path, tagger: Tagger, *, first_channel: bool = False) -> Tags:
    """Tag a recording.

    Parameters
    ----------
    path
        The recording.
    tagger
        The tagger, for example from ``load_tagger``.
    first_channel
        Take the first channel instead of the mean of the channels, see ``audio.mono_blocks``.

    Returns
    -------
    Tags
        The probability of each class in each window, and the fraction of time of each class.

    Raises
    ------
    Agl1kError
        If the recording cannot be read.

    Examples
    --------
    >>> tags = tag(Path("recording.mp3"), load_tagger(models_dir=folder))  # doctest: +SKIP
    >>> tags.top(2)  # doctest: +SKIP
    [('Vehicle', 0.59), ('Ocean', 0.37)]

    ``Tagger`` has an example that needs no model.
    """
    rate_hz = tagger.sample_rate_hz
    return tag_blocks(audio.mono_blocks(path, rate_hz, first_channel=first_channel), tagger)


def tag_blocks(blocks: Iterable[FloatArray], tagger: Tagger) -> Tags:
    """Tag mono sound at the tagger's rate, in blocks of shape (n,).

    Raises ``Agl1kError`` if there is no sound. ``Tagger`` has an example.
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
    """What ``tag_blocks(…).to_dict()`` returns, in memory that does not grow with the sound.

    Raises ``Agl1kError`` if there is no sound.
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

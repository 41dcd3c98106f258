"""The four acoustic filters: loudness, noisiness, clipping and variation of a recording.

RMS energy, spectral flatness, clipping ratio and acoustic complexity follow equation (2) of Zhang
et al. 2026, "The Sonar Moment", appendix A.2. The equation leaves some choices open; these are made
here (``docs/filters.md`` shows the evidence):

- ``x[n]`` is the mean of the channels; clipping is counted in the channels themselves, because
  mixing hides it.
- Frames last about 46 ms (``frame_samples``: 2048 samples at 44.1 and 48 kHz) and do not overlap,
  as is usual for acoustic complexity. Their window is ``sin²(π (n + ½) / N)``, a Hann window
  without zeros. Only whole frames count; shorter sound is one frame, padded with zeros.
- ``P[k]`` is the mean over the frames (Welch's estimate), ``E[f, t]`` the power of one frame. Both
  leave out the two lowest bins, into which a constant offset leaks, and the bin at half the rate,
  for which conventions of scaling differ.
- ``x_max`` is the peak of the recording, and at most full scale.

Two measures are added, because the equation has blind spots. A constant offset counts as loudness,
so ``rms_without_mean`` leaves it out. And the energy of steady noise changes from one frame to the
next as much as that of many places does, so ``level_variation_db`` looks at half seconds.
``AcousticFilters`` uses both unless ``definition`` is ``paper``.

``Measure`` reads sound block by block in one pass; the functions do the same in one call.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import scipy.fft

from agl1k_core.audio.limits import checked_peak
from agl1k_core.errors import Agl1kError

Audio = npt.NDArray[np.floating[Any]]

FRAME_S = 0.0464
#: The highest value that 16-bit sound can reach with either sign.
FULL_SCALE = 32767 / 32768

#: Seconds over which levels are measured, and the lower edge of the lowest octave in Hz.
LEVEL_S = 0.5
LOWEST_OCTAVE_HZ = 88.4
#: Levels further below the loudest octave's, in dB, are those of rounding and of codecs.
_INAUDIBLE_DB = 60.0

_LOWEST_BIN = 2
_SUM_OF = 1024
_FRAMES_AT_ONCE = 32  # more no longer fits into a processor's cache

_LOUDNESS = {
    "default": ("rms_without_mean", "min_rms_energy", "too quiet: RMS energy without the mean"),
    "paper": ("rms_energy", "min_rms_energy", "too quiet: RMS energy"),
}
_LEVELS = ("level_variation_db", "min_level_variation_db", "monotonous: level variation in dB")
_RULES = (
    ("spectral_flatness", "max_spectral_flatness", "noise-like: spectral flatness"),
    ("clipping_ratio", "max_clipping_ratio", "clipped: clipping ratio"),
    ("complexity_per_band", "min_complexity_per_band", "monotonous: complexity per band"),
)


def rms_energy(samples: Audio, sample_rate_hz: int) -> float:
    """Root mean square of the samples, equation (2) of "The Sonar Moment".

    ``sqrt(mean(x[n]²))``

    Parameters
    ----------
    samples
        Sound of shape ``(n,)`` or ``(channels, n)``, floating-point with full scale at ±1.
    sample_rate_hz
        Samples per second and channel (has no effect).

    Returns
    -------
    float
        0 to 1 in units of full scale: 0 in silence, 0.7071 for a full-scale sine.

    Raises
    ------
    Agl1kError
        If there are no samples, or some are not finite, not floating-point or out of scale.

    Examples
    --------
    >>> sine = np.sin(2 * np.pi * 440 * np.arange(16000) / 16000)
    >>> round(rms_energy(sine, 16000), 4)
    0.7071
    """
    return measure([samples], sample_rate_hz).rms_energy


def spectral_flatness(samples: Audio, sample_rate_hz: int) -> float:
    """Geometric over arithmetic mean of the power spectrum, equation (2) of "The Sonar Moment".

    ``exp(mean(log P[k])) / mean(P[k])``

    Parameters
    ----------
    samples
        Sound of shape ``(n,)`` or ``(channels, n)``, floating-point with full scale at ±1.
    sample_rate_hz
        Samples per second and channel.

    Returns
    -------
    float
        0 to 1: 0 in silence, near 0 for a tone, near 1 for long white noise (0.56 in one frame).

    Raises
    ------
    Agl1kError
        If there are no samples, or some are not finite, not floating-point or out of scale.

    Examples
    --------
    >>> noise = np.random.default_rng(0).normal(scale=0.1, size=16000 * 10)
    >>> round(spectral_flatness(noise, 16000), 2)
    1.0
    >>> round(spectral_flatness(np.cumsum(noise), 16000), 2)  # brown noise
    0.02
    """
    return measure([samples], sample_rate_hz).spectral_flatness


def clipping_ratio(samples: Audio, sample_rate_hz: int) -> float:
    """Share of the samples that reach the peak, equation (2) of "The Sonar Moment".

    ``mean(|x[n]| ≥ x_max)``, over the samples of every channel. Values beyond full scale, as in
    float files and decoded MP3, count as full scale.

    Parameters
    ----------
    samples
        Sound of shape ``(n,)`` or ``(channels, n)``, floating-point with full scale at ±1.
    sample_rate_hz
        Samples per second and channel (has no effect).

    Returns
    -------
    float
        0 to 1: 1 for a square wave, 0 in silence.

    Raises
    ------
    Agl1kError
        If there are no samples, or some are not finite, not floating-point or out of scale.

    Examples
    --------
    >>> clipping_ratio(np.array([0.0, 0.5, 1.0, 1.7, -1.0]), 16000)
    0.6
    """
    return measure([samples], sample_rate_hz).clipping_ratio


def acoustic_complexity(samples: Audio, sample_rate_hz: int) -> float:
    """Change from frame to frame relative to the energy, equation (2) of "The Sonar Moment".

    ``Σ_f (Σ_t |E[f, t + 1] - E[f, t]| / Σ_t E[f, t])``, summed over the frequency bands.

    Parameters
    ----------
    samples
        Sound of shape ``(n,)`` or ``(channels, n)``, floating-point with full scale at ±1.
    sample_rate_hz
        Samples per second and channel.

    Returns
    -------
    float
        0 for constant sound, silence and a single frame, up to twice the number of bands, which is
        ``frame_samples(sample_rate_hz) / 2 - 2``.

    Raises
    ------
    Agl1kError
        If there are no samples, or some are not finite, not floating-point or out of scale.

    Examples
    --------
    >>> noise = np.random.default_rng(0).normal(scale=0.1, size=16000 * 30)
    >>> n_bands = frame_samples(16000) // 2 - 2
    >>> round(acoustic_complexity(noise, 16000) / n_bands, 2)
    1.0
    """
    return measure([samples], sample_rate_hz).acoustic_complexity


@dataclass(frozen=True, slots=True)
class AcousticMeasures:
    """The measures of one recording.

    Attributes
    ----------
    rms_energy, spectral_flatness, clipping_ratio, acoustic_complexity
        See the functions of these names.
    rms_without_mean
        ``rms_energy`` of the samples without their mean: 0 for a constant offset.
    level_variation_db
        How much the sound varies: the standard deviation of the level, in dB, over half seconds,
        in the second most varied octave band. Below 1.1 for steady noise of any colour and for
        steady tones. 0 if the sound is shorter than two half seconds.
    complexity_per_band
        Acoustic complexity divided by the number of bands, 0 to 2; unlike the sum, it can be
        compared between sample rates.
    dc_offset
        Mean of the samples.
    peak
        Highest magnitude in any channel.
    cancellation
        Power of the mean of the channels divided by the mean of their powers: 1 for mono, 0 for
        channels in opposite phase, 1 in silence.
    n_samples
        Samples per channel.
    sample_rate_hz
        Samples per second and channel.
    """

    rms_energy: float
    rms_without_mean: float
    spectral_flatness: float
    clipping_ratio: float
    acoustic_complexity: float
    complexity_per_band: float
    level_variation_db: float
    dc_offset: float
    peak: float
    cancellation: float
    n_samples: int
    sample_rate_hz: int

    @property
    def duration_s(self) -> float:
        """Duration in seconds."""
        return self.n_samples / self.sample_rate_hz

    def to_dict(self) -> dict[str, float]:
        """The measures by their names."""
        return asdict(self)


@dataclass(frozen=True)
class AcousticFilters:
    """Thresholds that a recording must meet; ``docs/filters.md`` gives the evidence for them.

    Parameters
    ----------
    min_rms_energy
        Quieter recordings fail; 0 to 1 in units of full scale. A constant offset does not count.
    max_spectral_flatness
        More noise-like recordings fail; 0 to 1.
    max_clipping_ratio
        Recordings with a greater share of clipped samples fail; 0 to 1.
    min_complexity_per_band
        More monotonous recordings fail; 0 to 2.
    min_level_variation_db
        Recordings with steadier sound fail; in dB. Shorter than 1.5 s, they pass.
    definition
        ``paper`` for the four measures of equation (2) to the letter: an offset counts as
        loudness, and the variation of levels does not matter.

    Examples
    --------
    >>> noise = np.random.default_rng(0).normal(scale=0.1, size=16000 * 10)
    >>> brown = measure([0.01 * np.cumsum(noise)], 16000)
    >>> [*AcousticFilters().failures(brown)]
    ['level_variation_db']
    >>> AcousticFilters(definition="paper").failures(brown)
    {}
    """

    min_rms_energy: float = 0.001
    max_spectral_flatness: float = 0.5
    max_clipping_ratio: float = 0.01
    min_complexity_per_band: float = 0.5
    min_level_variation_db: float = 1.25
    definition: Literal["default", "paper"] = "default"

    @classmethod
    def from_dict(cls, settings: Mapping[str, Any]) -> AcousticFilters:
        """Filters with some settings changed; raises ``Agl1kError`` for unknown names or values."""
        thresholds = dict(settings)
        definition = thresholds.pop("definition", cls.definition)
        known = [field.name for field in fields(cls) if field.name != "definition"]
        problems = [
            f"There is no threshold {name!r}; the thresholds are {', '.join(known)}."
            for name in thresholds
            if name not in known
        ]
        problems += [
            f"The threshold {name} is {value!r}. Give a number."
            for name, value in thresholds.items()
            if not isinstance(value, (int, float)) or not np.isfinite(value)
        ]
        if definition not in _LOUDNESS:
            problems.append(f"There is no definition {definition!r}. Use default or paper.")
        if problems:
            raise Agl1kError("\n".join(problems))
        return cls(**thresholds, definition=definition)

    def failures(self, measures: AcousticMeasures) -> dict[str, str]:
        """Why a recording does not pass: a sentence for each measure that fails."""
        found: dict[str, str] = {}
        for name, threshold_name, what in self._rules(measures):
            value, threshold = getattr(measures, name), getattr(self, threshold_name)
            if threshold_name.startswith("min_") and value < threshold:
                found[name] = f"{what} {value:.4g} is below {threshold:g}"
            elif threshold_name.startswith("max_") and value > threshold:
                found[name] = f"{what} {value:.4g} is above {threshold:g}"
        return found

    def _rules(self, measures: AcousticMeasures) -> list[tuple[str, str, str]]:
        rules = [_LOUDNESS[self.definition], *_RULES]
        if self.definition == "default" and measures.duration_s >= 3 * LEVEL_S:
            rules.append(_LEVELS)
        return rules


def frame_samples(sample_rate_hz: int) -> int:
    """Samples in a frame: the power of two nearest to 46.4 ms, and at least 16.

    Examples
    --------
    >>> frame_samples(16000), frame_samples(44100)
    (1024, 2048)
    """
    return 1 << max(4, round(math.log2(FRAME_S * sample_rate_hz)))


def measure(blocks: Iterable[Audio], sample_rate_hz: int) -> AcousticMeasures:
    """Compute all measures in one pass, with memory that does not grow with the recording.

    Parameters
    ----------
    blocks
        Successive blocks of shape ``(n,)`` or ``(channels, n)``, floating-point with full scale at
        ±1, all with the same number of channels.
    sample_rate_hz
        Samples per second and channel.

    Returns
    -------
    AcousticMeasures
        The four measures of equation (2) of "The Sonar Moment", and more.

    Raises
    ------
    Agl1kError
        If there are no samples, or some are not finite, not floating-point or out of scale.

    Examples
    --------
    >>> walk = np.random.default_rng(0).normal(size=16000 * 4).cumsum()
    >>> sound = 0.5 * walk / np.abs(walk).max()
    >>> measures = measure([sound[:30000], sound[30000:]], 16000)
    >>> measures.duration_s, round(measures.peak, 3), round(measures.complexity_per_band, 1)
    (4.0, 0.5, 1.0)
    """
    measuring = Measure(sample_rate_hz)
    for block in blocks:
        measuring.add(block)
    return measuring.result()


class Measure:
    """Accumulates the measures of one recording; memory does not grow with its length."""

    def __init__(self, sample_rate_hz: int) -> None:
        if sample_rate_hz <= 0:
            raise Agl1kError(
                f"The sample rate is {sample_rate_hz} Hz. Give a positive number in Hz."
            )
        self._rate_hz = sample_rate_hz
        self._spectrum = _Spectrum(frame_samples(sample_rate_hz), sample_rate_hz)
        self._clipping = _Clipping()
        self._n = 0
        self._sum = self._square_sum = self._channel_square_sum = 0.0
        self._varying = _Varying()

    def add(self, block: Audio) -> None:
        """Read the next block, which must have as many channels as the first."""
        channels = np.atleast_2d(_floating(block))
        if not channels.shape[-1]:
            return
        peak = checked_peak(channels)
        square_sum = _square_sum(channels.ravel())
        mono = _mixed(channels)
        self._n += len(mono)
        self._sum += float(mono.sum(dtype=np.float64))
        self._square_sum += square_sum if len(channels) == 1 else _square_sum(mono)
        self._channel_square_sum += square_sum / len(channels)
        self._varying.add(mono)
        self._clipping.add(channels, peak)
        self._spectrum.add(mono)

    def result(self) -> AcousticMeasures:
        """The measures of all blocks so far; raises ``Agl1kError`` if there were no samples."""
        if not self._n:
            raise Agl1kError("There are no samples to measure. Give a recording with sound in it.")
        flatness, complexity, n_bands = self._spectrum.result()
        variation_db = self._spectrum.level_variation_db()
        power = self._channel_square_sum
        return AcousticMeasures(
            rms_energy=float(np.sqrt(self._square_sum / self._n)),
            rms_without_mean=self._varying.rms(),
            spectral_flatness=flatness,
            clipping_ratio=self._clipping.ratio(),
            acoustic_complexity=complexity,
            complexity_per_band=complexity / n_bands,
            level_variation_db=variation_db,
            dc_offset=self._sum / self._n,
            peak=self._clipping.peak,
            cancellation=min(1.0, self._square_sum / power) if power > 0 else 1.0,
            n_samples=self._n,
            sample_rate_hz=self._rate_hz,
        )


class _Varying:
    """The root mean square of samples without their mean.

    Squares are taken of the distance from the first block's mean, so that a large offset does not
    drown what varies.
    """

    def __init__(self) -> None:
        self._from: float | None = None
        self._sum = self._square_sum = 0.0
        self._n = 0

    def add(self, samples: Audio) -> None:
        if self._from is None:
            self._from = float(samples.mean(dtype=np.float64))
        moved = np.subtract(samples, self._from, dtype=np.float64)
        self._n += len(moved)
        self._sum += float(moved.sum())
        self._square_sum += _square_sum(moved)

    def rms(self) -> float:
        mean = self._sum / self._n
        return math.sqrt(max(0.0, self._square_sum / self._n - mean**2))


class _Clipping:
    """Counts the samples at the peak; a higher peak restarts the count."""

    def __init__(self) -> None:
        self.peak = 0.0
        self._capped = 0.0
        self._at_peak = 0
        self._n = 0

    def add(self, channels: Audio, peak: float) -> None:
        self._n += channels.size
        self.peak = max(self.peak, peak)
        capped = min(peak, FULL_SCALE)
        if capped < self._capped or capped == 0:
            return
        count = int(np.count_nonzero(np.abs(channels) >= capped))
        self._at_peak = count if capped > self._capped else self._at_peak + count
        self._capped = capped

    def ratio(self) -> float:
        return self._at_peak / self._n


class _Spectrum:
    """Sums over frames, per frequency band: the energy, and its change from frame to frame."""

    def __init__(self, n: int, sample_rate_hz: int) -> None:
        self._frame = n
        self._levels = _Levels(n, sample_rate_hz)
        window = np.sin(np.pi * (np.arange(n) + 0.5) / n) ** 2
        self._windows: dict[Any, Audio] = {
            dtype: window.astype(dtype) for dtype in (np.float32, np.float64)
        }
        self._rest: Audio = np.zeros(0, np.float32)
        self._last: Audio | None = None
        self._n_frames = 0
        self._energy = np.zeros(n // 2 - _LOWEST_BIN)
        self._change = np.zeros(n // 2 - _LOWEST_BIN)

    def add(self, mono: Audio) -> None:
        samples = np.concatenate([self._rest, mono]) if len(self._rest) else mono
        whole = len(samples) // self._frame * self._frame
        frames = samples[:whole].reshape(-1, self._frame)
        for start in range(0, len(frames), _FRAMES_AT_ONCE):
            self._add_frames(frames[start : start + _FRAMES_AT_ONCE])
        self._rest = samples[whole:].copy()

    def _add_frames(self, frames: Audio) -> None:
        windowed = frames * self._windows[frames.dtype.type]
        bands = scipy.fft.rfft(windowed, axis=1, overwrite_x=True)[:, _LOWEST_BIN:-1]
        energy = bands.real**2 + bands.imag**2
        self._energy += energy.sum(axis=0, dtype=np.float64)
        self._levels.add(energy)
        change = np.diff(energy, axis=0)
        self._change += np.abs(change, out=change).sum(axis=0, dtype=np.float64)
        if self._last is not None:
            self._change += np.abs(energy[0] - self._last)
        self._last = energy[-1]
        self._n_frames += len(frames)

    def level_variation_db(self) -> float:
        return self._levels.variation_db()

    def result(self) -> tuple[float, float, int]:
        """Spectral flatness, acoustic complexity and the number of bands."""
        if not self._n_frames:
            padded = np.pad(self._rest, (0, self._frame - len(self._rest)))
            only = _Spectrum(self._frame, self._levels.sample_rate_hz)
            only._add_frames(padded[np.newaxis])
            return only.result()
        mean = self._energy.mean()
        if mean == 0:
            return 0.0, 0.0, len(self._energy)
        with np.errstate(divide="ignore"):
            flatness = float(np.exp(np.log(self._energy / mean).mean()))
        audible = self._energy > 0
        complexity = float((self._change[audible] / self._energy[audible]).sum())
        return flatness, complexity, len(self._energy)


class _Levels:
    """Energies in octave bands over half seconds: about 0.5 MB for an hour of sound."""

    def __init__(self, n: int, sample_rate_hz: int) -> None:
        self.sample_rate_hz = sample_rate_hz
        self._starts = _octaves(n, sample_rate_hz)
        self._n_frames = max(1, round(LEVEL_S * sample_rate_hz / n))
        self._rest: Audio = np.zeros((0, len(self._starts)))
        self._energies: list[Audio] = []

    def add(self, energy: Audio) -> None:
        """Add frames, ``(n_frames, n_bins)``."""
        octaves = np.add.reduceat(energy, self._starts, axis=1, dtype=np.float64)
        frames = np.concatenate([self._rest, octaves])
        whole = len(frames) // self._n_frames * self._n_frames
        cells = frames[:whole].reshape(-1, self._n_frames, len(self._starts))
        if len(cells):
            self._energies.append(cells.sum(axis=1))
        self._rest = frames[whole:]

    def variation_db(self) -> float:
        """The second highest standard deviation, so that one band alone does not decide."""
        if not self._energies:
            return 0.0
        energies = np.concatenate(self._energies)
        floor = energies.mean(axis=0).max() * 10 ** (-_INAUDIBLE_DB / 10)
        if floor == 0:
            return 0.0
        deviations = np.sort((10 * np.log10(energies + floor)).std(axis=0))
        return float(deviations[-2:][0])


def _octaves(n: int, sample_rate_hz: int) -> list[int]:
    """The first band of each octave from ``LOWEST_OCTAVE_HZ``, among bands from ``_LOWEST_BIN``.

    Lower octaves have so few bands that the level of steady noise varies in them.
    """
    n_octaves = max(1, math.ceil(math.log2(0.98 * sample_rate_hz / 2 / LOWEST_OCTAVE_HZ)))
    edges_hz = [LOWEST_OCTAVE_HZ * 2**octave for octave in range(n_octaves)]
    bins = [math.ceil(edge_hz * n / sample_rate_hz) - _LOWEST_BIN for edge_hz in edges_hz]
    inside = sorted({max(0, first) for first in bins if first < n // 2 - _LOWEST_BIN})
    return inside or [0]


def _mixed(channels: Audio) -> Audio:
    """The mean of the channels; faster than ``mean`` if they are few."""
    mono: Audio = channels[0]
    if len(channels) == 1:
        return mono
    mono = channels[0] + channels[1]
    for channel in channels[2:]:
        mono += channel
    mono *= channels.dtype.type(1 / len(channels))
    return mono


def _floating(block: Audio) -> Audio:
    block = np.asarray(block)
    if block.dtype in (np.float32, np.float64):
        return block
    if not np.issubdtype(block.dtype, np.floating):
        raise Agl1kError(
            f"The samples are {block.dtype}, so their full scale is unknown. "
            "Give floating-point numbers with full scale at ±1."
        )
    return block.astype(np.float64)


def _square_sum(samples: Audio) -> float:
    """Sums of short parts in the samples' own precision, added up in double precision."""
    whole = len(samples) // _SUM_OF * _SUM_OF
    rows = samples[:whole].reshape(-1, _SUM_OF)
    rest = samples[whole:].astype(np.float64)
    # not np.dot, whose threads would use a second core and gain nothing
    total = np.einsum("ij,ij->i", rows, rows).sum(dtype=np.float64)
    return float(total + np.einsum("i,i->", rest, rest))

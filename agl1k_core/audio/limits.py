"""What a recording may be, checked before the work: rate, channels, duration, scale.

A header may declare anything. At 1 Hz, a small file lasts for days, and resampling it for a tagger
takes gigabytes; a sample of 1e30 leaves no number of the others.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from agl1k_core.errors import Agl1kError

MIN_RATE_HZ, MAX_RATE_HZ = 1_000, 768_000
MAX_CHANNELS = 64
#: A day, and an hour for recorders that stop late.
MAX_DURATION_S = 25 * 3600.0
#: Float files may go beyond full scale, but sound is not a thousand times (60 dB) louder.
MAX_PEAK = 1000.0

#: What has fewer bits in a second of sound than digital silence has does not last that long.
_LEAST_BITS_PER_S = 50


class UnusableError(Agl1kError):
    """A file whose sound cannot be used; ``outcome`` is that of ``Outcome``."""

    outcome: ClassVar[str]


class OverLimitError(UnusableError):
    """A rate, a number of channels or a duration beyond the limits."""

    outcome = "over_limit"


class NotFiniteError(UnusableError):
    """Samples that are no numbers."""

    outcome = "not_finite"


class OutOfScaleError(UnusableError):
    """Samples of which full scale cannot be ±1."""

    outcome = "out_of_scale"


def check_format(sample_rate_hz: int, channels: int) -> None:
    """Raise ``OverLimitError`` for a rate or a number of channels beyond the limits."""
    if not MIN_RATE_HZ <= sample_rate_hz <= MAX_RATE_HZ:
        raise OverLimitError(
            f"The sample rate is {sample_rate_hz:,} Hz, and the limits are {MIN_RATE_HZ:,} and "
            f"{MAX_RATE_HZ:,} Hz. Correct the header, or resample the recording."
        )
    if channels > MAX_CHANNELS:
        raise OverLimitError(
            f"There are {channels:,} channels, and the limit is {MAX_CHANNELS}. "
            "Correct the header, or mix the channels."
        )


def check_duration(duration_s: float) -> None:
    """Raise ``OverLimitError`` for a recording that is too long."""
    if duration_s > MAX_DURATION_S:
        raise OverLimitError(
            f"The recording is longer than {MAX_DURATION_S / 3600:.0f} hours. "
            "Cut it, or correct the sample rate in its header."
        )


def check_declared(duration_s: float, n_bytes: int) -> None:
    """``check_duration`` for a duration that a header declares, if a file can last so long."""
    if 8 * n_bytes >= _LEAST_BITS_PER_S * duration_s:
        check_duration(duration_s)


def checked_peak(samples: npt.NDArray[np.floating[Any]]) -> float:
    """The highest magnitude; raises ``NotFiniteError`` or ``OutOfScaleError``.

    Examples
    --------
    >>> checked_peak(np.array([0.25, -0.5]))
    0.5
    >>> checked_peak(np.array([0.25, 32767.0]))
    Traceback (most recent call last):
    agl1k_core.audio.limits.OutOfScaleError: Samples reach 3.28e+04 times full scale. Export the \
recording again, with full scale at ±1.
    """
    peak = max(float(samples.max()), -float(samples.min()))
    if not math.isfinite(peak):
        raise NotFiniteError(
            "Some samples are not finite (NaN or infinite). Export the recording again."
        )
    if peak > MAX_PEAK:
        raise OutOfScaleError(
            f"Samples reach {peak:.3g} times full scale. Export the recording again, with full "
            "scale at ±1."
        )
    return peak

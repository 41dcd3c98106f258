"""Ways of listening again: a segment, slower, one band of frequencies, louder, or as a picture.

Functions of one channel of samples, full scale ±1, which they leave unchanged. The same samples
give the same result, and the same bytes of a picture, with the same versions of the libraries.
What cannot be done raises ``Agl1kError`` in words that a model, too, can act on.
"""

from __future__ import annotations

import io
import math
import threading
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.ndimage
import scipy.signal

from agl1k_core.audio.mono import Mono
from agl1k_core.errors import Agl1kError
from agl1k_core.extras import Deferred, check

if TYPE_CHECKING:
    import librosa
else:
    librosa = Deferred("librosa")

SHORTEST_S = 0.1
SLOWEST = 4.0
LOWEST_HZ = 20.0
#: Narrower bands ring: the upper edge is at least this many times the lower one.
NARROWEST = 1.1
MOST_GAIN_DB = 40.0
#: -1 dB of full scale.
PEAK = 10 ** (-1 / 20)
_ORDER = 6
_LIMITER_S = 0.01
_DECIBELS = 80.0
_BANDS = 128
_MOST_COLUMNS = 900
_TICKS_HZ = (100, 250, 500, 1000, 2000, 4000, 8000, 16000)
#: matplotlib's text layout is not made for several threads.
_drawing = threading.Lock()


def segment(samples: Mono, rate_hz: int, start_s: float, end_s: float) -> Mono:
    """The part of a recording from one time to another.

    Parameters
    ----------
    samples
        The recording.
    rate_hz
        Its sample rate.
    start_s, end_s
        In seconds from its beginning; the end may lie 0.05 s behind that of the recording.

    Raises
    ------
    Agl1kError
        If the segment is not within the recording, or shorter than 0.1 s.

    Examples
    --------
    >>> segment(np.arange(16000, dtype=np.float32), 16000, 0.5, 0.75).shape
    (4000,)
    """
    duration_s = len(samples) / rate_hz
    if not (0 <= start_s < end_s <= duration_s + 0.05):  # also if one is not a number
        raise Agl1kError(
            f"The segment from {start_s:g} to {end_s:g} s is not within the recording, which "
            f"lasts from 0 to {duration_s:.2f} s. Give 0 <= start_s < end_s <= {duration_s:.2f}."
        )
    part = samples[round(start_s * rate_hz) : round(end_s * rate_hz)]
    if len(part) < SHORTEST_S * rate_hz:
        raise Agl1kError(
            f"The segment from {start_s:g} to {end_s:g} s is too short. Give at least "
            f"{SHORTEST_S:g} s."
        )
    return part


def slowed(samples: Mono, factor: float) -> Mono:
    """Sound that takes ``factor`` times as long, at the same pitch.

    With a phase vocoder (Flanagan and Golden 1966), as librosa implements it.

    Parameters
    ----------
    samples
        The sound, of n samples.
    factor
        More than 1, at most 4.

    Returns
    -------
    ndarray of float32, shape (round(n * factor),)

    Raises
    ------
    Agl1kError
        If the factor is out of range.
    """
    if not 1 < factor <= SLOWEST:
        raise Agl1kError(
            f"A factor of {factor:g} is out of range. Give one above 1, and at most {SLOWEST:g}."
        )
    # frames are 2048 samples; a shorter sound gets silence behind it
    stretched = np.pad(samples, (0, max(0, 2048 - len(samples))))
    # in one step of more than 2, steady tones lose up to 13 dB
    n_steps = math.ceil(math.log2(factor))
    for _ in range(n_steps):
        stretched = librosa.effects.time_stretch(stretched, rate=factor ** (-1 / n_steps))
    return _float32(librosa.util.fix_length(stretched, size=round(len(samples) * factor)))


def band_passed(samples: Mono, rate_hz: int, low_hz: float, high_hz: float) -> Mono:
    """Sound without what is below or above a band of frequencies.

    A Butterworth filter of order 6 (Butterworth 1930) is applied forwards and backwards, so that
    nothing is delayed: -6 dB at the edges, 72 dB per octave beyond them.

    Parameters
    ----------
    samples
        The sound.
    rate_hz
        Its sample rate.
    low_hz, high_hz
        The edges of the band, from 20 Hz to 95 % of half the sample rate.

    Raises
    ------
    Agl1kError
        If the band is out of range or narrower than a factor of 1.1.
    """
    highest_hz = 0.95 * rate_hz / 2
    if not (low_hz >= LOWEST_HZ and low_hz * NARROWEST <= high_hz <= highest_hz):
        raise Agl1kError(
            f"The band from {low_hz:g} to {high_hz:g} Hz is out of range. Give low_hz of at least "
            f"{LOWEST_HZ:g}, and high_hz from {NARROWEST:g} times low_hz to {highest_hz:g}."
        )
    sections = scipy.signal.butter(_ORDER, (low_hz, high_hz), "bandpass", fs=rate_hz, output="sos")
    padding = min(len(samples) - 1, round(rate_hz * 3 / low_hz))
    return _float32(scipy.signal.sosfiltfilt(sections, samples, padlen=padding))


def boosted(samples: Mono, rate_hz: int, gain_db: float) -> Mono:
    """Louder sound, whose peaks are limited to -1 dB of full scale instead of being clipped.

    The limiter looks ahead: within 10 ms around a peak, the gain falls smoothly to what the peak
    allows. It is the moving average of a moving minimum over equal windows, so that no sample
    exceeds the limit (Giannoulis et al. 2012, "Digital Dynamic Range Compressor Design").

    Parameters
    ----------
    samples
        The sound.
    rate_hz
        Its sample rate.
    gain_db
        More than 0, at most 40 dB.

    Raises
    ------
    Agl1kError
        If the gain is out of range.
    """
    if not 0 < gain_db <= MOST_GAIN_DB:
        raise Agl1kError(
            f"A gain of {gain_db:g} dB is out of range. Give more than 0, and at most "
            f"{MOST_GAIN_DB:g}."
        )
    louder = samples.astype(np.float64) * 10 ** (gain_db / 20)
    allowed = np.minimum(1.0, PEAK / np.maximum(np.abs(louder), 1e-12))
    window = 2 * round(_LIMITER_S * rate_hz / 2) + 1
    lowest = scipy.ndimage.minimum_filter1d(allowed, window, mode="nearest")
    gain = scipy.ndimage.uniform_filter1d(lowest, window, mode="nearest")
    return _float32(np.clip(louder * gain, -PEAK, PEAK))  # clips rounding errors only


def spectrogram_png(samples: Mono, rate_hz: int, start_s: float = 0.0) -> bytes:
    """A picture of the frequencies in a sound over time, as PNG.

    The mel spectrogram (librosa, 128 bands) in dB below its loudest point, down to -80 dB, with
    the frequencies of the bands in Hz, in a colour map that is even for colour-blind readers
    (cividis: Nuñez et al. 2018).

    Parameters
    ----------
    samples
        The sound.
    rate_hz
        Its sample rate.
    start_s
        The time at which its axis begins.
    """
    check("matplotlib")
    decibels = _mel_decibels(samples, rate_hz)
    with _drawing:
        return _drawn(decibels, rate_hz, start_s, start_s + len(samples) / rate_hz)


def _mel_decibels(samples: Mono, rate_hz: int) -> Any:
    """Shape (bands, columns)."""
    hop = max(128, math.ceil(len(samples) / _MOST_COLUMNS))
    power = librosa.feature.melspectrogram(
        y=samples, sr=rate_hz, n_fft=1024 if hop <= 512 else 2048, hop_length=hop, n_mels=_BANDS
    )
    return librosa.power_to_db(power, ref=max(float(power.max()), 1e-10), top_db=_DECIBELS)


def _drawn(decibels: Any, rate_hz: int, start_s: float, end_s: float) -> bytes:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4.5), dpi=100, layout="constrained")
    axes = figure.subplots()
    top_mel = float(librosa.hz_to_mel(rate_hz / 2))
    image = axes.imshow(
        decibels, origin="lower", aspect="auto", cmap="cividis", vmin=-_DECIBELS, vmax=0,
        extent=(start_s, end_s, 0, top_mel), interpolation="nearest",
    )  # fmt: skip
    ticks_hz = [hz for hz in _TICKS_HZ if hz <= rate_hz / 2]
    axes.set_yticks([librosa.hz_to_mel(hz) for hz in ticks_hz], [f"{hz:,}" for hz in ticks_hz])
    axes.set_xlabel("time (s)")
    axes.set_ylabel("frequency (Hz)")
    figure.colorbar(image, ax=axes, label="dB below the loudest")
    file = io.BytesIO()
    figure.savefig(file, format="png", metadata={"Software": None})
    return file.getvalue()


def _float32(samples: Any) -> Mono:
    result: Mono = np.ascontiguousarray(samples, dtype=np.float32)
    return result

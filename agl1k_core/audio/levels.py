"""The level of a recording over time, and the quiet points at which to cut it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from agl1k_core.audio.decode import open_recording
from agl1k_core.errors import Agl1kError

STEP_S = 0.1
#: A pause is quiet for this many steps.
_PAUSE_STEPS = 5
#: Parts end with whole packets, so they are planned this much inside of the limits.
_SLACK_S = 0.3

Power = npt.NDArray[np.float64]


class Levels(NamedTuple):
    """The power of a recording in steps of ``STEP_S``; 36,000 numbers for an hour."""

    power: Power
    duration_s: float


def levels_of(path: Path) -> Levels:
    """Decode a recording once, block by block; raises ``Agl1kError`` if it is none."""
    found: list[Power] = []
    n_samples, rest = 0, np.zeros(0)
    with open_recording(path) as recording:
        step = max(1, round(STEP_S * recording.sample_rate_hz))
        for block in recording.blocks():
            n_samples += block.shape[1]
            sound = np.clip(np.nan_to_num(block), -1, 1).astype(np.float64)
            power = np.concatenate([rest, (sound**2).mean(axis=0)])
            whole = len(power) // step * step
            found.append(power[:whole].reshape(-1, step).mean(axis=1))
            rest = power[whole:]
        return Levels(np.concatenate(found), n_samples / recording.sample_rate_hz)


def check_limits(min_s: float, max_s: float) -> None:
    """Raise ``Agl1kError`` if the limits of parts leave no choice of quiet points."""
    if not (min_s >= 1 and max_s >= 2 * min_s + 2):
        raise Agl1kError(
            f"Parts of {min_s:g} to {max_s:g} s leave no choice of quiet points. The longest must "
            "be at least twice the shortest and two seconds, and the shortest at least 1 s."
        )


def quiet_cuts(power: Power, min_s: float, max_s: float) -> list[float]:
    """Where to cut a recording into parts of ``min_s`` to ``max_s``.

    Each cut is at the middle of the quietest half second within reach, the later one of equals.

    Parameters
    ----------
    power
        The power of the recording in steps of ``STEP_S``.
    min_s, max_s
        Limits of the parts in seconds; ``max_s`` is at least twice ``min_s`` and two seconds.

    Returns
    -------
    list of float
        Seconds from the beginning; empty if the recording is no longer than ``max_s``.

    Raises
    ------
    Agl1kError
        If the limits leave no choice.

    Examples
    --------
    >>> power = np.ones(3000)
    >>> power[1200:1205] = 0.01  # a pause after 120 s
    >>> quiet_cuts(power, 30, 180)
    [120.2]
    """
    check_limits(min_s, max_s)
    shortest = math.ceil((min_s + _SLACK_S) / STEP_S)
    longest = math.floor((max_s - _SLACK_S) / STEP_S)
    if len(power) <= longest:
        return []
    smooth = np.convolve(power, np.ones(_PAUSE_STEPS) / _PAUSE_STEPS, "same")
    cuts: list[int] = []
    at, end = 0, len(power)
    while end - at > math.floor(max_s / STEP_S):
        within = smooth[at + shortest : min(at + longest, end - shortest) + 1]
        at += shortest + len(within) - 1 - int(within[::-1].argmin())
        cuts.append(at)
    return [round(cut * STEP_S, 1) for cut in cuts]

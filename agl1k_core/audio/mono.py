"""Recordings as taggers hear them: one channel, at one rate, in blocks of bounded size."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from agl1k_core.audio import decode as audio
from agl1k_core.audio.filters import all_finite
from agl1k_core.extras import Deferred

if TYPE_CHECKING:
    import av
else:
    av = Deferred("av")

Mono = npt.NDArray[np.float32]


def mono_blocks(path: Path, sample_rate_hz: int, *, first_channel: bool = False) -> Iterator[Mono]:
    """The mean of the channels at ``sample_rate_hz``, in blocks of shape (n,).

    ``first_channel`` takes that one alone, for recordings whose channels cancel each other
    (``inspect_recording.Inspection.first_channel``). Samples that are no numbers become silence.
    """
    with audio.open_recording(path) as recording:
        blocks = (
            _finite(block[0] if first_channel else block.mean(axis=0))
            for block in recording.blocks()
        )
        yield from resampled(blocks, recording.sample_rate_hz, sample_rate_hz)


def resampled(blocks: Iterator[Mono], rate_hz: int, target_hz: int) -> Iterator[Mono]:
    """Blocks at another rate; block by block as at once."""
    if rate_hz == target_hz:
        yield from blocks
        return
    resampler = av.AudioResampler(format="fltp", layout="mono", rate=target_hz)
    for block in blocks:
        frame = av.AudioFrame.from_ndarray(block[np.newaxis], format="fltp", layout="mono")
        frame.sample_rate = rate_hz
        yield from _arrays(resampler.resample(frame))
    yield from _arrays(resampler.resample(None))


def _finite(samples: Mono) -> Mono:
    if all_finite(samples):
        return samples
    return np.nan_to_num(samples, nan=0.0, posinf=1.0, neginf=-1.0)


def _arrays(frames: list[av.AudioFrame]) -> Iterator[Mono]:
    for frame in frames:
        if frame.samples:
            yield frame.to_ndarray()[0]

"""Recordings as taggers need them: one channel, at one rate, in blocks of bounded size."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

import numpy as np
import numpy.typing as npt

from agl1k_core.audio import decode
from agl1k_core.audio.limits import MAX_PEAK
from agl1k_core.errors import Agl1kError
from agl1k_core.extras import Deferred

if TYPE_CHECKING:
    import av
else:
    av = Deferred("av")

Mono = npt.NDArray[np.float32]

#: A minute at 16 kHz; longer sound goes to a temporary file.
_IN_MEMORY_BYTES = 4 << 20
_SAMPLE_BYTES = 4


class NoRoomError(Agl1kError):
    """The temporary folder cannot be written; the recording is not to blame."""


def mono_blocks(path: Path, sample_rate_hz: int, *, first_channel: bool = False) -> Iterator[Mono]:
    """Decode a recording as one channel.

    Parameters
    ----------
    path
        The recording.
    sample_rate_hz
        The rate of the blocks.
    first_channel
        Take the first channel instead of the mean of the channels, for recordings whose channels
        cancel each other (``Inspection.first_channel``).

    Yields
    ------
    ndarray of float32, shape (n,)
        Full scale is ±1. Samples that are NaN become silence, those out of scale full scale.

    Raises
    ------
    Agl1kError
        If the file is not a recording that can be decoded.
    """
    with decode.open_recording(path) as recording:
        blocks = (_mono(block, first_channel) for block in recording.blocks())
        yield from resampled(blocks, recording.sample_rate_hz, sample_rate_hz)


def resampled(blocks: Iterator[Mono], rate_hz: int, target_hz: int) -> Iterator[Mono]:
    """Blocks at another rate; the samples do not depend on how the sound is cut into blocks."""
    resampler = _Resampler(rate_hz, target_hz)
    for block in blocks:
        yield from resampler.add(block)
    yield from resampler.finish()


class MonoBuffer:
    """Keeps the sound of one recording as ``mono_blocks`` gives it, so that it is decoded once.

    Whether a recording is tagged, and from which channel, is known only when all of it has been
    measured. Its sound waits here until then: the first minute in memory, a longer recording in a
    temporary file (230 MB an hour at 16 kHz, twice that with several channels). Tagging while
    decoding would need no file, but would also run the model on recordings that fail the filters.

    Parameters
    ----------
    sample_rate_hz
        The rate at which the sound is kept.

    Examples
    --------
    >>> with MonoBuffer(16000) as sound:  # doctest: +SKIP
    ...     inspection = inspect_recording(path, sound)
    ...     blocks = list(sound.blocks(first_channel=inspection.first_channel))
    """

    def __init__(self, sample_rate_hz: int) -> None:
        self.sample_rate_hz = sample_rate_hz
        self._tracks: list[_Track] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Remove the sound."""
        for track in self._tracks:
            track.close()
        self._tracks = []

    def keep(self, recording: decode.Recording) -> Iterator[decode.Samples]:
        """Yield the blocks of a recording and keep each; raises ``NoRoomError``."""
        self.close()
        # channels may cancel each other, so the first one is kept beside their mean
        alone = (False, True) if recording.channels > 1 else (False,)
        _check_room((recording.expected_s or 0) * self.sample_rate_hz * _SAMPLE_BYTES * len(alone))
        resamplers = [_Resampler(recording.sample_rate_hz, self.sample_rate_hz) for _ in alone]
        self._tracks = [_Track() for _ in alone]
        for block in recording.blocks():
            yield block
            for first, resampler, track in zip(alone, resamplers, self._tracks, strict=True):
                track.add(resampler.add(_mono(block, first)))
        for resampler, track in zip(resamplers, self._tracks, strict=True):
            track.add(resampler.finish())

    def blocks(self, *, first_channel: bool = False) -> Iterator[Mono]:
        """The blocks that ``mono_blocks`` would yield for the recording."""
        return self._tracks[-1 if first_channel else 0].blocks()


def _check_room(n_bytes: float) -> None:
    """Raise ``NoRoomError`` if the temporary folder is too small, before anything is decoded."""
    if n_bytes <= _IN_MEMORY_BYTES:
        return
    with suppress(OSError):  # writing to it will tell
        if n_bytes > shutil.disk_usage(tempfile.gettempdir()).free:
            raise NoRoomError(
                f"The sound takes {n_bytes / 1e9:.1f} GB of the temporary folder, which has less. "
                "Free some space, or set TMPDIR to another folder, and run again."
            )


class _Track:
    """Blocks of one channel, kept with their lengths."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(_IN_MEMORY_BYTES)  # noqa: SIM115
        self._lengths: list[int] = []

    def add(self, blocks: Iterator[Mono]) -> None:
        for block in blocks:
            try:
                self._file.write(block.tobytes())
            except OSError as error:
                raise NoRoomError(
                    f"The temporary folder cannot be written: {error.strerror}. Free some "
                    "space, or set TMPDIR to another folder, and run again."
                ) from None
            self._lengths.append(len(block))

    def blocks(self) -> Iterator[Mono]:
        self._file.seek(0)
        for length in self._lengths:
            yield np.frombuffer(self._file.read(_SAMPLE_BYTES * length), np.float32)

    def close(self) -> None:
        self._file.close()


class _Resampler:
    def __init__(self, rate_hz: int, target_hz: int) -> None:
        self._rate_hz = rate_hz
        self._same = rate_hz == target_hz
        self._resampler = av.AudioResampler(format="fltp", layout="mono", rate=target_hz)

    def add(self, block: Mono) -> Iterator[Mono]:
        """The samples that can be computed with the next block."""
        if self._same:
            return iter([block])
        frame = av.AudioFrame.from_ndarray(block[np.newaxis], format="fltp", layout="mono")
        frame.sample_rate = self._rate_hz
        return _arrays(self._resampler.resample(frame))

    def finish(self) -> Iterator[Mono]:
        """The remaining samples."""
        return iter(()) if self._same else _arrays(self._resampler.resample(None))


def _mono(block: decode.Samples, first_channel: bool) -> Mono:
    with np.errstate(over="ignore", invalid="ignore"):
        samples: Mono = block[0] if first_channel else block.mean(axis=0)
        if max(samples.max(), -samples.min()) <= MAX_PEAK:
            return samples
    finite = np.clip(np.nan_to_num(block, nan=0.0), -1.0, 1.0)
    return _mono(finite, first_channel)


def _arrays(frames: list[av.AudioFrame]) -> Iterator[Mono]:
    for frame in frames:
        if frame.samples:
            yield frame.to_ndarray()[0]

"""Inspects one file: a recording that can be used, or a named reason why not.

``inspect_recording`` never raises for the content of a file: folders of recordings hold broken
files, and each should cost only itself.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from agl1k_core.audio import decode as audio
from agl1k_core.audio.filters import AcousticMeasures, Audio, Measure, all_finite
from agl1k_core.errors import Agl1kError

#: Below the smallest step of 16-bit sound there is nothing to hear.
_SILENT_BELOW = 1 / 32768
_CANCELS_BELOW = 0.01  # the mix of the channels has less than a hundredth of their power
_OFFSET_ABOVE = 0.02
_SHORTER_S, _SHORTER_SHARE = 0.2, 0.01

_FORMATS = {
    ".mp3": "mp3",
    ".flac": "flac",
    ".wav": "wav",
    ".ogg": "ogg",
    ".opus": "ogg",
    ".m4a": "m4a",
    ".mp4": "mp4",
    ".aac": "aac",
}


class Outcome(StrEnum):
    """How the examination of a file ended; only ``OK`` can be used."""

    OK = "ok"
    MISSING = "missing"
    UNREADABLE = "unreadable"
    EMPTY = "empty"
    NOT_AUDIO = "not_audio"
    NO_SOUND = "no_sound"
    UNKNOWN_CODEC = "unknown_codec"
    UNDECODABLE = "undecodable"
    TRUNCATED = "truncated"
    NOT_FINITE = "not_finite"
    SILENT = "silent"


class Note(StrEnum):
    """What is odd in a file that can be used."""

    PHASE_CANCELLING = "phase_cancelling"
    DC_OFFSET = "dc_offset"
    WRONG_EXTENSION = "wrong_extension"


@dataclass(frozen=True)
class Inspection:
    """What came of a file: the outcome, a sentence for the person who must act, and measures.

    ``measures`` are there for ``OK``, ``TRUNCATED`` and ``SILENT``. Where channels cancel each
    other, ``first_channel`` is true: the measures are those of the first channel, and taggers
    should listen to it alone.
    """

    outcome: Outcome
    message: str = ""
    notes: tuple[Note, ...] = ()
    info: audio.AudioInfo | None = None
    measures: AcousticMeasures | None = None

    @property
    def usable(self) -> bool:
        """Whether the recording can be used."""
        return self.outcome is Outcome.OK

    @property
    def first_channel(self) -> bool:
        """Whether to listen to the first channel alone."""
        return Note.PHASE_CANCELLING in self.notes


def inspect_recording(path: Path) -> Inspection:
    """Decode a file once and say what it is; only what is no file's fault raises."""
    try:
        inspection = _inspected(path)
    except Agl1kError as error:
        if not path.exists():
            return Inspection(Outcome.MISSING, "There is no such file. Check its name.")
        message = str(error)
        kinds = [kind for kind, reason in audio.REASONS.items() if reason == message]
        return Inspection(Outcome(kinds[0]) if kinds else Outcome.UNREADABLE, message)
    if inspection.first_channel:
        with audio.open_recording(path) as recording:
            first = (block[0] for block in recording.blocks())
            measures = _measured(first, recording.sample_rate_hz)
        return Inspection(
            inspection.outcome, inspection.message, inspection.notes, inspection.info, measures
        )
    return inspection


def _inspected(path: Path) -> Inspection:
    with audio.open_recording(path) as recording:
        measures = _measured(recording.blocks(), recording.sample_rate_hz)
        if measures is None:
            return Inspection(
                Outcome.NOT_FINITE,
                "Some samples are no finite numbers (NaN or infinite). Export the recording again.",
            )
        info = audio.AudioInfo(
            measures.duration_s, recording.sample_rate_hz, recording.channels, recording.codec
        )
        notes = _notes(path, recording.formats, measures)
        missing = _missing_end(path, recording, measures.duration_s)
    if missing:
        return Inspection(Outcome.TRUNCATED, missing, notes, info, measures)
    if _is_silent(measures):
        message = "There is nothing to hear in it. Check the recording and its level."
        return Inspection(Outcome.SILENT, message, notes, info, measures)
    return Inspection(Outcome.OK, "", notes, info, measures)


def _measured(blocks: Iterable[Audio], sample_rate_hz: int) -> AcousticMeasures | None:
    """The measures; None where samples are not finite."""
    measuring = Measure(sample_rate_hz)
    for block in blocks:
        if not all_finite(block):
            return None
        measuring.add(block)
    return measuring.result()


def _is_silent(measures: AcousticMeasures) -> bool:
    """No channel has sound; a constant offset is none."""
    varying = max(0.0, measures.rms_energy**2 - measures.dc_offset**2)
    cancels = measures.cancellation < _CANCELS_BELOW and measures.peak > _SILENT_BELOW
    return not cancels and varying**0.5 < _SILENT_BELOW


def _notes(path: Path, formats: frozenset[str], measures: AcousticMeasures) -> tuple[Note, ...]:
    expected = _FORMATS.get(path.suffix.lower())
    found = {
        Note.PHASE_CANCELLING: measures.cancellation < _CANCELS_BELOW
        and measures.peak > _SILENT_BELOW,
        Note.DC_OFFSET: abs(measures.dc_offset) > _OFFSET_ABOVE,
        Note.WRONG_EXTENSION: expected is not None and expected not in formats,
    }
    return tuple(note for note, holds in found.items() if holds)


def _missing_end(path: Path, recording: audio.Recording, duration_s: float) -> str:
    """A sentence where the end of the file is missing, as far as its format lets one know.

    MP3 without a header and bare AAC are sound up to wherever they end.
    """
    declared_s = recording.declared_s
    if declared_s is not None:
        slack_s = max(_SHORTER_S, _SHORTER_SHARE * declared_s)
        if duration_s < declared_s - slack_s:
            return (
                f"{duration_s:.1f} s of sound could be decoded where the file says "
                f"{declared_s:.1f} s: it is truncated or damaged. Fetch or copy it again."
            )
    cut = ("wav" in recording.formats and _wav_is_cut(path)) or (
        "ogg" in recording.formats and _ogg_is_cut(path)
    )
    return "The end of the file is missing. Fetch or copy it again." if cut else ""


def _wav_is_cut(path: Path) -> bool:
    """Whether the file is shorter than its RIFF header says; streamed files say nothing."""
    with path.open("rb") as file:
        header = file.read(8)
    said = int.from_bytes(header[4:8], "little")
    return header[:4] == b"RIFF" and 0 < said < 0xFFFFFFFF and path.stat().st_size < said + 8


def _ogg_is_cut(path: Path) -> bool:
    """Whether the last page does not end the stream (RFC 3533, section 6)."""
    with path.open("rb") as file:
        file.seek(-min(path.stat().st_size, 2 * 65307), os.SEEK_END)
        tail = file.read()
    last = tail.rfind(b"OggS")
    return last < 0 or len(tail) < last + 6 or not tail[last + 5] & 4

"""Recordings as sound: decoding, inspection, the four acoustic filters."""

from .copies import CopyNotWrittenError, tag_free_copy
from .decode import (
    AudioInfo,
    check_beginning,
    open_recording,
    outline,
    probe,
)
from .filters import (
    AcousticFilters,
    AcousticMeasures,
    acoustic_complexity,
    clipping_ratio,
    frame_samples,
    measure,
    rms_energy,
    spectral_flatness,
)
from .inspect import Inspection, Note, Outcome, inspect_recording
from .mono import MonoBuffer, NoRoomError, mono_blocks
from .shelter import CrashedError, Shelter, common_shelter
from .strip import CopyKind, StrippedCopy, stripped_copy

__all__ = [
    "open_recording",
    "check_beginning",
    "AudioInfo",
    "probe",
    "outline",
    "tag_free_copy",
    "stripped_copy",
    "StrippedCopy",
    "CopyKind",
    "CopyNotWrittenError",
    "Shelter",
    "common_shelter",
    "CrashedError",
    "mono_blocks",
    "MonoBuffer",
    "NoRoomError",
    "inspect_recording",
    "Inspection",
    "Outcome",
    "Note",
    "AcousticFilters",
    "AcousticMeasures",
    "measure",
    "rms_energy",
    "spectral_flatness",
    "clipping_ratio",
    "acoustic_complexity",
    "frame_samples",
]

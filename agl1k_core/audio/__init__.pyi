"""Recordings as sound: decoding, inspection, the four acoustic filters."""

from .copies import CopyNotWrittenError, served_copy, tag_free_copy
from .decode import (
    AudioInfo,
    check_beginning,
    open_recording,
    outline,
    probe,
)
from .edits import band_passed, boosted, segment, slowed, spectrogram_png
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
from .levels import Levels, check_limits, levels_of, quiet_cuts
from .metadata import written_tags
from .mono import MonoBuffer, NoRoomError, mono_blocks, resampled
from .peaks import FRAME_S, LANDMARK_RATE_HZ, Peaks, landmarks
from .shelter import CrashedError, Shelter, common_shelter
from .strip import CopyKind, StrippedCopy, can_be_cut, stripped_copy, stripped_parts

__all__ = [
    "open_recording",
    "check_beginning",
    "AudioInfo",
    "probe",
    "written_tags",
    "outline",
    "tag_free_copy",
    "served_copy",
    "stripped_copy",
    "StrippedCopy",
    "CopyKind",
    "stripped_parts",
    "can_be_cut",
    "Levels",
    "levels_of",
    "quiet_cuts",
    "check_limits",
    "CopyNotWrittenError",
    "Shelter",
    "common_shelter",
    "CrashedError",
    "FRAME_S",
    "LANDMARK_RATE_HZ",
    "Peaks",
    "landmarks",
    "mono_blocks",
    "MonoBuffer",
    "resampled",
    "NoRoomError",
    "segment",
    "slowed",
    "band_passed",
    "boosted",
    "spectrogram_png",
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

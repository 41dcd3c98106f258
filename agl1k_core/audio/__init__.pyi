"""Recordings as sound: decoding, inspection, the four acoustic filters."""

from .decode import (
    AudioInfo,
    check_beginning,
    open_recording,
    outline,
    probe,
    tag_free_copy,
    waveform_peaks,
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
from .inspect import Examined, Note, Outcome, examine
from .mono import mono_blocks

__all__ = [
    "AcousticFilters",
    "AcousticMeasures",
    "AudioInfo",
    "Examined",
    "Note",
    "Outcome",
    "acoustic_complexity",
    "check_beginning",
    "clipping_ratio",
    "examine",
    "frame_samples",
    "measure",
    "mono_blocks",
    "open_recording",
    "outline",
    "probe",
    "rms_energy",
    "spectral_flatness",
    "tag_free_copy",
    "waveform_peaks",
]

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
from .inspect import Inspection, Note, Outcome, inspect_recording
from .mono import mono_blocks

__all__ = [
    "AcousticFilters",
    "AcousticMeasures",
    "AudioInfo",
    "Inspection",
    "Note",
    "Outcome",
    "acoustic_complexity",
    "check_beginning",
    "clipping_ratio",
    "inspect_recording",
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

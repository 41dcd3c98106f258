"""Prediction files, read into one table with a status per record."""

from .reader import OWN_MAX_BYTES, Predictions, read

__all__ = [
    "OWN_MAX_BYTES",
    "Predictions",
    "read",
]

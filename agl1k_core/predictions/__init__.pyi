"""Prediction files, read into one table with a status per record."""

from .reader import Predictions, read_predictions

__all__ = [
    "read_predictions",
    "Predictions",
]

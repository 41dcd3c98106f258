"""A model's guess, for the map, the game and the leaderboard; needs no Gradio."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ModelGuess:
    """Where a model placed a clip, and its distance from the true place.

    ``n_models`` is how many models placed the clip, of which only some may be shown; 0 if unknown.
    """

    name: str
    lat: float
    lon: float
    distance_km: float
    n_models: int = 0

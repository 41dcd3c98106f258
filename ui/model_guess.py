"""A model's guess, as the map, the game and the leaderboard know it; needs no Gradio."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ModelGuess:
    """Where a model placed a clip, and its distance from the true place."""

    name: str
    lat: float
    lon: float
    distance_km: float

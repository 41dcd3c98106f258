"""Models' guesses, for the map, the game and the leaderboard; needs no Gradio."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median


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


@dataclass(frozen=True, slots=True)
class Opponent:
    """A row of a board that people can play against, and how far it was from the clips.

    ``kind`` is scored, baseline or people. ``distances_km`` has the clips that it answered, by key.
    """

    row_id: str
    name: str
    kind: str
    distances_km: Mapping[str, float]

    @property
    def median_km(self) -> float:
        """The median of its distances."""
        return median(self.distances_km.values())

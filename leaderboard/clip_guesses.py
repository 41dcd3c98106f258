"""Where the submitted models placed a clip: a few of them, kept until the submissions change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from agl1k_core.scoring import Evaluation
from leaderboard.parts import Part
from ui.model_guess import ModelGuess

#: How many guesses are shown: the nearest ones, the median and the farthest.
MOST_SHOWN = 7


class ClipGuesses:
    """The guesses that are shown with each clip; may be used from any thread."""

    def __init__(self) -> None:
        self._kept: tuple[Part, dict[str, list[ModelGuess]]] = (Part(), {})

    def at(self, models: Part, key: str) -> list[ModelGuess]:
        """A few of the models' guesses for a clip, nearest first."""
        if self._kept[0] is not models:
            self._kept = models, {}
        part, kept = self._kept
        if part is not models:  # another thread has newer ones
            return _few(_guesses_at(models, key))
        if key not in kept:
            kept[key] = _few(_guesses_at(models, key))
        return kept[key]


def _few(guesses: Sequence[ModelGuess]) -> list[ModelGuess]:
    """The nearest ones, the median and the farthest; each with the number of all."""
    counted = [replace(guess, n_models=len(guesses)) for guess in guesses]
    if len(counted) <= MOST_SHOWN:
        return counted
    last = len(counted) - 1
    shown = {*range(MOST_SHOWN - 2), last // 2, last}
    return [counted[number] for number in sorted(shown)]


def _guesses_at(models: Part, key: str) -> list[ModelGuess]:
    names = {row.row_id: row.model for row in models.rows if row.kind == "scored"}
    scored = {**models.scored, **models.last}
    found = [_guess_at(one, key, names[row_id]) for row_id, one in scored.items()]
    return sorted(filter(None, found), key=lambda guess: guess.distance_km)


def _guess_at(scored: Evaluation, key: str, name: str) -> ModelGuess | None:
    rows = scored.require_rows()
    position = rows.benchmark.index.get(key)
    at = np.flatnonzero(rows.clip == position)
    if position is None or not len(at) or not np.isfinite(rows.lat[at[0]]):
        return None
    lat, lon = float(rows.lat[at[0]]), float(rows.lon[at[0]])
    return ModelGuess(name, lat, lon, float(rows.column("distance_km")[at[0]]))

"""All players as one row: their stored guesses are scored like a model's predictions.

The guesses of one player are not independent, so intervals are those of means over players. Only a
player's first guess of a clip counts, because the place is shown after it.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from agl1k_core import places
from agl1k_core.answers import Status
from agl1k_core.benchmarks import Benchmark
from agl1k_core.predictions import Predictions
from agl1k_core.scoring import FEWEST_CLUSTERS, PEOPLE, Evaluation, evaluate

LABELS = ("city", "country", "continent")


def counted_guesses(guesses: pd.DataFrame, benchmark: Benchmark) -> pd.DataFrame:
    """The guesses that count: on a working clip of this table, the first per player and clip.

    ``guesses`` is ``GuessStore.table``, oldest first.
    """
    on_this_table = guesses["benchmark_hash"] == benchmark.content_hash
    known = guesses["clip_key"].isin(list(benchmark.index))
    counted = guesses[(guesses["action"] != "broken") & on_this_table & known]
    return counted.drop_duplicates(["player_id", "clip_key"], keep="first")


def people_predictions(guesses: pd.DataFrame, benchmark: Benchmark) -> Predictions:
    """The players' answers as predictions, one record per counted guess.

    A skipped clip, or one that ran out of time without a pin, is a refusal. Labels are those of
    the places where the pins lie; ``clusters`` are the players.
    """
    counted = counted_guesses(guesses, benchmark)
    pinned = counted["action"].isin(["guess", "timeout"]) & counted["latitude"].notna()
    lat = counted["latitude"].where(pinned).to_numpy(dtype=np.float64)
    lon = counted["longitude"].where(pinned).to_numpy(dtype=np.float64)
    labels = places.label_points(lat, lon)
    city, country, continent = (
        np.array([getattr(label, name) for label in labels], dtype=object) for name in LABELS
    )
    return Predictions(
        keys=counted["clip_key"].to_numpy(dtype=object),
        status=np.where(pinned, Status.ANSWERED, Status.REFUSED).astype(object),
        lat=lat,
        lon=lon,
        city=city,
        country=country,
        continent=continent,
        reason=np.full(len(counted), "", dtype=object),
        source="guesses of this server's players",
        clusters=counted["player_id"].to_numpy(dtype=object),
    )


def score_people(guesses: pd.DataFrame, benchmark: Benchmark) -> Evaluation | None:
    """All counted guesses under the protocol for people; None if there are none."""
    predictions = people_predictions(guesses, benchmark)
    return evaluate(benchmark, predictions, PEOPLE) if len(predictions) else None


def people_note(guesses: pd.DataFrame, benchmark: Benchmark) -> str:
    """What counts in the row, in one sentence."""
    counted = counted_guesses(guesses, benchmark)
    text = (
        f"{_n(len(counted), 'guess', 'guesses')} by {_n(counted['player_id'].nunique(), 'player')} "
        f"on {_n(counted['clip_key'].nunique(), 'clip')}."
    )
    again = len(guesses[guesses["action"] != "broken"]) - len(counted)
    if again:
        text += f" {again} more do not count: repeated clips, or an older version of the table."
    if counted["player_id"].nunique() < FEWEST_CLUSTERS:
        text += f" Intervals need {FEWEST_CLUSTERS} players."
    return text


def _n(count: int, one: str, many: str = "") -> str:
    return f"{count} {one if count == 1 else many or one + 's'}"

"""All players as one row: their stored guesses are scored like a model's predictions.

The guesses of one player are not independent, so intervals are those of means over players. Only a
player's first sight of a clip counts, because the place may be known after it. What remains
possible: docs/fairness.md.
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
#: A player counts once one of their rounds has this many answers.
FULL_ROUND = 5
#: A round counts if half of its answers or more took this long, in seconds: less is not listening.
LEAST_SECONDS = 3.0
#: So many of a player's guesses count, the first ones.
MOST_PER_PLAYER = 100


def counted_guesses(guesses: pd.DataFrame, benchmark: Benchmark) -> pd.DataFrame:
    """The guesses that count.

    These are answers to a clip of this table that the player had not met before and whose sound was
    sent, in rounds in which they could listen, by players with a full round; of each player the
    first `MOST_PER_PLAYER`.
    ``guesses`` is ``GuessStore.table``, oldest first.
    """
    first = ~guesses.duplicated(["player_id", "clip_key"]) & ~guesses["met_elsewhere"]
    on_this_table = guesses["benchmark_hash"] == benchmark.content_hash
    known = guesses["clip_key"].isin(list(benchmark.index))
    in_time = on_this_table & known & ~_too_fast(guesses)
    full = guesses["player_id"].isin(_with_a_full_round(guesses[in_time], benchmark))
    heard = guesses["seconds"].notna() & (guesses["action"] != "broken")
    counted = guesses[first & in_time & full & heard]
    return counted[counted.groupby("player_id").cumcount() < MOST_PER_PLAYER]


def _too_fast(guesses: pd.DataFrame) -> pd.Series[bool]:
    """Which guesses belong to a round that was played faster than one can listen.

    A clip without a time was never sent.
    """
    seconds = guesses["seconds"].fillna(0.0)
    return seconds.groupby(guesses["round_id"]).transform("median") < LEAST_SECONDS


def _with_a_full_round(in_time: pd.DataFrame, benchmark: Benchmark) -> list[str]:
    """The players who have answered a whole round of clips."""
    answers = in_time.groupby(["player_id", "round_id"]).size()
    full = answers[answers >= min(FULL_ROUND, len(benchmark))]
    return [*full.index.get_level_values("player_id").unique()]


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


RULE = (
    "Counted: a player's first answer to a clip that was loaded and not reported as broken, from "
    f"the first full round on, the first {MOST_PER_PLAYER} of each player, without rounds in which "
    f"most answers took less than {LEAST_SECONDS:.0f} seconds."
)


def people_note(guesses: pd.DataFrame, benchmark: Benchmark) -> str:
    """How much counts in the row, and by which rules."""
    counted = counted_guesses(guesses, benchmark)
    text = (
        f"{_n(len(counted), 'guess', 'guesses')} by {_n(counted['player_id'].nunique(), 'player')} "
        f"on {_n(counted['clip_key'].nunique(), 'clip')}."
    )
    left_out = len(guesses) - len(counted)
    text += f" {RULE}"
    if left_out:
        text += f" {_n(left_out, 'other answer does', 'other answers do')} not count."
    if counted["player_id"].nunique() < FEWEST_CLUSTERS:
        text += f" Intervals need {FEWEST_CLUSTERS} players."
    return text


def _n(count: int, one: str, many: str = "") -> str:
    return f"{count} {one if count == 1 else many or one + 's'}"

"""All players as one row: their stored guesses are scored like a model's predictions.

The guesses of one player are not independent, so intervals are those of means over players. Only a
player's first sight of a clip counts, because the place may be known after it. What remains
possible: docs/fairness.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np
import pandas as pd

from agl1k_core import places
from agl1k_core.answers import Status
from agl1k_core.benchmarks import Benchmark
from agl1k_core.predictions import Predictions
from agl1k_core.scoring import FEWEST_CLUSTERS, PEOPLE, Evaluation, evaluate

#: Whether tools for listening closely were used.
Use = Literal["with", "without"]
USES: tuple[Use, ...] = ("with", "without")

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
    sent, in rounds in which they could listen and had not chosen the continent, by players with a
    full round; of each player the first `MOST_PER_PLAYER`.
    ``guesses`` is ``GuessStore.table``, oldest first.
    """
    first = ~guesses.duplicated(["player_id", "clip_key"]) & ~guesses["met_elsewhere"]
    on_this_table = guesses["benchmark_hash"] == benchmark.content_hash
    known = guesses["clip_key"].isin(list(benchmark.index))
    fair = on_this_table & known & ~_too_fast(guesses) & ~guesses["continent_chosen"]
    full = guesses["player_id"].isin(_with_a_full_round(guesses[fair], benchmark))
    heard = guesses["seconds"].notna() & (guesses["action"] != "broken")
    counted = guesses[first & fair & full & heard]
    return counted[counted.groupby("player_id").cumcount() < MOST_PER_PLAYER]


def _too_fast(guesses: pd.DataFrame) -> pd.Series[bool]:
    """Which guesses belong to a round that was played faster than one can listen.

    A clip without a time was never sent.
    """
    seconds = guesses["seconds"].fillna(0.0)
    return seconds.groupby(guesses["round_id"]).transform("median") < LEAST_SECONDS


def _with_a_full_round(fair: pd.DataFrame, benchmark: Benchmark) -> list[str]:
    """The players who have answered a whole round of clips."""
    answers = fair.groupby(["player_id", "round_id"]).size()
    full = answers[answers >= min(FULL_ROUND, len(benchmark))]
    return [*full.index.get_level_values("player_id").unique()]


def people_predictions(
    guesses: pd.DataFrame, benchmark: Benchmark, use: Use | None = None
) -> Predictions:
    """The players' answers as predictions, one record per counted guess.

    With ``use``, only those of the counted guesses that were given with or without tools.

    A skipped clip, or one that ran out of time without a pin, is a refusal. Labels are those of
    the places where the pins lie; ``clusters`` are the players.
    """
    counted = counted_guesses(guesses, benchmark)
    if use:
        counted = _used(counted, use)
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


def _used(counted: pd.DataFrame, use: Use) -> pd.DataFrame:
    """Those of some answers that were given with tools for listening closely, or surely without."""
    said = counted["tools"].notna()
    used = said & (counted["tools"] != "")
    return counted[used if use == "with" else said & ~used]


def score_people(
    guesses: pd.DataFrame, benchmark: Benchmark, use: Use | None = None
) -> Evaluation | None:
    """The counted guesses under the protocol for people; None if there are none."""
    predictions = people_predictions(guesses, benchmark, use)
    return evaluate(benchmark, predictions, PEOPLE) if len(predictions) else None


RULE = (
    "Counted: a player's first answer to a clip that was loaded and not reported as broken, from "
    f"the first full round on, the first {MOST_PER_PLAYER} of each player, without rounds in which "
    f"most answers took less than {LEAST_SECONDS:.0f} seconds, or whose continent was chosen."
)


def people_note(guesses: pd.DataFrame, benchmark: Benchmark, use: Use | None = None) -> str:
    """How much counts in the row, and by which rules."""
    counted = counted_guesses(guesses, benchmark)
    if use:
        return f"{_counts(_used(counted, use))} {_PART[use]}{_few(_used(counted, use))}"
    left_out = len(guesses) - len(counted)
    more = f" {_n(left_out, 'other answer does', 'other answers do')} not count."
    return f"{_counts(counted)} {RULE}{more if left_out else ''} {_tools(counted)}{_few(counted)}"


_CHOSEN = (
    "They count in the row of all people, too. Players choose when to use tools, so a difference "
    "need not come from the tools."
)
_PART: Mapping[Use, str] = {
    "with": f"In each, a tool for listening closely was used. {_CHOSEN}",
    "without": f"In none was a tool for listening closely used. {_CHOSEN}",
}


def _counts(counted: pd.DataFrame) -> str:
    return (
        f"{_n(len(counted), 'guess', 'guesses')} by {_n(counted['player_id'].nunique(), 'player')} "
        f"on {_n(counted['clip_key'].nunique(), 'clip')}."
    )


def _tools(counted: pd.DataFrame) -> str:
    used, unused = (len(_used(counted, use)) for use in USES)
    unknown = len(counted) - used - unused
    return f"Tools for listening closely: {used} with, {unused} without, {unknown} not known."


def _few(counted: pd.DataFrame) -> str:
    few = counted["player_id"].nunique() < FEWEST_CLUSTERS
    return f" Intervals need {FEWEST_CLUSTERS} players." if few else ""


def _n(count: int, one: str, many: str = "") -> str:
    return f"{count} {one if count == 1 else many or one + 's'}"

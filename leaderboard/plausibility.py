"""Results that are too good to be an answer: they wait for a moderator."""

from __future__ import annotations

import numpy as np

from agl1k_core.benchmarks import Benchmark
from agl1k_core.scoring import Evaluation

#: With fewer answers, luck is not excluded.
FEWEST_ANSWERS = 10
#: No finer place is meant by a recording's coordinates, in km.
_FINEST_KM = 0.05
_KM_PER_DEGREE = 111.2
_MOST_DIGITS = 6
#: The reason that is given on a sealed benchmark.
SEALED_HOLD = "Its numbers are too good to be an answer."


def implausible(scored: Evaluation, benchmark: Benchmark) -> str:
    """Why a result needs a moderator, or "".

    On a sealed benchmark, clips without an answer count as wrong: among a few answers, of which all
    but one are known to be right, it would tell whether that one is.
    """
    rows = scored.require_rows()
    answered = np.isfinite(rows.lat)
    if answered.sum() < FEWEST_ANSWERS:
        return ""
    counted = np.ones_like(answered) if benchmark.sealed else answered
    limit_km = rounding_km(benchmark)
    exact = float((rows.column("distance_km")[counted] <= limit_km).mean())
    if exact > 0.5:
        return (
            f"{100 * exact:.0f} % of its points are within {1000 * limit_km:,.0f} m of the true "
            "place, which is as exact as the benchmark's table itself."
        )
    labelled = counted & np.array([bool(clip.city) for clip in benchmark.clips])[rows.clip]
    cities = rows.column("city_accuracy")[labelled]
    if len(cities) >= FEWEST_ANSWERS and np.nanmin(cities) == 1:
        return f"All of its {len(cities):,} cities are those of the benchmark's table."
    return ""


def rounding_km(benchmark: Benchmark) -> float:
    """How exact the table's coordinates are, in km, and at least 50 m."""
    degrees = np.concatenate([benchmark.lat, benchmark.lon])
    for digits in range(_MOST_DIGITS):
        if np.abs(degrees - degrees.round(digits)).max(initial=0) < 1e-9:
            return max(_FINEST_KM, float(_KM_PER_DEGREE / 2 / 10**digits))
    return _FINEST_KM

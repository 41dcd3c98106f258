"""Do the judges agree? And where on Earth do recordings tell most of their place?

The numbers of Zhang et al. 2026, "The Sonar Moment", appendix B.2 and B.3.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from agl1k_core.localizability.model import Observations

FloatArray = npt.NDArray[np.float64]

TOP = 10


@dataclass(frozen=True, eq=False)
class Agreement:
    """How alike the judges are, pair by pair; each matrix has the shape (judges, judges).

    ``cosine``: mean over recordings of the cosine between two judges' contributions. ``pearson``:
    correlation of the categories' total contributions. ``overlap``: share of the ``TOP`` categories
    with the highest totals that two judges have in common. NaN where there is nothing to compare.
    """

    judges: tuple[str, ...]
    cosine: FloatArray
    pearson: FloatArray
    overlap: FloatArray

    def to_frame(self) -> pd.DataFrame:
        """One row per pair of judges."""
        first, second = np.triu_indices(len(self.judges), 1)
        return pd.DataFrame(
            {
                "judge": [self.judges[i] for i in first],
                "other_judge": [self.judges[i] for i in second],
                "cosine": self.cosine[first, second],
                "pearson": self.pearson[first, second],
                "top_10_overlap": self.overlap[first, second],
            }
        )


def judge_agreement(observations: Observations) -> Agreement:
    """Compare the judges where both rated."""
    ratings = [*observations.ratings.values()]
    return Agreement(
        judges=tuple(observations.ratings),
        cosine=_pairwise(ratings, _mean_cosine),
        pearson=_pairwise(ratings, _total_correlation),
        overlap=_pairwise(ratings, _top_overlap),
    )


def _pairwise(
    ratings: Sequence[FloatArray], compare: Callable[[FloatArray, FloatArray], float]
) -> FloatArray:
    n = len(ratings)
    matrix = np.full((n, n), np.nan)
    for i in range(n):
        for j in range(i, n):
            both = ~(np.isnan(ratings[i]) | np.isnan(ratings[j]))
            pair = (np.where(both, ratings[i], 0.0), np.where(both, ratings[j], 0.0))
            matrix[i, j] = matrix[j, i] = compare(*pair)
    return matrix


def _mean_cosine(a: FloatArray, b: FloatArray) -> float:
    """Over the recordings on which both judges named something; else there is no direction."""
    lengths = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    directed = lengths > 0
    if not directed.any():
        return float("nan")
    return float(((a * b).sum(axis=1)[directed] / lengths[directed]).mean())


def _total_correlation(a: FloatArray, b: FloatArray) -> float:
    x, y = a.sum(axis=0), b.sum(axis=0)
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return float("nan")
    return float(np.corrcoef(x, y)[0, 1])


def _top_overlap(a: FloatArray, b: FloatArray) -> float:
    tops = [_top(values.sum(axis=0)) for values in (a, b)]
    n = max(len(top) for top in tops)
    return len(tops[0] & tops[1]) / n if n else float("nan")


def _top(totals: FloatArray) -> set[int]:
    order = np.argsort(-totals, kind="stable")[:TOP]
    return {int(i) for i in order if totals[i] > 0}


def by_continent(scores: Sequence[float], continents: Sequence[str]) -> pd.DataFrame:
    """Localizability by continent, highest mean first: n, mean, sd, q25, median, q75.

    Recordings without a continent ("") or a score (NaN) don't count. Raises ``ValueError`` where
    the two differ in length.
    """
    if len(scores) != len(continents):
        raise ValueError(f"{len(scores)} scores and {len(continents)} continents")
    table = pd.DataFrame({"continent": continents, "score": np.array(scores, dtype=np.float64)})
    table = table[(table["continent"] != "") & table["score"].notna()]
    rows = [
        {
            "continent": continent,
            "n": len(values),
            "mean": values.mean(),
            "sd": values.std(ddof=1) if len(values) > 1 else np.nan,
            "q25": values.quantile(0.25),
            "median": values.median(),
            "q75": values.quantile(0.75),
        }
        for continent, values in table.groupby("continent")["score"]
    ]
    columns = ["continent", "n", "mean", "sd", "q25", "median", "q75"]
    frame = pd.DataFrame(rows, columns=columns)
    return frame.sort_values(["mean", "continent"], ascending=[False, True], ignore_index=True)

"""Agreement between judges, and localizability by continent.

As in appendix B.2 and B.3 of Zhang et al. 2026, "The Sonar Moment".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from agl1k_core.localizability.observations import Observations

FloatArray = npt.NDArray[np.float64]

TOP = 10


@dataclass(frozen=True, eq=False)
class Agreement:
    """How similar the judges are, pair by pair.

    Each matrix has the shape ``(judges, judges)``, with NaN if there is nothing to compare.

    Attributes
    ----------
    judges
        Their names.
    cosine
        Mean over recordings of the cosine between two judges' contributions.
    pearson
        Correlation of the categories' total contributions.
    overlap
        Share of the ``TOP`` categories with the highest totals that two judges have in common.
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
    """Compare judges on what both of them rated.

    The three measures are those of Zhang et al. 2026, "The Sonar Moment", appendix B.2.

    Parameters
    ----------
    observations
        The ratings.

    Returns
    -------
    Agreement
        Three matrices of the shape ``(judges, judges)``.

    Examples
    --------
    >>> observations = Observations(
    ...     keys=("a",),
    ...     categories=("/m/09x0r", "/m/06mb1"),
    ...     presence=np.array([[0.5, 0.5]]),
    ...     error_km=np.array([12.0]),
    ...     ratings={"one": np.array([[1.0, 0.5]]), "two": np.array([[0.5, 0.25]])},
    ... )
    >>> judge_agreement(observations).cosine.round(3)
    array([[1., 1.],
           [1., 1.]])
    """
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
    """Over the recordings in which both judges rated something above 0."""
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
    """Localizability by continent, highest mean first.

    As in Zhang et al. 2026, "The Sonar Moment", appendix B.3.

    Parameters
    ----------
    scores
        ``l_k`` of each recording; NaN is left out.
    continents
        Its continent; empty ones are left out.

    Returns
    -------
    DataFrame
        A row per continent, with columns continent, n, mean, sd, q25, median, q75.

    Raises
    ------
    ValueError
        If the two differ in length.
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

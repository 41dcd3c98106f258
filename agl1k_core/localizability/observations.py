"""What a model is fitted to: recordings with their sounds, and the ratings of judges."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import numpy.typing as npt

from agl1k_core import tagging
from agl1k_core.errors import Agl1kError
from agl1k_core.localizability._threads import run_all
from agl1k_core.localizability.judges import GivingUp, Judge

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Evidence:
    """One recording: its sounds, and a model's reasoning and error about its place.

    Attributes
    ----------
    key
        Identifies the recording.
    presence
        Fraction of time, 0 to 1, of each AudioSet id, as in ``Tags.presence``.
    reasoning
        What the model wrote.
    error_km
        Its distance error in km, NaN if it named no place.
    """

    key: str
    presence: Mapping[str, float]
    reasoning: str
    error_km: float


@dataclass(frozen=True)
class Observations:
    """What the model is fitted to: n recordings and c categories.

    Attributes
    ----------
    keys
        The recordings.
    categories
        AudioSet ids.
    presence
        Fractions of time ``t_ki``, shape ``(n, c)``; NaN if the tagger has no such category.
    error_km
        Distance errors in km, shape ``(n,)``; NaN if there is none.
    ratings
        By judge, contributions from 0 to 1, shape ``(n, c)``; NaN if the judge gave no rating.
    """

    keys: tuple[str, ...]
    categories: tuple[str, ...]
    presence: FloatArray
    error_km: FloatArray
    ratings: Mapping[str, FloatArray]

    def __post_init__(self) -> None:
        shape = len(self.keys), len(self.categories)
        shapes = {f"ratings of {judge}": rated.shape for judge, rated in self.ratings.items()}
        shapes |= {"presence": self.presence.shape}
        problems = [f"{name}: {found}" for name, found in shapes.items() if found != shape]
        if self.error_km.shape != shape[:1]:
            problems.append(f"error_km: {self.error_km.shape}")
        if problems:
            raise Agl1kError(f"Arrays do not have {shape} recordings and categories: {problems}.")
        for name, values in {"presence": self.presence, **self.ratings}.items():
            if np.nanmin(values, initial=0) < 0 or np.nanmax(values, initial=0) > 1:
                raise Agl1kError(f"{name} contains values that are not between 0 and 1.")

    @cached_property
    def contribution(self) -> FloatArray:
        """``c̄``, shape ``(n, c)``: the mean over the judges that rated; NaN if none did."""
        if not self.ratings:
            return np.full(self.presence.shape, np.nan)
        stacked = np.stack([*self.ratings.values()])
        n_rated = (~np.isnan(stacked)).sum(axis=0)
        total = np.nansum(stacked, axis=0)
        return np.where(n_rated > 0, total / np.maximum(n_rated, 1), np.nan)

    @property
    def presences(self) -> dict[str, dict[str, float]]:
        """Fraction of time of each category that is present, by recording."""
        return {
            key: {
                category: float(share)
                for category, share in zip(self.categories, row, strict=True)
                if share > 0
            }
            for key, row in zip(self.keys, self.presence, strict=True)
        }

    @property
    def n_to_rate(self) -> int:
        """The number of recordings with any category to rate."""
        return int((self.presence > 0).any(axis=1).sum())

    @property
    def n_rated(self) -> dict[str, int]:
        """By judge, the number of recordings with a rating from it."""
        known = self.presence > 0
        return {
            judge: int((known & ~np.isnan(rated)).any(axis=1).sum())
            for judge, rated in self.ratings.items()
        }

    @property
    def silent_judges(self) -> list[str]:
        """The judges without any rating, although there was something to rate."""
        return [name for name, n in self.n_rated.items() if self.n_to_rate and not n]

    @cached_property
    def sha256(self) -> str:
        """Hash of everything that the fit depends on."""
        digest = hashlib.sha256(json.dumps([self.keys, self.categories]).encode())
        for values in (self.presence, self.error_km):
            digest.update(np.ascontiguousarray(values, "<f8").tobytes())
        for judge in sorted(self.ratings):
            digest.update(judge.encode())
            digest.update(np.ascontiguousarray(self.ratings[judge], "<f8").tobytes())
        return digest.hexdigest()


def observe(
    evidence: Sequence[Evidence],
    judges: Sequence[Judge],
    *,
    threads: int = 1,
    give_up_after: int = 5,
    done: Callable[[], object] | None = None,
) -> tuple[Observations, list[str]]:
    """Let judges rate the contribution ``c_ki`` of each category present in a recording.

    These are the contributions whose mean over the judges is ``c̄_ki`` in the fit of equation (1)
    of Zhang et al. 2026, "The Sonar Moment", section 3.3.1.

    Parameters
    ----------
    evidence
        The recordings.
    judges
        The judges that rate them.
    threads
        Number of simultaneous ratings.
    give_up_after
        A judge that fails this many times in a row is not asked again.
    done
        Called after each rating, from any thread.

    Returns
    -------
    observations : Observations
        Presences, errors and ratings. If a judge fails on a recording, its rating is missing.
    problems : list of str
        A sentence for each failure: which recording, and why.

    Raises
    ------
    Agl1kError
        If two recordings or two judges have the same name.

    Examples
    --------
    >>> from agl1k_core.localizability import WordMatchJudge
    >>> speech = Evidence("a", {"/m/09x0r": 0.5}, "Speech in Arabic.", error_km=20.0)
    >>> observations, problems = observe([speech], [WordMatchJudge()])
    >>> observations.contribution
    array([[0.2]])
    """
    _refuse_same_names("recordings", [item.key for item in evidence])
    _refuse_same_names("judges", [judge.name for judge in judges])
    categories = sorted({category for item in evidence for category in item.presence})
    problems: list[str] = []

    def rate(judge: Judge, limit: GivingUp, item: Evidence) -> list[float]:
        try:
            rated = limit.call(partial(_rated, judge, item))
        except Agl1kError as error:
            problems.append(f"{item.key}: {error}")
            rated = {}
        if done:
            done()
        return [rated.get(category, np.nan) for category in categories]

    asked = [(judge, GivingUp(judge.name, give_up_after)) for judge in judges]
    rows = run_all([partial(rate, *pair, item) for pair in asked for item in evidence], threads)
    n = len(evidence)
    ratings = {
        judge.name: _matrix(rows[at * n : (at + 1) * n], len(categories))
        for at, judge in enumerate(judges)
    }
    presence = [[item.presence.get(category, 0.0) for category in categories] for item in evidence]
    error_km = np.array([item.error_km for item in evidence], dtype=np.float64)
    keys, matrix = tuple(item.key for item in evidence), _matrix(presence, len(categories))
    return Observations(keys, tuple(categories), matrix, error_km, ratings), problems


def _refuse_same_names(what: str, names: Sequence[str]) -> None:
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    if twice:
        raise Agl1kError(f"Several {what} have the same name: {', '.join(twice)}. Rename them.")


def _rated(judge: Judge, item: Evidence) -> dict[str, float]:
    """A judge's ratings by AudioSet id."""
    by_name = {tagging.class_name(i): i for i, share in sorted(item.presence.items()) if share > 0}
    rated = judge.rate(item.reasoning, [*by_name])
    return {by_name[name]: value for name, value in rated.items()}


def _matrix(rows: Sequence[Sequence[float]], n_columns: int) -> FloatArray:
    return np.array(rows, dtype=np.float64).reshape(len(rows), n_columns)

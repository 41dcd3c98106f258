"""Audio Localizability: how much the sounds of a recording reveal about where it was made.

Equation (1) of Zhang et al. 2026, "The Sonar Moment", section 3.3.1, and the fit behind it::

    l_k = sum over i in P of a_i t_ki  -  sum over i in N of ā_i t_ki

``t_ki`` is the fraction of time that category i is present in recording k (``tagging``); ``c̄_ki``
the contribution of category i to a strong model's reasoning about recording k, the mean over
several judges (``judges``); ``e_k`` that model's distance error. ``y = a_i x`` is fitted to (t, c̄)
of the recordings with ``e_k < γ``, ``y = ā_i x`` to those with ``e_k ≥ γ``, both by least squares.
Category i is in P if ``a_i > α``, and in N if ``ā_i > α`` and it is not in P. A recording is
localizable if ``l_k > θ``. Values that differ from α or θ only by rounding count as equal to it.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from agl1k_core import __version__, tagging
from agl1k_core.errors import Agl1kError
from agl1k_core.file_names import shown
from agl1k_core.files import write_atomically
from agl1k_core.inputs import name_of, read_unpacked
from agl1k_core.localizability.judges import GivingUp, Judge
from agl1k_core.tagging import Tags

FloatArray = npt.NDArray[np.float64]

ALPHA = 1 / 3
GAMMA_KM = 1000.0
THETA = 1.0

_ROUNDING = 1e-9
_FORMAT = "agl1k-localizability-1"


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
    def silent_judges(self) -> list[str]:
        """The judges without any rating, although there was something to rate."""
        if not (self.presence > 0).any():
            return []
        return [name for name, rated in self.ratings.items() if np.isnan(rated).all()]

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

    def rate(judge: Judge, item: Evidence) -> list[float]:
        try:
            rated = _rated(judge, item)
        except Agl1kError as error:
            problems.append(f"{item.key}: {error}")
            rated = {}
        if done:
            done()
        return [rated.get(category, np.nan) for category in categories]

    with ThreadPoolExecutor(threads) as pool:
        asked = [GivingUp(judge, give_up_after) for judge in judges]
        futures = {
            judge.name: [pool.submit(rate, judge, item) for item in evidence] for judge in asked
        }
        ratings = {
            name: _matrix([future.result() for future in rows], len(categories))
            for name, rows in futures.items()
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


def slopes(presence: FloatArray, contribution: FloatArray) -> FloatArray:
    """Least-squares slopes through the origin, one per column: ``sum(x y) / sum(x x)``.

    Pairs with a NaN are left out; a category without any x above 0 has the slope NaN.
    """
    known = ~(np.isnan(presence) | np.isnan(contribution))
    x, y = np.where(known, presence, 0.0), np.where(known, contribution, 0.0)
    squares = (x * x).sum(axis=0)
    found = np.full(squares.shape, np.nan)
    np.divide((x * y).sum(axis=0), squares, out=found, where=squares > 0)
    return found


def fit(
    observations: Observations,
    *,
    alpha: float = ALPHA,
    gamma_km: float = GAMMA_KM,
    theta: float = THETA,
    tagger: Mapping[str, Any] | None = None,
) -> Localizability:
    """Fit the slopes of equation (1) of "The Sonar Moment" (Zhang et al. 2026, section 3.3.1).

    Recordings without a distance error belong to neither of the two fits.

    Parameters
    ----------
    observations
        Presences, errors and ratings.
    alpha
        Categories with a steeper slope belong to P or N.
    gamma_km
        Recordings with a smaller error, in km, are near; all others are far.
    theta
        Recordings with a higher score are localizable.
    tagger
        The tagger behind the presences, as returned by ``tagger_of``.

    Returns
    -------
    Localizability
        The fitted model.

    Raises
    ------
    Agl1kError
        If no recording has a distance error.

    Examples
    --------
    >>> observations = Observations(
    ...     keys=("near", "far"),
    ...     categories=("/m/09x0r", "/m/06mb1"),
    ...     presence=np.array([[0.5, 0.0], [0.0, 1.0]]),
    ...     error_km=np.array([12.0, 4000.0]),
    ...     ratings={"judge": np.array([[0.5, np.nan], [np.nan, 0.8]])},
    ... )
    >>> model = fit(observations)
    >>> dict(model.positive), dict(model.negative)
    ({'/m/09x0r': 1.0}, {'/m/06mb1': 0.8})
    """
    near = observations.error_km < gamma_km
    far = observations.error_km >= gamma_km
    if not (near.any() or far.any()):
        raise Agl1kError("No recording has a distance error. Give the model's predictions.")
    presence, contribution = observations.presence, observations.contribution
    counted = (presence > 0) & ~np.isnan(contribution)
    return Localizability(
        categories=observations.categories,
        near_slope=slopes(presence[near], contribution[near]),
        far_slope=slopes(presence[far], contribution[far]),
        n_near=counted[near].sum(axis=0),
        n_far=counted[far].sum(axis=0),
        alpha=alpha,
        gamma_km=gamma_km,
        theta=theta,
        provenance={
            "tagger": dict(tagger or {}),
            "judges": sorted(observations.ratings),
            "data_sha256": observations.sha256,
            "n_recordings": len(observations.keys),
            "n_near": int(near.sum()),
            "n_far": int(far.sum()),
            "agl1k_version": __version__,
        },
    )


def tagger_of(tags: Tags) -> dict[str, Any]:
    """What identifies the tagger behind tags: backend, weights, threshold."""
    return {
        "name": tags.tagger,
        "weights_sha256": tags.weights_sha256,
        "threshold": tags.threshold,
    }


@dataclass(frozen=True, eq=False)
class Localizability:
    """A fitted model: equation (1) of Zhang et al. 2026, "The Sonar Moment", section 3.3.1.

    Attributes
    ----------
    categories
        AudioSet ids, c of them.
    near_slope, far_slope
        Slopes ``a_i`` and ``ā_i``, shape ``(c,)``; NaN if the category was never present.
    n_near, n_far
        Number of recordings behind each slope, shape ``(c,)``.
    alpha, gamma_km, theta
        The thresholds; see ``fit``.
    provenance
        Where the model comes from: tagger, judges, data.

    Examples
    --------
    >>> model = Localizability(
    ...     categories=("/m/09x0r", "/m/06mb1"),
    ...     near_slope=np.array([1.5, 0.1]),
    ...     far_slope=np.array([0.2, 0.8]),
    ...     n_near=np.array([30, 12]),
    ...     n_far=np.array([40, 25]),
    ... )
    >>> score = model.score({"/m/09x0r": 0.9, "/m/06mb1": 0.25})  # 1.5 · 0.9 - 0.8 · 0.25
    >>> round(score, 3), model.is_localizable(score)
    (1.15, True)
    """

    categories: tuple[str, ...]
    near_slope: FloatArray
    far_slope: FloatArray
    n_near: npt.NDArray[np.int64]
    n_far: npt.NDArray[np.int64]
    alpha: float = ALPHA
    gamma_km: float = GAMMA_KM
    theta: float = THETA
    provenance: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def positive(self) -> Mapping[str, float]:
        """P: ``a_i`` by AudioSet id, steepest first."""
        return self._steepest(self.near_slope, _above(self.near_slope, self.alpha))

    @cached_property
    def negative(self) -> Mapping[str, float]:
        """N: ``ā_i`` by AudioSet id, steepest first."""
        in_p = _above(self.near_slope, self.alpha)
        return self._steepest(self.far_slope, _above(self.far_slope, self.alpha) & ~in_p)

    def _steepest(self, slope: FloatArray, chosen: npt.NDArray[np.bool_]) -> Mapping[str, float]:
        pairs = [(self.categories[i], float(slope[i])) for i in np.flatnonzero(chosen)]
        return dict(sorted(pairs, key=lambda pair: (-pair[1], pair[0])))

    def parts(self, presence: Mapping[str, float]) -> dict[str, float]:
        """What each category adds to ``l_k``: positive for P, negative for N."""
        weights = {**self.positive, **{i: -slope for i, slope in self.negative.items()}}
        return {i: weights[i] * t for i, t in presence.items() if i in weights and t > 0}

    def score(self, presence: Mapping[str, float]) -> float:
        """``l_k`` of a recording, from the fraction of time of each AudioSet id."""
        return float(sum(self.parts(presence).values()))

    def score_tags(self, tags: Tags) -> float:
        """``l_k`` of a tagged recording; raises ``Agl1kError`` for another tagger's tags."""
        self.refuse_other_tagger(tagger_of(tags), "these tags")
        return self.score(tags.presence)

    def refuse_other_tagger(self, tagger: Mapping[str, Any], whose: str) -> None:
        """Raise ``Agl1kError`` if the model was fitted to the tags of another tagger."""
        fitted = self.provenance.get("tagger")
        if fitted and tagger and {**fitted} != {**tagger}:
            raise Agl1kError(
                f"The localizability model was fitted to the tags of {dict(fitted)}, but {whose} "
                f"come from {dict(tagger)}. Use the same tagger for both, or fit the model again."
            )

    def is_localizable(self, score: float) -> bool:
        """Whether ``l_k > θ``."""
        return bool(_above(np.array([score]), self.theta)[0])

    def top(self, n: int = 10) -> tuple[list[tuple[str, float]], list[tuple[str, float]]]:
        """Names and slopes of the ``n`` steepest positive and negative categories (Figure 3)."""
        positive, negative = (
            [(tagging.class_name(i), slope) for i, slope in slopes_by_id.items()][:n]
            for slopes_by_id in (self.positive, self.negative)
        )
        return positive, negative

    def save(self, path: Path) -> None:
        """Write the model as JSON; raises ``Agl1kError`` if it cannot be written."""
        text = json.dumps(self.to_dict(), indent=1, ensure_ascii=False) + "\n"
        try:
            write_atomically(path, text)
        except OSError as error:
            raise Agl1kError(f"{shown(path.name)} cannot be written: {error.strerror}.") from None

    def to_dict(self) -> dict[str, Any]:
        """The model as plain data; a slope that does not exist is None."""
        rows = zip(
            self.categories, self.near_slope, self.far_slope, self.n_near, self.n_far, strict=True
        )
        return {
            "format": _FORMAT,
            "alpha": self.alpha,
            "gamma_km": self.gamma_km,
            "theta": self.theta,
            "categories": [
                {
                    "id": category,
                    "name": tagging.class_name(category),
                    "near_slope": None if np.isnan(near) else float(near),
                    "far_slope": None if np.isnan(far) else float(far),
                    "n_near": int(n_near),
                    "n_far": int(n_far),
                }
                for category, near, far, n_near, n_far in rows
            ],
            "provenance": dict(self.provenance),
        }

    @classmethod
    def from_dict(cls, data: Any) -> Localizability:
        """The inverse of ``to_dict``; raises ``Agl1kError`` if something is missing."""
        if not isinstance(data, dict) or data.get("format") != _FORMAT:
            raise Agl1kError(f"This is not a localizability model: its format is not {_FORMAT!r}.")
        try:
            rows = data["categories"]
            return cls(
                categories=tuple(row["id"] for row in rows),
                near_slope=_column(rows, "near_slope"),
                far_slope=_column(rows, "far_slope"),
                n_near=np.array([int(row["n_near"]) for row in rows], dtype=np.int64),
                n_far=np.array([int(row["n_far"]) for row in rows], dtype=np.int64),
                alpha=float(data["alpha"]),
                gamma_km=float(data["gamma_km"]),
                theta=float(data["theta"]),
                provenance=dict(data["provenance"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise Agl1kError(
                f"The localizability model cannot be read: {type(error).__name__} {error}. "
                "Fit it again, or fetch the file again."
            ) from None

    @classmethod
    def load(cls, path: Path) -> Localizability:
        """Read a model that ``save`` wrote, packed or not; raises ``Agl1kError`` that names it."""
        try:
            return cls.from_dict(json.loads(read_unpacked(path).decode("utf-8-sig")))
        except (ValueError, RecursionError) as error:
            raise Agl1kError(f"{shown(name_of(path))} is not JSON: {error}.") from None
        except Agl1kError as error:
            raise Agl1kError(f"{shown(name_of(path))}: {error}") from None


def _column(rows: Iterable[Mapping[str, Any]], name: str) -> FloatArray:
    values = [row[name] for row in rows]
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def _above(values: FloatArray, threshold: float) -> npt.NDArray[np.bool_]:
    """Strictly above, by more than rounding; never for NaN."""
    return values > threshold + _ROUNDING * max(1.0, abs(threshold))

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

import json
from collections.abc import Iterable, Mapping
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
from agl1k_core.localizability.observations import FloatArray, Observations
from agl1k_core.tagging import Tags

ALPHA = 1 / 3
GAMMA_KM = 1000.0
THETA = 1.0

_ROUNDING = 1e-9
_FORMAT = "agl1k-localizability-1"


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
    min_recordings: int = 1,
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
    min_recordings
        Categories whose slope rests on fewer recordings belong to neither P nor N. The paper sets
        no such limit; with 1, a single recording is enough.
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
        min_recordings=min_recordings,
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
    alpha, gamma_km, theta, min_recordings
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
    min_recordings: int = 1

    @cached_property
    def positive(self) -> Mapping[str, float]:
        """P: ``a_i`` by AudioSet id, steepest first."""
        return self._steepest(self.near_slope, self._in_p)

    @cached_property
    def negative(self) -> Mapping[str, float]:
        """N: ``ā_i`` by AudioSet id, steepest first."""
        steep = _above(self.far_slope, self.alpha) & (self.n_far >= self.min_recordings)
        return self._steepest(self.far_slope, steep & ~self._in_p)

    @property
    def _in_p(self) -> npt.NDArray[np.bool_]:
        return _above(self.near_slope, self.alpha) & (self.n_near >= self.min_recordings)

    @property
    def remarks(self) -> list[str]:
        """What to know before the model is used, in sentences."""
        place = {name: n for n, name in enumerate(self.categories)}
        lone = [
            *(name for name in self.positive if self.n_near[place[name]] == 1),
            *(name for name in self.negative if self.n_far[place[name]] == 1),
        ]
        remarks = []
        if lone:
            remarks.append(
                f"The slopes of {len(lone)} categories in P or N rest on a single recording each, "
                f"such as {tagging.class_name(lone[0])}. Fit with --min-recordings 2 or more to "
                "leave them out."
            )
        if not self.provenance.get("tagger"):
            remarks.append(
                "The model does not know its tagger, so it cannot refuse the tags of another one. "
                "Name it in the columns tagger, weights_sha256 and threshold of the ratings, and "
                "fit again."
            )
        return remarks

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
            "min_recordings": self.min_recordings,
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
                min_recordings=int(data.get("min_recordings", 1)),
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

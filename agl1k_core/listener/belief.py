"""From what was heard to a belief over all land, and from the belief to a pin.

Before anything is heard, each populated place of more than 1,000 inhabitants that GeoNames knows is
equally likely: volunteers record where volunteers map. That is our estimate, fitted to nothing.
Speech weights each place by the share of its country's talk that is in the language, so that its
speakers count. Sounds that tell places apart multiply that. The pin is where the expected geoscore
is largest.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from agl1k_core import places
from agl1k_core.listener.grid import Grid, land_grid
from agl1k_core.listener.languages import cldr_code, language_name, talk_shares
from agl1k_core.listener.sounds import applying

FloatArray = npt.NDArray[np.float64]

#: Whisper names a language for any sound. Its word counts after so much speech, if it is so sure.
LEAST_SPEECH_S = 2.0
LEAST_LANGUAGE = 0.7
#: Languages that are less likely are not kept apart.
_LEAST_COUNTED = 0.02

#: People record where people live, but not only: so much of a belief is spread over all land.
WILDERNESS = 0.1

_TOLD_COUNTRIES = 3


@dataclass(frozen=True)
class Heard:
    """What was heard in a recording.

    Attributes
    ----------
    presence
        Share of time, 0 to 1, by AudioSet id.
    languages
        Probability of each spoken language by Whisper's code; empty if there is no speech.
    speech_s
        Seconds of speech.
    """

    presence: Mapping[str, float] = field(default_factory=dict)
    languages: Mapping[str, float] = field(default_factory=dict)
    speech_s: float = 0.0


def spoken(heard: Heard) -> dict[str, float]:
    """The languages that count, by CLDR's code, with probabilities that sum to at most 1.

    Empty if there is too little speech, or no language is likely enough.

    Examples
    --------
    >>> spoken(Heard(languages={"pt": 0.9, "gl": 0.09, "es": 0.01}, speech_s=8))
    {'gl': 0.09, 'pt': 0.9}
    >>> spoken(Heard(languages={"nn": 0.6, "ja": 0.3}, speech_s=8))
    {}
    """
    together: dict[str, float] = {}
    for name in sorted(heard.languages):
        code = cldr_code(name)
        together[code] = together.get(code, 0.0) + heard.languages[name]
    if heard.speech_s < LEAST_SPEECH_S or max(together.values(), default=0) < LEAST_LANGUAGE:
        return {}
    scale = max(1.0, math.fsum(together.values()))
    return {
        code: share / scale
        for code, share in together.items()
        if share >= _LEAST_COUNTED and talk_shares(code)
    }


def believe(heard: Heard, grid: Grid | None = None) -> FloatArray:
    """The probability that a recording was made in each piece of a grid.

    Parameters
    ----------
    heard
        What was heard.
    grid
        By default, all land.

    Returns
    -------
    ndarray of float64
        One element per piece, summing to 1.

    Examples
    --------
    >>> grid = land_grid()
    >>> belief = believe(Heard(languages={"is": 0.95}, speech_s=10), grid)
    >>> bool(belief[grid.country_codes == "IS"].sum() > 0.9)
    True
    """
    grid = grid or land_grid()
    languages = spoken(heard)
    unknown = max(0.0, 1.0 - math.fsum(languages.values()))
    belief = unknown * _prior(grid)
    for language, probability in languages.items():
        belief = belief + probability * _given(language, grid)
    for rule in applying(heard.presence):
        belief = belief * rule.likelihood(grid)
    total = belief.sum()
    return belief / total if total > 0 else _prior(grid)


def _prior(grid: Grid) -> FloatArray:
    """Where recordings are made, before anything is heard."""
    by_settlements = grid.settlements / grid.settlements.sum()
    by_area = grid.area / grid.area.sum()
    prior: FloatArray = (1 - WILDERNESS) * by_settlements + WILDERNESS * by_area
    return prior


def _given(language: str, grid: Grid) -> FloatArray:
    """The prior of each piece times its country's share of talk in a language; sums to one."""
    shares = talk_shares(language)
    codes, which = grid.countries
    talk = np.array([shares.get(code, 0.0) for code in codes])
    belief = _prior(grid) * talk[which]
    total = belief.sum()
    return belief / total if total > 0 else _prior(grid)


@dataclass(frozen=True)
class Pin:
    """Where a belief says to point.

    Attributes
    ----------
    lat, lon
        Degrees.
    label
        City, country and continent by our own geocoder.
    expected_geoscore
        The geoscore to expect under the belief, 0 to 5000.
    """

    lat: float
    lon: float
    label: places.PlaceLabel
    expected_geoscore: float


def pin(belief: FloatArray, grid: Grid | None = None) -> Pin:
    """The point of a grid with the highest expected geoscore under a belief.

    Parameters
    ----------
    belief
        One probability per piece, as from ``believe``.
    grid
        By default, all land.
    """
    grid = grid or land_grid()
    expected = grid.scores @ belief.astype(np.float32)
    best = int(np.argmax(expected))
    return pin_at(belief, round(float(grid.lat[best]), 5), round(float(grid.lon[best]), 5), grid)


def pin_at(belief: FloatArray, lat: float, lon: float, grid: Grid | None = None) -> Pin:
    """A pin at any point, in degrees, with the geoscore to expect there under a belief."""
    grid = grid or land_grid()
    (label,) = places.label_points([lat], [lon])
    distance_km = places.geodesic_km(lat, lon, grid.lat, grid.lon)
    return Pin(lat, lon, label, float(places.geoscore(distance_km) @ belief))


def likely_countries(belief: FloatArray, grid: Grid | None = None) -> list[tuple[str, float]]:
    """Country codes and their probabilities, the likeliest first."""
    grid = grid or land_grid()
    codes, which = grid.countries
    shares = np.bincount(which, belief, len(codes))
    order = np.argsort(-shares, kind="stable")
    return [(codes[i], float(shares[i])) for i in order]


def reason_for(heard: Heard, belief: FloatArray, grid: Grid | None = None) -> str:
    """What was heard that counts, and the likeliest countries, in words."""
    languages = sorted(spoken(heard).items(), key=lambda pair: -pair[1])
    said = [f"speech in {language_name(code)} ({share:.0%})" for code, share in languages]
    told = ", ".join([*said, *(rule.name for rule in applying(heard.presence))])
    likely = ", ".join(
        f"{places.country_name(code)} {share:.0%}"
        for code, share in likely_countries(belief, grid)[:_TOLD_COUNTRIES]
    )
    return f"Heard: {told or 'nothing that tells the place'}. Likely: {likely}."

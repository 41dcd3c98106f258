"""What sounds say about places: the rules of ``data/sounds.json``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
import numpy.typing as npt

from agl1k_core import places, tagging
from agl1k_core.listener.grid import Grid

FloatArray = npt.NDArray[np.float64]

#: A sound counts if it is present for this share of the time.
LEAST_PRESENCE = 0.05


@dataclass(frozen=True)
class Rule:
    """Sounds that are ``factor`` times likelier in some places than in others.

    Attributes
    ----------
    name
        What is heard, in words.
    family
        Of the rules of a family that apply, only the one with the largest factor counts.
    sounds
        AudioSet ids; the rule applies if any is present for ``LEAST_PRESENCE``.
    factor
        How many times likelier the sounds are there.
    reason
        Why.
    near_sea
        Whether the places are those near the sea.
    countries
        ISO codes of the places' countries.
    continents
        The places' continents.
    within_latitude
        The places are those between this latitude south and north, in degrees.
    """

    name: str
    family: str
    sounds: tuple[str, ...]
    factor: float
    reason: str
    near_sea: bool = False
    countries: frozenset[str] = frozenset()
    continents: frozenset[str] = frozenset()
    within_latitude: float | None = None

    def applies(self, presence: Mapping[str, float]) -> bool:
        """Whether the sounds were heard; ``presence`` is the share of time by AudioSet id."""
        return any(presence.get(sound, 0.0) >= LEAST_PRESENCE for sound in self.sounds)

    def share(self, grid: Grid) -> FloatArray:
        """The share of each piece that is among the places, 0 to 1."""
        if self.near_sea:
            return grid.near_sea
        if self.within_latitude is not None:
            return (np.abs(grid.lat) <= self.within_latitude).astype(np.float64)
        codes, which = grid.countries
        inside = [
            code in self.countries or places.continent_of(code) in self.continents for code in codes
        ]
        return np.array(inside, dtype=np.float64)[which]

    def likelihood(self, grid: Grid) -> FloatArray:
        """How much likelier the sounds are in each piece than where the rule does not hold."""
        return 1 + (self.factor - 1) * self.share(grid)


@cache
def rules() -> tuple[Rule, ...]:
    """All rules, in the order of the file."""
    file = resources.files("agl1k_core.listener") / "data" / "sounds.json"
    data = json.loads(file.read_text("utf-8"))
    return tuple(_rule(told, data["regions"]) for told in data["rules"])


def _rule(told: Mapping[str, Any], regions: Mapping[str, list[str]]) -> Rule:
    ids = tagging.class_ids_by_name()
    in_regions = (code for region in told.get("regions", ()) for code in regions[region])
    return Rule(
        told["name"],
        told["family"],
        tuple(ids[sound] for sound in told["sounds"]),
        told["factor"],
        told["reason"],
        told.get("near_sea", False),
        frozenset([*told.get("countries", ()), *in_regions]),
        frozenset(told.get("continents", ())),
        told.get("within_latitude"),
    )


def applying(presence: Mapping[str, float], among: Iterable[Rule] | None = None) -> list[Rule]:
    """The rules that count for what was heard: of each family the one with the largest factor.

    Parameters
    ----------
    presence
        Share of time, 0 to 1, by AudioSet id.
    among
        The rules; by default those of the package.

    Examples
    --------
    >>> from agl1k_core.tagging import class_ids_by_name
    >>> [rule.name for rule in applying({class_ids_by_name()["Ocean"]: 0.4})]
    ['surf']
    """
    strongest: dict[str, Rule] = {}
    for rule in rules() if among is None else among:
        before = strongest.get(rule.family)
        if rule.applies(presence) and (before is None or rule.factor > before.factor):
            strongest[rule.family] = rule
    return [strongest[family] for family in sorted(strongest)]

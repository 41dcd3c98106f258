"""The scenes, one module per continent, and the order in which they become clips."""

from __future__ import annotations

import hashlib

from scripts.demo_pack.scene import Place
from scripts.demo_pack.scenes import africa, asia, europe, north_america, oceania, south_america

_ALL = (
    *africa.PLACES,
    *asia.PLACES,
    *europe.PLACES,
    *north_america.PLACES,
    *oceania.PLACES,
    *south_america.PLACES,
)


def _shuffled(place: Place) -> str:
    return hashlib.sha256(f"order {place.name}".encode()).hexdigest()


#: All clips in the order of their numbers; shuffled, so that no number reveals a continent.
PLACES: tuple[Place, ...] = tuple(sorted(_ALL, key=_shuffled))

"""An invented neighbourhood in metres, east and north of its centre: streets, houses, signs."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from scripts.wander_example.places import Colour, Place

Floats = NDArray[np.float64]

STREET_M, PAVEMENT_M = 9.0, 3.0
FLOOR_M = 3.1
#: Streets between corners, (column, row), of two blocks side by side: every corner can be left by
#: another way than one came.
_CORNERS = tuple((column, row) for row in range(2) for column in range(3))
_STREETS = (((0, 0), (1, 0)), ((1, 0), (2, 0)), ((0, 1), (1, 1)), ((1, 1), (2, 1)),
            ((0, 0), (0, 1)), ((1, 0), (1, 1)), ((2, 0), (2, 1)))  # fmt: skip


@dataclass(frozen=True)
class Wall:
    """A wall from ``start`` to ``end``, as seen from its right-hand side; ``word`` is a sign."""

    start: Floats
    end: Floats
    height: float
    colour: Colour
    roof: Colour
    word: str = ""
    has_windows: bool = True


@dataclass(frozen=True)
class Standing:
    """Something that looks the same from all sides: a plant, or a sign on a post."""

    at: Floats
    height: float
    word: str = ""


@dataclass
class Neighbourhood:
    """What is drawn, and the graph: ``nodes`` in metres, ``ways`` between their numbers."""

    place: Place
    nodes: list[Floats] = field(default_factory=list)
    ways: list[tuple[int, int]] = field(default_factory=list)
    streets: list[tuple[Floats, Floats]] = field(default_factory=list)
    walls: list[Wall] = field(default_factory=list)
    standing: list[Standing] = field(default_factory=list)
    center: int = 0


def build(place: Place, seed: int) -> Neighbourhood:
    """The neighbourhood of a place; the same for the same seed."""
    chance = np.random.default_rng(seed)
    made = Neighbourhood(place)
    turn = chance.uniform(0, math.pi / 2)
    wide, deep = chance.uniform(54, 66), chance.uniform(58, 72)
    numbers = {}
    for corner in _CORNERS:
        numbers[corner] = len(made.nodes)
        made.nodes.append(_turned((corner[0] - 1) * wide, (corner[1] - 0.5) * deep, turn))
    for one, other in _STREETS:
        _add_street(made, numbers[one], numbers[other])
    made.center = len(_CORNERS) + _STREETS.index(((1, 0), (1, 1)))
    words = list(place.words)
    for start, end in made.streets:
        for side in (1, -1):
            _add_houses(made, start, end, side, words, chance)
    for number, corner in enumerate(_CORNERS):
        name = place.street_names[number % len(place.street_names)]
        made.standing.append(
            Standing(made.nodes[numbers[corner]] + _turned(5.6, 5.6, turn), 3.4, name)
        )
    return made


def _turned(x: float, y: float, turn: float) -> Floats:
    return np.array(
        [x * math.cos(turn) - y * math.sin(turn), x * math.sin(turn) + y * math.cos(turn)]
    )


def _add_street(made: Neighbourhood, one: int, other: int) -> None:
    start, end = made.nodes[one], made.nodes[other]
    middle = len(made.nodes)
    made.nodes.append((start + end) / 2)
    made.ways += [(one, middle), (middle, other)]
    made.streets.append((start, end))


def _add_houses(
    made: Neighbourhood, start: Floats, end: Floats, side: int, words: list[str],
    chance: np.random.Generator,
) -> None:  # fmt: skip
    """Houses along one side of a street, and plants in the gaps."""
    length = float(np.linalg.norm(end - start))
    along = (end - start) / length
    away = side * np.array([along[1], -along[0]])
    front = STREET_M / 2 + PAVEMENT_M
    at = front + 1.0
    while at < length - front - 8:
        width = min(chance.uniform(9, 15), length - front - 1 - at)
        corner = start + along * at + away * front
        if chance.random() < 0.78:
            words.append(words.pop(0))
            _add_house(made, corner, along * width, away * 10, words[0], chance)
        elif made.place.plant != "none":
            tree = corner + along * width / 2 + away * 2.5
            made.standing.append(Standing(tree, chance.uniform(5, 9)))
        at += width + chance.choice([0.0, 0.0, 2.5])


def _add_house(
    made: Neighbourhood, corner: Floats, along: Floats, away: Floats, word: str,
    chance: np.random.Generator,
) -> None:  # fmt: skip
    place = made.place
    height = FLOOR_M * chance.integers(place.floors[0], place.floors[1] + 1) + 0.8
    colour = place.walls[chance.integers(len(place.walls))]
    roof = place.roofs[chance.integers(len(place.roofs))]
    corners = [corner, corner + along, corner + along + away, corner + away]
    for n in range(4):
        shown = word if n == 0 and chance.random() < 0.7 else ""
        made.walls.append(
            Wall(corners[n], corners[(n + 1) % 4], height, colour, roof, shown, n in (0, 2))
        )

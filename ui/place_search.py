"""Finding a place by its name, offline: all of GeoNames' places, and other names of large cities.

Nothing that somebody looks for is stored or logged.
"""

from __future__ import annotations

import gzip
import json
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import msgspec
import numpy as np
from fastapi import APIRouter, Request, Response
from scipy.spatial import cKDTree

from agl1k_core import places
from web.static import asset
from web.threads import Threads

#: How many places an answer has at most.
MOST_FOUND = 8
_LONGEST = 80
#: A city and a place of the gazetteer are the same if they are no farther apart.
_SAME_KM = 10.0
#: What the population of a city counts if it is looked for by another name.
_OTHER_NAME = 0.1
#: A place may be found by several names.
_MOST_NAMES = 10 * MOST_FOUND
_LARGE, _MORE_THAN_A_CITY = 500_000, 10**9
_LAST_CHARACTER = "\U0010ffff"

_looking = Threads(2)


class Found(NamedTuple):
    """A place, and in which region and country it is.

    ``across``: how many degrees of longitude show it with its surroundings.
    """

    name: str
    where: str
    latitude: float
    longitude: float
    across: float


class _Place(NamedTuple):
    name: str
    region: str
    country_code: str
    latitude: float
    longitude: float
    population: int = 0
    across: float = 0.2


def find_places(text: str) -> list[Found]:
    """The places whose names begin with a text, whatever its accents and case.

    Those with exactly this name come first; countries are before cities, large ones before small.
    """
    return _index().find(places.fold(text[:_LONGEST]))


def search_router() -> APIRouter:
    """``GET /api/places?q=``: the places that are found, as JSON."""
    router = APIRouter()

    @router.get("/api/places", include_in_schema=False)
    async def find(request: Request) -> Response:
        found = await _looking(find_places)(request.query_params.get("q", ""))
        packed = msgspec.json.encode([place._asdict() for place in found])
        kept = {"Cache-Control": "public, max-age=86400"}
        return Response(packed, media_type="application/json", headers=kept)

    return router


class _Index:
    """Folded names in order, each with the number of its place.

    ``known`` are places by number that the gazetteer does not describe as well.
    """

    def __init__(self, known: Mapping[int, _Place], names: Iterable[tuple[str, int]]) -> None:
        folded = [(places.fold(name), number) for name, number in names]
        folded.sort()
        self._known = known
        self._names = [name for name, _ in folded]
        self._numbers = np.array([number for _, number in folded], dtype=np.int32)
        self._weights = np.array([self._weight(*pair) for pair in folded], dtype=np.float32)

    def _weight(self, name: str, number: int) -> float:
        """How likely a place is meant: its population, less if the name is not its usual one."""
        place = self._known.get(number)
        if place is None:
            return 0.0
        return place.population * (1.0 if places.fold(place.name) == name else _OTHER_NAME)

    def find(self, start: str) -> list[Found]:
        if not start:
            return []
        first = bisect_left(self._names, start)
        after_exact = bisect_left(self._names, f"{start}\0", first)
        last = bisect_left(self._names, start + _LAST_CHARACTER, after_exact)
        likely = [*self._likely(first, after_exact), *self._likely(after_exact, last)]
        return [_found(self._place(number)) for number in dict.fromkeys(likely)][:MOST_FOUND]

    def _likely(self, first: int, last: int) -> Iterator[int]:
        order = np.argsort(-self._weights[first:last], kind="stable")
        return iter(self._numbers[first:last][order[:_MOST_NAMES]].tolist())

    def _place(self, number: int) -> _Place:
        return self._known.get(number) or _of_gazetteer(number)


def _found(place: _Place) -> Found:
    country = places.country_name(place.country_code)
    parts = [part for part in (place.region, country) if part and part != place.name]
    return Found(place.name, ", ".join(parts), place.latitude, place.longitude, place.across)


def _of_gazetteer(number: int) -> _Place:
    found = places.populated_places()
    return _Place(
        found.names[number],
        found.regions[number],
        str(found.country_codes[number]),
        float(found.lat[number]),
        float(found.lon[number]),
    )


@cache
def _index() -> _Index:
    """The gazetteer, with the populations of cities and all their names, and countries."""
    gazetteer = places.populated_places()
    n = len(gazetteer.names)
    known: dict[int, _Place] = {}
    names = list(zip(gazetteer.names, range(n), strict=True))
    cities = _cities()
    for city, found in zip(cities, _numbers_of(cities), strict=True):
        number = n + len(known) if found is None else found
        known[number] = _known_city(city, None if found is None else _of_gazetteer(found))
        names += [(name, number) for name in (city["name"], *city["names"])]
    for country in _countries():
        number = n + len(known)
        known[number] = country
        names.append((country.name, number))
    return _Index(known, names)


def _known_city(city: Mapping[str, Any], same: _Place | None) -> _Place:
    people = city["population"]
    at = same or _Place("", "", "", city["latitude"], city["longitude"])
    across = 0.7 if people >= _LARGE else 0.4
    return at._replace(name=city["name"], population=people, across=across)


def _countries() -> list[_Place]:
    return [
        _Place(name, "", "", lat, lon, _MORE_THAN_A_CITY, max(2.0, 1.5 * width))
        for name, lat, lon, width in _read("countries.json.gz")
    ]


def _cities() -> list[Mapping[str, Any]]:
    """The cities of the map; the large ones come first, and have names in other languages."""
    other_names = _read("cities-names.json.gz")
    cities = []
    for table in (_read("cities-large.json.gz"), _read("cities-small.json.gz")):
        cities += [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
    names = [*other_names, *([()] * (len(cities) - len(other_names)))]
    return [{**city, "names": others} for city, others in zip(cities, names, strict=True)]


def _numbers_of(cities: Sequence[Mapping[str, Any]]) -> list[int | None]:
    """For each city, the place of the gazetteer that it is; None if none is near.

    Of places nearby, that with the same name; otherwise the nearest one.
    """
    gazetteer = places.populated_places()
    tree = cKDTree(places.unit_vectors(gazetteer.lat, gazetteer.lon))
    at = np.array([(city["latitude"], city["longitude"]) for city in cities])
    reach = _SAME_KM / places.EARTH_KM
    _, near = tree.query(places.unit_vectors(*at.T), k=5, distance_upper_bound=reach)
    found: list[int | None] = []
    taken: set[int] = set()
    for city, numbers in zip(cities, near.tolist(), strict=True):
        free = [n for n in numbers if n < tree.n and n not in taken]
        name = places.fold(city["name"])
        same = [n for n in free if places.fold(gazetteer.names[n]) == name]
        number = next(iter(same or free), None)
        found.append(number)
        taken |= set() if number is None else {number}
    return found


def _read(name: str) -> Any:
    return json.loads(gzip.decompress(asset(f"map/{name}").read_bytes()))

"""Chooses clips among candidates: balanced, spread over countries, no recording or place twice.

Clips are taken one by one. The next one is speech or non-speech, whichever has fewer clips so far;
of these, from the country that has the fewest clips; of that country, the one with the highest
rank. Ties are broken by a hash of the key. So the order of the table does not matter, and the
shares of countries are as equal as their recordings allow. No files are read here.
"""

from __future__ import annotations

import hashlib
import heapq
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from functools import cached_property

from scipy.spatial import cKDTree

from agl1k_core.errors import Agl1kError
from agl1k_core.places import EARTH_KM, pair_km, unit_vectors

Turn = tuple[bool, int, float, str]

#: A recording that is listed at two places this far apart has no known place.
_ONE_PLACE_KM = 1.0


class Reason(StrEnum):
    """Why a clip is in or out."""

    SELECTED = "selected"
    NO_LINE = "no_line"
    NO_PLACE = "no_place"
    LICENCE = "licence"
    BROKEN = "broken"
    FILTER = "filter"
    DURATION = "duration"
    NOT_LOCALIZABLE = "not_localizable"
    REJECTED = "rejected"
    NOT_COPIED = "not_copied"
    CONTRADICTION = "contradiction"
    SAME_RECORDING = "same_recording"
    NEAR_DUPLICATE = "near_duplicate"
    COUNTRY_FULL = "country_full"
    NOT_NEEDED = "not_needed"


@dataclass(frozen=True)
class Verdict:
    """Whether a clip is in the benchmark, and why; ``detail`` is a sentence."""

    reason: Reason
    detail: str = ""

    @property
    def is_in(self) -> bool:
        """Whether the clip is in the benchmark."""
        return self.reason is Reason.SELECTED


@dataclass(frozen=True)
class Candidate:
    """A clip that passed all checks that do not depend on other clips.

    Attributes
    ----------
    key
        The key of the clip.
    lat, lon
        Its place in degrees.
    country
        Its country; clips of one country have the same text.
    speech
        Whether it contains speech.
    sound
        A hash that copies of a recording share.
    rank
        Higher for better clips.
    recorded
        When it was recorded, if that is known.
    wanted
        Whether a person decided to keep it, so that it comes first.
    """

    key: str
    lat: float
    lon: float
    country: str
    speech: bool
    sound: str
    rank: float = 0.0
    recorded: datetime | None = None
    wanted: bool = False

    @cached_property
    def digest(self) -> str:
        """A hash of the key, which breaks ties without preferring any name."""
        return hashlib.sha256(self.key.encode()).hexdigest()


@dataclass(frozen=True)
class SelectionRules:
    """The rules of a selection.

    Parameters
    ----------
    target
        Number of clips. Default: as many as the other rules allow.
    balanced
        Take as many clips with speech as without; ignored if all candidates are of one kind.
    min_distance_km
        Clips that are closer than this are near-duplicates, …
    min_hours
        … unless both times are known and at least this many hours apart.
    max_per_country
        Largest number of clips from one country. Default: no limit.

    Raises
    ------
    Agl1kError
        If a limit is not usable.

    Examples
    --------
    >>> SelectionRules(target=0)
    Traceback (most recent call last):
    agl1k_core.errors.Agl1kError: target is 0. Give 1 or more.
    """

    target: int | None = None
    balanced: bool = True
    min_distance_km: float = 1.0
    min_hours: float = 24.0
    max_per_country: int | None = None

    def __post_init__(self) -> None:
        problems = [
            f"{name} is {value}. Give {least} or more."
            for name, value, least in (
                ("target", self.target, 1),
                ("min_distance_km", self.min_distance_km, 0),
                ("min_hours", self.min_hours, 0),
                ("max_per_country", self.max_per_country, 1),
            )
            if value is not None and not least <= value < math.inf
        ]
        if problems:
            raise Agl1kError("\n".join(problems))


def select(
    candidates: Sequence[Candidate], rules: SelectionRules, links: Mapping[str, str] | None = None
) -> dict[str, Verdict]:
    """Choose among candidates.

    Parameters
    ----------
    candidates
        Clips; their order does not matter.
    rules
        Target, balance, distances and limits.
    links
        For a clip, how its sound is known to be that of another one, for its verdict.

    Returns
    -------
    dict of str to Verdict
        The verdict for every candidate by key.

    Examples
    --------
    >>> near, far = (0.0, 0.001), (50.0, 8.0)
    >>> candidates = [
    ...     Candidate("a", *near, country="X", speech=True, sound="1", rank=2),
    ...     Candidate("b", *near, country="X", speech=True, sound="2", rank=1),
    ...     Candidate("c", *far, country="Y", speech=False, sound="3"),
    ... ]
    >>> verdicts = select(candidates, SelectionRules())
    >>> [str(verdicts[key].reason) for key in "abc"]
    ['selected', 'near_duplicate', 'selected']
    >>> verdicts["b"].detail
    'It is 0.00 km from a, and not known to be recorded at another time.'
    """
    verdicts = _contradictions(candidates, rules)
    left = [candidate for candidate in candidates if candidate.key not in verdicts]
    if len({candidate.speech for candidate in left}) < 2:
        rules = replace(rules, balanced=False)  # a single kind cannot be balanced
    selection = _Selection(sorted(left, key=lambda one: one.key), rules, links or {})
    while (chosen := selection.next()) is not None:
        selection.take(chosen)
    return {**verdicts, **selection.verdicts()}


def _contradictions(candidates: Iterable[Candidate], rules: SelectionRules) -> dict[str, Verdict]:
    """Recordings that are listed at several places, none of which can be trusted."""
    limit_km = max(rules.min_distance_km, _ONE_PLACE_KM)
    by_sound: dict[str, list[Candidate]] = defaultdict(list)
    for candidate in candidates:
        by_sound[candidate.sound].append(candidate)
    found: dict[str, Verdict] = {}
    for same in by_sound.values():
        first = min(same, key=lambda one: one.key)
        apart_km = max(_distance_km(first, other) for other in same)
        if apart_km > limit_km:
            keys = ", ".join(sorted(one.key for one in same))
            detail = f"The same recording is listed at places {apart_km:,.0f} km apart: {keys}."
            found |= {one.key: Verdict(Reason.CONTRADICTION, detail) for one in same}
    return found


class _Selection:
    """The clips taken so far, and those that may still be taken."""

    def __init__(
        self, candidates: Sequence[Candidate], rules: SelectionRules, links: Mapping[str, str]
    ) -> None:
        self._candidates = candidates
        self._rules = rules
        self._links = links
        self._taken: list[Candidate] = []
        self._out: dict[str, Verdict] = {}
        self._of_country: Counter[str] = Counter()
        self._of_group: Counter[str] = Counter()
        self._neighbours = _Neighbours(candidates, rules)
        self._same: dict[str, list[Candidate]] = defaultdict(list)
        # candidates by group and country, the best last
        self._waiting: dict[str, dict[str, list[Candidate]]] = {name: {} for name in self._groups}
        for candidate in sorted(candidates, key=_preference, reverse=True):
            countries = self._waiting[self._group(candidate)]
            countries.setdefault(candidate.country, []).append(candidate)
            self._same[candidate.sound].append(candidate)
        # group -> heap of countries by their turn. Turns only get later, so only the first one must
        # be checked again.
        self._turns = {
            name: [(self._turn(waiting[-1]), country) for country, waiting in countries.items()]
            for name, countries in self._waiting.items()
        }
        for turns in self._turns.values():
            heapq.heapify(turns)

    @property
    def _groups(self) -> tuple[str, ...]:
        return ("speech", "non-speech") if self._rules.balanced else ("clips",)

    def _group(self, candidate: Candidate) -> str:
        if not self._rules.balanced:
            return "clips"
        return "speech" if candidate.speech else "non-speech"

    def next(self) -> Candidate | None:
        """The candidate whose turn it is; None if the selection is complete."""
        if self._rules.target is not None and len(self._taken) >= self._rules.target:
            return None
        group = min(self._groups, key=lambda name: self._of_group[name])
        turns = self._turns[group]
        while turns:
            turn, country = turns[0]
            best = self._best(self._waiting[group][country], country)
            if best is None:
                heapq.heappop(turns)
            elif (now := self._turn(best)) == turn:
                return best
            else:
                heapq.heapreplace(turns, (now, country))
        return None

    def _best(self, waiting: list[Candidate], country: str) -> Candidate | None:
        """The best candidate that may still be taken from a country."""
        most = self._rules.max_per_country
        if most is not None and country and self._of_country[country] >= most:
            return None
        while waiting and waiting[-1].key in self._out:
            waiting.pop()
        return waiting[-1] if waiting else None

    def _turn(self, candidate: Candidate) -> Turn:
        n_of_country = self._of_country[candidate.country]
        return (not candidate.wanted, n_of_country, -candidate.rank, candidate.digest)

    def take(self, chosen: Candidate) -> None:
        """Take a candidate, and exclude its duplicates."""
        self._taken.append(chosen)
        self._of_country[chosen.country] += 1
        self._of_group[self._group(chosen)] += 1
        self._out[chosen.key] = Verdict(Reason.SELECTED)
        for other in self._same[chosen.sound]:
            detail = _same(chosen, other, self._links)
            self._out.setdefault(other.key, Verdict(Reason.SAME_RECORDING, detail))
        for other, distance_km in self._neighbours.of(chosen):
            known = chosen.recorded and other.recorded
            time = (
                "recorded at about the same time"
                if known
                else "not known to be recorded at another time"
            )
            detail = f"It is {distance_km:.2f} km from {chosen.key}, and {time}."
            self._out.setdefault(other.key, Verdict(Reason.NEAR_DUPLICATE, detail))

    def verdicts(self) -> dict[str, Verdict]:
        """The verdict of every candidate, once there is no next one."""
        return {one.key: self._out.get(one.key) or self._left(one) for one in self._candidates}

    def _left(self, candidate: Candidate) -> Verdict:
        most, target = self._rules.max_per_country, self._rules.target
        if target is not None and len(self._taken) >= target:
            return Verdict(Reason.NOT_NEEDED, f"The selection already has {target} clips.")
        if most is not None and self._of_country[candidate.country] >= most:
            return Verdict(Reason.COUNTRY_FULL, f"Its country already has {most} clips.")
        other = "non-speech" if candidate.speech else "speech"
        return Verdict(Reason.NOT_NEEDED, f"No {other} is left to balance it.")


def _same(chosen: Candidate, other: Candidate, links: Mapping[str, str]) -> str:
    """That a clip is the same recording as a chosen one, how that is known, and why not this."""
    why = "a hash of the keys decided between the two"
    if chosen.wanted and not other.wanted:
        why = "a person decided to keep that one"
    elif chosen.rank > other.rank:
        why = "that one has the higher localizability"
    elif chosen.rank < other.rank or chosen.speech != other.speech:
        why = "that one was needed first for the balance"
    told = f" {links[other.key]}" if other.key in links else ""
    return f"It is the same recording as {chosen.key}; {why}.{told}"


def _preference(candidate: Candidate) -> tuple[bool, float, str]:
    return (not candidate.wanted, -candidate.rank, candidate.digest)


class _Neighbours:
    """The candidates that are closer to another one than the rules allow."""

    def __init__(self, candidates: Sequence[Candidate], rules: SelectionRules) -> None:
        self._candidates = candidates
        self._rules = rules
        self._place = {candidate.key: n for n, candidate in enumerate(candidates)}
        self._points = unit_vectors(
            [one.lat for one in candidates], [one.lon for one in candidates]
        )
        self._tree = cKDTree(self._points)
        # a chord of the unit sphere, with a margin for the flattening of the Earth
        angle = min(math.pi, 1.02 * rules.min_distance_km / EARTH_KM)
        self._chord = 2 * math.sin(angle / 2)

    def of(self, candidate: Candidate) -> list[tuple[Candidate, float]]:
        """The near-duplicates of a candidate and their distance in km."""
        if self._rules.min_distance_km <= 0:
            return []
        point = self._points[self._place[candidate.key]]
        places = sorted(self._tree.query_ball_point(point, self._chord))
        others = [self._candidates[n] for n in places if self._candidates[n] is not candidate]
        pairs = [(other, _distance_km(candidate, other)) for other in others]
        return [
            (other, distance_km)
            for other, distance_km in pairs
            if distance_km < self._rules.min_distance_km and self._one_time(candidate, other)
        ]

    def _one_time(self, a: Candidate, b: Candidate) -> bool:
        if a.recorded is None or b.recorded is None:
            return True
        return abs(a.recorded - b.recorded) < timedelta(hours=self._rules.min_hours)


def _distance_km(a: Candidate, b: Candidate) -> float:
    return 0.0 if a is b else pair_km(a.lat, a.lon, b.lat, b.lon)

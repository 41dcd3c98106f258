"""Chooses the clips of a round: filters, free picks, and replacements of lost clips."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from agl1k_core.benchmarks import Benchmark
from agl1k_core.errors import Agl1kError

#: The clips in a round; a round is shorter if fewer fit.
CLIPS_PER_ROUND = 5
SPEECH_CHOICES = ("any", "speech", "non_speech")
#: Set among the stored filters of a round whose clips the player had all seen before.
ALL_SEEN = "all_seen"


@dataclass(frozen=True, slots=True)
class Filters:
    """A player's filters: ``speech``, one of ``SPEECH_CHOICES``, a continent or ``""``."""

    speech: str = "any"
    continent: str = ""

    @classmethod
    def of(cls, stored: Mapping[str, object]) -> Filters:
        """The filters that a round was stored with."""
        return cls(str(stored.get("speech") or "any"), str(stored.get("continent") or ""))

    def to_dict(self) -> dict[str, str]:
        return {"speech": self.speech, "continent": self.continent}

    def __str__(self) -> str:
        sound = {"speech": "with speech", "non_speech": "without speech"}.get(self.speech, "")
        place = f"from {self.continent}" if self.continent else ""
        return " ".join(part for part in (sound, place) if part)


def candidates(benchmark: Benchmark, filters: Filters) -> list[str]:
    """Keys of the clips that fit, sorted.

    Raises ``Agl1kError`` for unknown values, and if no clip is left.
    """
    problems = _filter_problems(benchmark, filters)
    if problems:
        raise Agl1kError("\n".join(problems))
    keys = sorted(fitting(benchmark, filters))
    if not keys:
        widen = "Choose another filter." if str(filters) else "Choose another benchmark."
        what = " ".join(part for part in ("no clip", str(filters)) if part)
        raise Agl1kError(f"{benchmark.name} has {what}. {widen}")
    return keys


def _filter_problems(benchmark: Benchmark, filters: Filters) -> list[str]:
    problems = []
    if filters.speech not in SPEECH_CHOICES:
        choices = ", ".join(SPEECH_CHOICES)
        problems.append(f"There is no sound filter {filters.speech!r}. Choose one of {choices}.")
    known = sorted({*benchmark.continents} - {""})
    if filters.continent and filters.continent not in known:
        problems.append(
            f"{benchmark.name} has no clip from {filters.continent!r}. "
            f"Choose one of {', '.join(known)}, or any continent."
        )
    return problems


def fitting(benchmark: Benchmark, filters: Filters) -> list[str]:
    """Keys of the clips that fit, in the benchmark's order; there may be none."""
    speech = benchmark.subsets["speech"]
    wanted = {"speech": True, "non_speech": False}.get(filters.speech)
    return [
        clip.key
        for position, clip in enumerate(benchmark.clips)
        if clip.key not in benchmark.out_of_play
        and (wanted is None or speech[position] == wanted)
        and filters.continent in ("", benchmark.continents[position])
    ]


def round_continents(benchmark: Benchmark) -> dict[str, int]:
    """The number of clips of each continent that are played, sorted by name."""
    counts = Counter(benchmark.continents[benchmark.index[key]] for key in benchmark.in_play)
    return {name: counts[name] for name in sorted(counts) if name}


def country_of(benchmark: Benchmark, key: str) -> str:
    """The country's code, or its label if that is not a known country; empty if there is none."""
    position = benchmark.index[key]
    return benchmark.country_codes[position] or benchmark.clips[position].country.casefold()


def order_free(
    benchmark: Benchmark, keys: Sequence[str], seen: Sequence[str], rng: random.Random
) -> list[str]:
    """All ``keys`` in the order in which a free round takes them: the first five are the round.

    Unseen clips come first, at random; then seen ones, the longest ago first. ``seen`` lists a
    player's clips, the oldest first. Within each of the two, the clips that make up the round have
    distinct countries if that is possible.
    """
    last_seen = {key: moment for moment, key in enumerate(seen)}
    unseen = [key for key in keys if key not in last_seen]
    rng.shuffle(unseen)
    again = sorted((key for key in keys if key in last_seen), key=last_seen.__getitem__)
    chosen: list[str] = []
    # Only the oldest seen clips are candidates: distinct countries could bring back recent ones.
    for pool in (unseen, again[: 2 * CLIPS_PER_ROUND]):
        take_distinct(benchmark, pool, chosen)
        chosen += [key for key in pool if key not in chosen][: CLIPS_PER_ROUND - len(chosen)]
    return chosen + [key for key in (*unseen, *again) if key not in chosen]


def new_ones(keys: Sequence[str], seen: Collection[str]) -> list[str]:
    """Those of a round's clips that a player has not seen; all if the player has seen all of them.

    So a player who has seen the place of a clip does not get it again while others are left.
    """
    return [key for key in keys if key not in seen] or [*keys]


def take_distinct(benchmark: Benchmark, pool: Iterable[str], chosen: list[str]) -> None:
    """Fill ``chosen`` up to a round from ``pool``, leaving out countries it already has."""
    countries = {country_of(benchmark, key) for key in chosen}
    for key in pool:
        if len(chosen) == CLIPS_PER_ROUND:
            return
        country = country_of(benchmark, key)
        if country not in countries:
            countries.add(country)
            chosen.append(key)


def replacements(
    benchmark: Benchmark, order: Iterable[str], taken: Sequence[str], avoid: Collection[str]
) -> Iterator[str]:
    """Which clips may replace a lost one: first those of countries that the round lacks."""
    countries = {country_of(benchmark, key) for key in taken if key in benchmark}
    free = [key for key in order if key not in taken and key not in avoid]
    yield from (key for key in free if country_of(benchmark, key) not in countries)
    yield from (key for key in free if country_of(benchmark, key) in countries)

"""Which clips records name: keys as people write them, and what to say of those that are none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from functools import cached_property
from itertools import repeat

import numpy as np
import numpy.typing as npt

from agl1k_core.benchmarks import Benchmark
from agl1k_core.errors import MOST_SHOWN, Problem, Problems
from agl1k_core.predictions.records import ID_KEYS, Records

ObjectArray = npt.NDArray[np.object_]
IntArray = npt.NDArray[np.int64]
Numbers = Sequence[int] | IntArray

#: Keys of larger benchmarks are not compared with misspelt ones, which takes time.
_MOST_CLIPS = 20_000


class Keys:
    """The keys in one source of predictions."""

    def __init__(self, benchmark: Benchmark, problems: Problems) -> None:
        self._benchmark, self._problems = benchmark, problems
        self._from_numbers: set[str] = set()
        self._n_suggested = 0

    def is_clip(self, value: object) -> bool:
        """Whether a value names a clip."""
        name = _name(value)
        return bool(name) and self._benchmark.resolve(name) is not None

    def of(self, records: Records, columns: Sequence[Sequence[object]]) -> list[str]:
        """The clip of each record, empty (and a problem) if it names none.

        If a record has several ids, the first that is a clip counts: others may be row numbers.
        """
        # reading takes 1.3 times as long without this, see perf/reading.py
        if len(columns) == 1 and set(map(type, columns[0])) == {str} and "" not in columns[0]:
            return list(map(str.strip, columns[0]))  # type: ignore[arg-type]
        return [self._key(records, position, columns) for position in range(len(records))]

    def check(self, keys: ObjectArray, numbers: Numbers, lines: Numbers | None) -> IntArray:
        """The position of each record's clip, shape ``(n,)``.

        Writes each key as in the benchmark, and reports unknown clips and clips named twice.
        """
        index = self._benchmark.index
        found = map(index.get, keys, repeat(-1))
        positions = np.fromiter(found, dtype=np.int64, count=len(keys))
        for at in np.flatnonzero(positions < 0).tolist():
            key = self._benchmark.resolve(keys[at]) if keys[at] else None
            if key is not None:
                keys[at], positions[at] = key, index[key]
        if positions.min() >= 0 and np.bincount(positions).max() == 1:
            return positions
        self._report(keys, positions, numbers, lines)
        return positions

    def _report(
        self, keys: ObjectArray, positions: IntArray, numbers: Numbers, lines: Numbers | None
    ) -> None:
        first: dict[str, int] = {}
        for at, key in enumerate(keys.tolist()):
            line = int(lines[at]) if lines is not None else None
            record, clip = int(numbers[at]), key[:80]
            if key and positions[at] < 0:
                found, todo = self._unknown(key)
                self._problems.add(Problem(found, todo, record=record, line=line, clip=clip))
            if first.setdefault(key, at) != at and key:
                found = f"The clip is already in record {numbers[first[key]]}"
                todo = "Keep one answer"
                self._problems.add(Problem(found, todo, record=record, line=line, clip=clip))

    def _key(self, records: Records, position: int, columns: Sequence[Sequence[object]]) -> str:
        index = self._benchmark.index
        named: list[str] = []
        for column in columns:
            name = _name(column[position])
            if name in index:
                return name
            if name:
                named.append(name)
                if not isinstance(column[position], str):
                    self._from_numbers.add(name)
        if not named:
            found = f"The record has none of the fields {', '.join(ID_KEYS)}"
            self._problems.add(records.problem(position, found, "Name the clip"))
            return ""
        return next(filter(self._benchmark.resolve, named), named[0])

    def _unknown(self, key: str) -> tuple[str, str]:
        """What was found and what to do, for a key that is no clip's."""
        slug, meant = self._benchmark.slug, self._meant(key)
        if key in self._from_numbers:
            found = f"The key is a number, {key}, and the benchmark {slug} has no such clip"
            hint = f"Did you mean {meant!r}? " if meant else ""
            return found, f"{hint}Give the key as text, as in the benchmark's table"
        found = f"The benchmark {slug} has no such clip"
        if meant:
            return found, f"Did you mean {meant}?"[:120]
        clips = self._of_file.get(key.casefold(), [])
        if clips:
            shown = " and ".join(clips[:2])
            return f"{found}; it is the file name of {shown}", "Give the clip's key"
        return found, "Check the key, or choose its benchmark"

    def _meant(self, key: str) -> str:
        if len(self._benchmark) > _MOST_CLIPS or self._n_suggested >= MOST_SHOWN or len(key) > 200:
            return ""
        self._n_suggested += 1
        if key.isdecimal() and key.lstrip("0") in self._of_number:
            return self._of_number[key.lstrip("0")]
        near = get_close_matches(key.casefold(), self._of_plain, n=1, cutoff=0.8)
        return self._of_plain[near[0]] if near else ""

    @cached_property
    def _of_plain(self) -> Mapping[str, str]:
        return {clip.key.casefold(): clip.key for clip in self._benchmark.clips}

    @cached_property
    def _of_number(self) -> Mapping[str, str]:
        """Number without leading zeros -> key."""
        keys = (clip.key for clip in self._benchmark.clips)
        return {key.lstrip("0"): key for key in keys if key.isdecimal()}

    @cached_property
    def _of_file(self) -> Mapping[str, list[str]]:
        """File name in lower case -> keys."""
        clips: dict[str, list[str]] = {}
        for clip in self._benchmark.clips:
            clips.setdefault(clip.file_name.casefold(), []).append(clip.key)
        return clips


def _name(value: object) -> str:
    """A clip's key: text, or a whole number."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""

"""Replaces clips that are not available, so that the player sees no error."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice

from agl1k_core.benchmarks import Benchmark
from agl1k_core.errors import Agl1kError
from game.dependencies import ClipSource, Clock, PreparedSound
from game.open_round import OpenRound
from game.picking import CLIPS_PER_ROUND, replacements
from game.refusals import NothingToPlayError

MAX_REPLACEMENTS = 5
REPLACED = "One clip could not be loaded and was replaced."
NOT_REPLACED = (
    "This clip cannot be loaded, and no other can take its place now. "
    "Report it as broken to continue, or come back later."
)
#: A recording that was not available is not tried again for this long.
FORGET_AFTER = timedelta(minutes=2)
_MAX_REMEMBERED = 10_000


@dataclass(frozen=True, slots=True)
class Settled:
    """The sound at a round's position, None if it is not available, and notes for the player."""

    sound: PreparedSound | None
    notes: tuple[str, ...] = ()


class ClipReplacement:
    """Makes sure that the clip at a round's position can be heard."""

    def __init__(self, clips: ClipSource, clock: Clock) -> None:
        self._clips = clips
        self._clock = clock
        self._lost: dict[tuple[str, str], datetime] = {}
        self._replaced: set[tuple[str, int]] = set()

    def playable(self, benchmark: Benchmark, keys: Sequence[str]) -> Sequence[str]:
        """The ``keys`` known to be available, or all of them if those are too few.

        Enough is a round of full length; if ``keys`` has fewer clips than that, one is enough.
        """
        available = self._clips.available(benchmark)
        kept = [
            key
            for key in keys
            if (available is None or key in available) and not self._is_lost(benchmark, key)
        ]
        enough = CLIPS_PER_ROUND if len(keys) >= CLIPS_PER_ROUND else 1
        return kept if len(kept) >= enough else keys

    def settle(
        self, opened: OpenRound, position: int, order: Callable[[], Iterable[str]]
    ) -> Settled:
        """Prepare the clip at a position of a round, or put another one there.

        ``order`` lists the clips that may replace it, best first. If neither the clip nor any
        replacement is available, a round at its first clip raises ``NothingToPlayError``; a later
        one continues with a note, as does one that has clips left or contains all clips that fit.
        """
        row, benchmark = opened.row, opened.benchmark
        step = row.round_id, position
        sound = self._prepared(benchmark, row.clip_keys[position])
        if sound is not None:
            return Settled(sound, (REPLACED,) if step in self._replaced else ())
        tried = self._stand_ins(benchmark, row.clip_keys, order())
        for key in tried:
            if (sound := self._prepared(benchmark, key)) is not None:
                opened.replace_clip(position, key)
                self._remember(step)
                return Settled(sound, (REPLACED,))
        rest = () if tried else row.clip_keys[1:]
        if position == 0 and not any(self._prepared(benchmark, key) for key in rest):
            raise NothingToPlayError(
                f"The recordings of {benchmark.name} cannot be loaded at the moment. Check this "
                "server's internet connection or its folder of recordings, or choose another "
                "benchmark."
            )
        return Settled(None, (NOT_REPLACED,))

    def _stand_ins(
        self, benchmark: Benchmark, taken: Sequence[str], order: Iterable[str]
    ) -> list[str]:
        """The clips worth trying, those that need no network first."""
        lost = [key for key in benchmark.index if self._is_lost(benchmark, key)]
        available = self._clips.available(benchmark) or ()
        found = replacements(benchmark, order, taken, lost)
        return [*islice(sorted(found, key=lambda key: key not in available), MAX_REPLACEMENTS)]

    def _remember(self, step: tuple[str, int]) -> None:
        if len(self._replaced) >= _MAX_REMEMBERED:
            self._replaced.clear()
        self._replaced.add(step)

    def _prepared(self, benchmark: Benchmark, key: str) -> PreparedSound | None:
        if key not in benchmark or key in benchmark.out_of_play or self._is_lost(benchmark, key):
            return None
        try:
            return self._clips.prepare(benchmark, key)
        except (Agl1kError, OSError):
            self._lost[benchmark.slug, key] = self._clock()
            return None

    def _is_lost(self, benchmark: Benchmark, key: str) -> bool:
        since = self._lost.get((benchmark.slug, key))
        return since is not None and self._clock() - since < FORGET_AFTER

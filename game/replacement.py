"""Clips that cannot be had: another one takes their place, and nobody sees an error."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime, timedelta
from itertools import islice

from agl1k_core.benchmarks import Benchmark
from agl1k_core.errors import Agl1kError
from game.picking import CLIPS_PER_ROUND, replacements
from store.guesses import GuessStore, Round

MAX_REPLACEMENTS = 5
REPLACED = "One clip could not be loaded and was replaced."
NOT_REPLACED = (
    "This clip cannot be loaded, and no other can take its place now. "
    "Report it as broken to go on, or come back later."
)
#: A recording that could not be had is not tried again for this long.
FORGET_AFTER = timedelta(minutes=2)
_MAX_REMEMBERED = 10_000

ClipReady = Callable[[Benchmark, str], object]
#: The clips that need no network, or None where any may be had.
AtHand = Callable[[Benchmark], Collection[str] | None]


class ClipReplacement:
    """Sees to it that the clip at a round's position can be heard."""

    def __init__(
        self,
        store: GuessStore,
        clip_ready: ClipReady,
        clock: Callable[[], datetime],
        at_hand: AtHand,
    ) -> None:
        self._store = store
        self._clip_ready = clip_ready
        self._clock = clock
        self._at_hand = at_hand
        self._lost: dict[tuple[str, str], datetime] = {}
        self._replaced: set[tuple[str, int]] = set()

    def audible(self, benchmark: Benchmark, keys: Sequence[str]) -> Sequence[str]:
        """``keys`` that can be had as far as is known, if they are enough for a round.

        Of fewer keys than a round has clips, those that can be had make a shorter one.
        """
        at_hand = self._at_hand(benchmark)
        kept = [
            key
            for key in keys
            if (at_hand is None or key in at_hand) and not self._is_lost(benchmark, key)
        ]
        enough = CLIPS_PER_ROUND if len(keys) >= CLIPS_PER_ROUND else 1
        return kept if len(kept) >= enough else keys

    def settle(
        self, benchmark: Benchmark, round_: Round, order: Callable[[], Iterable[str]]
    ) -> tuple[Round, tuple[str, ...]]:
        """See to it that the clip at the round's position can be heard.

        ``order`` lists who may stand in for it. Returns the round that stands and what to tell
        the player. When none of several can be had, a round that has not begun raises
        ``Agl1kError``; one that has goes on with a note, as does one that has all clips that fit.
        """
        lost, step = round_.clip_keys[round_.position], (round_.round_id, round_.position)
        if self._can_be_had(benchmark, lost):
            return round_, (REPLACED,) if step in self._replaced else ()
        avoid = [key for key in benchmark.index if self._is_lost(benchmark, key)]
        at_hand = self._at_hand(benchmark) or ()
        stand_ins = replacements(benchmark, order(), round_.clip_keys, avoid)
        likely = sorted(stand_ins, key=lambda key: key not in at_hand)  # else in their order
        tried = [*islice(likely, MAX_REPLACEMENTS)]
        found = next((key for key in tried if self._can_be_had(benchmark, key)), None)
        if found is not None:
            stands = self._store.replace_clip(
                round_.round_id, round_.position, found, instead_of=lost
            )
            if len(self._replaced) >= _MAX_REMEMBERED:
                self._replaced.clear()
            self._replaced.add(step)
            return stands, (REPLACED,)
        rest = () if tried else round_.clip_keys[1:]
        if round_.position == 0 and not any(self._can_be_had(benchmark, key) for key in rest):
            raise Agl1kError(
                f"The recordings of {benchmark.name} cannot be had at the moment. Check this "
                "server's internet connection or its folder of recordings, or choose another "
                "benchmark."
            )
        return round_, (NOT_REPLACED,)

    def _can_be_had(self, benchmark: Benchmark, key: str) -> bool:
        if key not in benchmark or self._is_lost(benchmark, key):
            return False
        try:
            ready = self._clip_ready(benchmark, key) is not False
        except (Agl1kError, OSError):
            ready = False
        if not ready:
            self._lost[benchmark.slug, key] = self._clock()
        return ready

    def _is_lost(self, benchmark: Benchmark, key: str) -> bool:
        since = self._lost.get((benchmark.slug, key))
        return since is not None and self._clock() - since < FORGET_AFTER

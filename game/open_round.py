"""A round during one call: read from the store once, and kept up to date as the call writes.

The store decides which write counts. If another tab was faster, its result is used here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import cached_property

from agl1k_core.benchmarks import Benchmark
from store.guesses import Guess, GuessStore, Round


class OpenRound:
    """One round, its benchmark and its answers. Belongs to one call: don't keep or share it."""

    def __init__(
        self,
        store: GuessStore,
        benchmark: Benchmark,
        row: Round,
        answers: Sequence[Guess] | None = None,
    ) -> None:
        self._store = store
        self.benchmark = benchmark
        self.row = row
        if answers is not None:
            self.answers = _by_position(answers)

    @classmethod
    def begin(cls, store: GuessStore, benchmark: Benchmark, new: Round) -> OpenRound:
        """Store a new round; if there is an older one in its place, open that instead."""
        opened = cls(store, benchmark, store.add_round(new))
        if opened.row is new:
            opened.answers = {}
        return opened

    @cached_property
    def answers(self) -> dict[int, Guess]:
        """The stored answers by position, in that order."""
        return _by_position(self._store.of_round(self.row.round_id))

    @cached_property
    def challenger_answers(self) -> Sequence[Guess]:
        """The answers of the challenger's round; empty if there is none."""
        offered = str(self.row.filters.get("challenge", ""))
        return self._store.of_round(offered) if offered else ()

    @property
    def n_clips(self) -> int:
        return len(self.row.clip_keys)

    @property
    def is_over(self) -> bool:
        """Whether the round has moved past its last clip."""
        return self.row.position >= self.n_clips

    @property
    def awaits_answer(self) -> bool:
        """Whether the clip at the round's position is still to be answered."""
        return len(self.answers) <= self.row.position < self.n_clips

    def record(self, guess: Guess) -> Guess:
        """Store an answer; returns the one that counts, which may be an earlier one."""
        kept = self._store.record(guess)
        self.answers[guess.position] = kept
        return kept

    def start_clip(self, now: datetime) -> None:
        """Record when the current clip was first sent.

        Raises ``Agl1kError`` if another tab has moved the round on.
        """
        if self.row.clip_started_utc is None:
            position = self.row.position
            started = self._store.start_clip(self.row.round_id, position, now)
            self.row = replace(self.row, clip_started_utc=started)

    def advance(self, started: datetime | None = None) -> bool:
        """Move to the next clip, or to where another tab has already moved the round.

        ``started`` is when the next clip is sent, if that is now. Returns whether it was moved
        here.
        """
        round_id, position = self.row.round_id, self.row.position
        if self._store.advance(round_id, position, started):
            self.row = replace(self.row, position=position + 1, clip_started_utc=started)
            return True
        self.row = self._store.round(round_id) or self.row
        vars(self).pop("answers", None)
        return False

    def replace_clip(self, position: int, key: str) -> None:
        """Put another clip at a position, unless another tab has replaced it already."""
        lost = self.row.clip_keys[position]
        self.row = self._store.replace_clip(self.row.round_id, position, key, instead_of=lost)


def _by_position(answers: Sequence[Guess]) -> dict[int, Guess]:
    return {guess.position: guess for guess in answers}

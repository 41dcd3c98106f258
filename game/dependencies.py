"""What the game needs from outside: a protocol for each, and two groups of them."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Protocol

from agl1k_core.benchmarks import Benchmark, FolderTags
from game.refusals import NotFoundError
from store.guesses import Round
from ui.model_guess import ModelGuess, Opponent


class PreparedSound(Protocol):
    """A recording that can be served; ``peaks`` (0 to 1) draw its waveform."""

    @property
    def peaks(self) -> Sequence[float]: ...

    @property
    def duration_s(self) -> float: ...


class ClipSource(Protocol):
    """Where recordings come from."""

    def prepare(self, benchmark: Benchmark, key: str) -> PreparedSound:
        """Make a recording ready to be served.

        Raises ``Agl1kError`` or ``OSError`` if it is not available.
        """

    def available(self, benchmark: Benchmark) -> Collection[str] | None:
        """The clips that need no network, or None if any clip can be fetched."""

    def prefetch(self, benchmark: Benchmark, keys: Iterable[str]) -> None:
        """Prepare clips in the background; returns at once."""


class ModelAnswers(Protocol):
    """Looks up where models placed clips."""

    def __call__(
        self, benchmark: Benchmark, keys: Sequence[str], /
    ) -> Mapping[str, Sequence[ModelGuess]]:
        """The models' guesses for each of ``keys``."""


class Opponents(Protocol):
    """Looks up whom players can play against."""

    def __call__(self, benchmark: Benchmark, /, *, fresh: bool) -> Sequence[Opponent] | None:
        """The opponents on a benchmark, None while they are being scored.

        ``fresh``: without those that were withdrawn a moment ago, which takes longer.
        """


class Clock(Protocol):
    """Returns the current time, with its time zone."""

    def __call__(self) -> datetime: ...


class Admission(Protocol):
    """Limits how many rounds a player begins."""

    def __call__(self, player_id: str, /) -> None:
        """Raises ``Agl1kError`` if the player may not begin another round now."""


def _no_models(benchmark: Benchmark, keys: Sequence[str]) -> Mapping[str, Sequence[ModelGuess]]:
    return {}


def _no_opponents(benchmark: Benchmark, *, fresh: bool) -> Sequence[Opponent] | None:
    return ()


def utc_now() -> datetime:
    """The current time."""
    return datetime.now(UTC)


def _admit_all(player_id: str) -> None:
    return None


def _admit_any() -> None:
    return None


def all_heard(round_: Round, position: int) -> bool:
    """Where nobody knows which sounds were sent, all clips pass for heard."""
    return True


@dataclass(frozen=True)
class Content:
    """What can be played: benchmarks by slug, their recordings, and what is known of their clips.

    ``tags``: the sounds in the clips of each benchmark, by its slug. They are revealed together
    with the place.
    """

    benchmarks: Mapping[str, Benchmark]
    clips: ClipSource
    models: ModelAnswers = _no_models
    tags: Mapping[str, FolderTags] = field(default_factory=dict)
    opponents: Opponents = _no_opponents

    def benchmark(self, slug: str) -> Benchmark:
        """The benchmark with this slug; raises ``NotFoundError`` if it is not played here."""
        if slug not in self.benchmarks:
            names = ", ".join(sorted(self.benchmarks))
            raise NotFoundError(
                f"The benchmark {slug!r} is not played here. Choose one of: {names}."
            )
        return self.benchmarks[slug]


@dataclass(frozen=True)
class Surroundings:
    """Time, randomness, the limit on rounds, and which clips may have been heard.

    ``give_back`` is called if an admitted round could not be stored. ``heard`` says whether the
    sound at a position of a round was sent. ``admit_code`` limits how many codes of other devices
    are tried.
    """

    clock: Clock = utc_now
    rng: random.Random = field(default_factory=random.SystemRandom)
    admit: Admission = _admit_all
    give_back: Admission = _admit_all
    heard: Callable[[Round, int], bool] = all_heard
    admit_code: Callable[[], None] = _admit_any

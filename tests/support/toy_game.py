"""A small benchmark with its sounds, a clock that can be set, and a player who answers all."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from agl1k_core.benchmarks import Benchmark, Clip
from agl1k_core.errors import Agl1kError
from game.clips import PreparedClip
from game.rounds import Game
from game.views import RoundView, Summary

SECRET = b"a secret for tests"
PLACES = [
    ("Essaouira", "Morocco", "Africa", 31.5125, -9.77),
    ("Nairobi", "Kenya", "Africa", -1.2864, 36.8172),
    ("Berlin", "Germany", "Europe", 52.52, 13.405),
    ("Lisbon", "Portugal", "Europe", 38.7223, -9.1393),
    ("Kyoto", "Japan", "Asia", 35.0116, 135.7681),
    ("Hanoi", "Vietnam", "Asia", 21.0278, 105.8342),
    ("Anchorage", "United States", "North America", 61.2181, -149.9003),
    ("Lima", "Peru", "South America", -12.0464, -77.0428),
    ("Suva", "Fiji", "Oceania", -18.1416, 178.4419),
    ("Perth", "Australia", "Oceania", -31.9523, 115.8613),
]


def make_benchmark(n_clips: int = 40, slug: str = "toy") -> Benchmark:
    """Clips spread over ten places, every second one with speech; none of its numbers and
    words occurs in a view for another reason."""
    clips = []
    for number in range(n_clips):
        city, country, continent, lat, lon = PLACES[number % len(PLACES)]
        shift = 0.001 * (number // len(PLACES)) + 0.0000917
        clips.append(
            Clip(
                key=f"secretkey{number:03d}",
                lat=lat + shift,
                lon=lon + shift,
                city=city,
                country=country,
                continent=continent,
                file_name=f"filenameof{number:03d}.mp3",
                title=f"Titleof {number:03d}",
                description=f"Descriptionof {number:03d}",
                classes={
                    "human": 0.8 if number // len(PLACES) % 2 else 0.0,
                    "animal": round(0.314007 + number / 100_000, 6),  # each its own
                },
                author=f"Authorof {number:03d}",
                licence="CC-BY-4.0",
                url=f"https://sounds.example/recordingof{number:03d}",
                recorded=f"2019-02-03T04:05:{number:02d}.777",
            )
        )
    return Benchmark(slug, "Toy benchmark", "1", tuple(clips))


class ToyClips:
    """A source of recordings; ``is_there(benchmark, key)`` says which can be prepared.

    It records which clips were requested, and how many to prepare ahead each time.
    ``on_disk`` are those that need no network; None if any can be fetched.
    """

    def __init__(
        self,
        is_there: Callable[[Benchmark, str], bool] = lambda benchmark, key: True,
        on_disk: Collection[str] | None = None,
    ) -> None:
        self.is_there = is_there
        self.on_disk = on_disk
        self.asked: list[str] = []
        self.ahead: list[int] = []

    def prepare(self, benchmark: Benchmark, key: str) -> PreparedClip:
        self.asked.append(key)
        if not self.is_there(benchmark, key):
            raise Agl1kError("gone")
        return PreparedClip(Path("copy.mp3"), 21, (0.1, 0.9))

    def available(self, benchmark: Benchmark) -> Collection[str] | None:
        return self.on_disk

    def prefetch(self, benchmark: Benchmark, keys: Iterable[str]) -> None:
        self.ahead.append(len([*keys]))


class Clock:
    """A clock that shows the same time until it is moved forward."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 14, 12, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def forward(self, **parts: float) -> None:
        self.now += timedelta(**parts)


def current_clip(game: Game, view: RoundView) -> Clip:
    """The clip that is playing, found in the same way as by the sound route."""
    found = game.resolve(view.clip_token)
    assert found is not None
    return found[0].clip(found[1])


def play(game: Game, player: str, view: RoundView, lat: float = 10.0) -> RoundView:
    """Answer all remaining clips."""
    while view.phase != "finished":
        if view.phase == "playing":
            view = game.guess(view.token, player, lat, 20.0)
        view = game.next_clip(view.token, player)
    return view


def started(game: Game, player: str, view: RoundView) -> RoundView:
    """The round once the sound of its clip has been fetched."""
    game.resolve(view.clip_token)
    return game.view(view.token, player)


def summary_of(view: RoundView) -> Summary:
    """The summary of a finished round."""
    assert view.summary is not None
    return view.summary

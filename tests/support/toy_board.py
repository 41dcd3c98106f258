"""A benchmark of 40 clips, prediction files of a chosen quality, and guesses, for board tests."""

from __future__ import annotations

import itertools
import json
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from agl1k_core.benchmarks import Benchmark, Clip
from leaderboard.board import Board
from leaderboard.submit import Form, Published, publish
from store.database import Database
from store.guesses import Guess, GuessStore, Round
from store.submissions import SubmissionStore

SHARED = Path(__file__).parents[3] / "shared" / "agl1k"
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
MAX_BYTES = 2**20
_SECONDS = itertools.count()  # later rows have later times
_PLACES = (
    (48.86, 2.35, "Paris", "France", "Europe"),
    (-1.29, 36.82, "Nairobi", "Kenya", "Africa"),
    (-18.14, 178.44, "Suva", "Fiji", "Oceania"),
    (35.68, 139.69, "Tokyo", "Japan", "Asia"),
    (-34.6, -58.38, "Buenos Aires", "Argentina", "South America"),
)


def make_benchmark(n: int = 40) -> Benchmark:
    """Clips around five cities; every second one holds speech."""
    clips = [
        Clip(
            f"clip-{i:02d}",
            lat + i / 100,
            lon - i / 100,
            city,
            country,
            continent,
            classes={"human": float(i % 2), "animal": float(i % 2 == 0)},
        )
        for i, (lat, lon, city, country, continent) in (
            (i, _PLACES[i % len(_PLACES)]) for i in range(n)
        )
    ]
    return Benchmark("toy", "Toy", "1", tuple(clips))


def prediction_file(
    benchmark: Benchmark,
    degrees_off: float = 0.0,
    *,
    refused: int = 0,
    first: int | None = None,
    seed: int = 0,
) -> bytes:
    """Answers about ``degrees_off`` degrees of latitude off; the first ``refused`` are refusals.

    With ``first``, only the first clips have a record. If the points are off, so is one city.
    """
    drawn = np.random.default_rng(seed).uniform(0.5, 1.5, len(benchmark)) * degrees_off
    records: list[dict[str, object]] = []
    for i, (clip, off) in enumerate(zip(benchmark.clips, drawn, strict=True)):
        lat = clip.lat - off if clip.lat > 0 else clip.lat + off
        city = "Atlantis" if degrees_off and i == refused else clip.city
        place = {"city": city, "country": clip.country, "continent": clip.continent}
        if i < refused:
            records.append({"key": clip.key, "latitude": "Unknown", "longitude": "Unknown"})
        else:
            records.append({"key": clip.key, "latitude": lat, "longitude": clip.lon, **place})
    return json.dumps(records[:first]).encode()


def make_board(
    database: Database,
    load: Callable[[], Benchmark],
    *,
    slug: str = "toy",
    clock: Callable[[], float] | None = None,
) -> Board:
    stores = SubmissionStore(database), GuessStore(database)
    if clock is None:
        return Board(slug, slug.title(), load, *stores)
    return Board(slug, slug.title(), load, *stores, clock=clock)


def add_model(
    board: Board,
    model: str,
    degrees_off: float = 1.0,
    *,
    weights: str = "open",
    owner: str = "",
    refused: int = 0,
    first: int | None = None,
    **more: Any,
) -> Published:
    assert board.benchmark is not None
    data = prediction_file(board.benchmark, degrees_off, refused=refused, first=first)
    form = Form(model, weights=weights, **more)
    return publish(data, "answers.json", form, board, max_bytes=MAX_BYTES, now=NOW, owner=owner)


def add_guesses(
    board: Board,
    player: str,
    keys: list[str],
    *,
    degrees_off: float = 0.0,
    action: str = "guess",
    benchmark_hash: str = "",
    benchmark: str = "",
    seconds: float | None = 20.0,
    tools: str | None = None,
    continent: str = "",
) -> None:
    """One round; it is stored, too, if the player chose a ``continent`` for it."""
    assert board.benchmark is not None
    round_id = uuid.uuid4().hex
    if continent:
        _add_round(board, round_id, player, keys, continent)
    for position, key in enumerate(keys):
        clip = board.benchmark.clip(key)
        pinned = action in ("guess", "timeout")
        board.guesses.record(
            Guess(
                guess_id=uuid.uuid4().hex,
                round_id=round_id,
                position=position,
                player_id=player,
                nickname="",
                benchmark=benchmark or board.slug,
                benchmark_hash=benchmark_hash or board.benchmark.content_hash,
                clip_key=key,
                action=action,  # type: ignore[arg-type]
                latitude=clip.lat + degrees_off if pinned else None,
                longitude=clip.lon if pinned else None,
                distance_km=None,
                score=None,
                seconds=seconds,
                mode="free",
                app_version="test",
                tools=tools,
                created_utc=NOW + timedelta(seconds=next(_SECONDS)),
            )
        )


def _add_round(board: Board, round_id: str, player: str, keys: list[str], continent: str) -> None:
    board.guesses.add_round(
        Round(
            round_id=round_id,
            player_id=player,
            benchmark=board.slug,
            benchmark_hash="",
            mode="free",
            label="",
            clip_keys=tuple(keys),
            filters={"continent": continent},
            timer_s=None,
            position=len(keys),
            clip_started_utc=None,
            created_utc=NOW,
        )
    )

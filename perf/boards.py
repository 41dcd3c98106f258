"""A board of many submissions: its page, another subset of it, and the details of a row."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import msgspec
import numpy as np

from agl1k_core.benchmarks import Benchmark
from leaderboard.api import board_page
from leaderboard.board import Board
from leaderboard.detail import make_detail
from leaderboard.render import row_detail
from leaderboard.submit import Form, publish
from perf import data
from perf.table import Measured
from store.database import Database
from store.guesses import GuessStore
from store.submissions import SubmissionStore

N_CLIPS = 1444
N_ROWS = (300, 1000)
MOST_MS = 300
_ROUNDS = 5
_SUBSETS = ("speech", "animal", "nature", "things", "music")


def run() -> Iterator[Measured]:
    """Each for 300 and for 1,000 rows; then how the time for a new subset grows."""
    benchmark = data.made_up_benchmark(N_CLIPS)
    subsets = [name for name in _SUBSETS if name in benchmark.subsets]
    per_row = []
    for n_rows in N_ROWS:
        with Database("sqlite://") as database:
            _fill(_board(benchmark, database), n_rows)
            board = _board(benchmark, database)
            (begun,) = _milliseconds([board.warm])
            yield Measured("boards", f"{n_rows} rows: scored at the start", begun / 1000, "s")
            first = _milliseconds([partial(_page, board, name) for name in subsets])
            per_row.append(float(np.median(first)) / n_rows)
            yield from _warm(board, n_rows, float(np.median(first)))
    growth = per_row[1] / per_row[0]
    yield Measured("boards", "a subset for the first time, per row: 1000 / 300", growth, "×", 1.5)


def _warm(board: Board, n_rows: int, first_ms: float) -> Iterator[Measured]:
    page = _milliseconds([partial(_page, board, "speech")] * _ROUNDS)
    row = next(row for row in board.rows() if row.kind == "scored")
    detail = _milliseconds([lambda: row_detail(make_detail(board, row), board)] * _ROUNDS)
    limit = MOST_MS if n_rows == N_ROWS[0] else None
    name = f"{n_rows} rows"
    yield Measured("boards", f"{name}: a subset for the first time", first_ms, "ms")
    yield Measured("boards", f"{name}: its page", min(page), "ms", limit)
    yield Measured("boards", f"{name}: the page's HTML", len(_page(board, "speech")) / 1000, "kB")
    yield Measured("boards", f"{name}: the details of a row", min(detail), "ms", limit)


def _page(board: Board, subset: str) -> str:
    return board_page({board.slug: board}, f"subset={subset}")


def _board(benchmark: Benchmark, database: Database) -> Board:
    stores = SubmissionStore(database), GuessStore(database)
    return Board(benchmark.slug, benchmark.name, lambda: benchmark, *stores)


def _fill(board: Board, n_rows: int) -> None:
    benchmark = board.benchmark
    assert benchmark is not None
    for number in range(n_rows):
        # with the table's own cities, they would wait for a moderator
        records = [record | {"city": ""} for record in data.answers(benchmark, seed=number)]
        file = msgspec.json.encode(records)
        form = Form(f"Model {number}", f"Lab {number % 40}", weights="open")
        publish(file, f"{number}.json", form, board, max_bytes=2**24)


def _milliseconds(acts: Sequence[Callable[[], object]]) -> list[float]:
    times = []
    for act in acts:
        begun = time.perf_counter()
        act()
        times.append(1000 * (time.perf_counter() - begun))
    return times

"""What each fast path of the reader earns: a plain file next to one that misses that path.

The records differ only in what makes them miss it. The time is processor time.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator
from functools import partial

import msgspec

from agl1k_core import predictions
from perf import data
from perf.table import Measured
from perf.timing import best_of

N_CLIPS = 50_000
_ROUNDS = 5
_Record = dict[str, object]


def run() -> Iterator[Measured]:
    """How many times as long reading takes without each fast path."""
    benchmark = data.made_up_benchmark(N_CLIPS)
    records = list(data.answers(benchmark))
    files = {name: make(records) for name, make in SHAPES.items()}
    readings = [partial(predictions.read_predictions, file, benchmark) for file in files.values()]
    times = dict(zip(files, best_of(readings, _ROUNDS), strict=True))
    yield Measured("reading", f"{len(records):,} plain lines", times[PLAIN] * 1000, "ms")
    for name, plain in MISSES.items():
        yield Measured("reading", f"{name} / {plain}", times[name] / times[plain], "×")
    yield from _published()


def _published() -> Iterator[Measured]:
    """A list as the authors publish it, next to one whose first record lacks a field."""
    benchmark = data.made_up_benchmark(1444)
    published = data.published_kind_of_file(benchmark)
    records = msgspec.json.decode(published)
    del records[0]["reasoning"]
    files = published, json.dumps(records, indent=4).encode()
    readings = [partial(predictions.read_predictions, file, benchmark) for file in files]
    plain, other = best_of(readings, 4 * _ROUNDS)
    yield Measured("reading", "the published kind of file", plain * 1000, "ms")
    yield Measured("reading", "without a field in one record / published", other / plain, "×")
    hashing = partial(hashlib.sha256, published)
    beside, after = best_of([readings[0], hashing], 4 * _ROUNDS, clock=time.perf_counter)
    yield Measured("reading", "read, then hashed / hashed beside", (beside + after) / beside, "×")


def _lines(records: list[_Record]) -> bytes:
    return b"".join(msgspec.json.encode(record) + b"\n" for record in records)


def _with_blank_lines(records: list[_Record]) -> bytes:
    parts = (records[first : first + 1000] for first in range(0, len(records), 1000))
    return b"\n".join(map(_lines, parts))


def _now_and_then(change: _Record, records: list[_Record]) -> bytes:
    return _lines(
        [record if number % 1000 else record | change for number, record in enumerate(records)]
    )


def _numbered(records: list[_Record]) -> bytes:
    return _lines([{"id": number, **record} for number, record in enumerate(records)])


def _as_text(records: list[_Record]) -> list[_Record]:
    """Coordinates as text, of which a file has few: whole degrees."""
    return [
        record | {name: str(round(float(str(record[name])))) for name in ("latitude", "longitude")}
        for record in records
    ]


PLAIN, TEXT = "plain", "coordinates as text"
SHAPES: dict[str, Callable[[list[_Record]], bytes]] = {
    PLAIN: _lines,
    TEXT: lambda records: _lines(_as_text(records)),
    "some blank lines": _with_blank_lines,
    "a field in some records": partial(_now_and_then, {"note": "loud"}),
    "numbered records": _numbered,
    "text, some empty": lambda records: _now_and_then({"latitude": None}, _as_text(records)),
}
#: What misses a fast path, and the file that takes it: lines decoded together, records that all
#: have the same fields, clips named by a single text, coordinates that are all text.
MISSES = {
    "some blank lines": PLAIN,
    "a field in some records": PLAIN,
    "numbered records": PLAIN,
    "text, some empty": TEXT,
}

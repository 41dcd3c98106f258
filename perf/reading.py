"""What each fast path of the reader earns: a plain file next to one that misses that path.

The records are the same but for what makes them miss it. Processor time counts.
"""

from __future__ import annotations

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
    files = [_lines(records), *(make(records) for make in MISSES.values())]
    readings = [partial(predictions.read_predictions, file, benchmark) for file in files]
    plain, *others = best_of(readings, _ROUNDS)
    yield Measured("reading", f"{len(records):,} plain lines", plain * 1000, "ms")
    for name, seconds in zip(MISSES, others, strict=True):
        yield Measured("reading", f"{name} / plain", seconds / plain, "×")


def _lines(records: list[_Record]) -> bytes:
    return b"".join(msgspec.json.encode(record) + b"\n" for record in records)


def _with_blank_lines(records: list[_Record]) -> bytes:
    parts = (records[first : first + 1000] for first in range(0, len(records), 1000))
    return b"\n".join(map(_lines, parts))


def _numbered(records: list[_Record]) -> bytes:
    return _lines([{"id": number, **record} for number, record in enumerate(records)])


#: What misses a fast path: lines decoded together, and clips named by a single text.
MISSES: dict[str, Callable[[list[_Record]], bytes]] = {
    "some blank lines": _with_blank_lines,
    "numbered records": _numbered,
}

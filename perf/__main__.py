"""``python -m perf [NAME…] [--players 50,200]``: run them one after the other, print one table.

The exit code is 1 if a limit is missed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import partial

from perf import (
    asking,
    boards,
    coverage,
    first_load,
    million,
    near,
    players,
    reading,
    scoring,
    slow_link,
    sound,
    start,
    storing,
    visits,
)
from perf.table import Measured, show

BENCHMARKS: Mapping[str, Callable[[], Iterable[Measured]]] = {
    "scoring": scoring.run,
    "million": million.run,
    "coverage": coverage.run,
    "reading": reading.run,
    "start": start.run,
    "first_load": first_load.run,
    "slow_link": slow_link.run,
    "players": players.run,
    "visits": visits.run,
    "sound": sound.run,
    "near": near.run,
    "storing": storing.run,
    "asking": asking.run,
    "boards": boards.run,
}


def main(arguments: list[str]) -> int:
    """Run the named benchmarks, or all."""
    parser = argparse.ArgumentParser(prog="python -m perf")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
    parser.add_argument("--players", type=_counts, help="numbers of players, such as 50,200")
    wanted = parser.parse_args(arguments)
    unknown = [name for name in wanted.names if name not in BENCHMARKS]
    if unknown:
        print(f"No such benchmark: {', '.join(unknown)}. There are: {', '.join(BENCHMARKS)}.")
        return 2
    benchmarks = dict(BENCHMARKS)
    if wanted.players:
        benchmarks["players"] = partial(players.run, wanted.players)
    results: list[Measured] = []
    for name in wanted.names or benchmarks:
        print(f"{name} …", flush=True)
        results += benchmarks[name]()
    show(results)
    return 0 if all(result.passed for result in results) else 1


def _counts(text: str) -> list[int]:
    counts = [int(part) for part in text.split(",")]
    if min(counts) < 1:
        raise ValueError
    return counts


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

"""``python -m perf [NAME…]``: run them one after the other and print one table.

The exit code is 1 if a limit is missed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping

from perf import (
    asking,
    coverage,
    first_load,
    million,
    players,
    reading,
    scoring,
    sound,
    start,
    storing,
)
from perf.table import Measured, show

BENCHMARKS: Mapping[str, Callable[[], Iterable[Measured]]] = {
    "scoring": scoring.run,
    "million": million.run,
    "coverage": coverage.run,
    "reading": reading.run,
    "start": start.run,
    "first_load": first_load.run,
    "players": players.run,
    "sound": sound.run,
    "storing": storing.run,
    "asking": asking.run,
}


def main(names: list[str]) -> int:
    """Run the named benchmarks, or all."""
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        print(f"No such benchmark: {', '.join(unknown)}. There are: {', '.join(BENCHMARKS)}.")
        return 2
    results: list[Measured] = []
    for name in names or BENCHMARKS:
        print(f"{name} …", flush=True)
        results += BENCHMARKS[name]()
    show(results)
    return 0 if all(result.passed for result in results) else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

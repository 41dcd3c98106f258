"""A million flat predictions, read and scored without intervals in a process of its own."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator

from agl1k_core import predictions, scoring
from perf import data
from perf.table import Measured

N_CLIPS = 1_000_000
MAX_S = 10
MAX_GB = 2


def run() -> Iterator[Measured]:
    """Peak memory is that of the whole process, with the benchmark and the file in it."""
    command = [sys.executable, "-m", "perf.million"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found = json.loads(done.stdout)
    yield Measured("million", "read", found["read_s"], "s")
    yield Measured("million", "scored", found["score_s"], "s")
    yield Measured("million", "together", found["read_s"] + found["score_s"], "s", MAX_S)
    yield Measured("million", "processor time of both", found["cpu_s"], "s")
    yield Measured("million", "memory before", found["before_gb"], "GB")
    yield Measured("million", "memory at its peak", found["peak_gb"], "GB", MAX_GB)


def measure(n_clips: int) -> dict[str, float]:
    """Seconds to read and to score, and gigabytes held before and at the peak."""
    benchmark = data.made_up_benchmark(n_clips)
    file = data.json_lines(benchmark)
    for name in ("index", "content_hash", "subsets", "canonical_labels", "label_codes"):
        getattr(benchmark, name)  # kept with a benchmark, which has many files
    before_gb = _peak_gb()
    began, cpu = time.perf_counter(), time.process_time()
    found = predictions.read_predictions(file, benchmark, max_bytes=len(file))
    read = time.perf_counter()
    scored = scoring.evaluate(benchmark, found, intervals=False)
    done = time.perf_counter()
    assert scored.n_clips == n_clips
    return {
        "read_s": read - began,
        "score_s": done - read,
        "cpu_s": time.process_time() - cpu,
        "before_gb": before_gb,
        "peak_gb": _peak_gb(),
    }


def _peak_gb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


if __name__ == "__main__":
    print(json.dumps(measure(N_CLIPS)))

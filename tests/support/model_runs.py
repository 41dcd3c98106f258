"""Runs of models against fake endpoints, on a benchmark of a few short recordings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from agl1k_core.benchmarks import Benchmark, read_folder
from agl1k_core.http import Patience
from agl1k_core.models import (
    Endpoint,
    Listeners,
    RunLimits,
    RunResult,
    RunSettings,
    Treatment,
    run_model,
)
from tests.support import sounds
from tests.support.fake_endpoint import FakeEndpoint
from tests.support.raw_recordings import write_table

#: For tests, which should not wait.
QUICK = Patience(connect_s=10, read_s=30, attempt_s=30, attempts=3, first_wait_s=0.001)


def small_benchmark(folder: Path, n: int = 6) -> Benchmark:
    """A benchmark folder whose clips are tones, each of its own, of half a second to three."""
    folder.mkdir(exist_ok=True)
    rows: list[dict[str, object]] = []
    for number in range(n):
        wave = sounds.tone(0.5 + number % 6 / 2, 1, 16000) * np.float32(1 - number / (2 * n))
        name = f"k{number}.wav"
        sounds.encode(folder / name, "pcm_s16le", wave, rate_hz=16000)
        place = {"latitude": number % 60, "longitude": number % 170, "city": "Here"}
        labels = {"country": "France", "continent": "Europe"}
        rows.append({"key": f"k{number}", "file": name, **place, **labels})
    write_table(folder, rows)
    return read_folder(folder)


class Asked:
    """A run of the test's endpoint in a folder of its own; ``told`` collects the sentences."""

    def __init__(self, benchmark: Benchmark, folder: Path) -> None:
        self.benchmark, self.folder = benchmark, folder
        self.told: list[str] = []
        self.starts: list[tuple[int, int]] = []

    def run(
        self,
        fake: FakeEndpoint,
        *,
        settings: dict[str, Any] | None = None,
        treatment: Treatment | None = None,
        parameters: dict[str, float | int | None] | None = None,
        patience: Patience = QUICK,
        key: str = "",
        model: str = "fake-model",
        benchmark: Benchmark | None = None,
        **limits: Any,
    ) -> tuple[RunResult, str]:
        parameters = parameters or {}
        asked = RunSettings(
            model, fake.url, treatment=treatment or Treatment(), parameters=parameters,
            **(settings or {}),
        )  # fmt: skip
        endpoint = Endpoint(model, fake.url, key, "MY_KEY", parameters, patience)
        listeners = Listeners(self.told.append, lambda *counts: self.starts.append(counts))
        try:
            return run_model(
                benchmark or self.benchmark, endpoint, asked, self.folder,
                RunLimits(patience=patience, **limits), listeners,
            )  # fmt: skip
        finally:
            endpoint.close()

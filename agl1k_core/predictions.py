"""Prediction files -> one table with a status per clip."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from agl1k_core.answers import Answer, Status
from agl1k_core.benchmark import Benchmark

__all__ = ["Answer", "Predictions", "Status", "read"]

#: The fields kept as found, for protocols that judge them before cleaning.
GIVEN_FIELDS = ("latitude", "longitude", "city", "country", "continent")
MAX_BYTES = 16 * 2**20

ObjectArray = npt.NDArray[np.object_]
FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Predictions:
    """Predictions for one benchmark, one row per record; every array has shape ``(n_records,)``.

    ``lat`` and ``lon`` are degrees and NaN unless answered. ``city``, ``country``, ``continent``
    and ``reason`` are text, empty where there is none. ``given`` holds the five fields as the file
    has them, None where absent. ``clusters`` names the resampling unit of each row (a player).
    """

    keys: ObjectArray
    status: ObjectArray
    lat: FloatArray
    lon: FloatArray
    city: ObjectArray
    country: ObjectArray
    continent: ObjectArray
    reason: ObjectArray
    given: Mapping[str, ObjectArray] = field(default_factory=dict)
    sha256: str = ""
    source: str = ""
    clusters: ObjectArray | None = None

    def __len__(self) -> int:
        return len(self.keys)


def read(
    source: Path | bytes, benchmark: Benchmark, *, name: str = "", max_bytes: int = MAX_BYTES
) -> Predictions:
    """Read a prediction file; raises ``FileRefusedError`` with all its problems."""
    raise NotImplementedError

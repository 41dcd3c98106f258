"""A fake judge, and misses of a made-up model on the demo's clips."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from agl1k_core.benchmarks import Benchmark, read_demo
from tests.support.fake_judge_api import FakeApi, fake_api


@pytest.fixture
def api() -> Iterator[FakeApi]:
    with fake_api() as fake:
        yield fake


@pytest.fixture(scope="session")
def demo() -> Benchmark:
    return read_demo()


@pytest.fixture
def records() -> list[dict[str, Any]]:
    """One right country, three wrong ones, a refusal, an unreadable answer, an error."""
    return [
        {"key": "demo_01", "latitude": -10, "longitude": -50, "country": "Brazil"},
        {"key": "demo_02", "latitude": 35.7, "longitude": 139.7, "country": "Japan",
         "reason": "Korean, or perhaps Japanese."},
        {"key": "demo_03", "model_output": "<think>Spanish.</think> It is Spain: 40.4, -3.7"},
        {"key": "demo_04", "latitude": 48.9, "longitude": 2.3},
        {"key": "demo_05", "model_output": "I cannot tell where this is."},
        {"key": "demo_06", "model_output": "hm"},
        {"key": "demo_07", "error": "timeout"},
    ]  # fmt: skip

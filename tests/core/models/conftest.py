"""Fake endpoints, and runs against them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from agl1k_core.benchmarks import Benchmark
from tests.support.fake_endpoint import FakeEndpoint, fake_endpoint
from tests.support.model_runs import Asked, small_benchmark


@pytest.fixture
def endpoint() -> Iterator[Callable[..., FakeEndpoint]]:
    """Starts endpoints that behave as asked."""
    with ExitStack() as stack:
        yield lambda **behaviour: stack.enter_context(fake_endpoint(**behaviour))


@pytest.fixture
def small(tmp_path: Path) -> Benchmark:
    return small_benchmark(tmp_path / "small")


@pytest.fixture
def asked(small: Benchmark, tmp_path: Path) -> Asked:
    return Asked(small, tmp_path / "run")

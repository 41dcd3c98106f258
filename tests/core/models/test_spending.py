"""Rate and cost: what a run may spend."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agl1k_core.models import Price, Usage
from agl1k_core.models.spending import Budget, Pace, StoppedError, cost_of

GO = threading.Event()


def spend(budget: Budget, cost: float, seconds: float) -> None:
    with budget.request(seconds, GO) as receipt:
        receipt.cost, receipt.answered = cost, True


def test_the_endpoints_own_cost_goes_before_a_price() -> None:
    price = Price(2, 10)
    assert cost_of(Usage(100, 10, 0.5), price) == (0.5, "reported by the endpoint")
    assert cost_of(Usage(1_000_000, 100_000), price) == (3.0, "from the price given")
    assert cost_of(Usage(), price) == (None, "")
    assert cost_of(Usage(5, 5), None) == (None, "")


@given(
    st.lists(st.floats(0.1, 200), min_size=1, max_size=40),
    st.floats(0.0, 0.01),
    st.floats(0.0, 0.1),
    st.floats(0.01, 2),
)
def test_costs_that_grow_with_the_sound_stay_within_the_cap(
    seconds: Sequence[float], per_second: float, base: float, cap: float
) -> None:
    budget = Budget(cap)
    for known in (1.0, 5.0):  # two beacons
        budget.add(base + per_second * known, known)
    for duration in seconds:
        before = budget.spent
        try:
            spend(budget, base + per_second * duration, duration)
        except StoppedError:
            assert before + base + per_second * duration > cap * (1 - 1e-6)
            return
        assert budget.spent <= cap * (1 + 1e-6)


def test_many_threads_stay_within_the_cap() -> None:
    budget, stopped = Budget(0.255), threading.Barrier(9)

    def spend_all() -> None:
        while True:
            spend(budget, 0.01, 3.0)

    def work() -> None:
        with pytest.raises(StoppedError, match="--max-cost"):
            spend_all()
        stopped.wait(60)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    stopped.wait(60)
    assert budget.spent == pytest.approx(0.25)


def test_an_unknown_cost_stops_only_a_run_with_a_cap() -> None:
    with Budget().request(1.0, GO) as receipt:
        receipt.answered = True
    with (
        pytest.raises(StoppedError, match="--price"),
        Budget(1.0).request(1.0, GO) as receipt,
    ):
        receipt.answered = True


def test_requests_are_spread_over_a_minute() -> None:
    waits: list[float] = []

    class Stop(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            waits.append(timeout or 0.0)
            return False

    stop = Stop()
    pace = Pace(120)
    for _ in range(4):
        pace.wait(stop)
    assert waits == pytest.approx([0.0, 0.5, 1.0, 1.5], abs=0.2)
    Pace(None).wait(stop)
    assert len(waits) == 4

"""One thread rebuilds a value while the others use the previous one, or in the background."""

from __future__ import annotations

import threading

import pytest

from agl1k_core.errors import Agl1kError
from leaderboard.refreshing import PAUSE_S, Refresher, StaleWhileRefreshing
from tests.support.waiting import eventually


def test_it_is_rebuilt_only_if_the_state_changes() -> None:
    value, made = StaleWhileRefreshing(0), list[int]()

    def more(before: int) -> int:
        made.append(before)
        return before + 1

    assert [value.at(state, more) for state in "aabba"] == [1, 1, 2, 2, 3]
    assert made == [0, 1, 2]


def test_other_threads_get_the_previous_value_meanwhile() -> None:
    value, begun, go_on = StaleWhileRefreshing("none"), threading.Event(), threading.Event()
    assert value.at(1, lambda _: "old") == "old"

    def slowly(_: str) -> str:
        begun.set()
        assert go_on.wait(60)
        return "new"

    maker = threading.Thread(target=value.at, args=(2, slowly))
    maker.start()
    assert begun.wait(60)
    assert value.at(2, slowly) == "old"
    go_on.set()
    maker.join(60)
    assert value.at(2, slowly) == "new"


def test_the_first_is_waited_for() -> None:
    value, begun, go_on, got = (
        StaleWhileRefreshing(""),
        threading.Event(),
        threading.Event(),
        list[str](),
    )

    def slowly(_: str) -> str:
        begun.set()
        assert go_on.wait(60)
        return "made"

    threads = [threading.Thread(target=lambda: got.append(value.at(1, slowly))) for _ in range(3)]
    for thread in threads:
        thread.start()
    assert begun.wait(60)
    assert got == []
    go_on.set()
    for thread in threads:
        thread.join(60)
    assert got == ["made"] * 3


def test_a_failure_is_raised_and_tried_again() -> None:
    value = StaleWhileRefreshing("old")
    with pytest.raises(ZeroDivisionError):
        value.at(1, lambda _: str(1 / 0))
    assert value.at(1, lambda _: "new") == "new"


def test_a_refresher_rests_after_each_time_even_if_it_failed() -> None:
    now, times = [0.0], list[float]()

    def refresh() -> None:
        times.append(now[0])
        raise Agl1kError("away")

    refresher = Refresher(refresh, lambda: now[0])
    for moment in (0.0, 0.5 * PAUSE_S, 1.5 * PAUSE_S, 1.6 * PAUSE_S):
        now[0] = moment
        for _ in range(3):
            refresher.begin()
        eventually(lambda: refresher.rests)
    assert times == [0.0, 1.5 * PAUSE_S]

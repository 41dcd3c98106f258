"""A value made anew by one, while the others go on with the one before."""

from __future__ import annotations

import threading

import pytest

from leaderboard.refreshing import StaleWhileRefreshing


def test_it_is_made_when_the_state_changes_and_only_then() -> None:
    kept, made = StaleWhileRefreshing(0), list[int]()

    def more(before: int) -> int:
        made.append(before)
        return before + 1

    assert [kept.at(state, more) for state in "aabba"] == [1, 1, 2, 2, 3]
    assert made == [0, 1, 2]


def test_who_asks_meanwhile_gets_the_one_before() -> None:
    kept, begun, go_on = StaleWhileRefreshing("none"), threading.Event(), threading.Event()
    assert kept.at(1, lambda _: "old") == "old"

    def slowly(_: str) -> str:
        begun.set()
        assert go_on.wait(60)
        return "new"

    maker = threading.Thread(target=kept.at, args=(2, slowly))
    maker.start()
    assert begun.wait(60)
    assert kept.at(2, slowly) == "old"
    go_on.set()
    maker.join(60)
    assert kept.at(2, slowly) == "new"


def test_the_first_is_waited_for() -> None:
    kept, begun, go_on, got = (
        StaleWhileRefreshing(""),
        threading.Event(),
        threading.Event(),
        list[str](),
    )

    def slowly(_: str) -> str:
        begun.set()
        assert go_on.wait(60)
        return "made"

    threads = [threading.Thread(target=lambda: got.append(kept.at(1, slowly))) for _ in range(3)]
    for thread in threads:
        thread.start()
    assert begun.wait(60)
    assert got == []
    go_on.set()
    for thread in threads:
        thread.join(60)
    assert got == ["made"] * 3


def test_a_failure_is_told_and_tried_again() -> None:
    kept = StaleWhileRefreshing("old")
    with pytest.raises(ZeroDivisionError):
        kept.at(1, lambda _: str(1 / 0))
    assert kept.at(1, lambda _: "new") == "new"

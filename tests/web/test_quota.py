"""Hourly limits, and the messages to those who exceed them."""

from __future__ import annotations

import gc
import weakref
from collections import Counter

import pytest

from agl1k_core.errors import Agl1kError
from web.quota import Quota


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_there_is_a_limit_for_each_and_one_for_all() -> None:
    clock = Clock()
    quota = Quota("rounds started", 3, 2, clock=clock)
    quota.take("ann")
    clock.now = 600
    quota.take("ann")
    with pytest.raises(
        Agl1kError,
        match=r"^2 rounds started within an hour is the limit. Try again in 50 minutes.$",
    ):
        quota.take("ann")
    quota.take("ben")
    with pytest.raises(Agl1kError, match=r"^Too many rounds started on this site .* in 50 minutes"):
        quota.take("eve")
    clock.now = 3600
    quota.take("ann")
    with pytest.raises(Agl1kError, match="in 10 minutes"):
        quota.take("ann")


def test_a_limit_of_0_refuses_everything() -> None:
    with pytest.raises(Agl1kError, match="does not allow that: its limit of files published is 0"):
        Quota("files published", 0).take()


def test_refusals_do_not_count_and_nothing_is_kept_forever() -> None:
    clock = Clock()
    quota = Quota("files published", 1, clock=clock)
    kept = []
    for hour in range(50):
        clock.now = 3600.0 * hour
        taken, refused = Id(f"taken {hour}"), Id(f"refused {hour}")
        quota.take(taken)
        with pytest.raises(Agl1kError, match="in 60 minutes"):
            quota.take(refused)
        kept += [weakref.ref(taken), weakref.ref(refused)]
    del taken, refused
    gc.collect()
    assert [one() for one in kept if one() is not None] == ["taken 49"]


class Id(str):
    """An id that can be referred to weakly."""


def test_what_was_counted_for_nothing_is_given_back() -> None:
    quota = Quota("rounds started", 2, 1)
    assert (quota.left, quota.problems()) == (2, [])
    quota.take("ann")
    quota.take("bob")
    assert quota.problems() == ["this hour's limit of rounds started is used up"]
    quota.give_back("ann")
    quota.give_back("nobody")
    assert quota.left == 1
    with pytest.raises(Agl1kError):
        quota.take("bob")
    quota.take("ann")
    assert quota.left == 0


def test_what_is_left_grows_again() -> None:
    clock = Clock()
    quota = Quota("files published", 1, clock=clock)
    quota.take()
    assert quota.left == 0
    clock.now = 3600
    assert quota.left == 1


def test_a_share_is_kept_for_those_who_were_counted_already() -> None:
    clock = Clock()
    quota = Quota("rounds started", 10, kept=0.2, clock=clock)
    for number in range(8):
        clock.now = 60.0 * number
        quota.take(f"player {number}")
    with pytest.raises(Agl1kError, match=r"on this site within an hour\. Try again in 53 min"):
        quota.take("newcomer")
    assert quota.problems() == ["this hour's limit of rounds started is used up"]
    quota.take("player 3")
    quota.take("player 3")
    with pytest.raises(Agl1kError, match="on this site within an hour"):
        quota.take("player 3")
    clock.now = 3600 + 60
    assert quota.left == 2
    quota.take("player 4")
    with pytest.raises(Agl1kError, match="Try again in 2 minutes"):
        quota.take("newcomer")  # once two more have left


def test_an_address_is_limited_only_once_it_gets_short() -> None:
    clock = Clock()
    quota = Quota("rounds started", 100, per_address=10, clock=clock)
    for number in range(50):
        clock.now = 60.0 * number / 50
        quota.take(f"bot {number}", "farm")
    with pytest.raises(Agl1kError, match=r"from your network .* Try again in 60 minutes\.$"):
        quota.take("bot 50", "farm")
    for number in range(10):
        quota.take(f"person {number}", "home")
    with pytest.raises(Agl1kError, match="from your network"):
        quota.take("person 10", "home")
    assert quota.left == 40, "what is refused does not count"
    clock.now = 3660
    quota.take("bot 51", "farm")


def test_three_addresses_shut_nobody_out() -> None:
    quota = Quota("rounds started", 12_000, 120, kept=0.2, per_address=600)
    refused: Counter[str] = Counter()
    for number in range(12_000):
        farm = f"farm {number % 3}"
        try:
            quota.take(f"fresh {number}", farm)
        except Agl1kError:
            refused[farm] += 1
    assert quota.left == 6000
    assert set(refused) == {"farm 0", "farm 1", "farm 2"}
    assert quota.problems() == []
    for number in range(600):
        quota.take(f"player {number}", f"home {number}")


def test_an_unknown_address_has_no_limit_of_its_own() -> None:
    quota = Quota("rounds started", 4, per_address=1)
    for number in range(4):
        quota.take(f"player {number}")
    assert quota.left == 0


def test_a_round_given_back_is_given_back_to_its_address() -> None:
    quota = Quota("rounds started", 4, per_address=2)
    quota.take("ann", "home")
    quota.take("ben", "home")
    quota.give_back("ben")
    quota.take("eve", "home")
    with pytest.raises(Agl1kError, match="from your network"):
        quota.take("ben", "home")

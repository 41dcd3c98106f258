"""Hourly limits, counted in memory and without network addresses.

Anybody can get new player ids, so a limit per id needs an overall limit, too. One address cannot
use up that one: once it gets short, those who have had their share wait.
"""

from __future__ import annotations

import math
import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from typing import NamedTuple

from agl1k_core.errors import Agl1kError

WINDOW_S = 3600.0
#: Shares of addresses are kept while less than this part of a limit is left.
SHORT = 0.5


class QuotaError(Agl1kError):
    """A limit is used up; it is worth trying again after ``retry_after_s``."""

    def __init__(self, message: str, retry_after_s: int) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class _Taken(NamedTuple):
    at_s: float
    who: str
    where: str


class Quota:
    """At most ``in_all`` times within an hour, and at most ``each`` times per id.

    ``what`` names it in messages: "rounds started". The share ``kept`` is for ids that were counted
    within the hour already, so that many new ones cannot take everything from them. An address may
    take as much as is left, but no more than ``per_address`` once ``SHORT`` of all is used up:
    many people may share one, and it must not shut the others out.
    """

    def __init__(
        self,
        what: str,
        in_all: int,
        each: int | None = None,
        *,
        kept: float = 0.0,
        per_address: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._what, self._in_all, self._each = what, in_all, in_all if each is None else each
        self._for_new = in_all - int(in_all * kept)
        self._per_address = in_all if per_address is None else per_address
        self._plenty = math.ceil(in_all * SHORT)
        self._clock = clock
        self._lock = threading.Lock()
        self._taken: deque[_Taken] = deque()
        self._by_one: Counter[str] = Counter()
        self._by_address: Counter[str] = Counter()
        self.n_taken = 0  # since the start; only grows

    def take(self, who: str = "", where: str = "") -> None:
        """Count one more by an id at an address, "" if that is unknown.

        If it is too many, raises ``QuotaError`` that says when to try again.
        """
        if self._in_all == 0:
            sentence = f"This site does not allow that: its limit of {self._what} is 0."
            raise QuotaError(sentence, round(WINDOW_S))
        with self._lock:
            now = self._clock()
            self._forget(now - WINDOW_S)
            self._check_all(who, now)
            self._check_one(who, now)
            self._check_address(where, now)
            self._taken.append(_Taken(now, who, where))
            self._by_one[who] += 1
            self._by_address[where] += 1
            self.n_taken += 1

    def _check_all(self, who: str, now: float) -> None:
        n_over = len(self._taken) - (self._in_all if who in self._by_one else self._for_new)
        if n_over >= 0:
            since = self._taken[n_over].at_s
            raise _used_up(f"Too many {self._what} on this site within an hour.", since, now)

    def _check_one(self, who: str, now: float) -> None:
        if self._by_one[who] >= self._each:
            since = next(taken.at_s for taken in self._taken if taken.who == who)
            raise _used_up(f"{self._each} {self._what} within an hour is the limit.", since, now)

    def _check_address(self, where: str, now: float) -> None:
        is_short = len(self._taken) >= self._plenty
        if where and is_short and self._by_address[where] >= self._per_address:
            since = next(taken.at_s for taken in self._taken if taken.where == where)
            sentence = (
                f"Too many {self._what} from your network within an hour, and few are left on "
                "this site."
            )
            raise _used_up(sentence, since, now)

    @property
    def left(self) -> int:
        """How many more are allowed at the moment, by everybody together."""
        with self._lock:
            self._forget(self._clock() - WINDOW_S)
            return self._in_all - len(self._taken)

    def problems(self) -> list[str]:
        """Why the site is not ready if everybody needs this quota; empty if some is left."""
        is_left = self.left > self._in_all - self._for_new
        return [] if is_left else [f"this hour's limit of {self._what} is used up"]

    def give_back(self, who: str = "") -> None:
        """Take one back that was counted for nothing."""
        with self._lock:
            found = next((taken for taken in reversed(self._taken) if taken.who == who), None)
            if found is not None:
                self._taken.remove(found)
                self._count_less(found)

    def _forget(self, before: float) -> None:
        while self._taken and self._taken[0].at_s <= before:
            self._count_less(self._taken.popleft())

    def _count_less(self, taken: _Taken) -> None:
        for counts, name in ((self._by_one, taken.who), (self._by_address, taken.where)):
            counts[name] -= 1
            if not counts[name]:
                del counts[name]


def _used_up(sentence: str, since: float, now: float) -> QuotaError:
    left_s = max(1, math.ceil(since + WINDOW_S - now))
    minutes = math.ceil(left_s / 60)
    when = f"Try again in {minutes} minute{'' if minutes == 1 else 's'}."
    return QuotaError(f"{sentence} {when}", left_s)

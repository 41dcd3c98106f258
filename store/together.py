"""Writes of several threads in one transaction, because each commit waits for the disk."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError, IntegrityError

Result = TypeVar("Result")
Act = Callable[[Connection], Result]


@dataclass(eq=False)
class _Request(Generic[Result]):
    """One thread's wish to write; ``woken`` when it is settled, or when its turn has come."""

    act: Act[Result]
    woken: threading.Event = field(default_factory=threading.Event)
    is_settled: bool = False
    error: BaseException | None = None
    value: Any = None

    def settle(self, value: object, error: BaseException | None = None) -> None:
        self.value, self.error, self.is_settled = value, error, True
        self.woken.set()

    def result(self) -> Result:
        if self.error is not None:
            raise self.error
        value: Result = self.value
        return value


class SharedCommits:
    """Runs what threads want to write: while one commit waits for the disk, the next ones gather.

    ``write`` opens a transaction that is committed at the end of its block. The thread that comes
    first writes for all who came meanwhile; then one of those who came after them goes on.
    """

    def __init__(
        self,
        write: Callable[[], AbstractContextManager[Connection]],
        explain: Callable[[IntegrityError], Exception],
    ) -> None:
        self._write, self._explain = write, explain
        self._lock = threading.Lock()
        self._waiting: list[_Request[Any]] = []
        self._is_led = False

    def __call__(self, act: Act[Result]) -> Result:
        """What ``act`` returns, once what it wrote is committed.

        If it raises, only what it wrote is undone, and the error is raised here. If the commit
        fails, everybody who waits for it gets that error.
        """
        mine = _Request(act)
        with self._lock:
            self._waiting.append(mine)
            leads, self._is_led = not self._is_led, True
        if not leads:
            mine.woken.wait()
        if not mine.is_settled:
            self._lead()
        return mine.result()

    def _lead(self) -> None:
        with self._lock:
            batch, self._waiting = self._waiting, []
        try:
            self._commit(batch)
        except BaseException as error:
            with self._lock:  # the database keeps these waiting in vain, too
                batch, self._waiting = batch + self._waiting, []
            for request in batch:
                request.settle(None, error)
        finally:
            self._pass_on()

    def _pass_on(self) -> None:
        """Wake the thread that writes next."""
        with self._lock:
            following = self._waiting[:1]
            self._is_led = bool(following)
        for request in following:
            request.woken.set()

    def _commit(self, batch: list[_Request[Any]]) -> None:
        with self._write() as connection:
            outcomes: list[tuple[Any, Exception | None]]
            if len(batch) == 1:  # an error ends the whole transaction
                outcomes = [(batch[0].act(connection), None)]
            else:
                outcomes = [self._apart(connection, request.act) for request in batch]
        for request, outcome in zip(batch, outcomes, strict=True):
            request.settle(*outcome)

    def _apart(self, connection: Connection, act: Act[Any]) -> tuple[Any, Exception | None]:
        """What ``act`` returns, or the error because of which its writes were undone."""
        driver: Any = connection.connection.driver_connection
        driver.execute("SAVEPOINT one_of_many")
        outcome: tuple[Any, Exception | None]
        try:
            outcome = act(connection), None
        except IntegrityError as error:
            outcome = None, self._explain(error)
        except DBAPIError:
            raise  # not this request's fault
        except Exception as error:
            outcome = None, error
        if outcome[1] is not None:
            driver.execute("ROLLBACK TO one_of_many")
        driver.execute("RELEASE one_of_many")
        return outcome

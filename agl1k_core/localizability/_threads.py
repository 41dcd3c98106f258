"""Runs tasks in threads that do not outlive Ctrl-C."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")

#: How long running tasks may go on after Ctrl-C, so that an answer that is just coming is kept.
_GRACE_S = 0.5


def run_all(tasks: Sequence[Callable[[], T]], threads: int) -> list[T]:
    """The results of tasks in their order, from several threads.

    An executor would wait for its threads when the process ends, and they for their servers. These
    are daemons: after an interrupt, no task begins, and those that run have half a second to end.

    Raises
    ------
    Exception
        The first error that a task raised.

    Examples
    --------
    >>> run_all([lambda: 1, lambda: 2], threads=2)
    [1, 2]
    """
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    for place in range(len(tasks)):
        waiting.put(place)
    done: queue.SimpleQueue[tuple[int, T | None, BaseException | None]] = queue.SimpleQueue()
    stopped = threading.Event()

    def work() -> None:
        while not stopped.is_set():
            try:
                place = waiting.get_nowait()
            except queue.Empty:
                return
            try:
                done.put((place, tasks[place](), None))
            except BaseException as error:
                done.put((place, None, error))

    workers = [threading.Thread(target=work, daemon=True) for _ in range(min(threads, len(tasks)))]
    for worker in workers:
        worker.start()
    try:
        return _collected(done, len(tasks))
    finally:
        stopped.set()
        deadline = time.monotonic() + _GRACE_S
        for worker in workers:
            worker.join(max(0.0, deadline - time.monotonic()))


def _collected(
    done: queue.SimpleQueue[tuple[int, T | None, BaseException | None]], n_tasks: int
) -> list[T]:
    results: dict[int, T] = {}
    for _ in range(n_tasks):
        place, result, error = done.get()
        if error:
            raise error
        results[place] = result  # type: ignore[assignment]
    return [results[place] for place in range(n_tasks)]

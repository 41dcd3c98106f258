"""Scoring does not hold up other work."""

from __future__ import annotations

import threading

import anyio
import pytest
from anyio import to_thread

from agl1k_core.errors import Agl1kError
from leaderboard.scoring_queue import BUSY, ScoringQueue


def test_few_at_once_while_other_threads_stay_free() -> None:
    scoring_queue, running, most = ScoringQueue(at_once=2), 0, 0
    go, lock = threading.Event(), threading.Lock()

    def score(number: int) -> int:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        go.wait(30)
        with lock:
            running -= 1
        return number

    async def play() -> list[int]:
        results: list[int] = []

        async def submit(number: int) -> None:
            results.append(await scoring_queue.run(score, number))

        to_thread.current_default_thread_limiter().total_tokens = 3
        async with anyio.create_task_group() as tasks:
            for number in range(12):
                tasks.start_soon(submit, number)
            await anyio.wait_all_tasks_blocked()
            for _ in range(3):  # would wait forever if waiting calls held the threads
                await to_thread.run_sync(int)
            go.set()
        return results

    assert sorted(anyio.run(play)) == list(range(12))
    assert most <= 2


def test_when_too_many_wait_the_next_is_told() -> None:
    scoring_queue, go = ScoringQueue(at_once=1, most_waiting=1), threading.Event()

    async def play() -> str:
        async with anyio.create_task_group() as tasks:
            for _ in range(2):
                tasks.start_soon(scoring_queue.run, go.wait, 30)
            await anyio.wait_all_tasks_blocked()
            message = await scoring_queue.queued(go.wait, str)()
            go.set()
        assert await scoring_queue.run(len, "free") == 4
        return str(message)

    assert anyio.run(play) == BUSY


def test_errors_come_through_and_free_the_place() -> None:
    scoring_queue = ScoringQueue(at_once=1, most_waiting=0)

    async def play() -> None:
        for _ in range(3):
            with pytest.raises(ZeroDivisionError):
                await scoring_queue.run(divmod, 1, 0)

    anyio.run(play)


def test_a_wrapped_function_keeps_its_name() -> None:
    def dry_run(file: str) -> str:
        raise Agl1kError(file)

    assert ScoringQueue().queued(dry_run, str).__name__ == "dry_run"

"""A repeated cause is logged once a minute."""

from __future__ import annotations

import logging

from web.repeats import EVERY_S, MOST_CAUSES, OncePerMinute


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def record(message: str, *values: object, level: int = logging.WARNING, name: str = "agl1k",
           error: Exception | None = None) -> logging.LogRecord:  # fmt: skip
    raised = (type(error), error, None) if error else None
    return logging.LogRecord(name, level, "", 0, message, values, raised)


def test_the_same_cause_passes_once_a_minute_and_is_counted() -> None:
    clock = Clock()
    passes = OncePerMinute(clock).filter
    assert passes(record("accept failed on fd=%d", 1))
    assert not any(passes(record("accept failed on fd=%d", n)) for n in range(1234))
    clock.now += EVERY_S
    again = record("accept failed on fd=%d", 7)
    assert passes(again)
    assert again.getMessage() == "accept failed on fd=7 (1,234 times more since then)"
    clock.now += EVERY_S
    last = record("accept failed on fd=%d", 8)
    assert passes(last)
    assert last.getMessage() == "accept failed on fd=8"


def test_other_causes_pass() -> None:
    passes = OncePerMinute(Clock()).filter
    assert passes(record("%s", "The table is missing"))
    assert passes(record("%s", "The disk is full"))
    assert passes(record("failed", name="asyncio"))
    assert passes(record("failed", name="uvicorn.error"))
    assert passes(record("failed", name="asyncio", error=OSError()))
    assert passes(record("failed", name="asyncio", error=ValueError()))
    assert all(passes(record("started", level=logging.INFO)) for _ in range(3))


def test_only_so_many_causes_are_remembered() -> None:
    passes = OncePerMinute(Clock()).filter
    names = [f"cause {chr(65 + n // 26)}{chr(65 + n % 26)}" for n in range(MOST_CAUSES + 1)]
    assert all(passes(record(name)) for name in names)
    assert not passes(record(names[-1]))
    assert passes(record(names[0])), "the oldest was forgotten"

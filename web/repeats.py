"""Logging a repeated cause once a minute instead of each time."""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Callable

EVERY_S = 60.0
#: Of so many causes the time is known; others push the oldest out.
MOST_CAUSES = 500
_LONGEST = 300


class OncePerMinute(logging.Filter):
    """Passes a warning only if the same was not logged within a minute.

    Warnings that differ only in numbers are the same. The next one that passes says how many
    were left out.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._lock = threading.Lock()
        self._seen: dict[str, tuple[float, int]] = {}  # when it was logged; how many since

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether to log a record."""
        if record.levelno < logging.WARNING:
            return True
        message = record.getMessage()
        n_left_out = self._left_out(_cause(record, message))
        if n_left_out is None:
            return False
        if n_left_out:
            record.msg, record.args = f"{message} ({n_left_out:,} times more since then)", None
        return True

    def _left_out(self, cause: str) -> int | None:
        """How many were left out before this one; None if this one is to be left out, too."""
        now = self._clock()
        with self._lock:
            logged, n_left_out = self._seen.get(cause, (now - EVERY_S, 0))
            if now - logged < EVERY_S:
                self._seen[cause] = (logged, n_left_out + 1)
                return None
            self._seen.pop(cause, None)
            self._seen[cause] = (now, 0)
            if len(self._seen) > MOST_CAUSES:
                del self._seen[next(iter(self._seen))]
            return n_left_out


def _cause(record: logging.LogRecord, message: str) -> str:
    raised = record.exc_info[0] if record.exc_info else None
    text = re.sub(r"\d+", "#", message[:_LONGEST])
    return f"{record.name} {raised.__name__ if raised else ''} {text}"

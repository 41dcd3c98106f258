"""The folder of uploads, whose files are soon deleted."""

from __future__ import annotations

import shutil
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import anyio

#: Long enough to fill in a form after a dry run.
KEEP_S = 3600.0
MOST_BYTES = 2**31
SWEEP_EVERY_S = 60.0


@asynccontextmanager
async def swept(folder: Path) -> AsyncIterator[None]:
    """Sweep the folder now, and every minute until the block ends."""

    async def sweep_on() -> None:
        while True:
            await anyio.to_thread.run_sync(sweep, folder)
            await anyio.sleep(SWEEP_EVERY_S)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(sweep_on)
        yield
        tasks.cancel_scope.cancel()


def sweep(
    folder: Path, *, keep_s: float = KEEP_S, most_bytes: int = MOST_BYTES, now: float | None = None
) -> None:
    """Delete what is older than ``keep_s``, and then the oldest until ``most_bytes`` are left.

    Gradio keeps a list itself, but only in memory: it is lost when the process is killed. Another
    process may share the folder, so recent files are kept.
    """
    now = time.time() if now is None else now
    room = most_bytes
    for changed_s, n_bytes, path in sorted(_entries(folder), reverse=True):
        room -= n_bytes
        if now - changed_s > keep_s or room < 0:
            _delete(path)


def _entries(folder: Path) -> list[tuple[float, int, Path]]:
    """(time of the last change, bytes, path) of each entry, including everything inside it."""
    found = []
    for path in folder.glob("*"):
        inside = [path, *path.rglob("*")] if path.is_dir() else [path]
        with suppress(OSError):
            stats = [each.lstat() for each in inside]
            changed_s = max(stat.st_ctime for stat in stats)
            found.append((changed_s, sum(stat.st_size for stat in stats), path))
    return found


def _delete(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink()

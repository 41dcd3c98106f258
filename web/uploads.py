"""What people upload is looked at and goes again: the folder of uploads, swept all the time."""

from __future__ import annotations

import os
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


def upload_into(folder: Path) -> None:
    """Have Gradio put uploads there, unless the machine's owner has chosen a place.

    Call it once a process, before the page is built.
    """
    os.environ.setdefault("GRADIO_TEMP_DIR", str(folder))


@asynccontextmanager
async def swept(folder: Path) -> AsyncIterator[None]:
    """Sweep the folder at the start, and again and again as long as the block lasts."""

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
    """Delete what is older than ``keep_s``, and the oldest of what is more than ``most_bytes``.

    Gradio keeps a list of its own in memory, which a killed process takes along; and another
    process may share the folder, so that nothing young is touched.
    """
    now = time.time() if now is None else now
    room = most_bytes
    for changed_s, n_bytes, path in sorted(_entries(folder), reverse=True):
        room -= n_bytes
        if now - changed_s > keep_s or room < 0:
            _delete(path)


def _entries(folder: Path) -> list[tuple[float, int, Path]]:
    """(time of the last change, bytes, path) of what lies in the folder, with all inside it."""
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

"""Python programs of the checkout in processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from tests.support.waiting import PATIENCE_S

ROOT = Path(__file__).parents[2]
NO_ENV: Mapping[str, str] = {}


def run_python(
    *arguments: str, env: Mapping[str, str] = NO_ENV
) -> subprocess.CompletedProcess[str]:
    """Run ``python`` in the checkout to its end; ``env`` is added to the environment."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )


def children() -> set[int]:
    """The running processes that this one started."""
    found = (int(folder.name) for folder in Path("/proc").iterdir() if folder.name.isdigit())
    return {process for process in found if _state(process)[1:] == (os.getpid(),)}


def has_opened(process: int, path: Path) -> bool:
    """Whether a process reads or writes a file."""
    with suppress(OSError):  # it has ended, or closes a file meanwhile
        folder = Path(f"/proc/{process}/fd")
        return path in [link.readlink() for link in folder.iterdir()]
    return False


def is_running(process: int) -> bool:
    """Whether a process has not ended."""
    return bool(_state(process))


def _state(process: int) -> tuple[str, int] | tuple[()]:
    """The state and the parent of a process; nothing if it has ended."""
    try:
        state, parent = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[:2]
    except (FileNotFoundError, ProcessLookupError):
        return ()
    return () if state in "ZX" else (state, int(parent))


class GuessWriter:
    """``tests.support.guess_writer``, which prints each guess once the store acknowledged it."""

    def __init__(self, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.guess_writer", *arguments],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )

    def _lines(self) -> Iterator[str]:
        assert self.process.stdout is not None
        return iter(self.process.stdout)

    def read(self, n: int) -> list[str]:
        """The next ``n`` ids."""
        ids = [line.strip() for line, _ in zip(self._lines(), range(n), strict=False)]
        assert len(ids) == n, "the writer ended early"
        return ids

    def rest(self) -> list[str]:
        """Wait for the end of the process; all ids that it printed in full until then."""
        ids = [line.strip() for line in self._lines() if line.endswith("\n")]
        self.process.wait(PATIENCE_S)
        return ids

    def kill(self) -> list[str]:
        """Kill the process; all ids that it printed in full until then."""
        self.process.kill()
        return self.rest()

"""A PostgreSQL server for tests, on a Unix socket."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg

from tests.support.waiting import PATIENCE_S, eventually


def server_binaries() -> Path | None:
    """The newest server version that Debian has installed, not on the PATH."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=_version)
    on_path = shutil.which("postgres")
    return found[-1].parent if found else Path(on_path).parent if on_path else None


def _version(binary: Path) -> int:
    return int(binary.parts[-3]) if binary.parts[-3].isdigit() else 0


class PostgresServer:
    """A server of our own on a Unix socket, with fsync on; as root it runs as ``postgres``."""

    def __init__(self, binaries: Path) -> None:
        self._binaries = binaries
        self.folder = Path(tempfile.mkdtemp(prefix="agl1k-pg-"))  # short: sockets have a limit
        self._as_user: dict[str, Any] = {}
        if os.geteuid() == 0:  # PostgreSQL refuses to run as root
            shutil.chown(self.folder, "postgres", "postgres")
            self._as_user = {"user": "postgres", "group": "postgres", "extra_groups": []}
        self._run("initdb", "-D", "data", "-U", "postgres", "--auth=trust", "--no-sync", "-EUTF8")
        self.start()

    def url(self, schema: str = "public", database: str = "postgres") -> str:
        return (
            f"postgresql://postgres@/{database}?host={self.folder}&options=-csearch_path%3D{schema}"
        )

    def start(self) -> None:
        settings = ["listen_addresses=", f"unix_socket_directories={self.folder}", "fsync=on"]
        settings += ["shared_buffers=32MB", "synchronous_commit=on"]
        options = [part for setting in settings for part in ("-c", setting)]
        self._log = (self.folder / "log").open("ab")
        self._process = subprocess.Popen(
            [self._binaries / "postgres", "-D", "data", *options],
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
            **self._as_user,
        )
        self._wait_until_ready()

    def execute(self, statement: str) -> None:
        with psycopg.connect(self._conninfo(), autocommit=True) as connection:
            connection.execute(statement.encode())

    def stop(self, with_signal: signal.Signals = signal.SIGINT) -> None:
        """SIGINT stops the server properly; SIGQUIT is like a crash: nothing more is written."""
        if self._process.poll() is None:
            self._process.send_signal(with_signal)
            self._process.wait(PATIENCE_S)
        self._log.close()

    def freeze(self) -> None:
        """Stop the server and all its processes, as if its machine hung; ``thaw`` ends that."""
        self._signal_all(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal_all(signal.SIGCONT)

    def _signal_all(self, number: signal.Signals) -> None:
        self._process.send_signal(number)  # first: it makes no more processes
        children = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children")
        for child in children.read_text().split():
            with suppress(ProcessLookupError):
                os.kill(int(child), number)

    def connected(self) -> psycopg.Connection[Any]:
        """A connection in a transaction that ends with its block."""
        return psycopg.connect(self._conninfo())

    def remove(self) -> None:
        self.stop(signal.SIGQUIT)  # fast, because none of it is needed
        shutil.rmtree(self.folder)

    def _conninfo(self) -> str:
        return f"host={self.folder} user=postgres dbname=postgres"

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [self._binaries / program, *arguments],
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            **self._as_user,
        )
        if done.returncode:
            raise RuntimeError(f"{program} failed:\n{done.stdout}\n{done.stderr}")

    def _wait_until_ready(self) -> None:
        eventually(lambda: self._process.poll() is not None or self._answers())
        assert self._process.poll() is None, (self.folder / "log").read_text()

    def _answers(self) -> bool:
        try:
            self.execute("SELECT 1")
        except psycopg.OperationalError:
            return False
        return True

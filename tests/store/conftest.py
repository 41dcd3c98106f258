from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest

from store.database import Database
from store.guesses import Guess, Round
from tests.support.fake_hub import FakeHub, serving

NOW = datetime(2026, 3, 1, 12, 30, 15, 123456, tzinfo=UTC)


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
        """SIGINT stops in order; SIGQUIT is like a crash, and writes nothing more."""
        if self._process.poll() is None:
            self._process.send_signal(with_signal)
            self._process.wait(120)
        self._log.close()

    def remove(self) -> None:
        self.stop(signal.SIGQUIT)  # fast: nothing of it is needed
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
        deadline = time.monotonic() + 120
        while True:
            try:
                return self.execute("SELECT 1")
            except psycopg.OperationalError as error:
                if self._process.poll() is not None or time.monotonic() > deadline:
                    log = (self.folder / "log").read_text()
                    raise RuntimeError(f"PostgreSQL did not start:\n{log}") from error
                time.sleep(0.05)


def _new_server() -> Iterator[PostgresServer]:
    binaries = server_binaries()
    if binaries is None:
        pytest.skip("no PostgreSQL server is installed; scripts/system_packages.sh brings it")
    server = PostgresServer(binaries)
    yield server
    server.remove()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """One server for each test process."""
    yield from _new_server()


@pytest.fixture
def own_postgres_server() -> Iterator[PostgresServer]:
    """A server that the test may crash."""
    yield from _new_server()


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A new database for the test: a file, or a schema on the real server."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'agl1k.db'}"
    server: PostgresServer = request.getfixturevalue("postgres_server")
    schema = f"test_{uuid.uuid4().hex}"
    server.execute(f"CREATE SCHEMA {schema}")
    return server.url(schema)


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    with Database(database_url) as opened:
        yield opened


@pytest.fixture
def make_guess() -> Callable[..., Guess]:
    """A valid guess with any field replaced."""

    def make(**changed: Any) -> Guess:
        values: dict[str, Any] = {
            "guess_id": uuid.uuid4().hex,
            "round_id": "round-1",
            "position": 0,
            "player_id": "player-1",
            "nickname": "Ada Ł. 🌍",
            "benchmark": "demo",
            "benchmark_hash": "hash-1",
            "clip_key": "clip-1",
            "action": "guess",
            "latitude": -17.7134,
            "longitude": 178.065,
            "distance_km": 9312.4567,
            "score": 9.75,
            "seconds": 12.25,
            "mode": "free",
            "app_version": "0.1.0",
            "created_utc": NOW,
        }
        return Guess(**values | changed)

    return make


@pytest.fixture
def make_round() -> Callable[..., Round]:
    """A valid round with any field replaced."""

    def make(**changed: Any) -> Round:
        values: dict[str, Any] = {
            "round_id": uuid.uuid4().hex,
            "player_id": "player-1",
            "benchmark": "demo",
            "benchmark_hash": "hash-1",
            "mode": "free",
            "label": "",
            "clip_keys": ("a", "b", "c", "d", "e"),
            "filters": {"speech": True, "continent": "Africa"},
            "timer_s": 60,
            "position": 0,
            "clip_started_utc": None,
            "created_utc": NOW,
        }
        return Round(**values | changed)

    return make


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    """A fake Hub for the test, served on this machine."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_XET", True)
    with serving(FakeHub()) as started:
        yield started

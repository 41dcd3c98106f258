"""Full, read-only and damaged disks: clear messages, and no answer is lost."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

import app as app_module
from store.database import Database
from store.guesses import GuessStore
from tests.support.app_help import Player, app_process
from tests.support.fake_hub import WRITE, FakeHub
from tests.support.hub_help import ids_on
from tests.support.waiting import eventually

Start = Callable[[Path], str]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 12 MB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    wanted = ["mount", "-t", "tmpfs", "-o", "size=12m", "tmpfs", str(disk)]
    with suppress(OSError):
        if subprocess.run(wanted, capture_output=True, check=False).returncode == 0:
            yield disk
            subprocess.run(["umount", "-l", str(disk)], check=True)
            return
    pytest.skip("this user may not mount a disk in memory")


def published_to(hub: FakeHub, database: Path) -> dict[str, str]:
    return {
        "AGL1K_DATABASE": f"sqlite:///{database}", "AGL1K_HUB_DATASET": "tester/plays",
        "AGL1K_HUB_TOKEN": WRITE, "HF_ENDPOINT": hub.endpoint, "AGL1K_HUB_INTERVAL_S": "0.2",
    }  # fmt: skip


def fill(disk: Path) -> Path:
    filling = disk / "filling"
    with filling.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(b"x" * 4096)
    return filling


def test_answers_are_refused_while_the_disk_is_full(
    tmp_path: Path, small_disk: Path, hub: FakeHub
) -> None:
    env = published_to(hub, small_disk / "agl1k.db")
    with app_process(tmp_path / "app", env) as running:
        player = Player(running.url)
        player.open()
        player.guess(1, 2)
        player.go_on()
        filling = fill(small_disk)
        for _ in range(2):
            player.guess(3, 4)
            assert "cannot read or store anything at the moment" in player.message
            assert "agl1k.db" not in player.message
        ready = httpx.get(f"{running.url}/readyz")
        assert (ready.status_code, running.answers("/healthz")) == (503, True)
        assert "the database cannot be written" in ready.text
        assert "agl1k.db could not grow: the disk is full" in running.said()
        filling.unlink()
        player.guess(3, 4)
        assert player.message == ""
        assert running.answers("/readyz")
        eventually(lambda: "tester/plays" in hub.repos and len(ids_on(hub)) == 2)
        assert "Traceback" not in running.said()
    with Database(f"sqlite:///{small_disk / 'agl1k.db'}") as database:
        stored = GuessStore(database).of_benchmark("demo")
    assert sorted(guess.guess_id for guess in stored) == ids_on(hub)


@pytest.fixture
def start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Start:
    """Start the app with a database that it cannot use; returns its error output."""

    def start(database: Path) -> str:
        monkeypatch.setenv("AGL1K_DATA", str(tmp_path / "data"))
        monkeypatch.setenv("AGL1K_DATABASE", f"sqlite:///{database}")
        assert app_module.main(["--host", "127.0.0.1", "--port", "0"]) == 1
        return capsys.readouterr().err

    return start


def test_a_read_only_disk_is_reported_at_the_start(start: Start, small_disk: Path) -> None:
    Database(f"sqlite:///{small_disk / 'agl1k.db'}").close()
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    before = (small_disk / "agl1k.db").read_bytes()
    said = start(small_disk / "agl1k.db")
    assert "agl1k.db cannot be" in said
    assert "Traceback" not in said
    assert (small_disk / "agl1k.db").read_bytes() == before


def test_a_full_disk_is_reported_at_the_start(start: Start, small_disk: Path) -> None:
    fill(small_disk)
    said = start(small_disk / "agl1k.db")
    assert "the disk is full" in said
    assert "Traceback" not in said


def test_a_damaged_file_is_reported_and_not_changed(start: Start, tmp_path: Path) -> None:
    file = tmp_path / "agl1k.db"
    Database(f"sqlite:///{file}").close()
    content = bytearray(file.read_bytes())
    content[4096:12288] = os.urandom(8192)
    file.write_bytes(content)
    said = start(file)
    assert "agl1k.db is damaged, or is not an SQLite database. Nothing was changed." in said
    assert "Traceback" not in said
    assert file.read_bytes() == content

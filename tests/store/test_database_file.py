"""The file of the database: only its owner reads it, and nothing unfit is taken for a new one."""

from __future__ import annotations

import os
import shutil
import signal
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from agl1k_core.errors import Agl1kError, UnavailableError
from store.database import Database
from store.guesses import Guess, GuessStore
from tests.support.processes import GuessWriter

MakeGuess = Callable[..., Guess]


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def files(path: Path) -> list[Path]:
    return [path, *(path.with_name(path.name + suffix) for suffix in ("-wal", "-shm"))]


def test_only_the_owner_reads_what_is_stored(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with Database(f"sqlite:///{tmp_path / 'a.db'}"):
            assert [mode(file) for file in files(tmp_path / "a.db")] == [0o600] * 3
    finally:
        os.umask(before)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.db"]


def test_a_file_of_an_earlier_version_is_closed_to_others(
    tmp_path: Path, make_guess: MakeGuess
) -> None:
    file = tmp_path / "a.db"
    with Database(f"sqlite:///{file}") as database:
        GuessStore(database).record(make_guess())
        for path in files(file):
            path.chmod(0o644)
        with Database(f"sqlite:///{file}") as again:
            assert GuessStore(again).counts("demo").guesses == 1
            assert [mode(path) for path in files(file)] == [0o600] * 3


def test_an_emptied_file_is_refused_and_its_log_kept(tmp_path: Path, make_guess: MakeGuess) -> None:
    file, wal, _ = files(tmp_path / "a.db")
    with Database(f"sqlite:///{file}") as database:
        GuessStore(database).record(make_guess())
        shutil.copy(wal, tmp_path / "kept")
    file.write_bytes(b"")
    shutil.move(tmp_path / "kept", wal)
    log = wal.read_bytes()
    with pytest.raises(Agl1kError, match=r"a\.db is an empty file \(0 bytes\).*Restore a backup"):
        Database(f"sqlite:///{file}")
    assert (file.read_bytes(), wal.read_bytes()) == (b"", log)


@pytest.mark.parametrize("size", [1, 100, 4096, 40_960])
def test_a_file_of_zeros_is_refused(tmp_path: Path, size: int) -> None:
    file = tmp_path / "a.db"
    file.write_bytes(bytes(size))
    with pytest.raises(Agl1kError, match=r"a\.db is damaged, or is not an SQLite database"):
        Database(f"sqlite:///{file}")
    assert file.read_bytes() == bytes(size)


@pytest.mark.server
def test_a_deleted_file_is_not_replaced_while_its_log_is_there(tmp_path: Path) -> None:
    file, wal, _ = files(tmp_path / "a.db")
    writer = GuessWriter(f"sqlite:///{file}")
    writer.read(20)
    writer.kill()
    assert writer.process.returncode == -signal.SIGKILL
    file.unlink()
    log = wal.read_bytes()
    with pytest.raises(Agl1kError, match=r"a\.db is missing, but its log a\.db-wal is there"):
        Database(f"sqlite:///{file}")
    assert wal.read_bytes() == log
    assert not file.exists()


def delete(file: Path) -> None:
    file.unlink()


def replace(file: Path) -> None:
    shutil.copy(file, file.with_suffix(".new"))
    file.with_suffix(".new").replace(file)


def delete_log(file: Path) -> None:
    files(file)[1].unlink()


@pytest.mark.parametrize("spoil", [delete, replace, delete_log])
def test_nothing_is_acknowledged_that_the_next_start_would_not_find(
    tmp_path: Path, make_guess: MakeGuess, spoil: Callable[[Path], None]
) -> None:
    file = tmp_path / "a.db"
    with Database(f"sqlite:///{file}") as database:
        store = GuessStore(database)
        store.record(make_guess(position=0))
        spoil(file)
        with pytest.raises(UnavailableError, match=r"a\.db was deleted, moved or replaced"):
            store.record(make_guess(position=1))
        with pytest.raises(UnavailableError):
            database.check_writable()


def test_a_full_disk_leaves_nothing_behind(tmp_path: Path) -> None:
    import resource

    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limit[1]))
        with pytest.raises(Agl1kError), suppress(FileNotFoundError):
            Database(f"sqlite:///{tmp_path / 'a.db'}")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        signal.signal(signal.SIGXFSZ, ignored)
    assert not list(tmp_path.iterdir())
    Database(f"sqlite:///{tmp_path / 'a.db'}").close()

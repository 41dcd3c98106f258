"""Uploads are deleted again."""

from __future__ import annotations

import time
from pathlib import Path

import anyio
import pytest

from web import uploads


def upload(folder: Path, name: str, content: bytes = b"mine") -> Path:
    path = folder / f"hash-{name}" / f"{name}.json"
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    return path


def test_old_uploads_are_deleted_and_recent_ones_kept(tmp_path: Path) -> None:
    path, loose = upload(tmp_path, "a"), tmp_path / "loose"
    loose.write_bytes(b"x")
    uploads.sweep(tmp_path, now=time.time() + uploads.KEEP_S - 60)
    assert path.read_bytes() == b"mine"
    uploads.sweep(tmp_path, now=time.time() + uploads.KEEP_S + 60)
    assert list(tmp_path.iterdir()) == []


def test_the_oldest_uploads_are_deleted_if_there_are_too_many_bytes(tmp_path: Path) -> None:
    paths = []
    for number in range(3):
        paths.append(upload(tmp_path, f"{number}", b"x" * 100_000))
        time.sleep(0.02)
    uploads.sweep(tmp_path, most_bytes=250_000)
    assert [path.exists() for path in paths] == [False, True, True]


def test_links_out_of_the_folder_are_not_followed(tmp_path: Path) -> None:
    precious = upload(tmp_path / "elsewhere", "precious")
    folder = tmp_path / "uploads"
    folder.mkdir()
    (folder / "link").symlink_to(precious.parent)
    uploads.sweep(folder, now=time.time() + 2 * uploads.KEEP_S)
    assert precious.exists()
    assert not (folder / "link").exists()


def test_a_missing_folder_is_no_error(tmp_path: Path) -> None:
    uploads.sweep(tmp_path / "none")


def test_it_sweeps_at_the_start_and_ends_with_the_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    swept: list[Path] = []
    monkeypatch.setattr(uploads, "sweep", swept.append)
    monkeypatch.setattr(uploads, "SWEEP_EVERY_S", 0.01)

    async def serve() -> None:
        async with uploads.swept(tmp_path):
            while len(swept) < 3:
                await anyio.sleep(0.01)

    anyio.run(serve)
    assert set(swept) == {tmp_path}

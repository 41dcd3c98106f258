"""Uploads are bounded as they arrive, named by secrets, and deleted again."""

from __future__ import annotations

import io
import os
import shutil
import time
from pathlib import Path
from typing import Any

import anyio
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from agl1k_core.errors import Agl1kError
from web import uploads
from web.uploads import Uploads, is_upload, upload_router


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
    monkeypatch.setattr(uploads, "sweep", lambda folder, **_: swept.append(folder))
    monkeypatch.setattr(uploads, "SWEEP_EVERY_S", 0.01)

    async def serve() -> None:
        async with Uploads(tmp_path, 1).swept():
            while len(swept) < 3:
                await anyio.sleep(0.01)

    anyio.run(serve)
    assert set(swept) == {tmp_path}


# --- as they arrive -----------------------------------------------------------------------------


class Site:
    """An app that takes uploads of up to 10,000 bytes, and 100,000 in all."""

    def __init__(self, folder: Path) -> None:
        self.uploads = Uploads(folder, 10_000, 100_000)
        app = FastAPI()
        app.include_router(upload_router(self.uploads, "/upload"))
        self.http = TestClient(app)

    def upload(self, content: bytes, name: str = "a.json") -> Any:
        return self.http.post("/upload", files={"files": (name, content)})

    def n_bytes(self) -> int:
        return sum(path.stat().st_size for path in self.uploads.folder.rglob("*.*"))


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path / "uploads")


def test_an_upload_is_found_by_its_name(site: Site) -> None:
    [first], [second] = (site.upload(b"mine").json() for _ in range(2))
    assert first != second, "the same content does not reveal the name"
    assert site.uploads.find(first).read_bytes() == b"mine"
    assert site.uploads.find(first).name == "a.json"
    assert uploads.is_uploaded(str(site.uploads.find(first)))
    shutil.rmtree(site.uploads.find(first).parent)
    with pytest.raises(Agl1kError, match=r"no longer on the server.*Upload it again"):
        site.uploads.find(first)


def test_the_page_is_told_that_an_upload_needs_no_progress(site: Site) -> None:
    response = site.http.get("/upload_progress", params={"upload_id": "any"})
    assert response.headers["content-type"].startswith("text/event-stream")
    assert response.text == 'data: {"msg": "done"}\n\n'


@pytest.mark.parametrize(
    "name",
    ["../../etc/passwd", "/a", "", "..", ".x", "a/b", "x" * 300, "é ü.json", "\\\\host\\c.json",
     "a\nb", "-rf", "con.json"],
)  # fmt: skip
def test_no_name_leads_out_of_the_folder(site: Site, name: str) -> None:
    upload = site.uploads.keep(name, 1, io.BytesIO(b"x"))
    assert is_upload(upload)
    path = site.uploads.find(upload).resolve()
    assert path.parent.parent == site.uploads.folder.resolve()


@pytest.mark.parametrize(
    "path",
    ["", "a.json", "/etc/passwd", "../" + "0" * 32 + "/a", "0" * 32, "0" * 32 + "/",
     "0" * 32 + "/..", "0" * 32 + "/a/b", "0" * 31 + "/a", "0" * 32 + "/a\0",
     "0" * 32 + "/\n", "A" * 32 + "/a"],
)  # fmt: skip
def test_other_paths_are_no_uploads(site: Site, path: str) -> None:
    assert not is_upload(path)
    with pytest.raises(Agl1kError, match="no longer on the server"):
        site.uploads.find(path)


def test_all_uploads_together_are_bounded_at_any_time(site: Site) -> None:
    for number in range(30):
        assert site.upload(b"x" * 9_000, f"{number}.json").status_code == 200
        assert site.n_bytes() <= 100_000
    assert site.n_bytes() >= 50_000
    names = {path.name for path in site.uploads.folder.rglob("*.json")}
    assert "29.json" in names, "the newest is kept"


def test_a_file_that_is_too_large_is_refused(site: Site) -> None:
    answer = site.upload(b"x" * 10_001)
    assert (answer.status_code, site.n_bytes()) == (413, 0)
    assert answer.text == "The file is too large: the limit is 0 MB."


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        ({"content": b"x"}, "Upload one file"), ({"data": {"files": "x"}}, "Upload one file"),
        ({"files": [("files", ("a", b"1")), ("files", ("b", b"2"))]}, "Too many files"),
        ({"content": b"--", "headers": {"Content-Type": "multipart/form-data"}}, "boundary"),
    ],
)  # fmt: skip
def test_what_is_not_one_file_is_refused(site: Site, sent: dict[str, Any], message: str) -> None:
    answer = site.http.post("/upload", **sent)
    assert answer.status_code == 400
    assert message in answer.text
    assert site.n_bytes() == 0


def test_what_arrives_is_bounded_while_it_arrives(site: Site) -> None:
    answer = site.upload(b"x" * 110_000)
    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "60"
    assert site.upload(b"x").status_code == 200, "the room is given back"


def test_only_so_many_arrive_at_once(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "MOST_AT_ONCE", 0)
    answer = site.upload(b"x")
    assert answer.status_code == 503
    assert "Try again in a minute" in answer.text


def test_uploads_are_slowed_down_together(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr(uploads, "BYTES_PER_S", 10)
    monkeypatch.setattr("web.uploads.asyncio.sleep", sleep)
    site.upload(b"x" * 500)
    site.upload(b"x" * 500)
    assert waited[-1] > waited[0] > 40


class Copies:
    """What servers share, in memory."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}
        self.accepts = True

    def keep(self, upload: str, data: bytes) -> bool:
        if self.accepts:
            self.kept[upload] = data
        return self.accepts

    def find(self, upload: str) -> bytes | None:
        return self.kept.get(upload)

    def sweep(self) -> None:
        self.kept.clear()


def test_a_step_may_reach_another_server(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    copies = Copies()
    here, there = (Uploads(tmp_path / name, 10_000, shared=copies) for name in ("a", "b"))
    upload = here.keep("a.json", 4, io.BytesIO(b"mine"))
    for _ in range(2):
        assert there.find(upload).read_bytes() == b"mine"
        copies.kept.clear()  # the second time, it is in the folder
    copies.accepts = False
    alone = here.keep("b.json", 4, io.BytesIO(b"here"))
    assert here.find(alone).read_bytes() == b"here"
    with pytest.raises(Agl1kError, match="its proxy must send each visitor to the same one"):
        there.find(alone)
    assert "event=upload_not_shared" in caplog.text


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to another user")
def test_the_folder_of_another_user_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    os.chown(tmp_path, 54321, -1)
    with pytest.raises(Agl1kError, match=r"belongs to another user. Set AGL1K_UPLOADS"):
        Uploads(tmp_path, 1)

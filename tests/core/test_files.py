"""Files written whole or not at all, and their hashes."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agl1k_core.errors import Agl1kError
from agl1k_core.files import replacing, sha256_of_file, temporary_folder, write_atomically


@given(st.binary() | st.text(st.characters(codec="utf-8")))
def test_what_is_written_is_read_and_hashed(
    tmp_path_factory: pytest.TempPathFactory, content: bytes | str
) -> None:
    path = tmp_path_factory.mktemp("written") / "file"
    write_atomically(path, content)
    data = content.encode() if isinstance(content, str) else content
    assert path.read_bytes() == data
    assert sha256_of_file(path) == hashlib.sha256(data).hexdigest()
    assert [*path.parent.iterdir()] == [path]


def test_a_write_that_breaks_off_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")

    def break_off() -> None:
        with replacing(path) as part:
            part.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        break_off()
    assert path.read_text() == "old"
    assert [*tmp_path.iterdir()] == [path]


def test_a_folder_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        write_atomically(tmp_path / "missing" / "file", "text")


def test_without_a_temporary_folder_the_message_names_tmpdir(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def none() -> str:
        raise FileNotFoundError(2, "No usable temporary directory found")

    monkeypatch.setattr("tempfile.gettempdir", none)
    with pytest.raises(Agl1kError, match="Set TMPDIR to one that can"):
        temporary_folder()

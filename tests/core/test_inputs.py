"""Files as people give them: packed, damaged, without end, from pipes and standard input."""

from __future__ import annotations

import gzip
import io
import os
import sys
import threading
import tracemalloc
import zipfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agl1k_core.inputs import (
    UnreadableFileError,
    read_file,
    read_unpacked,
    standard_input_as_file,
    unpacked,
)

MB = 2**20
posix = pytest.mark.skipif(os.name != "posix", reason="other systems have no such files")


def zipped(files: dict[str, bytes], *, method: int = zipfile.ZIP_DEFLATED, flags: int = 0) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    data = bytearray(made.getvalue())
    if flags:
        data[6] |= flags
        data[data.rindex(b"PK\x01\x02") + 8] |= flags
    return bytes(data)


@given(st.binary(max_size=3000), st.sampled_from(["gzip", "members", "zip", "stored", "lzma"]))
def test_what_is_packed_comes_out(content: bytes, how: str) -> None:
    half = len(content) // 2
    packed = {
        "gzip": lambda: gzip.compress(content),
        "members": lambda: gzip.compress(content[:half]) + gzip.compress(content[half:]),
        "zip": lambda: zipped({"a.json": content}),
        "stored": lambda: zipped({"a.json": content}, method=zipfile.ZIP_STORED),
        "lzma": lambda: zipped({"a.json": content}, method=zipfile.ZIP_LZMA),
    }[how]()
    assert unpacked(packed) == content


@given(st.binary(max_size=300))
def test_anything_else_stays_as_it_is(content: bytes) -> None:
    if not content.startswith((b"\x1f\x8b", b"PK\x03\x04", b"PK\x05\x06")):
        assert unpacked(content) is content


def test_what_a_mac_adds_to_an_archive_does_not_count() -> None:
    files = {"p/": b"", "p/a.csv": b"key", "__MACOSX/p/._a.csv": b"x", "p/.DS_Store": b"x"}
    assert unpacked(zipped(files)) == b"key"


GZIPPED = gzip.compress(b"key,latitude\n" * 50, mtime=0)
ZIPPED = zipped({"a.csv": b"key,latitude\n" * 50})


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (GZIPPED[:-9], "The gzip file has no end"),
        (GZIPPED[:20] + b"\0\0\0" + GZIPPED[23:], "The gzip file is damaged"),
        (GZIPPED[:-6] + b"\0" * 6, "The gzip file is damaged"),
        (ZIPPED[:-9], "damaged ZIP archive"),
        (ZIPPED[:40] + b"\xff\xff" + ZIPPED[42:], "damaged ZIP archive"),
        (b"PK\x03\x04....", "damaged ZIP archive"),
        (zipped({}), "with 0 files"),
        (zipped({"b\x1b[31m.csv": b"", "a.csv": b""}), r"with 2 files: b\\x1b\[31m.csv, a.csv"),
        (zipped(dict.fromkeys("abcde", b"x")), "with 5 files: a, b, c, …"),
        (zipped({"a.csv": b"key"}, flags=1), "has a password"),
    ],
    ids=[
        "cut gzip", "damaged gzip", "wrong size", "cut zip", "damaged zip", "no zip", "empty zip",
        "two files", "five files", "password",
    ],
)  # fmt: skip
def test_why_a_packed_file_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(UnreadableFileError, match=message) as refused:
        unpacked(data)
    assert "\x1b" not in str(refused.value)


@given(st.sampled_from([GZIPPED, ZIPPED]), st.integers(4), st.binary(min_size=1, max_size=4))
def test_damage_raises_no_other_error(data: bytes, place: int, damage: bytes) -> None:
    at = 4 + place % (len(data) - 4)
    with suppress(UnreadableFileError):
        unpacked(data[:at] + damage + data[at + len(damage) :])


@pytest.mark.parametrize("kind", ["gzip", "zip"])
def test_a_bomb_does_not_fill_the_memory(kind: str) -> None:
    zeros = bytes(64 * MB)
    bomb = gzip.compress(zeros) if kind == "gzip" else zipped({"a": zeros})
    del zeros
    tracemalloc.start()
    with pytest.raises(UnreadableFileError, match="contains more than 4 MB"):
        unpacked(bomb, 4 * MB)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 16 * MB


@pytest.mark.slow
def test_without_a_limit_the_growth_is_bounded() -> None:
    with pytest.raises(UnreadableFileError, match="contains more than 256 MB"):
        unpacked(gzip.compress(bytes(257 * MB), 1))


def test_a_file_is_read_up_to_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"12345")
    assert read_file(path, 5) == b"12345"
    with pytest.raises(UnreadableFileError, match="the limit is"):
        read_file(path, 4)
    path.write_bytes(gzip.compress(b"12345"))
    assert read_unpacked(path) == b"12345"


@posix
def test_what_has_no_end_is_not_opened(tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    for path, message in (
        (Path("/dev/zero"), "This is a device"),
        (loop, "Too many levels of symbolic links"),
        (tmp_path, "Is a directory"),
        (tmp_path / "none", "No such file"),
        (tmp_path / ("x" * 300), "File name too long"),
    ):
        with pytest.raises(UnreadableFileError, match=message):
            read_file(path)


@posix
def test_a_pipe_is_read_if_a_program_writes_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    monkeypatch.setattr("agl1k_core.inputs.PIPE_S", 0.05)
    with pytest.raises(UnreadableFileError, match="No program writes to this pipe"):
        read_file(pipe)
    monkeypatch.undo()
    content = b"x" * 300_000  # more than a pipe holds
    writer = threading.Thread(target=pipe.write_bytes, args=(content,))
    writer.start()
    assert read_file(pipe) == content
    writer.join()


class _Stdin(io.TextIOWrapper):
    def __init__(self, content: bytes) -> None:
        super().__init__(io.BytesIO(content))


def test_standard_input_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", _Stdin(gzip.compress(b"key")))
    assert read_unpacked(Path("-")) == b"key"
    with pytest.raises(UnreadableFileError, match="read already"):
        read_file(Path("-"))
    monkeypatch.setattr(sys, "stdin", _Stdin(b"12345"))
    with pytest.raises(UnreadableFileError, match="which is the limit"):
        read_file(Path("-"), 4)


def test_a_terminal_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = _Stdin(b"")
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    for stdin in (terminal, None):
        monkeypatch.setattr(sys, "stdin", stdin)
        with pytest.raises(UnreadableFileError, match="Standard input is a terminal"):
            read_file(Path("-"))


def test_standard_input_becomes_a_file_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", _Stdin(b"sound"))
    with standard_input_as_file() as path:
        assert path.read_bytes() == b"sound"
    assert not path.exists()

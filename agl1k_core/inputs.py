"""Reads files as people give them: packed, from a pipe, or ``-`` for standard input."""

from __future__ import annotations

import io
import os
import shutil
import stat
import sys
import tempfile
import time
import weakref
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, BinaryIO

from agl1k_core.delimited import encoding_of
from agl1k_core.errors import Agl1kError, Problem
from agl1k_core.file_names import shown

#: A limit against mistakes; servers pass their own.
MAX_BYTES = 4 * 2**30
#: A packed file may grow to this size, or to so many times its own, if that is more.
_UNPACKED_BYTES, _UNPACKED_TIMES = 2**28, 100
_GZIP, _ZIP = b"\x1f\x8b", (b"PK\x03\x04", b"PK\x05\x06")
_SIGNATURES = {
    b"PK\x03\x04": "a ZIP archive inside another",
    _GZIP: "a gzip file inside another",
    b"BZh": "a bzip2 archive",
    b"\xfd7zXZ": "an xz archive",
    b"7z\xbc\xaf": "a 7-Zip archive",
    b"\x28\xb5\x2f\xfd": "a zstd archive",
    b"Rar!": "a RAR archive",
    b"%PDF": "a PDF file",
    b"SQLite format 3": "an SQLite database",
    b"PAR1": "a Parquet file",
}
#: How long a named pipe may have no program at its other end.
PIPE_S = 3.0


class UnreadableFileError(Agl1kError):
    """A file that cannot be read, with the problem because of which."""

    def __init__(self, found: str, todo: str, line: int | None = None) -> None:
        self.problem = Problem(found, todo, line=line)
        super().__init__(str(self.problem))


_SPECIAL = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def kind_of_special(path: Path) -> str:
    """What a path leads to if that is no file or folder, as ``a pipe``; raises ``OSError``.

    Opening a pipe may wait forever, and a device may have no end.
    """
    return _SPECIAL.get(stat.S_IFMT(path.stat().st_mode), "")


def is_standard_input(path: Path | str) -> bool:
    """Whether the path is ``-``."""
    return str(path) == "-"


def name_of(path: Path) -> str:
    """The name of a file for messages."""
    return "Standard input" if is_standard_input(path) else path.name


def read_file(path: Path, max_bytes: int = MAX_BYTES) -> bytes:
    """The content of a file as it is; ``-`` is standard input.

    Raises
    ------
    UnreadableFileError
        If it is larger than ``max_bytes`` or not to be read.

    Examples
    --------
    >>> read_file(Path("nothing.csv"))
    Traceback (most recent call last):
    agl1k_core.inputs.UnreadableFileError: The file cannot be opened: No such file or directory. ...
    """
    if is_standard_input(path):
        return _bounded(_standard_input(), max_bytes)
    try:
        special = kind_of_special(path)
        if special == "a pipe":
            return _read_pipe(path, max_bytes)
        if special:
            raise UnreadableFileError(f"This is {special}, not a file", "Give a file")
        check_size(path.stat().st_size, max_bytes)
        with path.open("rb") as file:
            return _bounded(file, max_bytes)
    except OSError as error:
        found = f"The file cannot be opened: {error.strerror or 'it cannot be read'}"
        raise UnreadableFileError(found, "Check the path") from None


def read_unpacked(path: Path) -> bytes:
    """The content of a file, unpacked if it is gzip or a ZIP archive with one file.

    ``-`` is standard input. Raises ``UnreadableFileError``.
    """
    return unpacked(read_file(path))


def check_size(n_bytes: int, max_bytes: int) -> None:
    """Raise ``UnreadableFileError`` for a file that is too large."""
    if n_bytes > max_bytes:
        raise UnreadableFileError(
            f"The file has {n_bytes / 2**20:.1f} MB, the limit is {max_bytes / 2**20:g} MB",
            "Leave out what is not needed, such as the question of each clip",
        )


def _bounded(file: BinaryIO | IO[bytes], max_bytes: int) -> bytes:
    data = file.read(max_bytes + 1)
    if len(data) > max_bytes:
        found = f"The file has more than {max_bytes / 2**20:g} MB, which is the limit"
        raise UnreadableFileError(found, "Leave out what is not needed")
    return data


_used: weakref.WeakSet[object] = weakref.WeakSet()


def _standard_input() -> BinaryIO:
    """Standard input, for the first and only time."""
    stream = sys.stdin
    if stream is None or stream.isatty():
        raise UnreadableFileError("Standard input is a terminal", "Pipe a file into the command")
    if stream in _used:
        raise UnreadableFileError("Standard input was read already", "Give - for one file only")
    _used.add(stream)
    return stream.buffer


def _read_pipe(path: Path, max_bytes: int) -> bytes:
    """What another program writes to a named pipe; raises ``OSError``."""
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as pipe:  # noqa: PTH123
        first = _first_of_pipe(pipe.fileno())
        os.set_blocking(pipe.fileno(), True)
        return first + _bounded(pipe, max_bytes - len(first))


def _first_of_pipe(descriptor: int) -> bytes:
    """The first bytes, or none if a program is there but has written nothing yet."""
    deadline = time.monotonic() + PIPE_S
    while time.monotonic() < deadline:
        try:
            first = os.read(descriptor, 1)
        except BlockingIOError:
            return b""
        if first:
            return first
        time.sleep(0.02)
    raise UnreadableFileError("No program writes to this pipe", "Give a file, or - and pipe it")


_FOLDER, _STANDARD_INPUT = "agl1k-", "standard-input"


def as_given(path: Path) -> Path:
    """``-`` for the file of ``standard_input_as_file``; other paths as they are."""
    is_copy = path.name == _STANDARD_INPUT and path.parent.name.startswith(_FOLDER)
    return Path("-") if is_copy else path


@contextmanager
def standard_input_as_file() -> Iterator[Path]:
    """A temporary file with what is on standard input; raises ``UnreadableFileError``."""
    with tempfile.TemporaryDirectory(prefix=_FOLDER) as folder:
        path = Path(folder, _STANDARD_INPUT)
        try:
            with path.open("wb") as file:
                shutil.copyfileobj(_standard_input(), file)
        except OSError as error:
            found = f"Standard input cannot be kept in {shown(folder)}: {error.strerror}"
            raise UnreadableFileError(found, "Free some space, or set TMPDIR") from None
        yield path


def check_text(data: bytes, todo: str) -> None:
    """Raise ``UnreadableFileError`` for what is no text, with ``todo`` as what to send instead."""
    kind = next((kind for mark, kind in _SIGNATURES.items() if data.startswith(mark)), "")
    kind = "a tar archive" if data[257:262] == b"ustar" else kind
    if kind:
        raise UnreadableFileError(f"The file is {kind}", f"Unpack or export it. {todo}")
    if encoding_of(data).startswith("utf-8") and b"\x00" in data:
        line = data.count(b"\n", 0, data.index(b"\x00")) + 1
        raise UnreadableFileError("The file is binary: it contains a zero byte", todo, line)


# --- unpacking -----------------------------------------------------------------------------------


def unpacked(data: bytes, max_bytes: int = MAX_BYTES) -> bytes:
    """What a gzip file or a ZIP archive with one file contains; anything else as it is.

    Parameters
    ----------
    data
        The content of a file.
    max_bytes
        The limit for what it contains. Another limit of 256 MB or 100 times the packed size,
        whichever is more, stops files that are made to fill the memory.

    Raises
    ------
    UnreadableFileError
        If the content is too large or damaged, or an archive has several files or a password.

    Examples
    --------
    >>> import gzip
    >>> unpacked(gzip.compress(b"key,latitude,longitude"))
    b'key,latitude,longitude'
    """
    most = min(max_bytes, max(_UNPACKED_BYTES, _UNPACKED_TIMES * len(data)))
    if data.startswith(_GZIP):
        return _gunzipped(data, most)
    if data.startswith(_ZIP):
        return _unzipped(data, most)
    return data


def _gunzipped(data: bytes, most: int) -> bytes:
    """The content of all members (RFC 1952, section 2.2); what follows them is ignored."""
    parts: list[bytes] = []
    size = 0
    while data.startswith(_GZIP):
        unpacker = zlib.decompressobj(wbits=31)
        try:
            parts.append(unpacker.decompress(data, most + 1 - size))
        except zlib.error:
            raise UnreadableFileError("The gzip file is damaged", "Pack it again") from None
        size += len(parts[-1])
        if size > most:
            raise _too_large(most)
        if not unpacker.eof:
            raise UnreadableFileError("The gzip file has no end", "Fetch or pack it again")
        data = unpacker.unused_data
    return b"".join(parts)


def _unzipped(data: bytes, most: int) -> bytes:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            inside = _only_file(archive)
            with archive.open(inside) as file:
                content = file.read(most + 1)
    except UnreadableFileError:
        raise
    except RuntimeError:  # also NotImplementedError
        found = "The ZIP archive has a password, or is packed in a way that is not supported"
        raise UnreadableFileError(found, "Unpack it first") from None
    except Exception:  # damaged archives raise errors of many kinds
        found = "The file is a damaged ZIP archive (or Office file)"
        raise UnreadableFileError(found, "Pack it again, or send it unpacked") from None
    if len(content) > most:
        raise _too_large(most)
    return content


def _only_file(archive: zipfile.ZipFile) -> zipfile.ZipInfo:
    """The one file of an archive, besides what a Mac adds."""
    files = [
        entry
        for entry in archive.infolist()
        if not entry.is_dir()
        and not entry.filename.startswith("__MACOSX/")
        and not entry.filename.endswith(".DS_Store")
    ]
    if len(files) != 1:
        names = ", ".join(shown(entry.filename)[:60] for entry in files[:3])
        listed = f": {names}{', …' if len(files) > 3 else ''}" if files else ""
        raise UnreadableFileError(
            f"The file is a ZIP archive (or an Office file) with {len(files)} files{listed}",
            "Send one file, packed or not",
        )
    return files[0]


def _too_large(most: int) -> UnreadableFileError:
    found = f"The packed file contains more than {most / 2**20:.0f} MB, which is the limit"
    return UnreadableFileError(found, "Leave out what is not needed, or send it unpacked")

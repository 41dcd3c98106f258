"""Writes files atomically, appends to them durably, reads their lines, and hashes them."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agl1k_core.errors import Agl1kError
from agl1k_core.file_names import shown


def temporary_folder() -> Path:
    """The folder for temporary files; raises ``Agl1kError`` if none can be written.

    Examples
    --------
    >>> temporary_folder().is_dir()
    True
    """
    try:
        return Path(tempfile.gettempdir())
    except FileNotFoundError:
        raise Agl1kError(
            "No folder for temporary files can be written. Set TMPDIR to one that can. In a "
            "container with a read-only root, mount one: docker run --read-only --tmpfs /tmp …"
        ) from None


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield the path of a new file beside ``path``, which it replaces when the block ends.

    If the block raises, ``path`` is unchanged and the new file is removed. The folder must exist.
    Raises ``OSError``.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "numbers.txt")
    ...     with replacing(path) as part:
    ...         _ = part.write_text("1 2 3")
    ...     path.read_text()
    '1 2 3'
    """
    part = path.with_name(f".{secrets.token_hex(8)}.part")
    try:
        yield part
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def write_atomically(path: Path, content: str | bytes, *, durable: bool = False) -> None:
    r"""Write a file so that readers see either the old content or the new, never a mixture.

    Text is written as UTF-8; a lone surrogate, which that cannot hold, as ``\udXXX``. If
    ``durable``, the file is on the disk when this returns. Raises ``OSError``.
    """
    data = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
    with replacing(path) as part, part.open("wb") as file:
        file.write(data)
        if durable:
            file.flush()
            os.fsync(file.fileno())


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, unless it exists; raises ``Agl1kError``."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Agl1kError(f"{shown(folder)} cannot be made: {error.strerror}.") from None


def save_text(path: Path, text: str) -> None:
    """Write a text as ``write_atomically`` does; raises ``Agl1kError`` if that fails."""
    try:
        write_atomically(path, text)
    except OSError as error:
        raise Agl1kError(f"{shown(path)} cannot be written: {error.strerror}.") from None


def append_durably(path: Path, line: str) -> None:
    r"""Append a line to a file of lines; it is on the disk when this returns.

    If a killed process left the last line incomplete, it is ended first. Raises ``OSError``.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "log.txt")
    ...     _ = path.write_text("one\ntw")
    ...     append_durably(path, "three")
    ...     path.read_text()
    'one\ntw\nthree\n'
    """
    with path.open("a+b") as file:
        file.seek(-1 if file.tell() else 0, os.SEEK_END)
        is_torn = file.read(1) not in (b"", b"\n")
        file.write((b"\n" if is_torn else b"") + f"{line}\n".encode())
        file.flush()
        os.fsync(file.fileno())


def json_lines(path: Path) -> list[Any]:
    r"""The values in a file of JSON Lines; raises ``OSError``, or ``ValueError`` if it is none.

    Only a line feed ends a line: JSON text may contain other separators, such as U+2028.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "answers.jsonl")
    ...     _ = path.write_text('{"text": "a\u2028b"}\n', "utf-8")
    ...     json_lines(path)
    [{'text': 'a\u2028b'}]
    """
    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line]


def sha256_of_file(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal; raises ``OSError``."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

"""Files written whole or not at all, and their hashes."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A new file beside ``path`` to write to; it takes the place of ``path`` when the block ends.

    If the block raises, ``path`` stays as it was and the new file is removed. The folder must
    exist. Raises ``OSError``.
    """
    part = path.with_name(f".{secrets.token_hex(8)}.part")
    try:
        yield part
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a whole file: whoever reads ``path`` sees the old content or the new, never a part.

    Text is written as UTF-8. Raises ``OSError``.
    """
    with replacing(path) as part:
        part.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)


def sha256_of_file(path: Path) -> str:
    """SHA-256 of a file's bytes, in hex. Raises ``OSError``."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

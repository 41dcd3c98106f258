"""A copy of the whole database while the app runs."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from sqlalchemy import URL

from agl1k_core.errors import Agl1kError
from store.database_file import DatabaseFile, database_file
from store.failures import sentence_of

_ON_POSTGRES = (
    "This command copies SQLite files. Back up PostgreSQL with its own tool, which works while the "
    "app runs: pg_dump --format=custom --file={target} --dbname={address}"
)


def back_up(url: URL, target: Path) -> int:
    """Copy an SQLite database into a new file that only its owner can read; returns its bytes.

    The copy is complete and consistent, and writers do not wait for it. It contains the secret that
    signs tokens. Raises ``Agl1kError`` if there is nothing to copy, or ``target`` exists.
    """
    if url.get_backend_name() != "sqlite":
        address = url.set(drivername="postgresql").render_as_string(hide_password=True)
        raise Agl1kError(_ON_POSTGRES.format(target=target, address=address))
    source = database_file(url)
    if not source.path.is_file():
        raise Agl1kError(f"{source.where} does not exist, so there is nothing to back up.")
    source.check()
    try:
        return _copied(source, target)
    except sqlite3.Error as error:
        raise Agl1kError(sentence_of(error).format(where=source.where)) from error
    except OSError as error:
        raise Agl1kError(
            f"{target} cannot be written: {error.strerror}. Give another file."
        ) from error


def _copied(source: DatabaseFile, target: Path) -> int:
    if target.exists():
        raise Agl1kError(f"{target} exists already. Nothing was written; give another file.")
    made, name = tempfile.mkstemp(prefix=f".{target.name}-", dir=target.absolute().parent)
    os.close(made)
    copy = Path(name)
    try:
        _copy(source.path, copy)
        with copy.open("rb+") as written:
            os.fsync(written.fileno())
        os.link(copy, target)  # unlike a rename, never over another file
        return target.stat().st_size
    finally:
        copy.unlink(missing_ok=True)


def _copy(source: Path, copy: Path) -> None:
    address = f"{source.absolute().as_uri()}?mode=ro"
    with closing(sqlite3.connect(address, uri=True)) as old, closing(sqlite3.connect(copy)) as new:
        old.backup(new)  # in one step, so that writers cannot make it start again
        new.execute("PRAGMA journal_mode = DELETE")  # all in one file
        found = new.execute("PRAGMA quick_check(1)").fetchone()[0]
    if found != "ok":
        raise Agl1kError("The database is damaged, so it was not copied. Restore an older backup.")

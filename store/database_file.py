"""The file of an SQLite database: made for its owner only, checked before SQLite touches it."""

from __future__ import annotations

import errno
import os
import sqlite3
import tempfile
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import URL

from agl1k_core.errors import Agl1kError
from store.failures import DAMAGED, FULL, NOT_OPENED, sentence_of
from store.migrations import VERSION_TABLE

_MAGIC = b"SQLite format 3\0"
_EMPTY = (
    "{where} is an empty file (0 bytes), which no database is, so what it contained is lost. "
    "Nothing was changed. Restore a backup; or delete the file to start anew."
)
_LOST = (
    "{where} is missing, but its log {wal} is there. A new database would destroy what the log "
    "contains. Put the database file back or restore a backup; or move the log away to start anew."
)

_FOREIGN = (
    "{where} contains tables that AGL1K did not create ({named}). Set AGL1K_DATABASE to a file "
    "used by AGL1K alone. Nothing was changed."
)
_MOST_NAMED = 5


def database_file(url: URL) -> DatabaseFile:
    """The file that a URL of SQLite names."""
    return DatabaseFile(
        Path((url.database or "").removeprefix("file:")), f"The database {url.database}"
    )


@dataclass(frozen=True)
class DatabaseFile:
    """The file at ``path``; ``where`` names it in messages."""

    path: Path
    where: str

    def beside(self, suffix: str) -> Path:
        """A file that SQLite keeps next to it: ``-wal`` or ``-shm``."""
        return self.path.with_name(self.path.name + suffix)

    def prepare(self) -> None:
        """Check the file, or make a new one; raises ``Agl1kError`` and changes nothing if unfit.

        SQLite itself would take an empty file for a new database, and drop its log.
        """
        try:
            if not self.path.exists():
                self._make()
            elif self.path.is_file():
                self.check()
                self._close_to_others()
        except sqlite3.Error as error:
            raise Agl1kError(sentence_of(error).format(where=self.where)) from error
        except OSError as error:
            sentence = FULL if error.errno in (errno.ENOSPC, errno.EDQUOT) else NOT_OPENED
            raise Agl1kError(sentence.format(where=self.where)) from error

    def check(self) -> None:
        """Raise ``Agl1kError`` if the file is empty, damaged at its start, or not AGL1K's."""
        with self.path.open("rb") as file:
            start = file.read(len(_MAGIC))
        if not start:
            raise Agl1kError(_EMPTY.format(where=self.where))
        if start != _MAGIC:
            raise Agl1kError(DAMAGED.format(where=self.where))
        tables = self._tables()
        if tables and VERSION_TABLE not in tables:
            more = ", …" if len(tables) > _MOST_NAMED else ""
            named = ", ".join(tables[:_MOST_NAMED]) + more
            raise Agl1kError(_FOREIGN.format(where=self.where, named=named))

    def _tables(self) -> list[str]:
        """The names of the tables, read without changing anything; none if they are unreadable."""
        query = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"
        address = f"{self.path.absolute().as_uri()}?mode=ro"
        with suppress(sqlite3.Error), closing(sqlite3.connect(address, uri=True)) as connection:
            return [name for (name,) in connection.execute(query)]
        return []  # opening it will tell why

    def _make(self) -> None:
        """Put a new database in place in one step, so that nobody meets an empty file."""
        wal = self.beside("-wal")
        if wal.exists() and wal.stat().st_size:
            raise Agl1kError(_LOST.format(where=self.where, wal=wal.name))
        made, name = tempfile.mkstemp(prefix=f".{self.path.name}-", dir=self.path.parent)
        os.close(made)  # readable and writable by its owner only, as SQLite's own files will be
        try:
            with closing(sqlite3.connect(name)) as connection:
                connection.execute("PRAGMA user_version = 1")
            self._put(Path(name))
        finally:
            Path(name).unlink(missing_ok=True)

    def _put(self, made: Path) -> None:
        try:
            os.link(made, self.path)
        except FileExistsError:  # another process was faster
            return
        except OSError:  # a file system without links
            made.rename(self.path)

    def _close_to_others(self) -> None:
        """Let only the owner read a file that an earlier version made, if it is ours."""
        for path in (self.path, self.beside("-wal"), self.beside("-shm")):
            with suppress(FileNotFoundError, PermissionError):
                if path.stat().st_mode & 0o077:
                    path.chmod(0o600)

    def identity(self) -> tuple[int, int] | None:
        """What tells this file from another of the same name; None if there is none."""
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino

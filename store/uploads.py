"""Copies of uploads in a database that several servers share, for a short time.

A step that needs a file may reach another server than its upload did.
"""

from __future__ import annotations

import gzip
import time
from collections import deque
from datetime import UTC, datetime, timedelta

from sqlalchemy import delete, insert, select

from store.database import Database
from store.schema import uploads

KEEP_S = 3600.0
#: Written within an hour: a database also keeps what it deletes for a while.
MOST_BYTES_PER_HOUR = 2**30


class SharedUploads:
    """Uploads in a database, ``most_bytes`` in all, compressed; the oldest are deleted."""

    def __init__(self, database: Database, most_bytes: int) -> None:
        self._database, self._most_bytes = database, most_bytes
        self._written: deque[tuple[float, int]] = deque()

    def keep(self, upload: str, data: bytes) -> bool:
        """Store a copy; returns whether the limits allowed it."""
        packed = gzip.compress(data, compresslevel=1)
        if len(packed) > self._most_bytes or not self._may_write(len(packed)):
            return False
        now = datetime.now(UTC)
        sizes = select(uploads.c.upload, uploads.c.n_bytes, uploads.c.created_utc)
        with self._database.write() as connection:
            room = self._most_bytes - len(packed)
            for each in connection.execute(sizes.order_by(uploads.c.created_utc.desc())):
                room -= each.n_bytes
                if room < 0 or now - each.created_utc > timedelta(seconds=KEEP_S):
                    connection.execute(delete(uploads).where(uploads.c.upload == each.upload))
            row = {"upload": upload, "content_gzip": packed, "n_bytes": len(packed)}
            connection.execute(insert(uploads).values(**row, created_utc=now))
        return True

    def find(self, upload: str) -> bytes | None:
        """The content of an upload; None if it is no longer here."""
        wanted = select(uploads.c.content_gzip).where(uploads.c.upload == upload)
        with self._database.read() as connection:
            packed = connection.execute(wanted).scalar_one_or_none()
        return None if packed is None else gzip.decompress(packed)

    def sweep(self) -> None:
        """Delete what is too old."""
        oldest = datetime.now(UTC) - timedelta(seconds=KEEP_S)
        with self._database.write() as connection:
            connection.execute(delete(uploads).where(uploads.c.created_utc < oldest))

    def _may_write(self, n_bytes: int) -> bool:
        now = time.monotonic()
        while self._written and now - self._written[0][0] > 3600:
            self._written.popleft()
        if sum(size for _, size in self._written) + n_bytes > MOST_BYTES_PER_HOUR:
            return False
        self._written.append((now, n_bytes))
        return True

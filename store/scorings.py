"""Files that were scored on sealed benchmarks: each tells a little about the true places."""

from __future__ import annotations

import hashlib
import hmac
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy import Connection, func, select

from agl1k_core.errors import Agl1kError
from store.database import Database
from store.schema import scored_files

_DAY = timedelta(hours=24)
#: The lock of servers that share a database; any number that no other lock has.
_LOCK = 4710972


def _utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True)
class Counts:
    """How many files each submitter had scored, and who was the first to have a file scored."""

    by_submitter: Mapping[str, int]
    first: Mapping[str, str]

    @property
    def in_all(self) -> int:
        """How many times a file was scored for somebody."""
        return sum(self.by_submitter.values())

    def of_files(self, files_sha256: Iterable[str]) -> int | None:
        """How many files the submitters of these had scored; None if that is not known here."""
        submitters = {self.first[file] for file in files_sha256 if file in self.first}
        return sum(self.by_submitter[one] for one in submitters) or None


class Scorings:
    """Counts scored files; safe to use from any thread, and by servers that share a database.

    Within 24 hours, a submitter may have ``each`` new files scored on a benchmark, and everybody
    together ``in_all``. A file that was scored for the same submitter before is free.
    """

    def __init__(
        self,
        database: Database,
        *,
        each: int,
        in_all: int,
        clock: Callable[[], datetime] = _utc_now,
    ) -> None:
        self._database, self._each, self._in_all = database, each, in_all
        self._clock = clock
        self._secret = database.secret("scorings")

    def count(self, benchmark: str, file_sha256: str, who: str) -> None:
        """Count a file for somebody, given by a name or a session, of which a hash is stored.

        Raises ``Agl1kError`` if the limit is reached; the file is not counted then.
        """
        submitter = hmac.new(self._secret, who.encode(), hashlib.sha256).hexdigest()[:32]
        now = self._clock()
        row = {"benchmark": benchmark, "submitter": submitter, "file_sha256": file_sha256}
        with self._database.write() as connection:
            if self._database.is_shared:
                connection.execute(select(func.pg_advisory_xact_lock(_LOCK)))
            if self._database.insert_new(connection, scored_files, {**row, "created_utc": now}):
                self._check(connection, benchmark, submitter, now - _DAY)

    def _check(
        self, connection: Connection, benchmark: str, submitter: str, since: datetime
    ) -> None:
        """Raise ``Agl1kError``, which undoes the transaction, if these are too many."""
        lately = select(func.count()).where(
            scored_files.c.benchmark == benchmark, scored_files.c.created_utc > since
        )
        own = lately.where(scored_files.c.submitter == submitter)
        if connection.execute(own).scalar_one() > self._each:
            raise Agl1kError(_TOO_MANY.format(n=self._each, by="by one submitter"))
        if connection.execute(lately).scalar_one() > self._in_all:
            raise Agl1kError(_TOO_MANY.format(n=self._in_all, by="by everybody together"))

    def of(self, benchmark: str) -> Counts:
        """How many files were scored on a benchmark so far, and for whom."""
        columns = scored_files.c
        wanted = (
            select(columns.submitter, columns.file_sha256)
            .where(columns.benchmark == benchmark)
            .order_by(columns.created_utc.desc())
        )
        with self._database.read() as connection:
            found = connection.execute(wanted).all()
        return Counts(
            Counter(row.submitter for row in found),
            {row.file_sha256: row.submitter for row in found},
        )


_TOO_MANY = (
    "This benchmark is sealed, and every scored file tells a little about its true places: "
    "{n} new files within 24 hours, {by}, is the limit. Files that were scored before are free. "
    "Try again tomorrow."
)

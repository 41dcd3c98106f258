"""The outbox: rows are sealed into files, which wait in the database until they are pushed."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from sqlalchemy import ColumnElement, Connection, RowMapping, Table, func, select, true, update

from store.database import Database
from store.hub.layout import (
    DECISIONS,
    GUESSES,
    KINDS,
    REMOVALS,
    SCORES,
    SKIPS,
    SUBMISSIONS,
    Kind,
    from_parquet,
    shard_name,
    to_parquet,
)
from store.schema import guesses, moderation, removals, shards, submission_files, submissions

#: The most rows in one file; rows of submissions contain whole files.
ROWS_PER_SHARD = {**dict.fromkeys(KINDS, 20_000), SUBMISSIONS.name: 4}
#: The table of each kind of rows.
TABLES: dict[str, Any] = {
    GUESSES.name: guesses,
    SKIPS.name: guesses,
    SUBMISSIONS.name: submissions,
    REMOVALS.name: removals,
    DECISIONS.name: moderation,
}
_NAMES_AT_ONCE = 10_000  # SQLite accepts at most 32,766 parameters


@dataclass(frozen=True, slots=True)
class Shard:
    """A sealed file, waiting to be pushed."""

    name: str
    n_rows: int
    content: bytes


@dataclass(frozen=True, slots=True)
class Backlog:
    """What the Hub does not have yet; ``oldest_utc`` is when the oldest of it was stored."""

    rows: int
    shards: int
    withdrawn: int
    oldest_utc: datetime | None

    def __bool__(self) -> bool:
        return bool(self.rows or self.withdrawn)


def _utc_now() -> datetime:
    return datetime.now(UTC)


class Outbox:
    """Rows on their way to the Hub, in a ``Database``; may be used by several processes."""

    def __init__(self, database: Database, clock: Callable[[], datetime] = _utc_now) -> None:
        self._database = database
        self._clock = clock

    def seal(self) -> int:
        """Seal every committed row that is not in a file yet; returns their number."""
        total = 0
        for kind in KINDS.values():
            while n_rows := self._seal(kind):
                total += n_rows
        return total

    def _seal(self, kind: Kind) -> int:
        """Store one file and mark its rows, in one transaction.

        It does not wait for rows of open transactions: they are sealed next time, even if their
        numbers are lower.
        """
        table, replica = TABLES[kind.name], self._database.replica_id
        with self._database.write() as connection:
            rows = _unsealed(connection, kind, ROWS_PER_SHARD[kind.name])
            if not rows:
                return 0
            content = to_parquet(kind.table(rows))
            numbers = [row["sequence"] for row in rows]
            now = self._clock()
            origin = f"{replica}-{numbers[0]}-{numbers[-1]}"
            name = shard_name(kind, now.date().isoformat(), origin, content)
            _keep(connection, Shard(name, len(rows), content), kind, now)
            _claim(connection, table, numbers, name)
        return len(rows)

    def pending(
        self, limit: int = 50, max_bytes: int = 64 * 2**20, kind: Kind | None = None
    ) -> list[Shard]:
        """The files to push next, oldest first, in total at most ``max_bytes`` (or one file)."""
        size = func.length(shards.c.content).label("size")
        waiting = (
            select(shards.c.name, size)
            .where(
                shards.c.pushed_utc.is_(None),
                true() if kind is None else shards.c.kind == kind.name,
            )
            .order_by(shards.c.sealed_utc, shards.c.name)
            .limit(limit)
        )
        names: list[str] = []
        total = 0
        with self._database.read() as connection:
            for row in connection.execute(waiting):
                total += row.size
                if names and total > max_bytes:
                    break
                names.append(row.name)
            found = connection.execute(
                select(shards.c.name, shards.c.n_rows, shards.c.content)
                .where(shards.c.name.in_(names))
                .order_by(shards.c.sealed_utc, shards.c.name)
            )
            return [Shard(row.name, row.n_rows, row.content) for row in found]

    def confirm(self, names: Iterable[str]) -> None:
        """Mark files as pushed, and drop their bytes."""
        with self._database.write() as connection:
            connection.execute(
                update(shards)
                .where(shards.c.name.in_(list(names)))
                .values(pushed_utc=self._clock(), content=None)
            )

    def release(self, there: Collection[str]) -> int:
        """Unseal rows whose pushed file is not ``there`` any more; returns how many.

        Call it when all new files have been read: a row that moved to another file is not released.
        """
        with self._database.read() as connection:
            pushed = connection.scalars(
                select(shards.c.name).where(shards.c.pushed_utc.is_not(None))
            )
            gone = [name for name in pushed if name not in there]
        if not gone:
            return 0
        with self._database.write() as connection:
            for start in range(0, len(gone), _NAMES_AT_ONCE):
                part = shards.c.name.in_(gone[start : start + _NAMES_AT_ONCE])
                connection.execute(shards.delete().where(part))
            return sum(_unseal(connection, table) for table in {*TABLES.values()})

    def withdrawn(self) -> list[str]:
        """Ids of withdrawn submissions that may still be in a file."""
        query = select(submissions.c.submission_id).where(_STILL_OUT)
        with self._database.read() as connection:
            return list(connection.scalars(query))

    def taken_out(self, submission_ids: Iterable[str]) -> None:
        """Mark withdrawn submissions as removed from all files."""
        with self._database.write() as connection:
            connection.execute(
                update(submissions)
                .where(submissions.c.submission_id.in_(list(submission_ids)))
                .values(shard=None)
            )

    def drop(self, column: str, values: Sequence[str]) -> int:
        """Remove rows with one of ``values`` from the waiting files; returns how many.

        A file keeps its name, so that it replaces one that an unconfirmed push left on the Hub.
        """
        with self._database.write() as connection:
            return drop(connection, column, values)

    def backlog(self) -> Backlog:
        """What is waiting to be pushed or removed."""
        unsealed = [
            select(func.count(), func.min(guesses.c.created_utc)).where(guesses.c.shard.is_(None)),
            select(func.count(), func.min(submissions.c.created_utc)).where(_UNSEALED),
        ]
        waiting = select(
            func.count(), func.coalesce(func.sum(shards.c.n_rows), 0), func.min(shards.c.sealed_utc)
        ).where(shards.c.pushed_utc.is_(None))
        still_out = select(func.count()).select_from(submissions).where(_STILL_OUT)
        with self._database.read() as connection:
            counted = [connection.execute(query).one() for query in unsealed]
            n_shards, n_rows, sealed_utc = connection.execute(waiting).one()
            oldest = [moment for moment in (*(row[1] for row in counted), sealed_utc) if moment]
            return Backlog(
                rows=n_rows + sum(row[0] for row in counted),
                shards=n_shards,
                withdrawn=connection.scalar(still_out) or 0,
                oldest_utc=min(oldest, default=None),
            )

    def nothing_published(self) -> bool:
        """Whether no file of this database was ever pushed to the Hub or read from it."""
        query = select(shards.c.name).where(shards.c.pushed_utc.is_not(None)).limit(1)
        with self._database.read() as connection:
            return connection.execute(query).first() is None

    def is_blank(self) -> bool:
        """Whether the database has neither guesses nor submissions."""
        with self._database.read() as connection:
            return all(
                connection.execute(select(table.c.sequence).limit(1)).first() is None
                for table in (guesses, submissions)
            )


_UNSEALED = submissions.c.shard.is_(None) & submissions.c.withdrawn_utc.is_(None)
_STILL_OUT = submissions.c.shard.is_not(None) & submissions.c.withdrawn_utc.is_not(None)


def drop(connection: Connection, column: str, values: Sequence[str]) -> int:
    """``Outbox.drop`` as part of a transaction."""
    n_dropped = 0
    waiting = select(shards).where(shards.c.pushed_utc.is_(None))
    for row in connection.execute(waiting).all():
        left = without(from_parquet(row.name, row.content), column, values)
        n_dropped += row.n_rows - len(left)
        if len(left) < row.n_rows:
            _replace(connection, row.name, left)
    return n_dropped


def _unseal(connection: Connection, table: Any) -> int:
    """Unseal the rows of files that are not known; returns the number of those to publish."""
    lost = table.c.shard.is_not(None) & table.c.shard.not_in(select(shards.c.name))
    standing = lost & submissions.c.withdrawn_utc.is_(None) if table is submissions else lost
    n_rows = connection.scalar(select(func.count()).select_from(table).where(standing)) or 0
    connection.execute(update(table).where(lost).values(shard=None))
    return n_rows


def without(table: pa.Table, column: str, values: Sequence[str]) -> pa.Table:
    """The table without the rows whose ``column`` is one of ``values``."""
    if column not in table.column_names:
        return table
    return table.filter(pc.invert(pc.is_in(table[column], pa.array(values, pa.string()))))


def published_rows(connection: Connection, kind: Kind, *conditions: ColumnElement[bool]) -> Any:
    """Rows of a kind with their published columns, oldest first, and their ``sequence``."""
    return (_published(kind, row._mapping) for row in connection.execute(_query(kind, *conditions)))


def published_ids(connection: Connection, kind: Kind) -> dict[str, str | None]:
    """The id of each row of a kind that may be published, and the file that it is sealed into."""
    table = TABLES[kind.name]
    query = select(table.c[kind.id_column], table.c.shard)
    if kind is SUBMISSIONS:
        query = query.where(submissions.c.withdrawn_utc.is_(None))
    elif kind is DECISIONS:
        query = query.where(moderation.c.decision_id.is_not(None))
    elif kind is not REMOVALS:
        query = query.where(_is_of(kind))
    return {row[0]: row[1] for row in connection.execute(query)}


def _is_of(kind: Kind) -> ColumnElement[bool]:
    is_guess = guesses.c.action == "guess"
    return is_guess if kind is GUESSES else ~is_guess


def _query(kind: Kind, *conditions: ColumnElement[bool]) -> Any:
    if kind is SUBMISSIONS:
        joined = submissions.outerjoin(
            submission_files, submissions.c.submission_id == submission_files.c.submission_id
        )
        query = (
            select(submissions, submission_files.c.content_gzip)
            .select_from(joined)
            .where(submissions.c.withdrawn_utc.is_(None))
        )
        return query.where(*conditions).order_by(submissions.c.sequence)
    if kind is DECISIONS:
        about = moderation.c.decision_id.is_not(None)
        return select(moderation).where(about, *conditions).order_by(moderation.c.sequence)
    if kind is REMOVALS:
        return select(removals).where(*conditions).order_by(removals.c.sequence)
    return select(guesses).where(_is_of(kind), *conditions).order_by(guesses.c.sequence)


def _published(kind: Kind, row: RowMapping) -> dict[str, Any]:
    values: dict[str, Any] = {**row}
    if kind is SUBMISSIONS:
        metrics = values["evaluation"].get("metrics") or {}
        values |= {name: metrics.get(name) for name, _ in SCORES}
        values["evaluation"] = msgspec.json.encode(values["evaluation"]).decode()
        content = values["content_gzip"] if values["is_shared"] else None
        values["file"] = gzip.decompress(content) if content else b""
    return values


def _unsealed(connection: Connection, kind: Kind, limit: int) -> list[dict[str, Any]]:
    table = TABLES[kind.name]
    query = _query(kind, table.c.shard.is_(None)).limit(limit)
    locked = query.with_for_update(skip_locked=True, of=table)
    return [_published(kind, row._mapping) for row in connection.execute(locked)]


def _keep(connection: Connection, shard: Shard, kind: Kind, now: datetime) -> None:
    connection.execute(
        shards.insert().values(
            name=shard.name,
            kind=kind.name,
            n_rows=shard.n_rows,
            content=shard.content,
            sealed_utc=now,
            pushed_utc=None,
        )
    )


def _claim(connection: Connection, table: Table, numbers: Sequence[int], name: str) -> None:
    for start in range(0, len(numbers), 10_000):  # SQLite accepts at most 32,766 parameters
        part = numbers[start : start + 10_000]
        connection.execute(update(table).where(table.c.sequence.in_(part)).values(shard=name))


def _replace(connection: Connection, name: str, left: pa.Table) -> None:
    if len(left):
        values = {"content": to_parquet(left), "n_rows": len(left)}
        connection.execute(update(shards).where(shards.c.name == name).values(**values))
    else:
        connection.execute(shards.delete().where(shards.c.name == name))

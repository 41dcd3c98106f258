"""Reads published rows, to restore a lost database and to get rows of other servers."""

from __future__ import annotations

import gzip
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

import msgspec
import pyarrow as pa
from sqlalchemy import Connection, select, update

from agl1k_core.errors import Agl1kError
from store.database import Database
from store.hub.layout import (
    DECISIONS,
    GUESSES,
    KINDS,
    REMOVALS,
    SKIPS,
    SUBMISSIONS,
    day_of,
    from_parquet,
    joined,
    kind_of,
)
from store.hub.outbox import TABLES, Outbox, drop
from store.hub.remote import Remote, Tree
from store.hub.removals import obey
from store.schema import guesses, moderation, removals, shards, submission_files, submissions

_FILES_AT_ONCE, _BYTES_AT_ONCE = 400, 128 * 2**20
_IDS_AT_ONCE = 10_000  # SQLite accepts at most 32,766 parameters


@dataclass
class ReadBack:
    """What was read, and how it changed the database.

    ``released`` rows were in files that are gone, and wait to be published again; ``removed`` rows
    were deleted on another server. ``problems`` has a sentence for each file that could not be
    used, and ``unreadable`` its name.
    """

    files: int = 0
    rows: int = 0
    released: int = 0
    removed: int = 0
    problems: list[str] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)


def read_back(
    database: Database,
    remote: Remote,
    tree: Tree | None = None,
    unreadable: Collection[str] = (),
) -> ReadBack:
    """Make the database agree with the dataset about what is published.

    Inserts every published row that is missing here; rows that exist are not changed. Afterwards
    each published row here names the file that has it: rows that wait but are published already, as
    after restoring a backup, are marked as published, and rows whose file is gone wait again. What
    another server removed is removed here.

    ``tree`` lists the files, if they are known already. No file is read twice, nor are those known
    to be ``unreadable``. Raises ``HubError`` if the Hub cannot be read; what was read is kept.
    """
    tree, outcome = tree or remote.tree(), ReadBack()
    outcome.problems = foreign(tree)
    known = _known(database).union(unreadable)
    new = sorted(name for name in tree.files if kind_of(name) and name not in known)
    for batch in batches(tree, new):
        contents = remote.read(tree.revision, batch)
        for _, names in groupby(batch, key=day_of):
            _take_in(database, {name: contents[name] for name in names}, tree, outcome)
    if tree.revision:
        outcome.released = Outbox(database).release(tree.files)
    gone = obey(database)
    outcome.removed = len(gone.guesses) + len(gone.submissions)
    return outcome


def foreign(tree: Tree) -> list[str]:
    """A sentence for each file in the data folder that does not belong to AGL1K."""
    return [
        f"{name} in the dataset does not belong to AGL1K. It is left alone; move it out of the "
        "data folder, or load_dataset may fail."
        for name in sorted(tree.files)
        if name.startswith("data/") and kind_of(name) is None
    ]


def batches(tree: Tree, names: Sequence[str]) -> Iterator[list[str]]:
    """The names by day and kind, in batches that fit into memory."""
    batch: list[str] = []
    total = 0
    for name in sorted(names, key=lambda name: (day_of(name), name)):
        total += tree.files[name]
        if batch and (len(batch) >= _FILES_AT_ONCE or total > _BYTES_AT_ONCE):
            yield batch
            batch, total = [], tree.files[name]
        batch.append(name)
    if batch:
        yield batch


def _known_row(name: str, n_rows: int, now: datetime) -> dict[str, object]:
    kind = kind_of(name)
    return {
        "name": name,
        "kind": kind.name if kind else "",
        "n_rows": n_rows,
        "content": None,
        "sealed_utc": now,
        "pushed_utc": now,
    }


def _known(database: Database) -> set[str]:
    with database.read() as connection:
        return set(connection.scalars(select(shards.c.name)))


def _take_in(database: Database, contents: dict[str, bytes], tree: Tree, outcome: ReadBack) -> None:
    """Insert the files of one day; if their rows are refused, file by file."""
    tables: dict[str, pa.Table] = {}
    for name, content in contents.items():
        try:
            tables[name] = from_parquet(name, content)
        except Agl1kError as error:
            outcome.problems.append(str(error))
            outcome.unreadable.append(name)
    try:
        _insert(database, tables, tree)
    except (ValueError, TypeError, KeyError):
        if len(tables) == 1:
            [name] = tables
            outcome.unreadable.append(name)
            outcome.problems.append(
                f"{name} contains rows that AGL1K cannot have written; it was not read."
            )
            return
        for name in tables:
            _take_in(database, {name: contents[name]}, tree, outcome)
        return
    outcome.files += len(tables)
    outcome.rows += sum(map(len, tables.values()))


def _insert(database: Database, tables: dict[str, pa.Table], tree: Tree) -> None:
    """Insert the oldest rows first, so that the database is ordered by age."""
    by_kind: dict[str, list[pa.Table]] = {kind: [] for kind in KINDS}
    for name, table in tables.items():
        kind = KINDS[table.schema.metadata[b"agl1k"].decode()]
        known = table.select(kind.schema.names)
        shard = pa.repeat(pa.scalar(name), len(table))
        by_kind[kind.name].append(known.append_column("shard", shard))
    rows = {
        kind: joined(KINDS[kind], found).to_pylist() if found else []
        for kind, found in by_kind.items()
    }
    with database.write() as connection:
        for name, found in rows.items():
            id_column = TABLES[name].c[KINDS[name].id_column]
            sealed = _mark_published(connection, id_column, found, tree)
            if sealed:
                drop(connection, id_column.name, sealed)
        _insert_guesses(database, connection, rows[GUESSES.name], rows[SKIPS.name])
        _insert_submissions(database, connection, rows[SUBMISSIONS.name])
        now = datetime.now(UTC)
        known = [_known_row(name, len(table), now) for name, table in tables.items()]
        database.insert_new_rows(connection, removals, rows[REMOVALS.name])
        decided = [{"kind": "submission", **row} for row in rows[DECISIONS.name]]
        database.insert_new_rows(connection, moderation, decided)
        database.insert_new_rows(connection, shards, known)


def _insert_guesses(
    database: Database,
    connection: Connection,
    placed: list[dict[str, Any]],
    skipped: list[dict[str, Any]],
) -> None:
    rows = [{"nickname": "", "action": "guess", **row} for row in placed]
    rows += [{"nickname": "", **row} for row in skipped]
    rows.sort(key=lambda row: row["created_utc"])
    database.insert_new_rows(connection, guesses, rows)


def _insert_submissions(
    database: Database, connection: Connection, rows: list[dict[str, Any]]
) -> None:
    columns = set(submissions.c.keys())
    for row in rows:
        row["evaluation"] = msgspec.json.decode(row["evaluation"])
        # older files have no such columns
        row |= {"series": row["series"] or "", "relation": row["relation"] or ""}
        row["is_shared"] = row["is_shared"] is not False
    kept = [{name: value for name, value in row.items() if name in columns} for row in rows]
    database.insert_new_rows(connection, submissions, kept)
    standing = select(submissions.c.submission_id).where(
        submissions.c.submission_id.in_([row["submission_id"] for row in rows]),
        submissions.c.withdrawn_utc.is_(None),
    )
    there = set(connection.scalars(standing))
    files = [
        {
            "submission_id": row["submission_id"],
            "content_gzip": gzip.compress(row["file"], mtime=0),
        }
        for row in rows
        if row["submission_id"] in there and row["is_shared"]
    ]
    database.insert_new_rows(connection, submission_files, files)


def _mark_published(
    connection: Connection, id_column: Any, rows: list[dict[str, Any]], tree: Tree
) -> list[str]:
    """Let rows name the file that has them, if they wait or the file that they name is gone.

    Returns the ids of those that were sealed into a file that waits.
    """
    table, shard_of = id_column.table, {row[id_column.name]: row["shard"] for row in rows}
    waiting = set(connection.scalars(select(shards.c.name).where(shards.c.pushed_utc.is_(None))))
    ids, sealed = list(shard_of), list[str]()
    for start in range(0, len(ids), _IDS_AT_ONCE):
        part = ids[start : start + _IDS_AT_ONCE]
        found: dict[str, list[str]] = defaultdict(list)
        for row_id, shard in connection.execute(
            select(id_column, table.c.shard).where(id_column.in_(part))
        ):
            if shard is None or shard in waiting or shard not in tree.files:
                found[shard_of[row_id]].append(row_id)
                sealed += [row_id] if shard in waiting else []
        for name, moved in found.items():
            connection.execute(update(table).where(id_column.in_(moved)).values(shard=name))
    return sealed

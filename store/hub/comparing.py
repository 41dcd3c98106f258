"""Compares database and dataset row by row, and mends what differs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import msgspec
import pyarrow as pa
from sqlalchemy import Connection, delete, select, update

from agl1k_core.errors import Agl1kError
from store.database import Database
from store.hub.layout import KINDS, SUBMISSIONS, Kind, from_parquet, kind_of
from store.hub.outbox import TABLES, published_ids, published_rows
from store.hub.reading import batches, foreign
from store.hub.remote import Remote, Tree
from store.hub.removals import is_removed, noted
from store.hub.rewriting import drop_rows, take_out
from store.schema import shards, submissions

_IDS_AT_ONCE = 10_000  # SQLite accepts at most 32,766 parameters
_SAME_FILE = ("benchmark", "benchmark_hash", "model", "file_sha256")

Ids = dict[str, list[str]]


@dataclass
class Differences:
    """Ids of rows, by kind, that database and dataset disagree about.

    ``missing_there`` are called published here but are not in the dataset; ``missing_here`` are
    only in the dataset; ``doubled`` are in it more than once; ``changed`` have other values there;
    ``still_there`` were withdrawn or deleted on request. ``problems`` has a sentence for each file
    of ours that cannot be read, ``notes`` for each file that is not ours. ``places`` names the
    files that have a row.
    """

    rows_there: dict[str, int] = field(default_factory=dict)
    missing_there: Ids = field(default_factory=dict)
    missing_here: Ids = field(default_factory=dict)
    doubled: Ids = field(default_factory=dict)
    changed: Ids = field(default_factory=dict)
    still_there: Ids = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    places: dict[str, dict[str, list[str]]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.problems or self.by_name())

    def by_name(self) -> dict[str, Ids]:
        """The differences that there are, by name and kind of row."""
        names = ("missing_there", "missing_here", "doubled", "changed", "still_there")
        found = {
            name: {kind: ids for kind, ids in getattr(self, name).items() if ids} for name in names
        }
        return {name: kinds for name, kinds in found.items() if kinds}


@dataclass
class _There:
    """What the dataset's files have of one kind of row."""

    kind: Kind
    places: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    changed: set[str] = field(default_factory=set)
    removed: set[str] = field(default_factory=set)
    keys: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def add(
        self, name: str, table: pa.Table, connection: Connection, gone: Mapping[str, datetime]
    ) -> None:
        rows = table.select(self.kind.schema.names).to_pylist()
        for row in rows:
            row_id = row[self.kind.id_column]
            self.places[row_id].append(name)
            if is_removed(row, gone):
                self.removed.add(row_id)
            if self.kind is SUBMISSIONS:
                self.keys[row_id] = tuple(row[column] for column in _SAME_FILE)
        self.changed |= _changed(connection, self.kind, rows)


def compare(database: Database, remote: Remote) -> Differences:
    """Read the whole dataset and compare it with the database; changes nothing.

    Rows that wait to be pushed are no difference, nor is a submission of a file that is published
    here under another id. Raises ``HubError``.
    """
    tree, found = remote.tree(), Differences()
    found.notes = foreign(tree)
    there = {name: _There(kind) for name, kind in KINDS.items()}
    with database.read() as connection:
        gone = noted(connection)
    for name, table in _files(remote, tree, found.problems):
        with database.read() as connection:
            there[_kind_name(name)].add(name, table, connection, gone)
    with database.read() as connection:
        for kind in there.values():
            _sort(connection, kind, found)
    return found


def _files(remote: Remote, tree: Tree, problems: list[str]) -> Iterator[tuple[str, pa.Table]]:
    for batch in batches(tree, [name for name in tree.files if kind_of(name)]):
        for name, content in remote.read(tree.revision, batch).items():
            try:
                yield name, from_parquet(name, content)
            except Agl1kError as error:
                problems.append(str(error))


def _kind_name(name: str) -> str:
    kind = kind_of(name)
    return kind.name if kind else ""


def _sort(connection: Connection, there: _There, found: Differences) -> None:
    """Sort the rows of a kind by how they differ."""
    name, places = there.kind.name, there.places
    shard_of = published_ids(connection, there.kind)
    pushed = select(shards.c.name).where(shards.c.pushed_utc.is_(None))
    waits = {None, *connection.scalars(pushed)}
    claimed = {row_id for row_id, shard in shard_of.items() if shard not in waits}
    gone = there.removed | _withdrawn(connection, there)
    found.places[name] = places
    found.rows_there[name] = len(places)
    found.missing_there[name] = sorted(claimed - places.keys())
    found.missing_here[name] = sorted(
        places.keys() - shard_of.keys() - gone - _twins(connection, there)
    )
    found.doubled[name] = sorted(row_id for row_id, names in places.items() if names[1:])
    found.changed[name] = sorted(there.changed - gone)
    found.still_there[name] = sorted(gone)


def _withdrawn(connection: Connection, there: _There) -> set[str]:
    if there.kind is not SUBMISSIONS:
        return set()
    query = select(submissions.c.submission_id).where(submissions.c.withdrawn_utc.is_not(None))
    return {*connection.scalars(query)} & there.places.keys()


def _twins(connection: Connection, there: _There) -> set[str]:
    """Submissions of files that are also published here, which a board shows once."""
    columns = [submissions.c[name] for name in _SAME_FILE]
    standing = select(*columns).where(submissions.c.withdrawn_utc.is_(None))
    keys = {tuple(row) for row in connection.execute(standing)} if there.keys else set()
    return {row_id for row_id, key in there.keys.items() if key in keys}


def _changed(connection: Connection, kind: Kind, rows: Sequence[Mapping[str, Any]]) -> set[str]:
    """The ids of rows that have other values here."""
    there = {row[kind.id_column]: _comparable(row) for row in rows}
    column, ids = TABLES[kind.name].c[kind.id_column], list(there)
    changed = set()
    for start in range(0, len(ids), _IDS_AT_ONCE):
        part = column.in_(ids[start : start + _IDS_AT_ONCE])
        here = kind.table(published_rows(connection, kind, part)).to_pylist()
        changed |= {
            row[kind.id_column] for row in here if _comparable(row) != there[row[kind.id_column]]
        }
    return changed


def _comparable(row: Mapping[str, Any]) -> dict[str, Any]:
    if "evaluation" not in row:
        return dict(row)
    return {**row, "evaluation": msgspec.json.decode(row["evaluation"])}


def count_there(database: Database, tree: Tree) -> dict[str, int]:
    """How many rows of each kind are in a file that the dataset has; files are not read."""
    with database.read() as connection:
        shard_of = {name: published_ids(connection, kind) for name, kind in KINDS.items()}
    return {
        name: sum(shard in tree.files for shard in found.values())
        for name, found in shard_of.items()
    }


def mend(database: Database, remote: Remote, found: Differences) -> None:
    """Change files and claims so that the next push and reading remove the differences.

    The database is right about the values of its rows. Files that cannot be read are left alone.
    Raises ``HubError``; compare again then.
    """
    for name, kind in KINDS.items():
        if ids := found.still_there.get(name):
            take_out(remote, kind.id_column, ids)
    drop_rows(remote, _superfluous(database, found))
    with database.write() as connection:
        for name, kind in KINDS.items():
            _release(connection, kind, [*found.missing_there[name], *found.changed[name]])
            unread = {
                file for row_id in found.missing_here[name] for file in found.places[name][row_id]
            }
            for part in _parts(sorted(unread)):
                connection.execute(delete(shards).where(shards.c.name.in_(part)))


def _superfluous(database: Database, found: Differences) -> dict[str, set[str]]:
    """By file, the ids of rows that it should not have: repeated or changed ones."""
    out: dict[str, set[str]] = defaultdict(set)
    for name, kind in KINDS.items():
        with database.read() as connection:
            shard_of = published_ids(connection, kind)
        for row_id in {*found.doubled[name], *found.changed[name]} - {*found.still_there[name]}:
            files = found.places[name][row_id]
            keeper = shard_of.get(row_id) if shard_of.get(row_id) in files else files[0]
            for file in files:
                kept = file == keeper and row_id not in found.changed[name]
                out[file] |= set() if kept else {row_id}
    return out


def _release(connection: Connection, kind: Kind, ids: Sequence[str]) -> None:
    table = TABLES[kind.name]
    for part in _parts(ids):
        mine = table.c[kind.id_column].in_(part)
        connection.execute(update(table).where(mine).values(shard=None))


def _parts(ids: Sequence[str]) -> Iterable[Sequence[str]]:
    return (ids[start : start + _IDS_AT_ONCE] for start in range(0, len(ids), _IDS_AT_ONCE))

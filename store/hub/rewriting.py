"""Changes published files: joins many into one, and removes rows for good."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from agl1k_core.errors import Agl1kError
from store.hub.layout import (
    KINDS,
    Kind,
    day_of,
    from_parquet,
    joined,
    kind_of,
    shard_name,
    to_parquet,
)
from store.hub.outbox import without
from store.hub.reading import batches
from store.hub.remote import HubError, Remote, Tree

_JOINED_BYTES = 64 * 2**20
_TRIES = 5
_AGAIN = (
    412,
    500,
    502,
    503,
    504,
)  # someone else was faster, or the commit was applied after all


NO_FILES: Mapping[str, bytes] = {}


@dataclass
class Joined:
    """The new files with their numbers of rows, and how many files were deleted."""

    made: dict[str, int] = field(default_factory=dict)
    n_deleted: int = 0


def join_days(remote: Remote, today: str) -> Joined:
    """Join the files of each kind and day before ``today``, with one commit per day.

    A row that is in two files, as after a push that was applied twice, is kept once. Files that
    cannot be read are left alone. Raises ``HubError``.
    """
    tree, outcome = remote.tree(), Joined()
    parent = tree.revision
    for day, groups in _to_join(tree, today).items():
        add: dict[str, bytes] = {}
        delete: list[str] = []
        for kind, names in groups:
            tables = _readable(remote.read(tree.revision, names))
            if len(tables) < 2:
                continue
            table = joined(kind, list(tables.values()))
            content = to_parquet(table)
            name = shard_name(kind, day, "joined", content)
            add[name] = content
            outcome.made[name] = len(table)
            delete += [old for old in tables if old != name]
        if delete:
            parent = remote.commit(f"Join the files of {day}", add, delete, parent)
            outcome.n_deleted += len(delete)
    return outcome


def _to_join(tree: Tree, today: str) -> dict[str, list[tuple[Kind, list[str]]]]:
    """By day, the files to join: several of one kind that are not too large together."""
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name in sorted(tree.files, key=lambda name: (tree.files[name], name)):
        kind = kind_of(name)
        if kind is not None and day_of(name) < today:
            groups[day_of(name), kind.name].append(name)
    days: dict[str, list[tuple[Kind, list[str]]]] = defaultdict(list)
    for (day, kind_name), names in sorted(groups.items()):
        while names and sum(tree.files[name] for name in names) > _JOINED_BYTES:
            names.pop()
        if len(names) > 1:
            days[day].append((KINDS[kind_name], names))
    return days


def _readable(contents: dict[str, bytes]) -> dict[str, pa.Table]:
    tables = {}
    for name, content in contents.items():
        try:
            tables[name] = from_parquet(name, content)
        except Agl1kError:
            continue  # reported when the dataset was read
    return tables


def drop_rows(remote: Remote, superfluous: Mapping[str, Collection[str]]) -> None:
    """Rewrite files without some of their rows, by id, and without repeated ones.

    Raises ``HubError``, and changes nothing if another server commits at the same time.
    """
    tree = remote.tree()
    parent = tree.revision
    for batch in batches(tree, [name for name in superfluous if name in tree.files]):
        contents = remote.read(tree.revision, batch)
        add: dict[str, bytes] = {}
        tables = _readable(contents)
        for name, table in tables.items():
            kind = KINDS[table.schema.metadata[b"agl1k"].decode()]
            left = without(joined(kind, [table]), kind.id_column, [*superfluous[name]])
            add |= _renamed(name, left)
        gone = [name for name in tables if name not in add]
        parent = remote.commit("Mend rows", add, gone, parent)


@dataclass
class TakenOut:
    """The rows and files that were removed, and the files that could not be read."""

    rows: set[str] = field(default_factory=set)
    deleted: set[str] = field(default_factory=set)
    problems: list[str] = field(default_factory=list)


def take_out(
    remote: Remote, column: str, values: Sequence[str], note: Mapping[str, bytes] = NO_FILES
) -> TakenOut:
    """Rewrite every file that has rows with one of ``values``, then erase the old ones.

    ``note`` are files to add first, from which other servers know that this was on purpose. Raises
    ``HubError`` if the Hub fails; repeat the call then.
    """
    outcome = TakenOut()
    for attempt in range(_TRIES):
        try:
            _rewrite(remote, column, values, note, outcome)
            break
        except HubError as error:
            if error.status not in _AGAIN or attempt == _TRIES - 1:
                raise
    if remote.tree().revision:
        remote.squash()
        remote.purge(outcome.deleted)
    return outcome


def _rewrite(
    remote: Remote,
    column: str,
    values: Sequence[str],
    note: Mapping[str, bytes],
    outcome: TakenOut,
) -> None:
    tree = remote.tree()
    parent = tree.revision
    outcome.problems = []
    if note and parent:
        parent = remote.commit("Note what is taken out", note, parent=parent)
    wanted = [name for name in tree.files if column in _columns(name)]
    for batch in batches(tree, wanted):
        add: dict[str, bytes] = {}
        delete: list[str] = []
        for name, content in remote.read(tree.revision, batch).items():
            try:
                before = from_parquet(name, content)
            except Agl1kError as error:
                outcome.problems.append(str(error))
                continue
            left = without(before, column, values)
            if len(left) < len(before):
                outcome.rows |= _ids(name, before) - _ids(name, left)
                outcome.deleted.add(name)
                delete.append(name)
                add |= _renamed(name, left)
        if delete:
            parent = remote.commit("Take rows out", add, delete, parent)


def _ids(name: str, table: pa.Table) -> set[str]:
    kind = kind_of(name)
    return set(table[kind.id_column].to_pylist()) if kind else set()


def _renamed(name: str, left: pa.Table) -> dict[str, bytes]:
    kind = kind_of(name)
    if kind is None or not len(left):  # load_dataset fails on a file without rows
        return {}
    content = to_parquet(left)
    return {shard_name(kind, day_of(name), "kept", content): content}


def _columns(name: str) -> set[str]:
    kind = kind_of(name)
    return {column.name for column in kind.fields} if kind else set()

"""What is deleted on one server is deleted on all: removals are published, and obeyed."""

from __future__ import annotations

import functools
import hashlib
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from sqlalchemy import ColumnElement, Connection, delete, select

from store.database import Database
from store.hub.outbox import Outbox
from store.schema import guesses, removals, rounds, submissions
from store.submissions import take_off

Subject = Literal["player", "submission"]
_AT_ONCE = 10_000  # SQLite accepts at most 32,766 parameters


@functools.lru_cache(100_000)
def subject_of(what: Subject, identifier: str) -> str:
    """The hash that a removal names its subject by."""
    return hashlib.sha256(f"{what}:{identifier}".encode()).hexdigest()


def note_removal(
    connection: Connection, what: Subject, ids: Iterable[str], when: datetime | None = None
) -> None:
    """Store that something was deleted, to be published."""
    now = when or datetime.now(UTC)
    rows = [
        {"removal_id": uuid.uuid4().hex, "subject": subject_of(what, found), "created_utc": now}
        for found in ids
    ]
    if rows:
        connection.execute(removals.insert(), rows)


def note_withdrawals(database: Database) -> None:
    """Store a removal for each withdrawn submission that has none yet."""
    withdrawn = select(submissions.c.submission_id).where(submissions.c.withdrawn_utc.is_not(None))
    with database.read() as connection:
        ids, known = list(connection.scalars(withdrawn)), noted(connection)
    new = [found for found in ids if subject_of("submission", found) not in known]
    if new:
        with database.write() as connection:
            note_removal(connection, "submission", new)


def noted(connection: Connection) -> dict[str, datetime]:
    """Hashes of what was removed, and when it was removed last."""
    found = select(removals.c.subject, removals.c.created_utc).order_by(removals.c.created_utc)
    return {row.subject: row.created_utc for row in connection.execute(found)}


def is_removed(row: Mapping[str, Any], gone: Mapping[str, datetime]) -> bool:
    """Whether a published row should have been deleted, by ``noted`` removals."""
    if "player_id" in row:
        when = gone.get(subject_of("player", row["player_id"]))
        return when is not None and row["created_utc"] <= when
    return "submission_id" in row and subject_of("submission", row["submission_id"]) in gone


@dataclass
class Removed:
    """The ids of submissions and answers that were deleted here."""

    submissions: list[str] = field(default_factory=list)
    guesses: list[str] = field(default_factory=list)


def obey(database: Database) -> Removed:
    """Withdraw submissions and delete players' rows that were removed on any server."""
    done = Removed()
    with database.read() as connection:
        gone = noted(connection)
        if not gone:
            return done
        standing = select(submissions.c.submission_id).where(submissions.c.withdrawn_utc.is_(None))
        for found in connection.scalars(standing):
            if subject_of("submission", found) in gone:
                done.submissions.append(found)
        for player_id, when in _players(connection, gone).items():
            done.guesses += connection.scalars(
                select(guesses.c.guess_id).where(_of(player_id, when))
            )
    if done.guesses:
        Outbox(database).drop("guess_id", done.guesses)
        _delete_guesses(database, gone)
    if done.submissions:
        _withdraw(database, done.submissions)
    if done.guesses or done.submissions:
        database.scrub()
    return done


def _players(connection: Connection, gone: dict[str, datetime]) -> dict[str, datetime]:
    """The removed players that have rows here, and when they were removed."""
    ids = {*connection.scalars(select(guesses.c.player_id).distinct())}
    found = {player_id: gone.get(subject_of("player", player_id)) for player_id in ids}
    return {player_id: when for player_id, when in found.items() if when is not None}


def _of(player_id: str, when: datetime) -> ColumnElement[bool]:
    return (guesses.c.player_id == player_id) & (guesses.c.created_utc <= when)


def _delete_guesses(database: Database, gone: dict[str, datetime]) -> None:
    with database.write() as connection:
        for player_id, when in _players(connection, gone).items():
            connection.execute(delete(guesses).where(_of(player_id, when)))
            old = (rounds.c.player_id == player_id) & (rounds.c.created_utc <= when)
            connection.execute(delete(rounds).where(old))


def _withdraw(database: Database, ids: Sequence[str]) -> None:
    with database.write() as connection:
        for start in range(0, len(ids), _AT_ONCE):
            take_off(connection, ids[start : start + _AT_ONCE])

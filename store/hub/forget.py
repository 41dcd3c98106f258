"""Deletes a player's rows here and in the dataset, and lists what it cannot reach."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlalchemy import delete, update

from agl1k_core.errors import Agl1kError
from store.database import Database
from store.hub.layout import REMOVALS
from store.hub.lock import hub_lock
from store.hub.outbox import Outbox
from store.hub.remote import HubError, Remote
from store.hub.removals import note_removal
from store.hub.rewriting import take_out
from store.schema import carries, guesses, room_seats, rooms, rounds

_WAIT_S = 300.0


@dataclass
class Forgotten:
    """How much was deleted where; ``missed`` has a sentence for everything not reached."""

    rows_here: int = 0
    rounds_here: int = 0
    rows_waiting: int = 0
    rows_published: int = 0
    missed: list[str] = field(default_factory=list)
    is_done: bool = True


def forget(database: Database, remote: Remote | None, player_id: str) -> Forgotten:
    """Delete every row of a player from the database, the waiting files and the dataset.

    Safe to repeat. Raises ``Agl1kError`` if another process is busy with the Hub for minutes. If
    the Hub fails, ``is_done`` is False and ``missed`` says so.
    """
    outcome = Forgotten()
    with hub_lock(database, _WAIT_S) as mine:
        if not mine:
            raise Agl1kError("The app is busy with the Hub. Nothing was deleted; try again later.")
        outcome.rows_waiting = Outbox(database).drop("player_id", [player_id])
        _forget_here(database, player_id, outcome)
        if remote is not None:
            _forget_there(database, remote, player_id, outcome)
    outcome.missed += _out_of_reach(database, remote)
    return outcome


def _forget_here(database: Database, player_id: str, outcome: Forgotten) -> None:
    with database.write() as connection:
        note_removal(connection, "player", [player_id])
        for loose in (room_seats, carries):
            connection.execute(delete(loose).where(loose.c.player_id == player_id))
        connection.execute(update(rooms).where(rooms.c.opener_id == player_id).values(opener_id=""))
        for table in (guesses, rounds):
            done = connection.execute(delete(table).where(table.c.player_id == player_id))
            if table is guesses:
                outcome.rows_here = done.rowcount
            else:
                outcome.rounds_here = done.rowcount
    if not database.scrub(rewrite=True):
        outcome.missed.append(
            "The database's log of changes is in use and still contains the deleted rows. Stop the "
            "app, run this command again, and start the app."
        )


def _forget_there(database: Database, remote: Remote, player_id: str, outcome: Forgotten) -> None:
    try:
        outbox = Outbox(database)
        outbox.seal()
        note = {file.name: file.content for file in outbox.pending(kind=REMOVALS)}
        gone = take_out(remote, "player_id", [player_id], note)
        if remote.revision():
            outbox.confirm(note)
        outbox.confirm(gone.deleted)  # the waiting files of these names were rewritten there
        outcome.rows_published = len(gone.rows)
        outcome.missed += gone.problems
        outcome.missed += [
            f"{ref} of the dataset keeps its own history: delete it on {remote.page}."
            for ref in remote.other_refs()
        ]
    except HubError as error:
        outcome.is_done = False
        outcome.missed.append(
            f"{error} The dataset may still contain rows: run this command again."
        )


def _out_of_reach(database: Database, remote: Remote | None) -> list[str]:
    sentences = ["Copies that others have made of the dataset, and backups of this database."]
    if remote is not None:
        sentences.append(
            "Databases of other servers that publish in the same dataset, until they push the next "
            "time: they delete the player then. If one has stopped for good, run this there, too."
        )
    if database.url.get_backend_name() != "sqlite":
        sentences.append("PostgreSQL's write-ahead log, until PostgreSQL recycles it.")
    return sentences

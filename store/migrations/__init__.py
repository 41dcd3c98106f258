"""Upgrades of the tables: every change of ``store.schema`` has a revision here.

A new revision is a file in ``versions/`` named ``v<number>_<what>.py``. Write it by hand, without
importing ``store.schema``, which will change again. Tests compare its result with the tables.
"""

from __future__ import annotations

import threading
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect

from agl1k_core.errors import Agl1kError
from store.schema import metadata

VERSION_TABLE = "agl1k_schema"  # not alembic's own name: the database may serve others too
HERE = Path(__file__).parent
_one_at_a_time = threading.Lock()  # alembic keeps its context in the module


def upgrade(connection: Connection, folder: Path = HERE) -> None:
    """Upgrade the tables to the newest revision in ``folder``, in the connection's transaction.

    The caller must hold the lock that keeps other processes out. Raises ``Agl1kError`` if the
    tables belong to a newer AGL1K or to another program.
    """
    config = Config()
    config.set_main_option("script_location", str(folder).replace("%", "%%"))
    config.attributes["connection"] = connection
    script = ScriptDirectory.from_config(config)
    current = current_revision(connection)
    if current == script.get_current_head():
        return
    _refuse_unknown(current, {revision.revision for revision in script.walk_revisions()})
    if current is None:
        _refuse_foreign(connection)
    with _one_at_a_time:
        command.upgrade(config, "head")


def current_revision(connection: Connection) -> str | None:
    """The revision of the tables, or None if there are none yet."""
    options = {"version_table": VERSION_TABLE}
    return MigrationContext.configure(connection, opts=options).get_current_revision()


def _refuse_unknown(current: str | None, known: set[str]) -> None:
    if current is not None and current not in known:
        raise Agl1kError(
            f"The database belongs to a newer AGL1K (its tables have revision {current}, this "
            f"version supports up to {max(known)}). Install the newer version, or set "
            "AGL1K_DATABASE to another place. Nothing was changed."
        )


def _refuse_foreign(connection: Connection) -> None:
    taken = sorted(set(inspect(connection).get_table_names()) & set(metadata.tables))
    if taken:
        raise Agl1kError(
            f"The database contains tables that AGL1K did not create ({', '.join(taken)}). Set "
            "AGL1K_DATABASE to a database or schema used by AGL1K alone. Nothing was changed."
        )

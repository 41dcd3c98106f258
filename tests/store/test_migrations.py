from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import MetaData, Table, create_engine, inspect, select, text
from sqlalchemy.engine.interfaces import ReflectedIndex

from agl1k_core.errors import Agl1kError
from store import migrations
from store.database import Database
from store.guesses import Guess, GuessStore
from store.schema import metadata
from tests.support.processes import ROOT
from tests.support.waiting import PATIENCE_S

NEXT_REVISION = """
import sqlalchemy as sa
from alembic import op

revision = "9999"
down_revision = {head!r}


def upgrade():
    with op.batch_alter_table("guesses") as table:
        table.add_column(sa.Column("hint", sa.Text(), nullable=False, server_default="none"))
{then}
"""


def _index(index: ReflectedIndex) -> str:
    options = index.get("dialect_options", {})
    conditions = {key: str(value) for key, value in options.items() if key.endswith("_where")}
    return f"{index['name']} {index['column_names']} {index['unique']} {conditions}"


@pytest.fixture
def next_release(tmp_path: Path) -> Callable[[Database, str], None]:
    """Upgrade a database as the next release would, with one more revision."""

    def upgrade(database: Database, then: str = "") -> None:
        folder = tmp_path / "next"
        shutil.copytree(migrations.HERE, folder)
        with database.read() as connection:
            head = migrations.current_revision(connection)
        revision = NEXT_REVISION.format(head=head, then=f"    {then}")
        (folder / "versions" / "v9999_hint.py").write_text(revision)
        with database.write() as connection:
            migrations.upgrade(connection, folder)

    return upgrade


def test_a_new_database_matches_the_tables(database: Database) -> None:
    options = {"version_table": migrations.VERSION_TABLE, "compare_server_default": True}
    with database.read() as connection:
        context = MigrationContext.configure(connection, opts=options)
        assert compare_metadata(context, metadata) == []


def test_names_and_conditions_of_constraints_match_the_tables(
    database: Database,
) -> None:
    """What ``compare_metadata`` ignores: checks, and the conditions of indexes."""

    def described(of: Database) -> dict[str, object]:
        found = inspect(of.engine)
        return {
            name: (
                sorted(
                    (check["name"], check["sqltext"]) for check in found.get_check_constraints(name)
                ),
                sorted(_index(index) for index in found.get_indexes(name)),
                found.get_pk_constraint(name),
                found.get_foreign_keys(name),
            )
            for name in metadata.tables
        }

    migrated = described(database)
    metadata.drop_all(database.engine)
    metadata.create_all(database.engine)
    assert described(database) == migrated


def test_opening_again_changes_nothing(
    database: Database, database_url: str, make_guess: Callable[..., Guess]
) -> None:
    guess = GuessStore(database).record(make_guess())
    with Database(database_url) as again:
        assert GuessStore(again).of_benchmark("demo") == [guess]
        assert again.replica_id == database.replica_id


def test_an_old_database_grows_with_its_rows_kept(
    database: Database,
    next_release: Callable[[Database], None],
    make_guess: Callable[..., Guess],
) -> None:
    store = GuessStore(database)
    kept = [store.record(make_guess(position=position)) for position in range(5)]
    next_release(database)
    grown = Table("guesses", MetaData(), autoload_with=database.engine)
    with database.read() as connection:
        assert connection.scalars(select(grown.c.hint)).all() == ["none"] * 5
        assert migrations.current_revision(connection) == "9999"
    assert store.of_benchmark("demo") == kept
    assert store.record(make_guess(position=0)) == kept[0], "uniqueness outlives the change"


def test_a_database_of_a_newer_release_is_refused(
    database: Database, database_url: str, next_release: Callable[[Database], None]
) -> None:
    next_release(database)
    with pytest.raises(Agl1kError, match=r"newer AGL1K \(its tables have revision 9999.*Install"):
        Database(database_url)


def test_a_migration_that_fails_changes_nothing(
    database: Database,
    database_url: str,
    next_release: Callable[[Database, str], None],
    make_guess: Callable[..., Guess],
) -> None:
    kept = GuessStore(database).record(make_guess())
    with pytest.raises(Agl1kError, match="nonesuch"):
        next_release(database, "op.drop_table('nonesuch')")
    with Database(database_url) as again:
        assert GuessStore(again).of_benchmark("demo") == [kept]
        columns = {column["name"] for column in inspect(again.engine).get_columns("guesses")}
    assert "hint" not in columns


def test_foreign_tables_are_left_alone(database_url: str) -> None:
    engine = create_engine(database_url.replace("postgresql:", "postgresql+psycopg:"))
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE guesses (theirs INTEGER)"))
    with pytest.raises(Agl1kError, match=r"did not create \(guesses\)"):
        Database(database_url)
    assert inspect(engine).get_table_names() == ["guesses"]
    engine.dispose()


def test_the_file_of_another_program_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "theirs.db"
    with closing(sqlite3.connect(file)) as theirs:
        theirs.execute("CREATE TABLE moz_places (url)")
    before = file.read_bytes()
    with pytest.raises(Agl1kError, match=r"did not create \(moz_places\)"):
        Database(f"sqlite:///{file}")
    assert file.read_bytes() == before


@pytest.mark.postgres
def test_a_server_may_be_shared_with_another_program(postgres_server: Any) -> None:
    postgres_server.execute("CREATE SCHEMA shared")
    database_url = postgres_server.url("shared")
    engine = create_engine(database_url.replace("postgresql:", "postgresql+psycopg:"))
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32))"))
        connection.execute(text("INSERT INTO alembic_version VALUES ('theirs')"))
    Database(database_url).close()
    with engine.connect() as connection:
        theirs = connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one()
    assert theirs == "theirs"
    engine.dispose()


OPENER = """
import sys
from store.database import Database
print("ready", flush=True)
sys.stdin.readline()
with Database(sys.argv[1]) as database:
    print(database.replica_id, database.secret("cookie").hex())
"""


@pytest.mark.server
def test_processes_may_open_a_new_database_at_once(database_url: str) -> None:
    openers = [
        subprocess.Popen(
            [sys.executable, "-c", OPENER, database_url],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    for opener in openers:
        assert opener.stdout is not None
        assert opener.stdout.readline() == "ready\n"
    for opener in openers:
        assert opener.stdin is not None
        opener.stdin.write("go\n")
        opener.stdin.flush()
    told = [opener.communicate(timeout=PATIENCE_S) for opener in openers]
    assert [errors for _, errors in told] == [""] * 4
    assert len({output for output, _ in told}) == 1, "one id and one key for all"


def test_the_tools_of_older_answers_are_not_known(
    make_guess: Callable[..., Guess], tmp_path: Path
) -> None:
    before, url = tmp_path / "before", f"sqlite:///{tmp_path / 'old.db'}"
    shutil.copytree(migrations.HERE, before, ignore=shutil.ignore_patterns("v0009_*", "v001*"))
    older = make_guess(tools=None)
    engine = create_engine(url)
    with engine.begin() as connection:
        migrations.upgrade(connection, before)
        table = Table("guesses", MetaData(), autoload_with=connection)
        names = [column.name for column in table.c if hasattr(older, column.name)]
        values = {name: getattr(older, name) for name in names}
        values["created_utc"] = older.created_utc.replace(tzinfo=None)
        connection.execute(table.insert(), values)
    engine.dispose()
    with Database(url) as database:
        assert GuessStore(database).of_benchmark("demo") == [older]

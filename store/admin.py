"""``agl1k admin``: maintenance of a server's database and its public dataset.

Exit codes: 0 success, 1 failure with the reason on stderr, 2 wrong usage.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from agl1k_core.errors import Agl1kError
from agl1k_core.file_names import shown, shown_lines
from store import moderating
from store.backup import back_up
from store.database import Database, parse_url
from store.hub import card
from store.hub.comparing import Differences, compare, count_there, mend
from store.hub.connect import limits_for, remote_for
from store.hub.forget import forget as forget_player
from store.hub.layout import KINDS, shard_name, to_parquet
from store.hub.lock import hub_lock
from store.hub.outbox import ROWS_PER_SHARD, Outbox, published_rows
from store.hub.publisher import Publisher
from store.hub.reading import foreign, read_back
from store.hub.remote import Remote, Tree
from store.options import StoreOptions


class _Commands(TyperGroup):
    """Commands that end with exit code 1 and the reason on stderr after an ``Agl1kError``."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except Agl1kError as error:
            typer.echo(shown_lines(str(error)), err=True)
            raise typer.Exit(1) from None


app = typer.Typer(
    cls=_Commands,
    help="Maintain a server's database and its public dataset.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(moderating.submissions, name="submissions")
app.add_typer(moderating.nicknames, name="nicknames")


@contextmanager
def _opened() -> Iterator[tuple[StoreOptions, Database, Remote | None]]:
    options = StoreOptions.from_env()
    with Database(options.database) as database:
        yield options, database, remote_for(options.hub)


def _needed(remote: Remote | None) -> Remote:
    if remote is None:
        raise Agl1kError("No dataset is configured. Set AGL1K_HUB_DATASET and AGL1K_HUB_TOKEN.")
    return remote


@app.command()
def status(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show what is stored, what is published, what waits, and what is wrong."""
    with _opened() as (_, database, remote):
        backlog = Outbox(database).backlog()
        published, problems = _published(database, remote)
        found: dict[str, object] = {
            "dataset": remote.repo if remote else None,
            "published_rows": published,
            "waiting_rows": backlog.rows,
            "waiting_files": backlog.shards,
            "withdrawn_still_published": backlog.withdrawn,
            "oldest_waiting_utc": backlog.oldest_utc.isoformat() if backlog.oldest_utc else None,
            "problems": problems,
        }
    if as_json:
        typer.echo(json.dumps(found))
        return
    for name, value in found.items():
        typer.echo(f"{name}: {value}")


def _published(
    database: Database, remote: Remote | None
) -> tuple[dict[str, int] | None, list[str]]:
    """The rows in the dataset, None if it cannot be read; and what is wrong with it."""
    if remote is None:
        return count_there(database, Tree("")), []
    try:
        tree = remote.tree()
    except Agl1kError as error:
        return None, [str(error)]
    problems = foreign(tree)
    if not tree.revision and not Outbox(database).is_blank():
        problems.append(
            f"The dataset {remote.repo} does not exist, or the token may not read it. The next "
            "push creates it and publishes every row."
        )
    return count_there(database, tree), problems


@app.command()
def push() -> None:
    """Push everything that waits, once, and show what is left."""
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    with _opened() as (options, database, remote):
        publisher = Publisher(database, _needed(remote), limits_for(options.hub))
        if not publisher.push():
            raise Agl1kError("The app is pushing at the moment. Try again later.")
        left = Outbox(database).backlog()
    typer.echo(f"{left.rows} rows wait, {left.withdrawn} withdrawn submissions are still published")
    if left:
        raise typer.Exit(1)


@app.command()
def verify(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Read the whole dataset, compare it with the database row by row, and name differences."""
    with _opened() as (_, database, remote):
        found = compare(database, _needed(remote))
        waiting = Outbox(database).backlog().rows
    _tell(found, waiting, as_json)


@app.command()
def republish() -> None:
    """Publish again what the dataset lost, restore what is missing here, and verify."""
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    with _opened() as (options, database, remote):
        with hub_lock(database, _WAIT_S) as mine:
            if not mine:
                raise Agl1kError(_BUSY)
            mend(database, _needed(remote), compare(database, _needed(remote)))
        if not Publisher(database, _needed(remote), limits_for(options.hub)).push(_WAIT_S):
            raise Agl1kError(_BUSY)
        found = compare(database, _needed(remote))
        waiting = Outbox(database).backlog().rows
    _tell(found, waiting, as_json=False)


_WAIT_S = 60.0
_BUSY = "The app is busy with the Hub. Try again later, or stop it first."
_NAMES = {
    "missing_there": "called published here, but missing in the dataset",
    "missing_here": "in the dataset, but missing here",
    "doubled": "more than once in the dataset",
    "changed": "with other values in the dataset",
    "still_there": "withdrawn or deleted, but still in the dataset",
}


def _tell(found: Differences, waiting: int, as_json: bool) -> None:
    """Print the differences; exits with 1 if there are any."""
    if as_json:
        told = {"rows_there": found.rows_there, "waiting_rows": waiting, **found.by_name()}
        typer.echo(json.dumps({**told, "problems": found.problems, "notes": found.notes}))
    else:
        rows = ", ".join(f"{n_rows} {kind}" for kind, n_rows in found.rows_there.items())
        typer.echo(f"In the dataset: {rows}. Waiting here: {waiting} rows.")
        for name, kinds in found.by_name().items():
            for kind, ids in kinds.items():
                typer.echo(f"{len(ids)} {kind} {_NAMES[name]}: {_some(ids)}")
        for sentence in (*found.problems, *found.notes):
            typer.echo(sentence, err=True)
    if found:
        typer.echo("Database and dataset differ. Run: agl1k admin republish", err=True)
        raise typer.Exit(1)


def _some(ids: list[str], most: int = 10) -> str:
    more = f" and {len(ids) - most} more (all: --json)" if len(ids) > most else ""
    return ", ".join(ids[:most]) + more


@app.command()
def restore() -> None:
    """Restore every published row that is missing in the database."""
    with _opened() as (_, database, remote), hub_lock(database, 60) as mine:
        if not mine:
            raise Agl1kError("The app is busy with the Hub. Nothing was read; try again later.")
        found = read_back(database, _needed(remote))
    typer.echo(f"{found.rows} rows read from {found.files} files")
    for problem in found.problems:
        typer.echo(problem, err=True)
    if found.problems:
        raise typer.Exit(1)


@app.command()
def export(
    folder: Annotated[Path, typer.Argument(help="A folder that is empty or does not exist yet.")],
) -> None:
    """Write the dataset into a folder as it would be published, for load_dataset(FOLDER, …)."""
    with _opened() as (options, database, _):
        try:
            if folder.is_dir() and any(folder.iterdir()):
                raise Agl1kError(
                    f"{folder} is not empty. Nothing was written; give another folder."
                )
            n_rows = _export(database, folder, options.hub.dataset or str(folder))
        except OSError as error:
            raise Agl1kError(f"{folder} cannot be written: {error.strerror}.") from None
    typer.echo(f"{n_rows} rows written to {shown(folder)}")


def _export(database: Database, folder: Path, name: str) -> int:
    now = datetime.now(UTC)
    rows: dict[str, int] = {}
    for kind in KINDS.values():
        with database.read() as connection:
            found = published_rows(connection, kind)
            while part := list(islice(found, ROWS_PER_SHARD[kind.name])):
                content = to_parquet(kind.table(part))
                first = f"export-{rows.get(kind.name, 0)}"
                path = folder / shard_name(kind, now.date().isoformat(), first, content)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
                rows[kind.name] = rows.get(kind.name, 0) + len(part)
    folder.mkdir(parents=True, exist_ok=True)
    numbers = card.count_all(database)
    (folder / "README.md").write_text(card.build(name, list(rows), numbers, now), encoding="utf-8")
    return sum(rows.values())


@app.command()
def backup(
    file: Annotated[Path, typer.Argument(help="The copy; a file that does not exist yet.")],
) -> None:
    """Copy the SQLite database into one file, while the app runs."""
    n_bytes = back_up(parse_url(StoreOptions.from_env().database), file)
    typer.echo(f"{n_bytes:,} bytes written to {file}")


@app.command()
def forget(
    player_id: Annotated[str, typer.Argument(help="The player's id, as in the dataset.")],
) -> None:
    """Delete a player's rows here, in the dataset and in its history; show what remains."""
    with _opened() as (_, database, remote):
        done = forget_player(database, remote, player_id)
    typer.echo(
        f"Deleted here: {done.rows_here} answers and {done.rounds_here} rounds; "
        f"{done.rows_waiting} of the answers waited in files. "
        f"Deleted in the dataset: {done.rows_published} answers."
    )
    typer.echo("Out of reach:")
    for sentence in done.missed:
        typer.echo(f"- {sentence}")
    if not done.is_done:
        raise typer.Exit(1)


if __name__ == "__main__":
    app(prog_name="agl1k admin")

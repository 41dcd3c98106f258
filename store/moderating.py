"""``agl1k admin submissions`` and ``agl1k admin nicknames``: what the board shows, and why."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from agl1k_core.errors import Agl1kError
from store.database import Database
from store.guesses import GuessStore
from store.moderation import Action, Decision, ModerationLog, Standing, standing
from store.options import StoreOptions
from store.submissions import Submission, SubmissionStore

submissions = typer.Typer(
    help="List, show, hide, restore, remove or verify submissions.", no_args_is_help=True
)
nicknames = typer.Typer(help="List, hide or restore players' nicknames.", no_args_is_help=True)

Id = Annotated[str, typer.Argument(help="The submission's id, as its row shows it.")]
Reason = Annotated[str, typer.Option("--reason", help="Why; everybody can read it.")]
Name = Annotated[str, typer.Argument(help="The nickname.")]


@contextmanager
def _database() -> Iterator[Database]:
    with Database(StoreOptions.from_env().database) as database:
        yield database


@submissions.command("list")
def list_submissions(
    benchmark: Annotated[str, typer.Argument(help="Its slug, such as agl1k.")] = "",
    waiting: Annotated[bool, typer.Option("--waiting", help="Only those that are held.")] = False,
) -> None:
    """Show all submissions with their state, oldest first."""
    with _database() as database:
        store = SubmissionStore(database)
        standings = store.moderation.standings("submission")
        found = store.everything(benchmark)
    table = Table("submission", "published", "board", "model", "organisation", "owner", "state")
    for one in found:
        state = state_of(one, standings.get(one.submission_id, Standing()))
        if waiting and state != "held":
            continue
        table.add_row(
            one.submission_id, f"{one.created_utc:%Y-%m-%d}", one.benchmark, one.model,
            one.organisation, one.owner, state,
        )  # fmt: skip
    Console().print(table)


def state_of(submission: Submission, standing: Standing) -> str:
    """In one or two words: shown, verified, held, hidden, removed or withdrawn."""
    if standing.shown and standing.shown.action == "remove":
        return "removed"
    if submission.withdrawn_utc:
        return "withdrawn"
    if not standing.is_shown and standing.shown:
        return {"hold": "held", "hide": "hidden"}.get(standing.shown.action, "hidden")
    return "verified" if standing.verified else "shown"


_TOLD = (
    "submission_id", "benchmark", "model", "organisation", "owner", "link", "weights",
    "model_date", "file_name", "file_sha256", "created_utc", "withdrawn_utc",
)  # fmt: skip


@submissions.command("show")
def show_submission(submission_id: Id) -> None:
    """Show one submission, its main numbers, and every decision about it."""
    with _database() as database:
        store = SubmissionStore(database)
        one = _known(store, submission_id)
        log = store.moderation.log("submission", submission_id)
    for name in _TOLD:
        typer.echo(f"{name}: {getattr(one, name) or ''}")
    typer.echo(f"state: {state_of(one, standing(log))}")
    metrics = one.evaluation.get("metrics", {})
    for name in ("distance_km", "geoscore", "country_accuracy", "city_accuracy", "reject_rate"):
        typer.echo(f"{name}: {metrics.get(name)}")
    for decision in log:
        typer.echo(_line(decision))


def _line(decision: Decision) -> str:
    return f"{decision.created_utc:%Y-%m-%d %H:%M} UTC {decision.action}: {decision.reason}"


def _known(store: SubmissionStore, submission_id: str) -> Submission:
    found = store.get(submission_id)
    if found is None:
        raise Agl1kError(
            f"There is no submission {submission_id}. List them: agl1k admin submissions list"
        )
    return found


def _decide(submission_id: str, action: Action, reason: str) -> None:
    with _database() as database:
        store = SubmissionStore(database)
        one = _known(store, submission_id)
        if one.withdrawn_utc:
            raise Agl1kError(f"{one.model} is withdrawn: its file is gone. Nothing was changed.")
        store.moderation.decide("submission", submission_id, action, reason)
    typer.echo(f"{one.model}: {action}. The board shows it with its next request.")


@submissions.command("hide")
def hide_submission(submission_id: Id, reason: Reason) -> None:
    """Take a submission off the board; restore brings it back."""
    _decide(submission_id, "hide", reason)


@submissions.command("restore")
def restore_submission(submission_id: Id, reason: Reason) -> None:
    """Put a held or hidden submission on the board."""
    _decide(submission_id, "restore", reason)


@submissions.command("remove")
def remove_submission(submission_id: Id, reason: Reason) -> None:
    """Delete a submission's file and take it off the board, for ever."""
    with _database() as database:
        store = SubmissionStore(database)
        one = _known(store, submission_id)
        store.remove(submission_id, reason)
    typer.echo(f"{one.model} is removed: its file is deleted.")


@submissions.command("verify")
def verify_submission(
    submission_id: Id,
    reason: Reason,
    undo: Annotated[bool, typer.Option("--undo", help="Take the badge away.")] = False,
) -> None:
    """Confirm that the signed-in owner speaks for the organisation; the row says "verified"."""
    with _database() as database:
        one = _known(SubmissionStore(database), submission_id)
    if not one.owner or not one.organisation:
        raise Agl1kError(
            f"{one.model} cannot be verified: its publisher was not signed in, or named no "
            "organisation. Ask for a submission with both."
        )
    _decide(submission_id, "unverify" if undo else "verify", reason)


@nicknames.command("list")
def list_nicknames() -> None:
    """Show all nicknames with their number of guesses, and which are hidden."""
    with _database() as database:
        counts = GuessStore(database).nicknames()
        hidden = ModerationLog(database).standings("nickname")
    for name, n_guesses in sorted(counts.items()):
        typer.echo(f"{n_guesses:>8} {name}")
    for name, held in sorted(hidden.items()):
        if not held.is_shown and held.shown:
            typer.echo(f"  hidden {name}: {held.shown.reason}")


@nicknames.command("hide")
def hide_nickname(name: Name, reason: Reason) -> None:
    """Delete a nickname from all guesses here, and refuse it from now on."""
    with _database() as database:
        ModerationLog(database).decide("nickname", name, "hide", reason)
        n_guesses = GuessStore(database).drop_nickname(name)
    typer.echo(f"{name} is hidden; it was deleted from {n_guesses} guesses.")


@nicknames.command("restore")
def restore_nickname(name: Name, reason: Reason) -> None:
    """Allow a nickname again."""
    with _database() as database:
        ModerationLog(database).decide("nickname", name, "restore", reason)
    typer.echo(f"{name} is allowed again.")

"""Commands that start or maintain a server: serve, review, admin.

What they start is above the core and not part of the installed package, so it is run from a
checkout or the container, and never imported.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from agl1k_core.cli.checkout import run_above

app = typer.Typer()


@app.command()
def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on.")] = None,
) -> None:
    """Serve the app: play, compete, compare."""
    flags = [("--host", host), ("--port", port)]
    options = [str(part) for pair in flags if pair[1] is not None for part in pair]
    run_above("app", ["app", *options], needs="gradio")


@app.command()
def review(
    folder: Annotated[Path, typer.Argument(help="A benchmark's folder.")],
    predictions: Annotated[
        Path | None,
        typer.Option("--predictions", dir_okay=False, help="Show its answers beside the truth."),
    ] = None,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on.")] = 7861,
) -> None:
    """Open a page to listen to a benchmark's clips and keep or reject each."""
    shown = ["--predictions", str(predictions)] if predictions else []
    argv = ["agl1k review", "--host", host, "--port", str(port), *shown, "--", str(folder)]
    run_above("game.review_page", argv, needs="gradio")


@app.command(
    add_help_option=False,
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
)
def admin(context: typer.Context) -> None:
    """Maintain a server: status, push, verify, republish, restore, export, forget."""
    run_above("store.admin", ["agl1k admin", *context.args], needs="sqlalchemy")

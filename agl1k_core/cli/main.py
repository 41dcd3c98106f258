"""The command line ``agl1k``: its groups of commands.

Exit codes: 0 success, 1 failure with the problems on stderr, 2 wrong usage. Commands import pandas
only when they need it: those that analyze recordings start processes with the same modules.
"""

from __future__ import annotations

from typing import Annotated

import typer

from agl1k_core import __version__
from agl1k_core.cli import (
    building,
    causes,
    cutting,
    exporting,
    fetching,
    inspecting,
    listening,
    localizability,
    publishing,
    running,
    scoring,
    serving,
    wandering,
)
from agl1k_core.cli.console import Commands

app = typer.Typer(
    cls=Commands,
    help="AGL1K: given only a sound, where on Earth was it made?",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(scoring.app)
app.add_typer(fetching.app)
app.add_typer(running.app)
app.add_typer(causes.app)
app.add_typer(listening.app)
app.add_typer(inspecting.app)
app.add_typer(publishing.app)
app.add_typer(cutting.app)
app.add_typer(building.app)
app.add_typer(exporting.app)
app.add_typer(serving.app)
app.add_typer(localizability.app, name="localizability")
app.add_typer(wandering.app, name="wander")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """AGL1K: given only a sound, where on Earth was it made?"""

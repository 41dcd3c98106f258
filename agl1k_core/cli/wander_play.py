"""agl1k wander play, which runs a page from a checkout."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from agl1k_core.cli.checkout import run_above
from agl1k_core.extras import check

app = typer.Typer()


@app.command()
def play(
    graphs: Annotated[
        Path,
        typer.Argument(help="A folder or file of graphs, or 'example' for the example set."),
    ],
    panoramas: Annotated[
        Path | None, typer.Option(help="The folder of panoramas, if it is another.")
    ] = None,
    answers: Annotated[
        Path | None,
        typer.Option(dir_okay=False, help="The file of guesses; by default, wander-answers.jsonl."),
    ] = None,
    steps: Annotated[
        int | None, typer.Option(min=1, help="Steps of a walk, the guess included; 4 by default.")
    ] = None,
    scale_km: Annotated[float | None, typer.Option(min=1, help="Scale of the score.")] = None,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on.")] = 7862,
) -> None:
    """Open a page to walk through graphs oneself and guess where they are."""
    check("PIL")
    options = {
        "--panoramas": panoramas, "--answers": answers, "--steps": steps, "--scale-km": scale_km,
        "--host": host, "--port": port,
    }  # fmt: skip
    told = [str(p) for pair in options.items() if pair[1] is not None for p in pair]
    run_above("game.wander_page", ["agl1k wander play", *told, "--", str(graphs)], needs="gradio")

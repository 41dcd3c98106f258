"""The command that cuts long recordings into clips: cut."""

from __future__ import annotations

from collections import Counter
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from tqdm import tqdm

from agl1k_core import benchmarks
from agl1k_core.cli.building import WORKERS, ColumnsOption, KindOption, WorkersOption, show_progress
from agl1k_core.cli.console import say, warn_all
from agl1k_core.config import Config
from agl1k_core.curation import CUTS, MAX_S, MIN_S, cut_recordings, open_collection
from agl1k_core.file_names import shown

app = typer.Typer()


@app.command()
def cut(
    source: Annotated[
        Path, typer.Argument(help="A table, or a folder with one, or hub:OWNER/NAME.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder of the parts.")],
    kind: KindOption = "",
    columns: ColumnsOption = "",
    recordings: Annotated[
        Path | None,
        typer.Option("--recordings", help="Folder of the recordings, if not beside the table."),
    ] = None,
    min_duration_s: Annotated[
        float, typer.Option("--min-duration-s", min=1, help="Shorter recordings are left out.")
    ] = MIN_S,
    max_duration_s: Annotated[
        float, typer.Option("--max-duration-s", min=4, help="Longer recordings are cut.")
    ] = MAX_S,
    work: Annotated[
        Path | None,
        typer.Option("--work", help="Folder that keeps what is done. Default: OUTPUT.work."),
    ] = None,
    workers: WorkersOption = WORKERS,
) -> None:
    """Cut long recordings into parts at quiet points, for curate. Run again to resume."""
    named = benchmarks.read_columns(columns)
    collection = open_collection(source, recordings, Config.from_env(), kind, named)
    warn_all(collection.benchmark.remarks)
    with tqdm(unit="file", disable=None) as bar:
        done = cut_recordings(
            collection,
            output,
            work or output.with_name(f"{output.name}.work"),
            min_s=min_duration_s,
            max_s=max_duration_s,
            workers=workers,
            progress=partial(show_progress, bar),
        )
    for outcome, n in Counter(cutting.outcome for cutting in done.values()).most_common():
        say(f"{n} {outcome}")
    n_parts = sum(len(cutting.pieces) for cutting in done.values())
    say(f"{n_parts} parts in {shown(output)}; {CUTS} says what became of each recording")

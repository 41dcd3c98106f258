"""The command that fetches the published benchmark: fetch."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from tqdm import tqdm

from agl1k_core import benchmarks
from agl1k_core.benchmarks import Benchmark, FetchOutcome
from agl1k_core.cli.console import say
from agl1k_core.config import Config
from agl1k_core.errors import Agl1kError
from agl1k_core.file_names import shown
from agl1k_core.http import Patience

app = typer.Typer()


@app.command()
def fetch(
    recordings: Annotated[
        bool, typer.Option("--recordings/--table-only", help="Also the recordings (many GB).")
    ] = False,
    keys: Annotated[
        list[str] | None, typer.Option("--clip", help="Only this clip; may be given several times.")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, max=16, help="Downloads at once.")] = 4,
) -> None:
    """Fetch the published AGL1K table and, on request, its recordings. Run again to resume."""
    config = Config.from_env()
    path = benchmarks.bring_table(config, patience=Patience())
    benchmark = benchmarks.load_benchmark(benchmarks.PUBLISHED_SLUG, config)
    say(f"{len(benchmark)} clips in {shown(path)}")
    if recordings or keys:
        _fetch_recordings(benchmark, benchmarks.fetched_audio_dir(config), keys, workers)


def _fetch_recordings(
    benchmark: Benchmark, folder: Path, keys: list[str] | None, workers: int
) -> None:
    unknown = [key for key in keys or [] if key not in benchmark]
    if unknown:
        raise Agl1kError(f"{benchmark.name} has no clip {', '.join(unknown)}.")
    with tqdm(total=len(keys or benchmark.clips), unit="clip", disable=None) as bar:
        report = benchmarks.fetch_recordings(
            benchmark, folder, keys=keys, workers=workers, progress=lambda _: bar.update()
        )
    say(str(report))
    if report.of(FetchOutcome.FAILED):
        raise typer.Exit(1)

"""The command line ``agl1k``, a thin skin over the library.

Exit codes: 0 done, 1 refused with the problems on stderr, 2 wrong usage. What brings pandas along
is imported where it is needed: the commands that listen to recordings share their memory with it.
"""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

import typer
from tqdm import tqdm

from agl1k_core import __version__, benchmarks, predictions, scoring
from agl1k_core.benchmarks import Benchmark, fetch_recordings
from agl1k_core.benchmarks import FetchOutcome as Outcome
from agl1k_core.cli import building as commands
from agl1k_core.cli import localizability as localizability_commands
from agl1k_core.cli.checkout import run_above
from agl1k_core.cli.console import out, refusing
from agl1k_core.config import Config
from agl1k_core.errors import Agl1kError
from agl1k_core.http import Patience
from agl1k_core.predictions import Predictions

app = typer.Typer(
    help="AGL1K: given only a sound, where on Earth was it made?",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(commands.app)
app.add_typer(localizability_commands.app, name="localizability")


class ProtocolName(StrEnum):
    """The protocols that score a file."""

    STRICT = "strict"
    PAPER = "paper"


BaselineName = Literal["random", "densest_region", "median_location"]

PredictionFile = Annotated[
    Path, typer.Argument(exists=True, dir_okay=False, help="A prediction file: JSON, JSONL or CSV.")
]
BenchmarkOption = Annotated[
    str | None,
    typer.Option(
        "--benchmark",
        "-b",
        help="demo, agl1k, a table or a folder. Default: AGL1K_BENCHMARK, else demo.",
    ),
]
ProtocolOption = Annotated[ProtocolName, typer.Option(help="How predictions count.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """AGL1K: given only a sound, where on Earth was it made?"""


def _benchmark(spec: str | None) -> Benchmark:
    config = Config.from_env()
    return benchmarks.load_benchmark(spec or config.benchmark, config)


def _read(file: Path, benchmark: Benchmark) -> Predictions:
    return predictions.read(file, benchmark, max_bytes=predictions.OWN_MAX_BYTES)


@app.command()
@refusing
def score(
    file: PredictionFile,
    benchmark: BenchmarkOption = None,
    protocol: ProtocolOption = ProtocolName.STRICT,
    as_json: JsonOption = False,
) -> None:
    """Score a prediction file, overall and per subset, with 95 % intervals."""
    from agl1k_core.cli import reports
    from agl1k_core.scoring import PROTOCOLS, evaluate

    on = _benchmark(benchmark)
    evaluation = evaluate(on, _read(file, on), PROTOCOLS[protocol])
    if as_json:
        typer.echo(json.dumps(evaluation.to_dict(), allow_nan=False))
        return
    out.print(reports.headline(evaluation))
    out.print(reports.metric_table(evaluation))
    out.print(reports.subset_table(evaluation))


@app.command()
@refusing
def validate(file: PredictionFile, benchmark: BenchmarkOption = None) -> None:
    """Check a prediction file: list every problem, or tell what was understood."""
    from agl1k_core.cli import reports
    from agl1k_core.scoring import evaluate

    on = _benchmark(benchmark)
    read = _read(file, on)
    evaluation = evaluate(on, read, n_bootstrap=0)
    typer.echo(f"{file.name} is a valid prediction file: {len(read)} records.")
    out.print(reports.headline(evaluation))


@app.command()
@refusing
def baseline(
    name: Annotated[BaselineName, typer.Argument(help="Which one.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write the CSV.")],
    benchmark: BenchmarkOption = None,
) -> None:
    """Write a baseline as a prediction file in CSV."""
    made = scoring.baseline_predictions(name, _benchmark(benchmark))
    try:
        output.write_text(scoring.to_csv(made), encoding="utf-8")
    except OSError as error:
        raise Agl1kError(f"{output} cannot be written: {error.strerror}.") from None
    typer.echo(f"{len(made)} predictions written to {output}")


@app.command()
@refusing
def compare(
    first: PredictionFile,
    second: PredictionFile,
    benchmark: BenchmarkOption = None,
    protocol: ProtocolOption = ProtocolName.STRICT,
) -> None:
    """Compare two prediction files clip by clip: difference, interval, and whether it is clear."""
    from agl1k_core.cli import reports
    from agl1k_core.scoring import PROTOCOLS, evaluate

    on = _benchmark(benchmark)
    a, b = (evaluate(on, _read(file, on), PROTOCOLS[protocol]) for file in (first, second))
    out.print(reports.comparison_table(a, b, (first.name, second.name)))


@app.command()
@refusing
def fetch(
    recordings: Annotated[
        bool, typer.Option("--recordings/--table-only", help="Also the recordings (many GB).")
    ] = False,
    keys: Annotated[
        list[str] | None, typer.Option("--clip", help="Only this clip; may be given several times.")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, max=16, help="Downloads at once.")] = 4,
) -> None:
    """Bring the published AGL1K table and, when asked, its recordings. Run again to resume."""
    config = Config.from_env()
    path = benchmarks.bring_table(config, patience=Patience())
    benchmark = benchmarks.load_benchmark(benchmarks.PUBLISHED_SLUG, config)
    typer.echo(f"{len(benchmark)} clips in {path}")
    if recordings or keys:
        _fetch_recordings(benchmark, benchmarks.fetched_audio_dir(config), keys, workers)


def _fetch_recordings(
    benchmark: Benchmark, folder: Path, keys: list[str] | None, workers: int
) -> None:
    unknown = [key for key in keys or [] if key not in benchmark]
    if unknown:
        raise Agl1kError(f"{benchmark.name} has no clip {', '.join(unknown)}.")
    with tqdm(total=len(keys or benchmark.clips), unit="clip", disable=None) as bar:
        report = fetch_recordings(
            benchmark, folder, keys=keys, workers=workers, progress=lambda _: bar.update()
        )
    typer.echo(str(report))
    if report.of(Outcome.FAILED):
        raise typer.Exit(1)


@app.command()
@refusing
def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on.")] = None,
) -> None:
    """Serve the app: play, compete, compare."""
    flags = [("--host", host), ("--port", port)]
    options = [str(part) for pair in flags if pair[1] is not None for part in pair]
    run_above("app", ["app", *options], needs="gradio")


@app.command(
    add_help_option=False,
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
)
@refusing
def admin(context: typer.Context) -> None:
    """Keep a server: status, push, restore, export, forget."""
    run_above("store.admin", ["agl1k admin", *context.args], needs="sqlalchemy")

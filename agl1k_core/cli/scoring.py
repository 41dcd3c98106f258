"""Commands that score prediction files: score, validate, baseline, compare."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

import typer

from agl1k_core import models, predictions, scoring
from agl1k_core.answers import Status
from agl1k_core.benchmarks import Benchmark
from agl1k_core.cli.console import (
    BenchmarkOption,
    JsonOption,
    PredictionFile,
    PredictionsOrRun,
    benchmark_of,
    say,
    warn_all,
)
from agl1k_core.file_names import shown
from agl1k_core.files import save_text
from agl1k_core.inputs import name_of
from agl1k_core.predictions import Predictions

app = typer.Typer()


class ProtocolName(StrEnum):
    """The protocols by which a file is scored."""

    STRICT = "strict"
    PAPER = "paper"


BaselineName = Literal["random", "densest_region", "median_location"]

ProtocolOption = Annotated[ProtocolName, typer.Option(help="How refusals and missing clips count.")]


def _read(file: Path, benchmark: Benchmark) -> Predictions:
    """The predictions in a file; its warnings go to stderr."""
    read = predictions.read_predictions(file, benchmark)
    warn_all(f"Warning: {name_of(file)}: {warning}" for warning in read.warnings)
    return read


@app.command()
def score(
    file: PredictionFile,
    benchmark: BenchmarkOption = None,
    protocol: ProtocolOption = ProtocolName.STRICT,
    as_json: JsonOption = False,
    map_file: Annotated[
        Path | None, typer.Option("--map", help="Draw the errors on a map, as an HTML file.")
    ] = None,
) -> None:
    """Score a prediction file, overall and per subset, with 95 % intervals."""
    from agl1k_core.cli import reports

    on = benchmark_of(benchmark)
    evaluation = scoring.evaluate(on, _read(file, on), protocol)
    if map_file is not None:
        from agl1k_core.cli.error_map import error_map

        save_text(map_file, error_map(evaluation))
    if as_json:
        typer.echo(json.dumps(evaluation.to_dict(), allow_nan=False))
        return
    say(reports.headline(evaluation))
    say(reports.metric_table(evaluation))
    say(reports.subset_table(evaluation))


@app.command()
def validate(file: PredictionFile, benchmark: BenchmarkOption = None) -> None:
    """Check a prediction file: list every problem, or summarise what was read.

    Exits with 1 if the file was refused, or if no record has an answer and that is a warning.
    """
    from agl1k_core.cli import reports

    on = benchmark_of(benchmark)
    read = _read(file, on)
    evaluation = scoring.evaluate(on, read, intervals=False)
    verdict = "can be read; see the warnings" if read.warnings else "is a valid prediction file"
    say(f"{shown(name_of(file))} {verdict}: {len(read)} records.")
    say(reports.headline(evaluation))
    if read.warnings and evaluation.statuses[Status.ERROR] == len(read):
        raise typer.Exit(1)


@app.command()
def baseline(
    name: Annotated[BaselineName, typer.Argument(help="The baseline.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The CSV file to write.")],
    benchmark: BenchmarkOption = None,
) -> None:
    """Write a baseline as a prediction file in CSV."""
    made = scoring.baseline(benchmark_of(benchmark), name)
    save_text(output, scoring.predictions_csv(made))
    say(f"{len(made)} predictions written to {shown(output)}")


def _evaluated(path: Path, on: Benchmark, protocol: ProtocolName) -> scoring.Evaluation:
    """The evaluation of a file, or the mean of all passes of a run."""
    files = models.passes_in(path) if path.is_dir() else [path]
    found = [scoring.evaluate(on, _read(file, on), protocol) for file in files]
    return found[0] if len(found) == 1 else scoring.mean_of_runs(found)


@app.command()
def compare(
    first: PredictionsOrRun,
    second: PredictionsOrRun,
    benchmark: BenchmarkOption = None,
    protocol: ProtocolOption = ProtocolName.STRICT,
) -> None:
    """Compare two models clip by clip: differences, intervals, whether they are clear."""
    from agl1k_core.cli import reports

    on = benchmark_of(benchmark)
    a, b = (_evaluated(path, on, protocol) for path in (first, second))
    say(reports.comparison_table(scoring.compare(a, b), (str(first), str(second))))

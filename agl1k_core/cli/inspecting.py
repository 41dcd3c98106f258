"""``agl1k inspect``: the benchmark as a task of Inspect, another program that asks models."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from agl1k_core.benchmarks import Benchmark
from agl1k_core.cli.console import BenchmarkOption, benchmark_of, say
from agl1k_core.cli.running import benchmark_spec
from agl1k_core.errors import Agl1kError
from agl1k_core.extras import need
from agl1k_core.file_names import shown

app = typer.Typer()


@app.command("inspect")
def inspect_model(
    benchmark: BenchmarkOption = None,
    model: Annotated[
        str, typer.Option("--model", help="As Inspect names it, such as openai/gpt-4o-audio.")
    ] = "",
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder of Inspect's logs.")
    ] = Path("logs"),
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first clips.")] = None,
    prompt_file: Annotated[
        Path | None, typer.Option("--prompt-file", dir_okay=False, help="Instead of our prompt.")
    ] = None,
    max_seconds: Annotated[
        float | None, typer.Option(min=1, help="Longer recordings are truncated.")
    ] = None,
    audio_format: Annotated[
        Literal["wav", "mp3"], typer.Option(help="The format that is sent.")
    ] = "wav",
) -> None:
    """Let Inspect ask a model. Without --model, print the command for Inspect's own options."""
    on = benchmark_of(benchmark)
    inspect_ai = need("inspect_ai")
    arguments: dict[str, Any] = {
        "benchmark": benchmark_spec(benchmark),
        "prompt_file": str(prompt_file.absolute()) if prompt_file else None,
        "max_seconds": max_seconds,
        "audio_format": audio_format,
    }
    given = {name: value for name, value in arguments.items() if value is not None}
    path = f"{files('agl1k_core.models') / 'inspect_task.py'}@agl1k"
    if not model:
        _say_command(path, given, limit)
        return
    (log,) = inspect_ai.eval(
        path, model=model, task_args=given, limit=limit, log_dir=str(output), log_format="eval"
    )
    _report(log, on)


def _say_command(path: str, given: dict[str, Any], limit: int | None) -> None:
    flags = [f"-T {name}={value}" for name, value in given.items()]
    flags += [f"--limit {limit}"] if limit else []
    say(f"inspect eval {path} {' '.join(flags)} --model PROVIDER/MODEL")


def _report(log: Any, on: Benchmark) -> None:
    """Where the log is, or why there is no result."""
    if log.status != "success":
        why = log.error.message if log.error else log.status
        raise Agl1kError(f"Inspect did not finish: {why}. What it has is in {shown(log.location)}")
    say(f"agl1k score {shown(log.location)} --benchmark {on.slug}")

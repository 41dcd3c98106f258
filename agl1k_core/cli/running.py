"""Commands that ask models and publish their answers: run, rescore, submit."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer
from tqdm import tqdm

from agl1k_core import models, predictions, scoring
from agl1k_core.benchmarks import Benchmark
from agl1k_core.cli.console import BenchmarkOption, benchmark_of, say, warn
from agl1k_core.errors import Agl1kError
from agl1k_core.file_names import shown
from agl1k_core.http import Patience
from agl1k_core.models import (
    AudioFormat,
    Control,
    Endpoint,
    Listeners,
    LocalModel,
    Model,
    Price,
    Progress,
    RunLimits,
    RunResult,
    RunSettings,
    Treatment,
)

app = typer.Typer()


@app.command()
def run(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the run.")],
    model: Annotated[str, typer.Option("--model", help="The model's name.")] = "",
    base_url: Annotated[
        str, typer.Option("--base-url", help="The endpoint, such as https://host/v1.")
    ] = "",
    python: Annotated[
        str, typer.Option("--python", help="Instead of an endpoint: module:function.")
    ] = "",
    benchmark: BenchmarkOption = None,
    api_key_env: Annotated[
        str, typer.Option("--api-key-env", help="The variable that holds the key.")
    ] = "",
    clip: Annotated[
        list[str] | None, typer.Option("--clip", help="Only this clip; may be repeated.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first N clips.")] = None,
    concurrency: Annotated[int, typer.Option(min=1, max=256, help="Questions at once.")] = 4,
    rate: Annotated[float | None, typer.Option(min=0.01, help="Requests a minute.")] = None,
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds for one answer.")] = 120.0,
    max_retries: Annotated[int, typer.Option(min=0, max=100, help="Further attempts.")] = 5,
    temperature: Annotated[
        float | None, typer.Option(min=0, help="Default: the endpoint's.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Default: none.")] = None,
    max_tokens: Annotated[
        int | None, typer.Option(min=1, help="Limit of an answer. Default: the endpoint's.")
    ] = None,
    max_seconds: Annotated[
        float | None, typer.Option(min=0.1, help="Truncate longer recordings.")
    ] = None,
    audio_format: Annotated[
        AudioFormat, typer.Option(help="auto: WAV, or MP3 where WAV is too large.")
    ] = "auto",
    prompt_file: Annotated[
        Path | None, typer.Option("--prompt-file", dir_okay=False, help="Another prompt.")
    ] = None,
    max_cost: Annotated[
        float | None, typer.Option(min=0, help="US dollars; the run stops before exceeding it.")
    ] = None,
    price: Annotated[
        str,
        typer.Option(help="US dollars per million prompt and completion tokens, such as 2.5,10."),
    ] = "",
    repeat: Annotated[int, typer.Option(min=1, max=100, help="Independent passes.")] = 1,
    skip_hearing_check: Annotated[
        bool, typer.Option("--skip-hearing-check", help="Run without proof that it hears.")
    ] = False,
    without_audio: Annotated[
        bool, typer.Option("--without-audio", help="Control: the prompt alone.")
    ] = False,
) -> None:
    """Ask a model where each clip was recorded. Run again to resume."""
    on = benchmark_of(benchmark)
    control: Control = "without-audio" if without_audio else ""
    parameters: dict[str, float | int | None] = {
        "temperature": temperature, "seed": seed, "max_tokens": max_tokens,
    }  # fmt: skip
    attempts = 1 if python else max_retries + 1
    patience = Patience(read_s=timeout, attempt_s=timeout, attempts=attempts)
    asked = _model(model, base_url, python, api_key_env, parameters, patience)
    settings = RunSettings(
        model or python,
        base_url or python,
        models.read_prompt(prompt_file) if prompt_file else models.default_prompt(),
        Treatment(audio_format, max_seconds),
        parameters,
        control,
    )
    limits = RunLimits(
        clip, limit, concurrency, rate, max_cost, _price(price), repeat, patience,
        skip_hearing_check,
    )  # fmt: skip
    with tqdm(unit="clip", disable=None) as bar:
        listeners = Listeners(_tell(bar), _start(bar), _report(bar))
        result, stopped = models.run_model(on, asked, settings, output, limits, listeners)
    _show_run(result, on)
    if stopped:
        raise Agl1kError(stopped)


@app.command()
def rescore(
    folder: Annotated[Path, typer.Argument(help="The folder of a run.", file_okay=False)],
    benchmark: BenchmarkOption = None,
) -> None:
    """Write a run's prediction files again from its journal, and score them. Asks no model."""
    from agl1k_core.cli import reports

    on = benchmark_of(benchmark)
    result = models.write_results(folder, on)
    for file in result.files:
        evaluation = scoring.evaluate(on, predictions.read_predictions(file, on))
        say(f"{file.name}: {reports.headline(evaluation)}")
        say(reports.metric_table(evaluation))
    _show_run(result, on, scored=False)


def _model(
    model: str,
    base_url: str,
    python: str,
    api_key_env: str,
    parameters: dict[str, float | int | None],
    patience: Patience,
) -> Model:
    """The model that the options name; raises ``Agl1kError``."""
    if python:
        if base_url:
            raise Agl1kError("Give --base-url or --python, not both.")
        return LocalModel(models.load_function(python), python)
    if not model or not base_url:
        raise Agl1kError("Give --model and --base-url of an endpoint, or --python module:function.")
    key = os.environ.get(api_key_env, "").strip() if api_key_env else ""
    if api_key_env and not key:
        raise Agl1kError(f"--api-key-env: the variable {api_key_env} is not set.")
    return Endpoint(model, base_url, key, api_key_env, parameters, patience)


def _price(text: str) -> Price | None:
    if not text:
        return None
    try:
        prompt, completion = (float(part) for part in text.split(","))
    except ValueError:
        prompt = completion = -1.0
    if not (0 <= prompt < 1e6 and 0 <= completion < 1e6):
        raise Agl1kError(f"--price {text!r} is not two numbers with a comma, such as 2.5,10.")
    return Price(prompt, completion)


def _tell(bar: Any) -> Any:
    def tell(sentence: str) -> None:
        bar.clear()
        warn(sentence)

    return tell


def _start(bar: Any) -> Any:
    def start(done: int, total: int) -> None:
        bar.initial = done
        bar.reset(total)

    return start


def _report(bar: Any) -> Any:
    def report(progress: Progress) -> None:
        bar.set_postfix_str(_counts(progress), refresh=False)
        bar.update(1)

    return report


def _counts(progress: Progress) -> str:
    """Tokens, cost and failures so far."""
    told = [f"{progress.tokens:,} tokens"]
    if progress.cost is not None:
        told.append(f"${progress.cost:.4f} {progress.cost_source}")
    if progress.n_failed:
        told.append(f"{progress.n_failed:,} failed")
    return ", ".join(told)


def _show_run(result: RunResult, on: Benchmark, *, scored: bool = True) -> None:
    from agl1k_core.cli import reports

    for line in result.lines():
        say(line)
    for file in result.files:
        read = predictions.read_predictions(file, on) if scored and file.stat().st_size else None
        if read is not None:
            say(reports.headline(scoring.evaluate(on, read, intervals=False)))
        say(f"Predictions: {shown(file)}")

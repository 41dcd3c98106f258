"""Options, models and progress that commands share which ask models."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from agl1k_core import models
from agl1k_core.cli.console import warn
from agl1k_core.errors import Agl1kError
from agl1k_core.http import Patience
from agl1k_core.models import Endpoint, Listeners, LocalModel, Model, Price, Progress

ModelOption = Annotated[str, typer.Option("--model", help="The model's name.")]
BaseUrlOption = Annotated[
    str, typer.Option("--base-url", help="The endpoint, such as https://host/v1.")
]
PythonOption = Annotated[
    str, typer.Option("--python", help="Instead of an endpoint: module:function.")
]
ApiKeyOption = Annotated[
    str, typer.Option("--api-key-env", help="The variable that holds the key.")
]
ConcurrencyOption = Annotated[int, typer.Option(min=1, max=256, help="Questions at once.")]
RateOption = Annotated[float | None, typer.Option(min=0.01, help="Requests a minute.")]
TimeoutOption = Annotated[float, typer.Option(min=0.1, help="Seconds for one answer.")]
RetriesOption = Annotated[int, typer.Option(min=0, max=100, help="Further attempts.")]
TemperatureOption = Annotated[float | None, typer.Option(min=0, help="Default: the endpoint's.")]
SeedOption = Annotated[int | None, typer.Option(help="Default: none.")]
MaxTokensOption = Annotated[
    int | None, typer.Option(min=1, help="Limit of an answer. Default: the endpoint's.")
]
PromptOption = Annotated[
    Path | None, typer.Option("--prompt-file", dir_okay=False, help="Another prompt.")
]
MaxCostOption = Annotated[
    float | None, typer.Option(min=0, help="US dollars; the run stops before exceeding it.")
]
PriceOption = Annotated[
    str, typer.Option(help="US dollars per million prompt and completion tokens, such as 2.5,10.")
]
RepeatOption = Annotated[int, typer.Option(min=1, max=100, help="Independent passes.")]


def patience_of(timeout_s: float, max_retries: int, python: str) -> Patience:
    """How long to wait; a function in this process is called once."""
    attempts = 1 if python else max_retries + 1
    return Patience(read_s=timeout_s, attempt_s=timeout_s, attempts=attempts)


def model_of(
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
        given = [f"--{name.replace('_', '-')}" for name, n in parameters.items() if n is not None]
        if given:
            raise Agl1kError(f"{', '.join(given)}: only for endpoints; set it in {python}.")
        return LocalModel(models.load_function(python), python)
    if not model or not base_url:
        raise Agl1kError("Give --model and --base-url of an endpoint, or --python module:function.")
    key = os.environ.get(api_key_env, "").strip() if api_key_env else ""
    if api_key_env and not key:
        raise Agl1kError(f"--api-key-env: the variable {api_key_env} is not set.")
    return Endpoint(model, base_url, key, api_key_env, parameters, patience)


def price_of(text: str) -> Price | None:
    """The price that the option gives; raises ``Agl1kError``."""
    if not text:
        return None
    try:
        prompt, completion = (float(part) for part in text.split(","))
    except ValueError:
        prompt = completion = -1.0
    if not (0 <= prompt < 1e6 and 0 <= completion < 1e6):
        raise Agl1kError(f"--price {text!r} is not two numbers with a comma, such as 2.5,10.")
    return Price(prompt, completion)


def listeners_on(bar: Any) -> Listeners:
    """Listeners that show a run on a progress bar."""
    return Listeners(_tell(bar), _start(bar), _report(bar))


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

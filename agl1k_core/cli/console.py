"""What commands share: output, exit codes after errors, and common options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from typer.core import TyperGroup

from agl1k_core import benchmarks
from agl1k_core.benchmarks import Benchmark
from agl1k_core.config import Config
from agl1k_core.errors import Agl1kError
from agl1k_core.files import write_atomically

out, err = Console(highlight=False), Console(stderr=True, highlight=False, markup=False)

BenchmarkOption = Annotated[
    str | None,
    typer.Option(
        "--benchmark",
        "-b",
        help="demo, agl1k, a table or a folder. Default: AGL1K_BENCHMARK, else demo.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


class Commands(TyperGroup):
    """Commands that end with exit code 1 and the reason on stderr after an ``Agl1kError``."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except Agl1kError as error:
            err.print(str(error), soft_wrap=True)
            raise typer.Exit(1) from None


def benchmark_of(spec: str | None) -> Benchmark:
    """The benchmark that the option names, else the configured one."""
    config = Config.from_env()
    return benchmarks.load_benchmark(spec or config.benchmark, config)


def write_text(path: Path, text: str) -> None:
    """Write a file; raises ``Agl1kError`` if that fails."""
    try:
        write_atomically(path, text)
    except OSError as error:
        raise Agl1kError(f"{path} cannot be written: {error.strerror}.") from None

"""What commands share: output, exit codes after errors, and common options."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.cells import cell_len
from typer.core import TyperGroup

from agl1k_core import benchmarks
from agl1k_core.benchmarks import Benchmark
from agl1k_core.config import Config
from agl1k_core.curation import write_csv
from agl1k_core.errors import Agl1kError
from agl1k_core.file_names import shown, shown_lines
from agl1k_core.inputs import is_standard_input

BenchmarkOption = Annotated[
    str | None,
    typer.Option(
        "--benchmark",
        "-b",
        help="demo, agl1k, a table, SOURCE:TABLE or a folder. Default: AGL1K_BENCHMARK, else demo.",
    ),
]


def _existing(path: Path) -> Path:
    if not (is_standard_input(path) or os.path.exists(path)):  # noqa: PTH110 - must not raise
        raise typer.BadParameter(f"File '{shown(path)}' does not exist.")
    return path


PredictionFile = Annotated[
    Path,
    typer.Argument(
        dir_okay=False,
        callback=_existing,
        help="A prediction file: JSON, JSONL or CSV, also in gzip or ZIP; - is standard input.",
    ),
]
PredictionsOrRun = Annotated[
    Path,
    typer.Argument(
        callback=_existing,
        help="A prediction file, or the folder of agl1k run: the mean of its passes.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


class Commands(TyperGroup):
    """Commands that end with exit code 1 and the reason on stderr after an ``Agl1kError``."""

    def main(self, *arguments: Any, **options: Any) -> Any:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):  # its encoding may be ASCII or Latin-1
                stream.reconfigure(errors="backslashreplace")
        return super().main(*arguments, **options)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except Agl1kError as error:
            warn(str(error))
            raise typer.Exit(1) from None
        except OSError as error:
            if error.filename is None:
                raise
            warn(f"{shown(os_name(error))}: {error.strerror}.")
            raise typer.Exit(1) from None


def os_name(error: OSError) -> str:
    """The name of the file that the system refused."""
    name = error.filename
    return name if isinstance(name, str) else repr(name)


def say(text: str) -> None:
    """Print lines on stdout."""
    typer.echo(shown_lines(text))


def warn(text: str) -> None:
    """Print lines on stderr."""
    typer.echo(shown_lines(text), err=True)


def warn_all(sentences: Iterable[str]) -> None:
    """Print sentences on stderr, one per line."""
    for sentence in sentences:
        warn(shown(sentence))


def print_csv(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print rows that have the same columns as CSV, in UTF-8 whatever the locale."""
    text = io.StringIO()
    write_csv(text, rows)
    typer.echo(text.getvalue().encode(), nl=False)


def aligned(rows: Sequence[Sequence[str]], left: Collection[int] = (0,)) -> str:
    """A table with a line for each row, which is not broken however wide it is.

    The last column and those in ``left`` are aligned to the left, all others to the right.

    Examples
    --------
    >>> print(aligned([("metric", "value", "file"), ("geoscore", "7", "a.json")]))
    metric    value  file
    geoscore      7  a.json
    """
    cells = [[*map(shown, row)] for row in rows]
    widths = [max(map(cell_len, column)) for column in zip(*cells, strict=True)]
    last = len(widths) - 1

    def padded(column: int, cell: str) -> str:
        space = " " * (widths[column] - cell_len(cell))
        return cell + space if column in left or column == last else space + cell

    lines = ("  ".join(padded(at, cell) for at, cell in enumerate(row)) for row in cells)
    return "\n".join(line.rstrip() for line in lines)


def benchmark_of(spec: str | None) -> Benchmark:
    """The benchmark that the option names, else the configured one."""
    config = Config.from_env()
    benchmark = benchmarks.load_benchmark(spec or config.benchmark, config)
    warn_all(benchmark.remarks)
    return benchmark

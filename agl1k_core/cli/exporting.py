"""The command that makes a dataset of a benchmark: export-dataset."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

import typer
from tqdm import tqdm

from agl1k_core import curation, extras, models
from agl1k_core.cli.console import benchmark_of, say, warn
from agl1k_core.config import Environment
from agl1k_core.errors import Agl1kError
from agl1k_core.file_names import shown

app = typer.Typer()


@app.command("export-dataset")
def export(
    benchmark: Annotated[
        str, typer.Argument(help="demo, agl1k, a folder or table, or hub:OWNER/NAME.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="A new folder.")],
    layout: Annotated[
        Literal["parquet", "audiofolder", "folder"],
        typer.Option("--format", help="folder: a benchmark folder, the way back from a dataset."),
    ] = "parquet",
    without_truth: Annotated[
        bool,
        typer.Option("--without-truth", help="Without any place, for sealed benchmarks."),
    ] = False,
    push: Annotated[
        str, typer.Option("--push", help="Send it to this dataset on the Hub: OWNER/NAME.")
    ] = "",
    private: Annotated[
        bool, typer.Option("--private", help="A dataset that --push creates is private.")
    ] = False,
) -> None:
    """Write a benchmark as a dataset for load_dataset, with a card; --push sends it to the Hub."""
    _check_push(push, layout)
    source = benchmark_of(benchmark)
    with tqdm(total=len(source), unit="clip", disable=None) as bar:
        done = curation.export_dataset(
            source,
            output,
            layout=layout,
            with_truth=not without_truth,
            name=push,
            copied=bar.update,
        )
    _show(done, output)
    if without_truth:
        _say_sealed(source.audio_dir)
    if push:
        _push(output, push, private)


def _check_push(name: str, layout: str) -> None:
    """Refuse what could not be pushed, before anything is written."""
    if not name:
        return
    extras.check("huggingface_hub")
    if not models.is_repository(name):
        raise Agl1kError(f"--push {name!r} is not the name of a dataset. Give OWNER/NAME.")
    if layout == "folder":
        raise Agl1kError("A benchmark folder is no dataset. Push parquet or audiofolder.")


def _show(done: curation.Exported, output: Path) -> None:
    _warn_each("left out", done.left_out)
    _warn_each("without sound", done.silent)
    say(f"{len(done.benchmark)} clips in {shown(output)}")


def _warn_each(what: str, reasons: Mapping[str, str]) -> None:
    for key, reason in reasons.items():
        warn(f"{shown(key)}: {what}. {shown(reason)}")


def _say_sealed(folder: Path | None) -> None:
    where = f" ({shown(folder)})" if folder else ""
    say(
        "No place is in it. The truth stays with the server: its own folder"
        f'{where} needs "sealed": true in benchmark.json, and the same keys.'
    )


def _push(folder: Path, name: str, private: bool) -> None:
    environment = Environment()
    token = environment.text("AGL1K_HUB_TOKEN", "HF_TOKEN")
    endpoint = environment.text("HF_ENDPOINT")
    page = curation.push_dataset(folder, name, token=token, endpoint=endpoint, private=private)
    say(f"Pushed to {page}")

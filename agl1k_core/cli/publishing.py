"""``agl1k publish-hub``: the files with which results appear on the Hugging Face Hub."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from agl1k_core import models, predictions, scoring
from agl1k_core.cli.console import BenchmarkOption, benchmark_of, say
from agl1k_core.errors import Agl1kError
from agl1k_core.file_names import shown
from agl1k_core.files import make_folder, save_text

app = typer.Typer()


@app.command("publish-hub")
def publish_hub(
    file: Annotated[
        Path, typer.Argument(exists=True, help="A prediction file, or a run's folder.")
    ],
    dataset: Annotated[
        str, typer.Option("--dataset", help="The benchmark's dataset on the Hub: OWNER/NAME.")
    ],
    model_repo: Annotated[
        str, typer.Option("--model-repo", help="The model on the Hub. Default: the run's model.")
    ] = "",
    benchmark: BenchmarkOption = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder to write. Default: FILE.hub.")
    ] = None,
    revision: Annotated[str, typer.Option("--revision", help="Commit of the dataset.")] = "",
    source_url: Annotated[
        str, typer.Option("--source-url", help="Where the answers can be seen.")
    ] = "",
    source_name: Annotated[str, typer.Option("--source-name", help="What that is called.")] = "",
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Write the files and print the commands that push them."),
    ] = False,
) -> None:
    """Write eval.yaml and .eval_results for the Hugging Face Hub; push them yourself."""
    if not dry_run:
        raise Agl1kError(
            "agl1k does not push to the Hub. Give --dry-run, then run the commands that it prints."
        )
    sent = models.submittable(file)
    model = model_repo or sent.told("model", "named")
    target = models.HubTarget(dataset, model, revision, source_url, source_name)
    target.check()
    on = benchmark_of(benchmark or (models.benchmark_of_run(file) if file.is_dir() else None))
    evaluation = scoring.evaluate(
        on, predictions.read_predictions(sent.content, on), intervals=False
    )
    written = {
        Path("dataset", models.EVAL_FILE): models.eval_file(on),
        Path("model", models.RESULTS_FILE): models.results_file(
            evaluation, target, sent.provenance
        ),
    }
    folder = output or file.with_name(f"{file.name}.hub")
    for path, text in written.items():
        make_folder((folder / path).parent)
        save_text(folder / path, text)
        say(f"{shown(folder / path)}:")
        say(text)
    _say_commands(folder, target)


def _say_commands(folder: Path, target: models.HubTarget) -> None:
    """How to push: as pull requests, which the owners of the repositories merge."""
    say("Nothing was pushed. To propose both files:")
    dataset = str(folder / "dataset" / models.EVAL_FILE)
    results = str(folder / "model" / models.RESULTS_FILE)
    say(shlex.join(["hf", "upload", target.dataset, dataset, models.EVAL_FILE,
                    "--repo-type", "dataset", "--create-pr"]))  # fmt: skip
    say(shlex.join(["hf", "upload", target.model, results, models.RESULTS_FILE, "--create-pr"]))

"""``agl1k localizability``: rate a model's reasoning, fit to the ratings, report on the fit."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich.table import Table
from tqdm import tqdm

from agl1k_core import benchmarks, curation, predictions
from agl1k_core.audio import AcousticFilters
from agl1k_core.benchmarks import Benchmark, read_tags
from agl1k_core.cli.building import (
    WORKERS,
    TaggerOption,
    WeightsOption,
    WorkersOption,
    show_progress,
    tagger_maker,
)
from agl1k_core.cli.console import err, out, refusing
from agl1k_core.config import Config
from agl1k_core.curation import Analyzer, collection_of
from agl1k_core.errors import Agl1kError
from agl1k_core.localizability import (
    ALPHA,
    GAMMA_KM,
    THETA,
    GivingUp,
    Localizability,
    choose_judges,
    fit,
    gather,
    observe,
    read_ratings,
    write_ratings,
)

if TYPE_CHECKING:
    from agl1k_core.localizability import Material

app = typer.Typer(
    help="How much sounds tell of a place: rate a model's reasoning, fit, report.",
    no_args_is_help=True,
)

Presences = Mapping[str, Mapping[str, float]]

BenchmarkOption = Annotated[
    str | None,
    typer.Option(
        "--benchmark",
        "-b",
        help="demo, agl1k, a table or a folder: places and tags. Default: AGL1K_BENCHMARK.",
    ),
]
RatingTables = Annotated[list[Path], typer.Argument(help="Tables of ratings.", dir_okay=False)]


@app.command()
@refusing
def rate(
    file: Annotated[
        Path, typer.Argument(exists=True, dir_okay=False, help="Predictions with their reasoning.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The table of ratings, CSV.")],
    judge: Annotated[
        list[str],
        typer.Option(
            "--judge",
            help="word-match, or MODEL@URL[,VARIABLE] for an OpenAI-compatible API whose key is in "
            "the environment's VARIABLE (AGL1K_JUDGE_KEY by default). May be given several times.",
        ),
    ],
    benchmark: BenchmarkOption = None,
    tagger: TaggerOption = "yamnet",
    weights: WeightsOption = None,
    work: Annotated[
        Path | None, typer.Option("--work", help="What is kept to resume. Default: OUTPUT.work.")
    ] = None,
    workers: WorkersOption = WORKERS,
    threads: Annotated[int, typer.Option(min=1, max=64, help="Ratings asked for at once.")] = 8,
    attempts: Annotated[int, typer.Option(min=1, max=20, help="Tries per rating.")] = 5,
    temperature: Annotated[
        float, typer.Option(help="Of the judges; below 0 sends none.", max=2)
    ] = 0.0,
) -> None:
    """Let judges rate what each sound contributed to a model's reasoning. Run again to resume."""
    config = Config.from_env()
    kept = work or output.with_name(f"{output.name}.work")
    chosen = choose_judges(
        judge,
        os.environ,
        key=config.judge_key,
        cache_dir=kept / "judged",
        attempts=attempts,
        temperature=temperature if temperature >= 0 else None,
    )
    on = benchmarks.load_benchmark(benchmark or config.benchmark, config)
    read = predictions.read(file, on, max_bytes=predictions.OWN_MAX_BYTES)
    analyzer = Analyzer(AcousticFilters(), tagger_maker(tagger, weights))
    presences, made_by = _presences(on, [*read.keys], analyzer, kept, workers)
    evidence, left_out = gather(read, on, presences)
    err.print(f"{len(evidence)} of {len(read)} records are rated{_left_out(left_out)}.")
    if not evidence:
        raise Agl1kError("There is nothing to rate.")
    with tqdm(total=len(evidence) * len(chosen), unit="rating", disable=None) as bar:
        observations, problems = observe(
            evidence, [GivingUp(one) for one in chosen], threads=threads, done=bar.update
        )
    failed = [name for name, rated in observations.ratings.items() if np.isnan(rated).all()]
    _tell_failures(problems)
    if failed and any(item.presence for item in evidence):
        raise Agl1kError(
            f"{', '.join(failed)} rated nothing, so nothing was written. Run the same command "
            "again when it answers: what is rated already is kept. Or leave it out."
        )
    write_ratings(output, observations, made_by)
    typer.echo(f"{len(evidence)} recordings, rated by {', '.join(observations.ratings)}: {output}")


def _presences(
    benchmark: Benchmark, keys: Sequence[str], analyzer: Analyzer, work: Path, workers: int
) -> tuple[Presences, dict[str, Any]]:
    """The tags that lie in the folder; where there are none, what is heard of the recordings."""
    tags = read_tags(benchmark.audio_dir)
    if tags.clips:
        return {key: clip.presence for key, clip in tags.clips.items()}, dict(tags.tagger)
    collection = collection_of(benchmark, keys)
    with tqdm(unit="file", disable=None) as bar:
        analyses = curation.analyze_collection(
            collection, analyzer, work, workers=workers, progress=partial(show_progress, bar)
        )
    presences = {key: item.tags["presence"] for key, item in analyses.items() if item.tags}
    return presences, dict(analyzer.settings["tagger"])


def _left_out(left_out: Counter[str]) -> str:
    told = ", ".join(f"{n} with {why}" for why, n in left_out.items())
    return f"; left out: {told}" if told else ""


def _tell_failures(problems: Sequence[str]) -> None:
    for problem in problems[:5]:
        err.print(problem, soft_wrap=True)
    if len(problems) > 5:
        err.print(f"… and {len(problems) - 5} ratings more that failed.")


@app.command("fit")
@refusing
def fit_model(
    files: RatingTables,
    output: Annotated[Path, typer.Option("--output", "-o", help="The model, JSON.")],
    alpha: Annotated[float, typer.Option(min=0, help="Steeper slopes make P and N.")] = ALPHA,
    gamma_km: Annotated[float, typer.Option(min=0, help="Errors below it are near.")] = GAMMA_KM,
    theta: Annotated[float, typer.Option(help="Scores above it are localizable.")] = THETA,
) -> None:
    """Fit equation (1) to tables of ratings."""
    from agl1k_core.localizability import Material

    observations, tagger = read_ratings(files)
    model = fit(observations, alpha=alpha, gamma_km=gamma_km, theta=theta, tagger=tagger)
    model.save(output)
    _show(Material(model, observations, _presences_of(observations)))
    if not model.positive:
        err.print(f"No category's slope is above {alpha:.4g}: no recording can be localizable.")
    typer.echo(f"The model is in {output}")


@app.command("report")
@refusing
def report_model(
    model: Annotated[Path, typer.Argument(help="A fitted model.", dir_okay=False)],
    files: Annotated[
        list[Path] | None, typer.Argument(help="The tables it was fitted to.", dir_okay=False)
    ] = None,
    benchmark: Annotated[
        str | None,
        typer.Option("--benchmark", "-b", help="Its clips are scored, and tell of continents."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A page with the figures, HTML.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Top categories, agreement between judges, examples and continents, as in the paper."""
    from agl1k_core import localizability

    fitted = Localizability.load(model)
    observations, tagger = read_ratings(files) if files else (None, {})
    presences: dict[str, Mapping[str, float]] = {}
    if observations:
        presences |= _presences_of(observations)
    if tagger:
        _check_tagger(fitted, tagger, "tables")
    continents: dict[str, str] = {}
    if benchmark:
        on = benchmarks.load_benchmark(benchmark, Config.from_env())
        continents = dict(zip(on.index, on.continents, strict=True))
        tags = read_tags(on.audio_dir)
        _check_tagger(fitted, tags.tagger, "benchmark's tags.json")
        presences |= {key: clip.presence for key, clip in tags.clips.items()}
    material = localizability.Material(fitted, observations, presences, continents)
    if output:
        try:
            output.write_text(localizability.report_page(material), "utf-8")
        except OSError as error:
            raise Agl1kError(f"{output} cannot be written: {error.strerror}.") from None
    if as_json:
        typer.echo(json.dumps(localizability.report_numbers(material), allow_nan=False))
        return
    _show(material)
    if output:
        typer.echo(f"The figures are in {output}")


def _presences_of(observations: Any) -> dict[str, dict[str, float]]:
    return {
        key: {
            category: float(share)
            for category, share in zip(observations.categories, row, strict=True)
            if share > 0
        }
        for key, row in zip(observations.keys, observations.presence, strict=True)
    }


def _check_tagger(model: Localizability, tagger: Mapping[str, Any], whose: str) -> None:
    fitted = model.provenance.get("tagger")
    if fitted and tagger and {**fitted} != {**tagger}:
        raise Agl1kError(
            f"The model was fitted to the tags of {fitted}, and the {whose} are of {dict(tagger)}. "
            "Name those that belong together."
        )


def _show(material: Material) -> None:
    from agl1k_core import localizability

    for line in localizability.about_lines(material):
        typer.echo(line)
    rows = [
        (side, name, f"{slope:.2f}", str(n))
        for side, name, slope, n in localizability.category_rows(material.model)
    ]
    out.print(_table(("side", "class", "slope", "recordings"), rows))
    if (pairs := material.agreement) is not None:
        out.print(_frame(pairs.to_frame()))
    if len(table := material.by_continent):
        out.print(_frame(table))


def _frame(frame: Any) -> Table:
    rows = [
        [f"{value:.2f}" if isinstance(value, float) else str(value) for value in row]
        for row in frame.itertuples(index=False)
    ]
    return _table([str(name) for name in frame.columns], rows)


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    table = Table(box=None, pad_edge=False)
    for number, heading in enumerate(headings):
        table.add_column(heading, justify="left" if number < 2 else "right")
    for row in rows:
        table.add_row(*row)
    return table

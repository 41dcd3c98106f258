"""``agl1k localizability``: rate a model's reasoning, fit to the ratings, report on the fit."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from tqdm import tqdm

from agl1k_core import curation, localizability, predictions
from agl1k_core.audio import AcousticFilters
from agl1k_core.benchmarks import read_tags
from agl1k_core.cli.building import (
    WORKERS,
    TaggerOption,
    WeightsOption,
    WorkersOption,
    show_progress,
    tagger_maker,
)
from agl1k_core.cli.console import (
    JsonOption,
    PredictionFile,
    benchmark_of,
    say,
    warn,
    warn_all,
)
from agl1k_core.config import Config
from agl1k_core.curation import Analyzer
from agl1k_core.errors import Agl1kError
from agl1k_core.file_names import shown
from agl1k_core.files import save_text
from agl1k_core.localizability import ApiJudge, Localizability

if TYPE_CHECKING:
    from agl1k_core.localizability import Evidence, Judge, Observations, ReportInput

app = typer.Typer(
    help="How much sounds reveal about a place: rate a model's reasoning, fit, report.",
    no_args_is_help=True,
)

RatingTables = Annotated[list[Path], typer.Argument(help="Tables of ratings.", dir_okay=False)]


@app.command()
def rate(
    file: PredictionFile,
    output: Annotated[Path, typer.Option("--output", "-o", help="The table of ratings, CSV.")],
    judge: Annotated[
        list[str],
        typer.Option(
            "--judge",
            help="word-match, or MODEL@URL[,VARIABLE] for an OpenAI-compatible API whose key is in "
            "the environment's VARIABLE (AGL1K_JUDGE_KEY by default). May be given several times.",
        ),
    ],
    benchmark: Annotated[
        str | None,
        typer.Option(
            "--benchmark",
            "-b",
            help="demo, agl1k, a table or a folder: places and tags. Default: AGL1K_BENCHMARK.",
        ),
    ] = None,
    tagger: TaggerOption = "yamnet",
    weights: WeightsOption = None,
    work: Annotated[
        Path | None,
        typer.Option(
            "--work", help="Folder of saved results, to resume from. Default: OUTPUT.work."
        ),
    ] = None,
    workers: WorkersOption = WORKERS,
    threads: Annotated[int, typer.Option(min=1, max=64, help="Ratings requested at once.")] = 8,
    attempts: Annotated[int, typer.Option(min=1, max=20, help="Attempts per rating.")] = 5,
    timeout: Annotated[
        float, typer.Option(min=0.1, help="Seconds until an answer must be complete.")
    ] = localizability.TIMEOUT_S,
    temperature: Annotated[
        float, typer.Option(help="Temperature sent to the judges; not sent if below 0.", max=2)
    ] = 0.0,
    prompt_file: Annotated[
        Path | None,
        typer.Option(
            "--prompt-file",
            dir_okay=False,
            help="A text with {categories} and {reasoning}, such as the paper's judge prompt.",
        ),
    ] = None,
) -> None:
    """Let judges rate what each sound contributed to a model's reasoning. Run again to resume."""
    work = work or output.with_name(f"{output.name}.work")
    judges = localizability.choose_judges(
        judge,
        os.environ,
        key=Config.from_env().judge_key,
        cache_dir=work / "judged",
        attempts=attempts,
        timeout_s=timeout,
        temperature=temperature if temperature >= 0 else None,
        **({"prompt": localizability.read_prompt(prompt_file)} if prompt_file else {}),
    )
    on = benchmark_of(benchmark)
    read = predictions.read_predictions(file, on)
    analyzer = Analyzer(AcousticFilters(), tagger_maker(tagger, weights))
    with tqdm(unit="file", disable=None) as bar:
        presences, made_by = curation.presences_of(
            on, read.keys, analyzer, work, workers=workers, progress=partial(show_progress, bar)
        )
    evidence, left_out = localizability.gather(on, read, presences)
    warn(f"{len(evidence)} of {len(read)} records can be rated{_left_out(left_out)}.")
    if not evidence:
        raise Agl1kError("There is nothing to rate.")
    observations = _observed(evidence, judges, threads)
    if observations.silent_judges:
        raise Agl1kError(
            f"{', '.join(observations.silent_judges)} rated nothing, so nothing was written. Run "
            "the same command again once it answers (existing ratings are kept), or leave it out."
        )
    localizability.write_ratings(output, observations, made_by)
    by_judge = (f"{name} rated {n}" for name, n in observations.n_rated.items())
    say(
        f"{shown(output)}: {len(evidence)} recordings; of the {observations.n_to_rate} with known "
        f"sounds, {', '.join(by_judge)}"
    )


def _observed(evidence: Sequence[Evidence], judges: Sequence[Judge], threads: int) -> Observations:
    """The ratings; what failed, and what differed from what was asked for, is printed."""
    with judging(len(evidence) * len(judges), "rating") as done:
        observations, problems = localizability.observe(
            evidence, judges, threads=threads, done=done
        )
    print_failures(problems, "ratings")
    for judge in judges:
        if isinstance(judge, ApiJudge):
            warn_all(judge.remarks)
    return observations


@contextmanager
def judging(total: int, unit: str) -> Iterator[Callable[[], object]]:
    """Show how many answers of judges came, and say how to go on if that is stopped.

    Call what it gives after each answer.
    """
    try:
        with tqdm(total=total, unit=unit, disable=None) as bar:
            yield bar.update
    except KeyboardInterrupt:
        warn("Stopped. The answers so far are kept; run the same command again to go on.")
        raise typer.Exit(130) from None


def _left_out(left_out: Counter[str]) -> str:
    reasons = ", ".join(f"{n} with {reason}" for reason, n in left_out.items())
    return f"; left out: {reasons}" if reasons else ""


def print_failures(problems: Sequence[str], what: str) -> None:
    """The first failures of judges, and how many more there are."""
    warn_all(problems[:5])
    if len(problems) > 5:
        warn(f"… and {len(problems) - 5} more {what} that failed.")


@app.command("fit")
def fit_model(
    files: RatingTables,
    output: Annotated[Path, typer.Option("--output", "-o", help="The model, JSON.")],
    alpha: Annotated[
        float,
        typer.Option(
            min=0, help="Categories with steeper slopes make P and N.", show_default="1/3"
        ),
    ] = localizability.ALPHA,
    gamma_km: Annotated[
        float, typer.Option(min=0, help="Smaller distance errors are near.")
    ] = localizability.GAMMA_KM,
    theta: Annotated[
        float, typer.Option(help="Higher scores are localizable.")
    ] = localizability.THETA,
    min_recordings: Annotated[
        int,
        typer.Option(
            "--min-recordings", min=1, help="Slopes from fewer recordings do not make P and N."
        ),
    ] = 1,
) -> None:
    """Fit equation (1) of "The Sonar Moment" to tables of ratings."""
    observations, tagger = localizability.read_ratings(files)
    model = localizability.fit(
        observations,
        alpha=alpha,
        gamma_km=gamma_km,
        theta=theta,
        min_recordings=min_recordings,
        tagger=tagger,
    )
    model.save(output)
    _show(localizability.ReportInput(model, observations, observations.presences))
    if not model.positive:
        warn("No category is in P, so no recording can be localizable.")
    say(f"The model is in {shown(output)}")


@app.command("report")
def report_model(
    model: Annotated[Path, typer.Argument(help="A fitted model.", dir_okay=False)],
    files: Annotated[
        list[Path] | None, typer.Argument(help="The tables it was fitted to.", dir_okay=False)
    ] = None,
    benchmark: Annotated[
        str | None,
        typer.Option("--benchmark", "-b", help="Also score its clips, and by continent."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A page with the figures, HTML.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Top categories, agreement between judges, examples and continents, as in the paper."""
    source = _report_input(Localizability.load(model), files, benchmark)
    if output:
        save_text(output, localizability.report_page(source))
    if as_json:
        typer.echo(json.dumps(localizability.report_numbers(source), allow_nan=False))
        return
    _show(source)
    if output:
        say(f"The figures are in {shown(output)}")


def _report_input(
    model: Localizability, files: Sequence[Path] | None, benchmark: str | None
) -> ReportInput:
    observations, tagger = localizability.read_ratings(files) if files else (None, {})
    model.refuse_other_tagger(tagger, "the tables")
    presences: dict[str, Mapping[str, float]] = {}
    if observations:
        presences |= observations.presences
    continents: dict[str, str] = {}
    if benchmark:
        on = benchmark_of(benchmark)
        continents = dict(zip(on.index, on.continents, strict=True))
        tags = read_tags(on.audio_dir)
        model.refuse_other_tagger(tags.tagger, "the benchmark's tags.json")
        presences |= {key: clip.presence for key, clip in tags.clips.items()}
    return localizability.ReportInput(model, observations, presences, continents)


def _show(source: ReportInput) -> None:
    from agl1k_core.cli import reports

    warn_all(source.model.remarks)
    for line in localizability.about_lines(source):
        say(line)
    say(reports.category_table(localizability.category_rows(source.model)))
    if (pairs := source.agreement) is not None:
        say(reports.frame_table(pairs.to_frame()))
    if len(table := source.by_continent):
        say(reports.frame_table(table))

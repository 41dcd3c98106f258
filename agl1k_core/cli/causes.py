"""``agl1k causes``: sorts a model's country-level misses into the paper's seven causes."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from agl1k_core import causes, localizability, models, predictions
from agl1k_core.causes import Misses, Outcome, Verdict
from agl1k_core.cli.checkout import run_above
from agl1k_core.cli.console import (
    BenchmarkOption,
    JsonOption,
    benchmark_of,
    say,
    warn,
    warn_all,
)
from agl1k_core.cli.localizability import judging, print_failures
from agl1k_core.config import Config
from agl1k_core.errors import Agl1kError
from agl1k_core.file_names import shown
from agl1k_core.files import save_text

SUMMARY, PAGE = "causes.json", "causes.html"

app = typer.Typer()


@dataclass(frozen=True)
class Sorting:
    """What is sorted, and where the outcome goes."""

    file: Path
    every: Misses
    limit: int | None
    folder: Path

    @property
    def misses(self) -> Misses:
        """Those that are to be sorted now."""
        return self.every.sample(self.limit) if self.limit else self.every


@app.command("causes")
def sort_causes(
    source: Annotated[
        Path, typer.Argument(exists=True, help="A run's folder, or a prediction file.")
    ],
    benchmark: BenchmarkOption = None,
    judge: Annotated[
        list[str] | None,
        typer.Option(
            "--judge",
            help="MODEL@URL[,VARIABLE]: an OpenAI-compatible API whose key is in the environment's "
            "VARIABLE (AGL1K_JUDGE_KEY by default). May be given several times.",
        ),
    ] = None,
    verdicts: Annotated[
        list[Path] | None,
        typer.Option(
            "--verdicts", dir_okay=False, help="A table with the columns key, judge and cause."
        ),
    ] = None,
    review: Annotated[
        bool, typer.Option("--review", help="Open a page on which a person sorts.")
    ] = False,
    limit: Annotated[
        int | None, typer.Option(min=1, help="At most so many misses, always the same ones.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Folder of the results. Default: causes in or beside the source."
        ),
    ] = None,
    threads: Annotated[int, typer.Option(min=1, max=64, help="Questions asked at once.")] = 8,
    attempts: Annotated[int, typer.Option(min=1, max=20, help="Attempts per question.")] = 5,
    timeout: Annotated[
        float, typer.Option(min=0.1, help="Seconds until an answer must be complete.")
    ] = localizability.TIMEOUT_S,
    temperature: Annotated[
        float, typer.Option(help="Temperature sent to the judges; not sent if below 0.", max=2)
    ] = 0.0,
    host: Annotated[str, typer.Option(help="With --review: address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="With --review: port to listen on.")] = 7862,
    as_json: JsonOption = False,
) -> None:
    """Sort wrong countries into seven causes, by judges or by a person. Run again to resume."""
    if review and judge:
        raise Agl1kError("Give --judge or --review, one after the other.")
    sorting, spec = _sorting(source, benchmark, limit, output)
    if review:
        _open_page(sorting, spec, host, port)
        return
    judges = localizability.choose_judges(
        judge or [],
        os.environ,
        key=Config.from_env().judge_key,
        cache_dir=sorting.folder / "judged",
        attempts=attempts,
        timeout_s=timeout,
        temperature=temperature if temperature >= 0 else None,
    )
    judged = _judged(sorting, causes.language_models(judges), threads)
    _finish(sorting, judged, verdicts or [], as_json=as_json)
    _refuse_silence(judged)


def _sorting(
    source: Path, spec: str | None, limit: int | None, output: Path | None
) -> tuple[Sorting, str]:
    """What to sort, and the benchmark's name; raises ``Agl1kError``."""
    is_run = source.is_dir()
    file = source / "predictions.jsonl" if is_run else source
    if not file.is_file():
        raise Agl1kError(
            f"There is no prediction file in {shown(source)}. Give the folder of agl1k run -o, or "
            "write the file again with agl1k rescore."
        )
    spec = spec or (models.benchmark_of_run(source) if is_run else "") or ""
    on = benchmark_of(spec or None)
    misses = causes.country_misses(on, predictions.read_predictions(file, on))
    folder = output or (source / "causes" if is_run else source.with_name(f"{source.name}.causes"))
    return Sorting(file, misses, limit, folder), spec


def _open_page(sorting: Sorting, spec: str, host: str, port: int) -> None:
    if not sorting.misses.to_judge:
        raise Agl1kError("There is no miss to sort.")
    options = {"--benchmark": spec, "--limit": sorting.limit or "", "--host": host, "--port": port}
    flags = [str(part) for pair in options.items() if pair[1] for part in pair]
    argv = ["agl1k causes", *flags, "--", str(sorting.file), str(sorting.folder)]
    run_above("game.causes_page", argv, needs="gradio")


def _judged(
    sorting: Sorting, judges: Sequence[localizability.ApiJudge], threads: int
) -> list[Verdict]:
    """The verdicts; what failed, and what differed from what was asked for, is printed."""
    to_judge = sorting.misses.to_judge
    with judging(len(to_judge) * len(judges), "verdict") as done:
        verdicts, problems = causes.judge_misses(to_judge, judges, threads=threads, done=done)
    print_failures(problems, "verdicts")
    for asked in judges:
        warn_all(asked.remarks)
    return verdicts


def _finish(
    sorting: Sorting, judged: Sequence[Verdict], tables: Sequence[Path], *, as_json: bool
) -> None:
    """Join all verdicts, write them and their summary, and print it."""
    every = {miss.key: miss for miss in sorting.every.misses}
    earlier = [*_kept(sorting.folder), *map(causes.read_verdicts, tables)]
    found, others = causes.merged([*earlier, judged], every)
    if others:
        warn(f"{len(others):,} earlier verdicts are about other answers and do not count.")
    causes.write_verdicts(sorting.folder / causes.VERDICTS, [*found, *others], every)
    misses = sorting.misses
    wanted = {miss.key for miss in misses.misses}
    found = causes.with_refusals([v for v in found if v.key in wanted], misses)
    summary = causes.summary(misses, found)
    save_text(sorting.folder / SUMMARY, json.dumps(summary, indent=1, ensure_ascii=False) + "\n")
    if found:
        page = causes.cause_page(summary, sorting.file.name)
        save_text(sorting.folder / PAGE, page)
    if as_json:
        typer.echo(json.dumps(summary, allow_nan=False))
        return
    _show(summary, sorting.folder)


def _kept(folder: Path) -> list[list[Verdict]]:
    """The verdicts of earlier runs, and those that the page has stored since."""
    tables = [folder / name for name in (causes.VERDICTS, causes.PERSON_TABLE)]
    judged, by_person = (causes.read_verdicts(path) if path.is_file() else [] for path in tables)
    if tables[1].is_file():  # what a person took back is no longer in it
        judged = [verdict for verdict in judged if verdict.judge != causes.PERSON]
    return [judged, by_person]


def _refuse_silence(judged: Sequence[Verdict]) -> None:
    """Raise if a judge that was asked gave no answer at all."""
    silent = {verdict.judge for verdict in judged if verdict.outcome == Outcome.FAILED}
    silent -= {verdict.judge for verdict in judged if verdict.answer}
    if silent:
        raise Agl1kError(
            f"{', '.join(sorted(silent))} gave no answer. Run the same command again once it does "
            "(what was answered is kept), or leave it out."
        )


def _show(summary: Mapping[str, Any], folder: Path) -> None:
    from agl1k_core.cli import reports

    for line in causes.about_lines(summary):
        say(line)
    for judge in summary["judges"]:
        said = [f"{n:,} {outcome}" for outcome, n in judge["outcomes"].items() if n]
        say(f"{judge['judge']}: {', '.join(said)}")
    if not summary["judges"]:
        say("Nobody has sorted them yet. Give --judge MODEL@URL, or --review.")
        return
    say(reports.frame_table(causes.cause_table(summary)))
    if summary["agreement"]:
        say(reports.frame_table(causes.agreement_table(summary)))
        say(causes.fleiss_line(summary))
    say(
        f"The verdicts are in {shown(folder / causes.VERDICTS)}, a figure in {shown(folder / PAGE)}"
    )

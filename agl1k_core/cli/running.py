"""Commands that ask models and publish their answers: run, rescore, submit."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from tqdm import tqdm

from agl1k_core import curation, models, predictions, scoring
from agl1k_core.audio import AcousticFilters
from agl1k_core.benchmarks import Benchmark, find_recording, read_tags
from agl1k_core.cli.asking import (
    ApiKeyOption,
    BaseUrlOption,
    ConcurrencyOption,
    MaxCostOption,
    MaxTokensOption,
    ModelOption,
    PriceOption,
    PromptOption,
    PythonOption,
    RateOption,
    RepeatOption,
    RetriesOption,
    SeedOption,
    TemperatureOption,
    TimeoutOption,
    listeners_on,
    model_of,
    patience_of,
    price_of,
)
from agl1k_core.cli.building import WORKERS, tagger_maker
from agl1k_core.cli.console import BenchmarkOption, benchmark_of, say, warn
from agl1k_core.config import Config
from agl1k_core.curation import Analyzer
from agl1k_core.errors import Agl1kError
from agl1k_core.file_names import shown
from agl1k_core.files import sha256_of_file
from agl1k_core.models import (
    AgentPlan,
    AudioFormat,
    Control,
    ModelCard,
    RunLimits,
    RunResult,
    RunSettings,
    Submittable,
    Treatment,
)

app = typer.Typer()


@app.command()
def run(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the run.")],
    model: ModelOption = "",
    base_url: BaseUrlOption = "",
    python: PythonOption = "",
    benchmark: BenchmarkOption = None,
    api_key_env: ApiKeyOption = "",
    clip: Annotated[
        list[str] | None, typer.Option("--clip", help="Only this clip; may be repeated.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first N clips.")] = None,
    concurrency: ConcurrencyOption = 4,
    rate: RateOption = None,
    timeout: TimeoutOption = 120.0,
    max_retries: RetriesOption = 5,
    temperature: TemperatureOption = None,
    seed: SeedOption = None,
    max_tokens: MaxTokensOption = None,
    max_seconds: Annotated[
        float | None, typer.Option(min=0.1, help="Truncate longer recordings.")
    ] = None,
    audio_format: Annotated[
        AudioFormat, typer.Option(help="auto: WAV, or MP3 where WAV is too large.")
    ] = "auto",
    prompt_file: PromptOption = None,
    max_cost: MaxCostOption = None,
    price: PriceOption = "",
    repeat: RepeatOption = 1,
    skip_hearing_check: Annotated[
        bool, typer.Option("--skip-hearing-check", help="Run without proof that it hears.")
    ] = False,
    ask_failed: Annotated[
        bool, typer.Option("--ask-failed", help="Ask again about clips whose error was final.")
    ] = False,
    agent: Annotated[
        int | None,
        typer.Option(min=0, max=20, help="Actions by which the model may listen again."),
    ] = None,
    match_tokens: Annotated[
        Path | None,
        typer.Option("--match-tokens", exists=True, help="With --agent 0: the run to match."),
    ] = None,
    without_audio: Annotated[
        bool, typer.Option("--without-audio", help="Control: the prompt alone.")
    ] = False,
    tags_only: Annotated[
        bool, typer.Option("--tags-only", help="Control: the names of the sounds instead of sound.")
    ] = False,
    transcript_only: Annotated[
        bool, typer.Option("--transcript-only", help="Control: a transcript instead of sound.")
    ] = False,
    transcripts: Annotated[
        Path | None,
        typer.Option("--transcripts", dir_okay=False, help="JSON Lines: key, text, language."),
    ] = None,
    whisper: Annotated[
        str, typer.Option("--whisper", help="Without --transcripts: a model's name or folder.")
    ] = "base",
) -> None:
    """Ask a model where each clip was recorded. Run again to resume."""
    on = benchmark_of(benchmark)
    if repeat > 1 and seed is not None:
        raise Agl1kError("With --seed, the passes of --repeat would be the same. Leave out one.")
    if match_tokens and max_tokens is not None:
        raise Agl1kError("--match-tokens limits each answer. Leave out --max-tokens.")
    control = _control(without_audio, tags_only, transcript_only)
    plan = _plan(agent, on, control, match_tokens, python)
    parameters: dict[str, float | int | None] = {
        "temperature": temperature, "seed": seed, "max_tokens": max_tokens,
    }  # fmt: skip
    patience = patience_of(timeout, max_retries, python)
    asked = model_of(model, base_url, python, api_key_env, parameters, patience)
    settings = RunSettings(
        model or python,
        base_url or python,
        _prompt(prompt_file, agent),
        Treatment(audio_format, max_seconds),
        parameters,
        control,
        *_texts(control, on, clip or list(on.index), transcripts, whisper, output),
        agent=plan,
    )
    keys = _matched(match_tokens, on, settings, clip) if match_tokens else clip
    limits = RunLimits(
        keys, limit, concurrency, rate, max_cost, price_of(price), repeat, patience,
        skip_hearing_check, ask_failed,
    )  # fmt: skip
    with tqdm(unit="clip", disable=None) as bar:
        listeners = listeners_on(bar)
        result, stopped = models.run_model(
            on, asked, settings, output, limits, listeners, benchmark_spec=benchmark_spec(benchmark)
        )
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

    on = benchmark_of(benchmark or models.benchmark_of_run(folder))
    result = models.write_results(folder, on)
    evaluations = []
    for file in result.files if on.has_truth else ():
        evaluation = scoring.evaluate(on, predictions.read_predictions(file, on))
        evaluations.append(evaluation)
        say(f"{file.name}: {reports.headline(evaluation)}")
        say(reports.metric_table(evaluation))
    for number in range(1, len(evaluations) + 1):
        _show_gain(folder, on, number)
    if len(evaluations) > 1:
        say(f"Between the {len(evaluations)} passes:")
        say(reports.spread_table(evaluations))
    _show_run(result, on, scored=not on.has_truth)


@app.command()
def submit(
    file: Annotated[
        Path, typer.Argument(exists=True, help="A prediction file, or a run's folder.")
    ],
    server: Annotated[str, typer.Option("--server", help="The server's address.")],
    weights: Annotated[
        Literal["open", "closed"] | None,
        typer.Option(help="The model's weights. Default: open for --python, closed for endpoints."),
    ] = None,
    model: Annotated[
        str, typer.Option("--model", help="Default: the run's, or the file's name.")
    ] = "",
    board: Annotated[str, typer.Option("--board", help="Default: the run's benchmark.")] = "",
    organisation: Annotated[str, typer.Option("--organisation", help="Who made the model.")] = "",
    link: Annotated[str, typer.Option("--link", help="An address about the model.")] = "",
    model_date: Annotated[str, typer.Option("--model-date", help="YYYY-MM-DD.")] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Publish nothing.")] = False,
    replace: Annotated[
        str, typer.Option("--replace", help="Replace the files of this row, by its id.")
    ] = "",
    run_of: Annotated[
        str, typer.Option("--run-of", help="Another run for this row, by its id.")
    ] = "",
    key_env: Annotated[
        str, typer.Option("--key-env", help="The variable that holds the row's withdrawal key.")
    ] = "AGL1K_WITHDRAW_KEY",
    private: Annotated[
        bool, typer.Option("--private", help="Others may not download the predictions.")
    ] = False,
    attempt: Annotated[
        str, typer.Option("--attempt", help="Go on with one whose answer was lost, which named it.")
    ] = "",
) -> None:
    """Publish a prediction file on a server's board, after a dry run."""
    sent = models.submittable(file)
    board = board or sent.told("benchmark", "slug")
    row, relation, key = _row(replace, run_of, key_env)
    card = ModelCard(
        model or sent.told("model", "named") or file.stem, organisation, link,
        weights or ("open" if sent.is_of_function else "closed"), sent.told("prompt", "text"),
        model_date, not private, row, key, relation,
    )  # fmt: skip
    with models.BoardServer(server) as boards:
        _show_dry_run(boards.dry_run(sent, board), sent)
        if dry_run:
            say("Nothing was published: this was a dry run.")
            return
        done = boards.publish(sent, board, card, attempt)
    say(
        f"{card.model} ({card.weights} weights) is on the board {done['board']}: submission "
        f"{done['submission_id']}"
    )
    if row:
        say(f"It {'replaces the files' if replace else 'is another run'} of the row {row}.")
    else:
        say(f"Withdrawal key, shown only once: {done['withdraw_key']}")


def _row(replace: str, run_of: str, key_env: str) -> tuple[str, str, str]:
    """The row that a file goes to, how, and the row's key; raises ``Agl1kError``."""
    if not replace and not run_of:
        return "", "", ""
    if replace and run_of:
        raise Agl1kError("Give --replace or --run-of, not both.")
    key = os.environ.get(key_env, "")
    if not key:
        raise Agl1kError(f"Set {key_env} to the row's withdrawal key, or name another variable.")
    return replace or run_of, "replaces" if replace else "run", key


def _show_gain(folder: Path, on: Benchmark, n_pass: int) -> None:
    """How a model that listened again would have scored with fewer actions.

    Clips that were not asked about are left out, as they would hide the gain in part of a run.
    """
    from agl1k_core.cli import reports

    after = models.answers_after(folder, on, n_pass)
    if len(after) > 1:
        asked = replace(scoring.STRICT, name="strict, clips asked about", every_clip=False)
        found = [
            scoring.evaluate(on, predictions.read_predictions(part, on), asked) for part in after
        ]
        say("After so many actions, over the clips asked about:")
        say(reports.gain_table(found, list(models.still_asking(folder, n_pass))))


def _show_dry_run(report: Mapping[str, Any], sent: Submittable) -> None:
    """The scores of a dry run; raises ``Agl1kError`` with every problem if it was refused."""
    from agl1k_core.cli import reports

    if not report["accepted"]:
        problems = [f"  {number}. {found}" for number, found in enumerate(report["problems"], 1)]
        raise Agl1kError("\n".join([report["message"], *problems]))
    evaluation = scoring.Evaluation.from_dict(report["strict"])
    say(reports.headline(evaluation))
    say(reports.metric_table(evaluation))
    for label, value in models.provenance_facts(sent.provenance or {}):
        say(f"{label}: {value}")


def benchmark_spec(benchmark: str | None) -> str:
    """The benchmark's name or absolute path, by which ``rescore`` finds it in any folder."""
    spec = benchmark or Config.from_env().benchmark
    return str(Path(spec).absolute()) if Path(spec).exists() else spec


def _prompt(path: Path | None, agent: int | None) -> models.Prompt:
    if path:
        return models.read_prompt(path)
    return models.default_prompt() if agent is None else models.agent_prompt()


def _plan(
    steps: int | None, on: Benchmark, control: Control, match_tokens: Path | None, python: str
) -> AgentPlan | None:
    """How far the model may listen again; raises ``Agl1kError``."""
    if match_tokens and (steps != 0 or python):
        needed = "an endpoint" if steps == 0 else "--agent 0"
        raise Agl1kError(f"--match-tokens is for controls that answer at once: give {needed}.")
    if steps is None:
        return None
    models.refuse_agent_without_sound(control)
    if match_tokens:
        return AgentPlan(0, None, *models.matched_budgets(match_tokens))
    return AgentPlan(steps, _events(on) if steps else None)


def _events(on: Benchmark) -> models.EventLister | None:
    """Lists a tagger's events: with times if YAMNet is installed, else from ``tags.json``."""
    try:
        return models.TaggedEvents(tagger_maker("yamnet", None)())
    except Agl1kError as error:
        tags = read_tags(on.audio_dir)
        if tags.clips:
            presences = {key: clip.presence for key, clip in tags.clips.items()}
            return models.KnownPresences(presences, f"tags.json, {tags.tagger.get('name', '')}")
        warn(f"The tagger's events are not offered. {error}")
        return None


def _matched(
    path: Path, on: Benchmark, settings: RunSettings, clips: Sequence[str] | None
) -> list[str]:
    """The clips that have a token budget; raises ``Agl1kError`` if the runs cannot be compared."""
    assert settings.agent is not None
    models.refuse_unmatched(path, settings.identity(on))
    wanted = list(on.index if clips is None else clips)
    found = [key for key in wanted if key in settings.agent.budgets]
    if len(found) < len(wanted):
        told = f"{len(wanted) - len(found)} of {len(wanted)} clips"
        warn(f"{told} have no answer in {shown(path)} and are left out.")
    return found


def _control(without_audio: bool, tags_only: bool, transcript_only: bool) -> Control:
    chosen: dict[Control, bool] = {
        "without-audio": without_audio,
        "tags-only": tags_only,
        "transcript-only": transcript_only,
    }
    names = [name for name, is_chosen in chosen.items() if is_chosen]
    if len(names) > 1:
        raise Agl1kError(f"Give only one of {', '.join(f'--{name}' for name in names)}.")
    return names[0] if names else ""


def _texts(
    control: Control,
    on: Benchmark,
    keys: Sequence[str],
    transcripts: Path | None,
    whisper: str,
    output: Path,
) -> tuple[dict[str, str], str]:
    """The texts that take the place of sound, and their source; empty if none are sent."""
    if control in ("", "without-audio"):
        return {}, ""
    spoken = models.read_transcripts(transcripts, on) if transcripts else None
    source = f"transcripts {sha256_of_file(transcripts)[:12]}" if transcripts else ""
    if control == "tags-only":
        presences, tagger = _tags(on, keys, output)
        sources = " and ".join(filter(None, [tagger, source]))
        return models.tag_texts(keys, presences, spoken), sources
    if spoken is None:
        recognizer = models.Whisper(_whisper(whisper))
        spoken, source = _transcripts(on, keys, recognizer, output), recognizer.name
    return models.transcript_texts(keys, spoken), source


def _whisper(name: str) -> str:
    """Whisper base as ``agl1k models install`` put it, if it did; else what was named."""
    installed = models.whisper_folder(Config.from_env().models_dir) if name == "base" else None
    return str(installed or name)


def _tags(
    on: Benchmark, keys: Sequence[str], output: Path
) -> tuple[Mapping[str, Mapping[str, float]], str]:
    """What sounds in each clip, and the tagger that found it."""
    analyzer = Analyzer(AcousticFilters(), tagger_maker("yamnet", None))
    presences, tagger = curation.presences_of(on, keys, analyzer, output / "tags", workers=WORKERS)
    weights = str(tagger.get("weights_sha256", ""))[:12]
    return presences, f"tagger {tagger.get('name', 'unknown')} {weights}".strip()


def _transcripts(
    on: Benchmark, keys: Sequence[str], recognizer: models.Recognizer, output: Path
) -> dict[str, models.Transcript]:
    """Transcripts of the clips that have a recording, kept in the run's folder."""
    folder = on.audio_dir
    found = {
        key: path
        for key in keys
        if folder and key in on and (path := find_recording(on, on.clip(key), folder))
    }
    with tqdm(total=len(found), unit="transcript", disable=None) as bar:
        return models.transcribe_clips(
            on, found, recognizer, output / "transcripts.jsonl", lambda: bar.update()
        )


def _show_run(result: RunResult, on: Benchmark, *, scored: bool = True) -> None:
    from agl1k_core.cli import reports

    for line in result.lines():
        say(line)
    for file in result.files:
        if scored and file.stat().st_size:
            say(reports.headline_of(predictions.read_predictions(file, on), on))
        say(f"Predictions: {shown(file)}")

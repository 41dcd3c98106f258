"""``run_model``: a whole run, from the first probe to the prediction files."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agl1k_core import __version__
from agl1k_core.benchmarks import Benchmark, find_recording
from agl1k_core.errors import Agl1kError
from agl1k_core.extras import check
from agl1k_core.http import Patience, TransientError
from agl1k_core.models.agent import ListeningAgent
from agl1k_core.models.approaches import Approach, OneQuestion
from agl1k_core.models.beacon import Hearing, HearingCheck, counts_to_ask
from agl1k_core.models.dialects import dialect_from
from agl1k_core.models.endpoint import Endpoint, Model
from agl1k_core.models.failures import EndpointError
from agl1k_core.models.fingerprints import refuse_changed
from agl1k_core.models.history import History, read_history
from agl1k_core.models.hook import LocalModel
from agl1k_core.models.journal import Journal, open_journal
from agl1k_core.models.probing import find_dialect
from agl1k_core.models.results import RunResult, write_results
from agl1k_core.models.runner import Progress, Runner, Task
from agl1k_core.models.settings import RunSettings, refuse_agent_without_sound, refuse_changes
from agl1k_core.models.sight import check_sight
from agl1k_core.models.sounds import Treatment
from agl1k_core.models.spending import Budget, Pace, Price

_SHOWN = 5


@dataclass(frozen=True)
class RunLimits:
    """How a run goes about its work; none of it changes an answer.

    Attributes
    ----------
    keys
        The clips to ask about; None for all.
    limit
        Ask about the first so many of them that have a recording; None for all.
    concurrency
        Questions under way at the same time.
    per_minute
        Requests a minute; None for no limit.
    max_cost
        US dollars after which no request is made; None for no limit.
    price
        For answers whose cost the endpoint does not report.
    repeat
        Independent passes over the clips.
    patience
        How long to wait for an answer, and how often to try.
    skip_hearing_check
        Whether to run without proof that the model hears.
    ask_failed
        Whether to ask again about clips whose error was final.
    """

    keys: Sequence[str] | None = None
    limit: int | None = None
    concurrency: int = 4
    per_minute: float | None = None
    max_cost: float | None = None
    price: Price | None = None
    repeat: int = 1
    patience: Patience = field(default_factory=Patience)
    skip_hearing_check: bool = False
    ask_failed: bool = False


@dataclass(frozen=True)
class Listeners:
    """Who hears about a run: ``tell`` gets sentences, ``start`` the clips done before and the
    number of all, ``report`` the counts after each clip."""

    tell: Callable[[str], object] = lambda sentence: None
    start: Callable[[int, int], object] = lambda done, total: None
    report: Callable[[Progress], object] = lambda progress: None


def run_model(
    benchmark: Benchmark,
    model: Model,
    settings: RunSettings,
    folder: Path,
    limits: RunLimits,
    listeners: Listeners | None = None,
    approach: Approach | None = None,
    *,
    benchmark_spec: str = "",
) -> tuple[RunResult, str]:
    """Ask a model about the clips of a benchmark; run again to resume.

    Parameters
    ----------
    benchmark
        The clips and their recordings.
    model
        An ``Endpoint`` or a ``LocalModel``.
    settings
        What is asked; resuming with other settings is refused.
    folder
        Where the journal and the results go.
    limits
        Which clips, how fast, and for how much.
    listeners
        Who hears about it.
    approach
        How a clip is asked about; by default in one question.
    benchmark_spec
        The benchmark's name or path, which the journal keeps for ``benchmark_of_run``.

    Returns
    -------
    result : RunResult
        The files, and what the run says about itself.
    stopped : str
        Why it stopped before the last clip; empty if it did not.

    Raises
    ------
    Agl1kError
        If the run cannot begin: the endpoint cannot be used, the model does not hear, the settings
        or recordings changed, another process runs in the folder.
    """
    heard = listeners or Listeners()
    _check_agent(model, settings)
    recordings = _recordings(benchmark, limits, settings, heard)
    with open_journal(folder) as journal:
        history = read_history(folder)
        identity = settings.identity(benchmark)
        if history.identity is not None and history.has_asked:
            refuse_changes(folder, history.identity, identity)
        elif history.identity != identity:
            history.dialect = history.hearing = history.sight = None
        refuse_changed(recordings, history.recordings)
        journal.append(
            "run",
            identity=identity,
            version=__version__,
            about=_about(settings, limits, benchmark_spec),
        )
        runner = Runner(
            model, approach or OneQuestion(settings), journal, history, settings.treatment,
            limits.patience, Pace(limits.per_minute), Budget(limits.max_cost), limits.price,
            probe_tokens=max(settings.agent.budgets.values(), default=None)
            if settings.agent else None,
            keep_samples=isinstance(model, LocalModel) or settings.listens_again,
            report=heard.report,
        )  # fmt: skip
        _find_way(runner, model, settings, limits, history, journal, heard)
        _check_hearing(runner, model, settings, limits, history, journal, heard)
        if approach is None and settings.agent is not None:
            sees = settings.listens_again and _sees(runner, model, history, journal, heard)
            runner.approach = ListeningAgent(settings.prompt, settings.agent, sees)
        tasks = _tasks(recordings, limits, history)
        heard.start(len(recordings) * limits.repeat - len(tasks), len(recordings) * limits.repeat)
        stopped = runner.run(tasks, limits.concurrency)
    return write_results(folder, benchmark, limits.price), stopped


def _check_agent(model: Model, settings: RunSettings) -> None:
    """Raise ``Agl1kError`` if the model cannot listen again as the settings ask for."""
    if settings.agent is None:
        return
    refuse_agent_without_sound(settings.control)
    if settings.listens_again:
        check("librosa")
        check("matplotlib")
        if isinstance(model, LocalModel):
            model.check_converses()


def _about(settings: RunSettings, limits: RunLimits, benchmark_spec: str) -> dict[str, Any]:
    """What resuming may change."""
    price = limits.price
    return {
        "benchmark_spec": benchmark_spec,
        "prompt": {"source": settings.prompt.source, "text": settings.prompt.text},
        "price": [price.prompt, price.completion] if price else None,
        "token_budgets": (dict(settings.agent.matched) or None) if settings.agent else None,
    }


def _recordings(
    benchmark: Benchmark, limits: RunLimits, settings: RunSettings, heard: Listeners
) -> dict[str, Path | None]:
    """The recording of each clip that is asked about; None if no sound is sent."""
    keys = list(benchmark.index if limits.keys is None else dict.fromkeys(limits.keys))
    unknown = [key for key in keys if key not in benchmark]
    if unknown:
        raise Agl1kError(
            f"The benchmark {benchmark.slug} has no clip {', '.join(map(repr, unknown[:_SHOWN]))}."
        )
    if not settings.with_sound:
        return dict.fromkeys(keys[: limits.limit])
    check("av")
    found = {key: _recording(benchmark, key) for key in keys}
    present: dict[str, Path | None] = {key: path for key, path in found.items() if path}
    _tell_missing(benchmark, [key for key in keys if key not in present], len(keys), heard)
    return dict(list(present.items())[: limits.limit])


def _recording(benchmark: Benchmark, key: str) -> Path | None:
    folder = benchmark.audio_dir
    return find_recording(benchmark, benchmark.clip(key), folder) if folder else None


def _tell_missing(
    benchmark: Benchmark, missing: Sequence[str], n_clips: int, heard: Listeners
) -> None:
    """Tell which clips have no recording; raises ``Agl1kError`` if none has one."""
    told = f"{len(missing)} of {n_clips} clips have no recording in {benchmark.audio_dir}"
    if len(missing) == n_clips:
        advice = "Put them there (docs/benchmark-format.md), or run agl1k fetch --recordings"
        raise Agl1kError(f"{told}. {advice}.")
    if missing:
        names = ", ".join(missing[:_SHOWN])
        heard.tell(f"{told} and are left out: {names}{' …' if len(missing) > _SHOWN else ''}")


def _tasks(
    recordings: Mapping[str, Path | None], limits: RunLimits, history: History
) -> list[Task]:
    return [
        Task(n_pass, key, path)
        for n_pass in range(1, limits.repeat + 1)
        for key, path in recordings.items()
        if not history.is_done(n_pass, key, despite_errors=not limits.ask_failed)
    ]


def _find_way(
    runner: Runner,
    model: Model,
    settings: RunSettings,
    limits: RunLimits,
    history: History,
    journal: Journal,
    heard: Listeners,
) -> None:
    """Find the endpoint's dialect, unless an earlier run did."""
    if not isinstance(model, Endpoint):
        return
    if history.dialect is not None:
        model.dialect = dialect_from(history.dialect)
    else:
        formats = settings.treatment.formats
        with _readable(model):
            find_dialect(
                model, runner.probe, with_sound=settings.with_sound, formats=formats,
                must_hear=not limits.skip_hearing_check,
            )  # fmt: skip
        journal.append("found", dialect=model.dialect.to_dict())
        heard.tell(f"{model.host} is asked with {model.dialect}.")
    runner.treatment = _fitting(settings.treatment, model)


def _fitting(treatment: Treatment, model: Endpoint) -> Treatment:
    """The treatment within the formats and the size that the endpoint takes."""
    formats = treatment.formats
    later = formats[formats.index(model.dialect.sound_format) :]
    name = treatment.format if later == formats else later[0]
    return Treatment(name, treatment.max_seconds, model.dialect.max_bytes)  # type: ignore[arg-type]


def _check_hearing(
    runner: Runner,
    model: Model,
    settings: RunSettings,
    limits: RunLimits,
    history: History,
    journal: Journal,
    heard: Listeners,
) -> None:
    """Prove that the model hears, unless an earlier run did; raises ``Agl1kError`` if not."""
    before = (history.hearing or {}).get("outcome")
    if before in ("passed", "not needed") or (before == "skipped" and limits.skip_hearing_check):
        return
    if not settings.with_sound or limits.skip_hearing_check:
        outcome = "skipped" if settings.with_sound else "not needed"
        journal.append("found", hearing=Hearing(outcome).to_dict())
        return
    name = runner.treatment.formats[0]
    with _readable(model):
        hearing = HearingCheck(runner.probe, name, counts_to_ask(random.Random())).run()
    journal.append("found", hearing=hearing.to_dict())
    if hearing.outcome != "passed":
        raise Agl1kError(
            f"{settings.model} does not hear what it is sent. {hearing.why_failed} Nothing was "
            "asked about the clips. If you are sure that it hears, give --skip-hearing-check, "
            "which the board will show."
        )
    heard.tell(f"{settings.model} hears: it counted the beeps of {len(hearing.counts)} beacons.")


def _sees(
    runner: Runner, model: Model, history: History, journal: Journal, heard: Listeners
) -> bool:
    """Whether the model can be shown spectrograms; an earlier run may have found out."""
    if history.sight is None:
        with _readable(model):
            sight = check_sight(runner.probe, runner.treatment.formats[0])
        history.sight = sight.to_dict()
        journal.append("found", sight=history.sight)
        if sight.outcome != "seen":
            why = f"{sight.outcome}: {sight.words}"
            heard.tell(f"Spectrograms are not offered, as a picture beside sound was {why}.")
    return bool(history.sight["outcome"] == "seen")


@contextmanager
def _readable(model: Model) -> Iterator[None]:
    """Turn failures of a probe into one line."""
    try:
        yield
    except EndpointError as error:
        raise Agl1kError(model.sentence(error.failure)) from None
    except TransientError as error:
        raise Agl1kError(_unanswered(model, error)) from None


def _unanswered(model: Model, error: TransientError) -> str:
    name = model.host if isinstance(model, Endpoint) else "The model"
    advice = (
        "Check --base-url and the network."
        if error.unreachable
        else "Try again later, or raise --timeout."
    )
    return f"{name} {error}. {advice}"

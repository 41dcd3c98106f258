"""From a journal to prediction files, and what a run says about itself."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agl1k_core import __version__
from agl1k_core.benchmarks import Benchmark
from agl1k_core.errors import Agl1kError
from agl1k_core.files import sha256_of_file, write_atomically
from agl1k_core.models.history import History, Outcome, read_history
from agl1k_core.models.provenance import PROVENANCE, host_in
from agl1k_core.models.spending import Price, cost_of
from agl1k_core.models.steps import STEPS, read_steps, steps_text, told_of_steps

PREDICTIONS = "predictions.jsonl"


@dataclass(frozen=True)
class RunResult:
    """The files of a run, and its counts.

    Attributes
    ----------
    files
        One prediction file per pass.
    provenance
        What is written beside them.
    """

    files: tuple[Path, ...]
    provenance: Mapping[str, Any]

    def lines(self, noun: str = "clips") -> list[str]:
        """What a terminal shows at the end; ``noun`` is what was asked about."""
        told = self.provenance
        clips, cost = told["clips"], told["cost"]
        lines = [
            f"{clips['answered']:,} of {clips['asked']:,} {noun} answered, {clips['failed']:,} "
            "without an answer.",
            f"{told['tokens']['prompt']:,} prompt and {told['tokens']['completion']:,} completion "
            f"tokens, {cost_text(cost)}.",
        ]
        if clips["cut_off"]:
            lines.append(
                f"{clips['cut_off']:,} answers were cut off by the limit on tokens: see "
                "--max-tokens."
            )
        if clips["truncated"]:
            lines.append(f"{clips['truncated']:,} recordings were truncated.")
        agent = told.get("agent")
        if agent and agent["steps"] and agent["conversations"]:
            mean = agent["answers"] / agent["conversations"]
            lines.append(f"{mean:.1f} answers a clip, with up to {agent['steps']} actions.")
        if told["lost_requests"]:
            lines.append(
                f"{told['lost_requests']:,} requests were under way when a run was killed; the "
                "endpoint may have charged for them, and their cost is not known here."
            )
        return lines


def cost_text(cost: Mapping[str, Any]) -> str:
    """A cost in words, with where it comes from."""
    if cost["usd"] is None:
        return "cost not reported"
    return f"${cost['usd']:.4f} ({cost['source']})"


def benchmark_of_run(folder: Path) -> str:
    """The name or path of the benchmark that a run was about; empty if it is not known.

    Raises ``Agl1kError`` if the journal cannot be read.
    """
    return str(read_history(folder).about.get("benchmark_spec", ""))


def passes_in(folder: Path) -> list[Path]:
    """The prediction files of a run's passes; raises ``Agl1kError`` if there are none."""
    passes = read_history(folder).passes
    files = [folder / file_name(number) for number in passes]
    if not files or not all(file.is_file() for file in files):
        raise Agl1kError(f"{folder} has no predictions of agl1k run. Run agl1k rescore {folder}.")
    return files


def write_results(folder: Path, benchmark: Benchmark, price: Price | None = None) -> RunResult:
    """Write the prediction file of each pass, and the provenance beside them, from the journal.

    Parameters
    ----------
    folder
        The folder of a run.
    benchmark
        The benchmark that it was about.
    price
        For answers whose cost the endpoint did not report; by default the price of the run.

    Raises
    ------
    Agl1kError
        If there is no run in the folder, or it was about another benchmark.
    """
    history = read_history(folder)
    if history.identity is None:
        raise Agl1kError(f"There is no run in {folder}. Give the folder of agl1k run -o.")
    _refuse_other(history, benchmark)
    passes = history.passes or [1]
    files = tuple(_write_pass(folder, benchmark, history, number) for number in passes)
    price = price or _price_of(history)
    provenance = provenance_of(history, price)
    provenance["predictions"] = {file.name: sha256_of_file(file) for file in files}
    if history.identity.get("agent steps") is not None:
        provenance["agent"] = _write_steps(folder, benchmark, history, price)
    text = json.dumps(provenance, indent=1, ensure_ascii=False)
    _write(folder / PROVENANCE, text + "\n")
    return RunResult(files, provenance)


def _refuse_other(history: History, benchmark: Benchmark) -> None:
    identity = history.identity or {}
    content = identity["benchmark's content"]
    if content != benchmark.content_hash:
        raise Agl1kError(
            f"The run was about the benchmark {identity['benchmark']} ({content[:12]}), not about "
            f"{benchmark.slug} ({benchmark.content_hash[:12]}). Give that one with --benchmark."
        )


def _price_of(history: History) -> Price | None:
    told = history.about.get("price")
    return Price(*told) if told else None


def file_name(n_pass: int) -> str:
    """The name of a pass's prediction file."""
    return _numbered(PREDICTIONS, n_pass)


def _numbered(name: str, n_pass: int) -> str:
    return name if n_pass == 1 else f"{Path(name).stem}-{n_pass}.jsonl"


def _write_pass(folder: Path, benchmark: Benchmark, history: History, n_pass: int) -> Path:
    outcomes = history.of_pass(n_pass)
    records = (
        _record(clip.key, outcomes[clip.key]) for clip in benchmark.clips if clip.key in outcomes
    )
    path = folder / file_name(n_pass)
    _write(path, "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records))
    return path


def _write_steps(
    folder: Path, benchmark: Benchmark, history: History, price: Price | None
) -> dict[str, Any]:
    """Write what was said at each step of each pass; returns what the provenance says of it."""
    steps = read_steps(folder)
    hashes = {}
    for number in history.passes:
        path = folder / _numbered(STEPS, number)
        _write(path, steps_text(steps, benchmark, number, price))
        hashes[path.name] = sha256_of_file(path)
    return {**told_of_steps(history, steps), "files": hashes}


def _record(key: str, outcome: Outcome) -> dict[str, str]:
    if outcome.reply is None:
        return {"key": key, "error": outcome.words or "no answer"}
    return {"key": key, "model_output": outcome.reply.text}


def _write(path: Path, text: str) -> None:
    try:
        write_atomically(path, text.encode("utf-8", "replace"))
    except OSError as error:
        raise Agl1kError(f"{path} cannot be written: {error.strerror}.") from None


def provenance_of(history: History, price: Price | None) -> dict[str, Any]:
    """How the answers of a run came about."""
    identity = history.identity or {}
    outcomes = list(history.outcomes.values())
    return {
        "made_by": "agl1k run",
        "version": __version__,
        "versions": sorted(history.versions),
        "benchmark": {"slug": identity["benchmark"], "hash": identity["benchmark's content"]},
        "model": {
            "named": identity["model"],
            "reported": [name for name, _ in history.totals.models.most_common() if name],
        },
        "endpoint": {
            "host": host_in(identity["endpoint"]),
            "dialect": history.dialect,
        },
        "control": identity["control"],
        "texts_from": identity["texts instead of sound"],
        "prompt": {"sha256": identity["prompt"], **history.about.get("prompt", {})},
        "parameters": {name: identity[name] for name in ("temperature", "seed", "max_tokens")},
        "audio": _audio(identity, outcomes),
        "hearing_check": history.hearing,
        "passes": len(history.passes),
        "clips": {
            "asked": len(outcomes),
            "answered": sum(outcome.reply is not None for outcome in outcomes),
            "failed": sum(outcome.reply is None for outcome in outcomes),
            "cut_off": sum(bool(o.reply and o.reply.is_cut_off) for o in outcomes),
            "truncated": sum(bool(o.sound.get("truncated")) for o in outcomes),
        },
        "tokens": {
            "prompt": history.totals.prompt_tokens,
            "completion": history.totals.completion_tokens,
        },
        "cost": cost_in(history, price),
        "responses": history.totals.n_responses,
        "lost_requests": history.n_lost,
        "began": history.began,
        "ended": history.ended,
    }


def _audio(identity: Mapping[str, Any], outcomes: list[Outcome]) -> dict[str, Any] | None:
    if identity["control"]:
        return None
    formats = sorted({o.sound["format"] for o in outcomes if "format" in o.sound})
    return {
        "sample_rate_hz": 16000,
        "channels": 1,
        "format": identity["audio format"],
        "formats_sent": formats,
        "max_seconds": identity["maximum seconds"],
    }


def cost_in(history: History, price: Price | None) -> dict[str, Any]:
    """The sum of all costs, and where the numbers come from."""
    found = list(_costs(history, price))
    sources = sorted({source for _, source in found})
    return {
        "usd": round(math.fsum(cost for cost, _ in found), 9) if found else None,
        "source": " and ".join(sources),
        "responses_without": history.totals.n_responses - len(found),
        "price_per_million_tokens": [price.prompt, price.completion] if price else None,
    }


def _costs(history: History, price: Price | None) -> Iterator[tuple[float, str]]:
    for usage, _ in history.usages:
        cost, source = cost_of(usage, price)
        if cost is not None:
            yield cost, source

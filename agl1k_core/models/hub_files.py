"""Files for leaderboards on the Hugging Face Hub: ``eval.yaml`` and ``.eval_results/*.yaml``.

The formats are those of https://huggingface.co/docs/hub/eval-results. Nothing is pushed from here.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from agl1k_core import __version__
from agl1k_core.benchmarks import Benchmark
from agl1k_core.errors import Agl1kError
from agl1k_core.scoring import Evaluation

#: Each metric is a task, since a task has one value; higher is better for all of them.
TASKS = ("geoscore", "country_accuracy", "continent_accuracy", "within_500km")
FRAMEWORK = "agl1k"
EVAL_FILE, RESULTS_FILE = "eval.yaml", ".eval_results/agl1k.yaml"
_DECIMALS = 4
_REPOSITORY = re.compile(r"[\w.-]{1,96}/[\w.-]{1,96}", re.ASCII)


def is_repository(name: str) -> bool:
    """Whether a name has the form OWNER/NAME of a repository on the Hub."""
    return bool(_REPOSITORY.fullmatch(name))


@dataclass(frozen=True)
class HubTarget:
    """Where results belong.

    Attributes
    ----------
    dataset, model
        The repositories of the benchmark and of the model, as OWNER/NAME.
    revision
        The commit of the dataset; empty if it is not known.
    source_url, source_name
        Where the answers can be seen; both may be empty.
    """

    dataset: str
    model: str
    revision: str = ""
    source_url: str = ""
    source_name: str = ""

    def check(self) -> None:
        """Raise ``Agl1kError`` with everything that the Hub would refuse."""
        problems = [
            f"{option} {name!r} is not the name of a repository. Give OWNER/NAME."
            for option, name in (("--dataset", self.dataset), ("--model-repo", self.model))
            if not is_repository(name)
        ]
        if self.revision and not re.fullmatch(r"[0-9a-f]{40}", self.revision):
            problems.append(
                f"--revision {self.revision!r} is not a commit. Give its 40 hex digits."
            )
        if self.source_url and not re.fullmatch(r"https?://[^\s/]+\S*", self.source_url):
            problems.append(f"--source-url {self.source_url!r} is not an address. Give https://….")
        if self.source_name and not self.source_url:
            problems.append("--source-name needs --source-url.")
        if problems:
            raise Agl1kError("\n".join(problems))


def eval_file(benchmark: Benchmark) -> str:
    """``eval.yaml``, which makes the benchmark's dataset a leaderboard.

    Examples
    --------
    >>> import agl1k_core as ag
    >>> print(eval_file(ag.load_benchmark("demo")).splitlines()[2])
    evaluation_framework: "agl1k"
    """
    description = (
        f"Given only a sound, where on Earth was it made? {len(benchmark):,} clips with a known "
        "place, scored by agl1k under the protocol strict."
    )
    tasks = [{"id": task, "config": "default", "split": "test"} for task in TASKS]
    return yaml_text(
        {
            "name": benchmark.name,
            "description": description,
            "evaluation_framework": FRAMEWORK,
            "tasks": tasks,
        }
    )


def results_file(
    evaluation: Evaluation, target: HubTarget, provenance: Mapping[str, Any] | None = None
) -> str:
    """``.eval_results/agl1k.yaml`` of a model: one entry per task.

    Parameters
    ----------
    evaluation
        The scores under the protocol ``strict``.
    target
        Where they belong.
    provenance
        How ``agl1k run`` made the answers, if it did.

    Raises
    ------
    Agl1kError
        If the Hub would refuse the file.
    """
    target.check()
    shared = _shared(target, provenance or {}) | {"notes": _notes(evaluation, provenance or {})}
    return yaml_text([_entry(task, evaluation, target) | shared for task in TASKS])


def _entry(task: str, evaluation: Evaluation, target: HubTarget) -> dict[str, Any]:
    value = evaluation.metrics[task]
    if not math.isfinite(value):
        raise Agl1kError(f"The file has no {task}, which the Hub needs.")
    revision = {"revision": target.revision} if target.revision else {}
    dataset = {"id": target.dataset, "task_id": task, **revision}
    return {"dataset": dataset, "value": round(value, _DECIMALS)}


def _shared(target: HubTarget, provenance: Mapping[str, Any]) -> dict[str, Any]:
    shared: dict[str, Any] = {"evaluation_framework": FRAMEWORK}
    if date := _date(provenance.get("ended")):
        shared["date"] = date
    if target.source_url:
        name = {"name": target.source_name} if target.source_name else {}
        shared["source"] = {"url": target.source_url, **name}
    return shared


def _date(text: object) -> str:
    """A date in ISO 8601; empty for anything else."""
    try:
        return datetime.fromisoformat(text).isoformat() if isinstance(text, str) else ""
    except ValueError:
        return ""


def _notes(evaluation: Evaluation, provenance: Mapping[str, Any]) -> str:
    """What a reader must know to compare the value with others."""
    answered = evaluation.statuses["answered"]
    notes = [
        f"agl1k {__version__}, protocol strict, {answered} of {evaluation.n_clips} clips answered"
    ]
    if provenance.get("control"):
        notes.append(f"control: {provenance['control']}")
    return "; ".join(notes)


# --- YAML ----------------------------------------------------------------------------------------


def yaml_text(tree: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> str:
    """Plain data as YAML; texts are in double quotes, which YAML takes from JSON."""
    return "\n".join(_lines(tree)) + "\n"


def _lines(tree: Any) -> Iterator[str]:
    if isinstance(tree, Mapping):
        for name, value in tree.items():
            if isinstance(value, Mapping | list):
                yield f"{name}:"
                yield from (f"  {line}" for line in _lines(value))
            else:
                yield f"{name}: {_scalar(value)}"
    else:
        for item in tree:
            nested = isinstance(item, Mapping | list)
            first, *rest = _lines(item) if nested else [_scalar(item)]
            yield f"- {first}"
            yield from (f"  {line}" for line in rest)


def _scalar(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in text)

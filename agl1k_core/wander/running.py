"""``run_walks``: a model walks through graphs, and what became of each walk is written down."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agl1k_core.answers import LABELS
from agl1k_core.files import json_lines, save_text
from agl1k_core.models import (
    Listeners,
    LocalModel,
    Model,
    Prompt,
    Reply,
    RunLimits,
    RunResult,
    RunSettings,
    read_steps,
    run_model,
)
from agl1k_core.wander.agent import WalkingAgent, WalkRules, take_step, told_of, wander_prompt
from agl1k_core.wander.environment import Panoramas, Step
from agl1k_core.wander.graph import Graph
from agl1k_core.wander.scores import benchmark_of

WALKS = "walks.jsonl"


@dataclass(frozen=True)
class WalkSettings:
    """What a model is asked, and how it walks; resuming with other settings is refused.

    Attributes
    ----------
    model, where
        The model's name; the endpoint's base URL or ``module:function``.
    prompt
        The prompt.
    parameters
        ``temperature``, ``seed``, ``max_tokens``; None if the endpoint's default is used.
    rules
        How to walk.
    views
        How views are cut, in words.
    """

    model: str
    where: str
    prompt: Prompt = field(default_factory=wander_prompt)
    parameters: Mapping[str, float | int | None] = field(default_factory=dict)
    rules: WalkRules = field(default_factory=WalkRules)
    views: str = ""

    def for_run(self, graphs: Sequence[Graph]) -> RunSettings:
        """The settings of the run."""
        about = {
            "graphs": graphs_sha256(graphs),
            "steps of a walk": self.rules.max_steps,
            "as published": self.rules.as_published,
            "views": self.views,
        }
        return RunSettings(
            self.model,
            self.where,
            self.prompt,
            parameters=self.parameters,
            control="views",
            about=about,
        )


def run_walks(
    graphs: Sequence[Graph],
    panoramas: Panoramas,
    model: Model,
    settings: WalkSettings,
    folder: Path,
    limits: RunLimits,
    listeners: Listeners | None = None,
) -> tuple[RunResult, str]:
    """Let a model walk through graphs; run again to resume.

    Parameters
    ----------
    graphs, panoramas
        Where to walk, and what is seen there.
    model
        An ``Endpoint``, or a ``LocalModel`` that takes a conversation.
    settings
        What is asked, and how to walk.
    folder
        Where the journal, the prediction files and ``walks.jsonl`` go.
    limits, listeners
        As for ``agl1k_core.models.run_model``.

    Returns
    -------
    result : RunResult
        The prediction files, whose keys are those of the graphs.
    stopped : str
        Why it stopped before the last graph; empty if it did not.

    Raises
    ------
    Agl1kError
        As ``run_model``.
    """
    if isinstance(model, LocalModel):
        model.check_converses()
    agent = WalkingAgent({g.key: g for g in graphs}, panoramas, settings.prompt, settings.rules)
    result, stopped = run_model(
        benchmark_of(graphs), model, settings.for_run(graphs), folder, limits, listeners, agent
    )
    write_walks(folder, graphs, settings.rules, result.files)
    return result, stopped


def graphs_sha256(graphs: Sequence[Graph]) -> str:
    """SHA-256 of the graphs' keys, nodes and ways, in hexadecimal."""
    digest = hashlib.sha256()
    for graph in sorted(graphs, key=lambda graph: graph.key):
        nodes = [(n.pano_id, n.matrix_id, n.lat, n.lon, n.heading_rad) for n in graph.nodes]
        edges = [(edge.start, edge.end, edge.direction_rad) for edge in graph.edges]
        digest.update(json.dumps([graph.key, graph.center_id, nodes, edges]).encode())
    return digest.hexdigest()


def write_walks(
    folder: Path, graphs: Sequence[Graph], rules: WalkRules, files: Sequence[Path]
) -> list[Path]:
    """Write what became of each walk of a run, from its journal.

    Parameters
    ----------
    folder
        The run's folder.
    graphs, rules
        What was walked through, and how.
    files
        The prediction files of the passes, which say what was asked.

    Returns
    -------
    list of Path
        A file for each pass, with a line for each graph that was asked about.
    """
    steps = read_steps(folder)
    by_key = {graph.key: graph for graph in graphs}
    written = []
    for n_pass, file in enumerate(files, 1):
        path = folder / (WALKS if n_pass == 1 else f"walks-{n_pass}.jsonl")
        lines = []
        for record in json_lines(file):
            replies = [step.reply for step in steps.get((n_pass, record["key"]), ())]
            walk = list(walked(by_key[record["key"]], rules, replies))
            lines.append({"key": record["key"], "error": record.get("error", ""), "steps": walk})
        save_text(path, "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
        written.append(path)
    return written


def walked(graph: Graph, rules: WalkRules, replies: Sequence[Reply]) -> Iterator[dict[str, Any]]:
    """Each step of a walk, from a model's answers: where it was, what it said, what was done."""
    walk = rules.walk(graph)
    for number, reply in enumerate(replies, 1):
        answer = take_step(walk, reply)
        step = walk.history[-1]
        guess = answer.guess
        yield {
            "step": number,
            **told_of(step.before),
            "status": str(guess.status),
            "latitude": guess.latitude,
            "longitude": guess.longitude,
            **{name: getattr(guess, name) for name in LABELS},
            "uncertain": answer.uncertain,
            "action": _told(step),
            "note": step.note,
        }


def _told(step: Step) -> dict[str, Any] | None:
    """The action of a step; None if it was lost."""
    action = step.action
    if action is None:
        return None
    arguments: Mapping[str, Any] = {
        "rotate": {"degrees": action.degrees},
        "move": {"way": action.way},
    }
    return {"name": action.kind, **arguments.get(action.kind, {})}
